"""The numbers of the verification book: runs programs, reads what they compared and rounds it to
what is the same everywhere.

Each program runs with two of OpenBLAS's kernels, whose last digits differ as those of two machines
do. A number is printed with the digits that both runs have in common. An error that is below
ROUNDING, beside the number or absolute, is printed as such; one of which the two runs have no digit
in common by the decade that both are below."""
import json
import math
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

KERNELS = ('Haswell', 'Prescott')  # with FMA, and without
LIMIT = 1200  # seconds of one program
ROUNDING = 1e-13
DIGITS = 6
ORDER_DIGITS = 4


def run(command, root, kernel):
    """The comparisons of one program, in their order; ends all where it fails."""
    with tempfile.NamedTemporaryFile('r', prefix='mechd-book-', encoding='utf-8') as noted:
        done = subprocess.run(command, cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=LIMIT, check=False,
                              env={**os.environ, 'MECHD_TESTS_NUMBERS': noted.name,
                                   'OPENBLAS_NUM_THREADS': '1', 'OPENBLAS_CORETYPE': kernel})
        if done.returncode != 0:
            sys.exit('%s: %s' % (' '.join(command), done.stdout.decode(errors='replace')[-2000:]))
        return [json.loads(line) for line in noted]


def pairs(command, root):
    """The comparisons of a program, each by both kernels."""
    one, other = (run(command, root, kernel) for kernel in KERNELS)
    if list(map(place, one)) != list(map(place, other)):
        sys.exit('%s: what is compared depends on the kernel of OpenBLAS' % ' '.join(command))
    return list(zip(one, other))


def place(n):
    """What is compared: the comparisons of one place are a row of the book."""
    return n['test'], n.get('case', ''), n.get('line', 0), n['text'], n.get('order', '')


def error(n):
    return abs(n['found'] - n['expected'])


def share(n):
    """Of its bar. A comparison for equality has none."""
    return error(n) / n['bar'] if n['bar'] > 0 else 0.0 if error(n) == 0 else math.inf


def is_rounding(n):
    return error(n) <= ROUNDING * max(1.0, abs(n['expected']))


def common(a, b, most=DIGITS):
    """Two numbers with the digits that they have in common; None: they have none."""
    for digits in range(most, 0, -1):
        texts = {'%.*g' % (digits, x) for x in (a, b)}
        if len(texts) == 1:
            return texts.pop()
    return None


def below(*numbers):
    """The decade that numbers are below."""
    decade = math.floor(math.log10(max(map(abs, numbers)))) + 1
    return '< 1e%d' % decade if decade else '< 1'


@dataclass
class Row:
    """The comparisons of one place: the one that comes nearest to its bar, in words."""
    test: str
    case: str
    text: str
    order: str
    count: int
    found: str
    expected: str
    error: str  # 'rounding', '3e-07' or '< 1e-11'; '0' where equality is compared
    bar: str
    share: str  # of the bar, '' where the error is rounding

    @property
    def size(self):
        """Of the error, for plots; None: rounding, or none."""
        return None if self.error in ('0', 'rounding') else float(self.error.lstrip('< '))


def rows(found):
    """A row for each place, in the order in which they were met."""
    by_place = {}
    for pair in found:
        by_place.setdefault(place(pair[0]), []).append(pair)
    return [row(of) for of in by_place.values()]


def nearness(pair):
    """By which the comparison that a row shows is chosen: coarse, so that it is the same one."""
    shares = max(map(share, pair))
    return float('%.0e' % shares) if math.isfinite(shares) else shares


def row(of):
    one, other = max((p for p in of if not all(map(is_rounding, p))), key=nearness,
                     default=max(of, key=lambda p: abs(float('%.6g' % p[0]['expected']))))
    values = {}
    if is_rounding(one) and is_rounding(other):
        values['error'] = '0' if one['bar'] == 0 else 'rounding'
        values['share'] = ''
    else:
        errors = error(one), error(other)
        values['error'] = common(*errors, most=1) or below(*errors)
        shares = share(one), share(other)
        values['share'] = common(*shares, most=1 if max(shares) < 0.95 else 2) or below(*shares)
    # what is far below its error is rounding, too; a number that is an error has no more digits
    least = max(ROUNDING * (values['share'] == ''), 1e-6 * max(error(one), error(other)))
    is_zero = max(abs(n['expected']) for n in (one, other)) <= least
    digits = {'expected': DIGITS, 'found': 2 if is_zero else DIGITS, 'bar': 2}
    if one.get('order'):
        digits.update(expected=ORDER_DIGITS, found=ORDER_DIGITS)
    for key, most in digits.items():
        a, b = one[key], other[key]
        values[key] = '0' if max(abs(a), abs(b)) <= least and key != 'bar' else \
            common(a, b, most) or below(a, b)
    if values['share'] == '':
        values['found'] = values['expected']
    return Row(one['test'], one.get('case', ''), one['text'], one.get('order', ''), len(of),
               **values)
