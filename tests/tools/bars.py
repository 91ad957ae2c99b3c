"""Bars of the benchmarks (tests/bench/bars.def): each line is whole, its bar is at most 1.1 of what
was measured, and with the margin of tests/bench/rows.c a slowdown of 1.5 breaks it."""
import re
import sys
from tree import report

BARS, ROWS = 'tests/bench/bars.def', 'tests/bench/rows.c'
BUILD, BOOK = 'tests/bench/meson.build', 'tests/bench/book.py'
# it has a table of its own
WITHOUT_ROWS = {'realtime'}
ALLOWED, MARGIN, SEEN = 1.1, 1.25, 1.5


def lines(tree):
    return tree.members(BARS, 'BAR') if BARS in tree.paths else []


def check_lines(tree):
    """program, case, floor, measured, spread, bar, goal, when"""
    cases = set()
    for number, fields in lines(tree):
        where = '%s:%d' % (BARS, number)
        if len(fields) != 8:
            yield '%s: %d fields instead of 8' % (where, len(fields))
            continue
        case = tuple(fields[:2])
        if case in cases:
            yield '%s: %s twice' % (where, fields[1])
        cases.add(case)
        if fields[2] == '""':
            yield where + ': no floor'
        if not re.match(r'"\d{4}-\d\d-\d\d"$', fields[7]):
            yield where + ': not measured on any day'


def check_bars(tree):
    for number, fields in lines(tree):
        measured, bar = float(fields[3]), float(fields[5])
        if not 0. < bar <= ALLOWED * measured * (1. + 1e-9):
            yield '%s:%d: the bar %g is not within %g of %g' % (BARS, number, bar, ALLOWED,
                                                                measured)


def check_margin(tree):
    """margin × 1.1 must stay below the slowdown that has to be seen"""
    if ROWS in tree.paths:
        match = re.search(r'margin = ([\d.]+);', tree.code(ROWS))
        if match is None:
            yield ROWS + ': no margin'
        elif not 1. <= float(match.group(1)) <= MARGIN or float(
                match.group(1)) * ALLOWED >= SEEN:
            yield '%s: a margin of %s' % (ROWS, match.group(1))


def check_book(tree):
    """Programs of meson.build, in a section of the book."""
    if BUILD not in tree.paths or BOOK not in tree.paths:
        return
    sections = re.search(r'^SECTIONS = \{\n(.*?)^\}', tree.text(BOOK), re.M | re.S).group(1)
    for name in re.findall(r"^  '([\w-]+)': \[", tree.text(BUILD), re.M):
        if name not in WITHOUT_ROWS and "'%s'" % name not in sections:
            yield '%s: bench-%s is in no section' % (BOOK, name)


CHECKS = {
    'every bar is a whole line': check_lines,
    'every bar is at most 1.1 of what was measured': check_bars,
    'a slowdown of 1.5 breaks every bar': check_margin,
    'every benchmark is in the book': check_book,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
