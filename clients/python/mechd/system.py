"""The system of equations of an instance as a descriptor: matrices, products, projections.

Options of every call (all optional): level ('acceleration', 'velocity'), step, contacts ('active',
'all'), massFactor, stiffnessFactor, dampingFactor, frozen (names of items).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence, cast

from . import replies
from .values import matrix, values

if TYPE_CHECKING:
    from .instance import Instance


class System:
    """`instance.system`."""

    def __init__(self, instance: 'Instance'):
        self._instance = instance

    def __repr__(self) -> str:
        return 'System(%r)' % self._instance

    def info(self, **options: Any) -> replies.SystemReply:
        """Sizes, factors, and the available parts."""
        return cast(replies.SystemReply, self._instance.get('system', **options))

    def blocks(self, **options: Any) -> replies.SystemBlocksReply:
        """Variables, constraints and stiffness blocks."""
        return cast(replies.SystemBlocksReply, self._instance.get('system', 'blocks', **options))

    def part(self, name: str, **options: Any) -> Any:
        """A matrix (H, M, K, C, Cq, E, R, Z) or vector (f, b, d, diagonal) as one array."""
        return matrix(self._instance.get('system', name, **options))

    def product(self, x: Sequence[float], **options: Any) -> replies.SystemProductReply:
        """The product of the whole matrix with {w; l}."""
        return cast(replies.SystemProductReply, self._ask('product', x=x, **options))

    def schur_product(self, l: Sequence[float], enabled: Optional[Sequence[bool]] = None,
                      **options: Any) -> replies.SystemProductReply:
        """The product of the Schur complement with multipliers."""
        return cast(replies.SystemProductReply,
                    self._ask('schur-product', l=l, enabled=enabled, **options))

    def project(self, l: Optional[Sequence[float]] = None,
                unknowns: Optional[Sequence[float]] = None,
                **options: Any) -> replies.SystemProjectReply:
        """Project multipliers, or whole unknowns {w; l}, onto their sets."""
        return cast(replies.SystemProjectReply,
                    self._ask('project', l=l, unknowns=unknowns, **options))

    def feasibility(self, w: Sequence[float], l: Sequence[float],
                    **options: Any) -> replies.SystemFeasibility:
        """How far unknowns are from a solution."""
        return cast(replies.SystemFeasibility, self._ask('feasibility', w=w, l=l, **options))

    def _ask(self, what: str, **body: Any) -> Dict[str, Any]:
        return values(self._instance.post('system', what, **body))
