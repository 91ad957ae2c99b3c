"""The system of equations of an instance as a descriptor: matrices, products, projections.

Options of every call (all optional): level ('acceleration', 'velocity'), step, contacts ('active',
'all'), massFactor, stiffnessFactor, dampingFactor, frozen (names of items).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence

from .values import matrix, values

if TYPE_CHECKING:
    from .instance import Instance


class System:
    """`instance.system`."""

    def __init__(self, instance: 'Instance'):
        self._instance = instance

    def __repr__(self) -> str:
        return 'System(%r)' % self._instance

    def info(self, **options: Any) -> Dict[str, Any]:
        """Sizes, factors, and the available parts."""
        return dict(self._instance.get('system', **options))

    def blocks(self, **options: Any) -> Dict[str, Any]:
        """Variables, constraints and stiffness blocks."""
        return dict(self._instance.get('system', 'blocks', **options))

    def part(self, name: str, **options: Any) -> Any:
        """A matrix (H, M, K, C, Cq, E, R, Z) or vector (f, b, d, diagonal) as one array."""
        return matrix(self._instance.get('system', name, **options))

    def product(self, x: Sequence[float], **options: Any) -> Dict[str, Any]:
        """The product of the whole matrix with {w; l}."""
        return self._ask('product', x=x, **options)

    def schur_product(self, l: Sequence[float], enabled: Optional[Sequence[bool]] = None,
                      **options: Any) -> Dict[str, Any]:
        """The product of the Schur complement with multipliers."""
        return self._ask('schur-product', l=l, enabled=enabled, **options)

    def project(self, l: Optional[Sequence[float]] = None,
                unknowns: Optional[Sequence[float]] = None, **options: Any) -> Dict[str, Any]:
        """Project multipliers, or whole unknowns {w; l}, onto their sets."""
        return self._ask('project', l=l, unknowns=unknowns, **options)

    def feasibility(self, w: Sequence[float], l: Sequence[float], **options: Any) -> Dict[str, Any]:
        """How far unknowns are from a solution."""
        return self._ask('feasibility', w=w, l=l, **options)

    def _ask(self, what: str, **body: Any) -> Dict[str, Any]:
        return values(self._instance.post('system', what, **body))
