"""Verdicts that depend on the clock or on how quick the machine is: an assertion of an upper bound
on measured seconds, a pause that stands for "by now it has", a number of steps that is meant to be
long. What order proves needs none of them (tests/README.md); where one is right all the same, its
line or the line above it says why: # steady: REASON. Modules that say TIMED = True are left out."""
import ast
import re
import sys
from tree import report

CLOCKS = {'monotonic', 'perf_counter', 'time', 'monotonic_ns', 'time_ns', 'perf_counter_ns'}
UPPER = {'assertLess', 'assertLessEqual', 'assertAlmostEqual'}
REASON = re.compile(r'#\s*steady: \w')
# steps: fewer are quick everywhere, more are endless and are stopped
LONG, ENDLESS = 100000, 10 ** 9
COUNT = re.compile(r'''['"]?count['"]?\s*[:=]\s*([0-9_]{6,})\b''')


def is_clock(node):
    """A call of time.monotonic() and the like."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and \
        node.func.attr in CLOCKS and isinstance(node.func.value, ast.Name) and \
        node.func.value.id == 'time'


def measured_names(function):
    """Names that hold times or differences of times, in the order of assignment."""
    names = set()

    def measures(node):
        return any(is_clock(n) or (isinstance(n, ast.Name) and n.id in names)
                   for n in ast.walk(node))
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and measures(node.value):
            for target in node.targets:
                names.update(n.id for n in ast.walk(target) if isinstance(n, ast.Name))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and \
                isinstance(node.value.func, ast.Attribute) and \
                node.value.func.attr == 'append' and any(map(measures, node.value.args)) and \
                isinstance(node.value.func.value, ast.Name):
            names.add(node.value.func.value.id)
    return names, measures


def faults_of(text):
    """[(line, what)]"""
    tree = ast.parse(text)
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        _, measures = measured_names(function)
        for node in ast.walk(function):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr in UPPER and node.args and measures(node.args[0]):
                yield node.lineno, 'asserts how long something takes'
            if node.func.attr == 'sleep':
                yield node.lineno, 'waits for a time, not for a condition'
    for number, line in enumerate(text.split('\n'), 1):
        for count in COUNT.findall(line):
            if LONG <= int(count) < ENDLESS:
                yield number, 'a number of steps that is long here only'


def is_explained(lines, number):
    return any(REASON.search(line) for line in lines[max(0, number - 2):number])


def check_python(tree):
    for path in tree.files('.py', under='tests/integration/'):
        text = tree.text(path)
        if re.search(r'^(\w+ = )*TIMED = (\w+ = )*True$', text, re.M):
            continue
        lines = text.split('\n')
        for number, what in sorted(set(faults_of(text))):
            if not is_explained(lines, number):
                yield '%s:%d: %s' % (path, number, what)


def check_page(tree):
    """A test of the page waits for what it sees."""
    for path in tree.files('.mjs', under='tests/browser/'):
        lines = tree.text(path).split('\n')
        for number, line in enumerate(lines, 1):
            if re.search(r'waitForTimeout|setTimeout\(', line) and not any(
                    '// steady: ' in one for one in lines[max(0, number - 2):number]):
                yield '%s:%d: waits for a time, not for a condition' % (path, number)


CHECKS = {
    'tests of the daemon wait for conditions and judge no seconds': check_python,
    'tests of the page wait for conditions': check_page,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
