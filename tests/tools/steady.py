"""Verdicts that depend on the clock or on how quick the machine is: an assertion of an upper bound
on measured seconds, a pause that stands for "by now it has", a number of steps that is meant to be
long, a limit of time that a slow machine cannot lengthen. What order proves needs none of them
(tests/README.md); where one is right all the same, its line or the line above it says why:
# steady: REASON (C and JavaScript: // steady: REASON). Modules with TIMED = True are left out."""
import ast
import re
import sys
from tree import report

CLOCKS = {'monotonic', 'perf_counter', 'time', 'monotonic_ns', 'time_ns', 'perf_counter_ns'}
UPPER = {'assertLess', 'assertLessEqual', 'assertAlmostEqual'}
REASON = re.compile(r'#\s*steady: \w')
# steps: fewer are quick everywhere, more are endless and are stopped
LONG, ENDLESS = 100000, 10 ** 9
COUNT = re.compile(r'''['"]?count['"]?\s*[:=]\s*(?:int\()?(10 ?\*\* ?[5-8]\b|[0-9_]{6,}\b)''')
# limits of time of a call: shorter ones are part of a scenario, longer ones take a factor
LIMIT = 10
# in C and JavaScript
PAUSE_C = re.compile(r'\b(nano|u)?sleep\(')
UPPER_C = re.compile(r'mechd_now\(\) - \w+ <')
PAUSE_JS = re.compile(r'waitForTimeout|setTimeout\(\w+, \d|new Promise\(.*setTimeout\(')
CLOCK_JS = re.compile(r'Date\.now\(\)|performance\.now\(\)')


def is_clock(node):
    """A call of time.monotonic() and the like."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and \
        node.func.attr in CLOCKS and isinstance(node.func.value, ast.Name) and \
        node.func.value.id == 'time'


def name_of(call):
    """The last part of what is called."""
    return getattr(call.func, 'attr', getattr(call.func, 'id', ''))


class Measured:
    """Names of a function that hold times or differences of times."""

    def __init__(self, function, timers):
        self.names, self.timers = set(), timers
        before = None
        while before != len(self.names):
            before = len(self.names)
            for node in ast.walk(function):
                self.learn(node)

    def __call__(self, node):
        return any(is_clock(n) or (isinstance(n, ast.Name) and n.id in self.names) or
                   (isinstance(n, ast.Call) and name_of(n) in self.timers)
                   for n in ast.walk(node))

    def learn(self, node):
        if isinstance(node, ast.Assign) and self(node.value):
            for target in node.targets:
                # an element of a tuple that is returned may be anything
                self.names.update(n.id for n in ast.walk(target) if isinstance(n, ast.Name))
        elif isinstance(node, ast.Call) and name_of(node) == 'append' and \
                any(map(self, node.args)) and isinstance(node.func.value, ast.Name):
            self.names.add(node.func.value.id)


def functions_of(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def timers_of(tree):
    """Functions that return what they have measured and nothing else."""
    found = set()
    for function in functions_of(tree):
        measures = Measured(function, set())
        if any(isinstance(n, ast.Return) and n.value is not None and
               not isinstance(n.value, (ast.Tuple, ast.Call)) and measures(n.value)
               for n in ast.walk(function)):
            found.add(function.name)
    return found


def is_upper_bound(node, measures):
    """Of a measured time: an assertion, or a comparison that is asserted."""
    if isinstance(node, ast.Assert):
        return compares(node.test, measures)
    if not isinstance(node, ast.Call) or not node.args:
        return False
    if name_of(node) in ('assertGreater', 'assertGreaterEqual') and len(node.args) > 1:
        return measures(node.args[1]) and not measures(node.args[0])
    if name_of(node) == 'assertTrue':
        return compares(node.args[0], measures)
    return name_of(node) in UPPER and measures(node.args[0])


def compares(test, measures):
    if not isinstance(test, ast.Compare):
        return False
    sides = [test.left] + test.comparators
    return any(measures(low) and not measures(high) for op, low, high in zip(
        test.ops, sides, sides[1:]) if isinstance(op, (ast.Lt, ast.LtE)))


def is_pause(node):
    """sleep(t), Timer(t, f), Event().wait(t)."""
    if not isinstance(node, ast.Call):
        return False
    return name_of(node) in ('sleep', 'Timer') or (
        name_of(node) == 'wait' and isinstance(node.func, ast.Attribute) and
        isinstance(node.func.value, ast.Call) and name_of(node.func.value) == 'Event')


def is_fixed_limit(node):
    """f(timeout=60): 60 * SLOW is meant."""
    return isinstance(node, ast.Call) and any(
        k.arg == 'timeout' and isinstance(k.value, ast.Constant) and
        isinstance(k.value.value, (int, float)) and k.value.value >= LIMIT for k in node.keywords)


def faults_of(text):
    """[(line, what)]"""
    tree = ast.parse(text)
    timers = timers_of(tree)
    for function in functions_of(tree):
        measures = Measured(function, timers)
        for node in ast.walk(function):
            if is_upper_bound(node, measures):
                yield node.lineno, 'asserts how long something takes'
            if is_pause(node):
                yield node.lineno, 'waits for a time, not for a condition'
    for node in ast.walk(tree):
        if is_fixed_limit(node):
            yield node.lineno, 'a limit of time without the factor SLOW'
    for number, line in enumerate(text.split('\n'), 1):
        for count in COUNT.findall(line):
            if LONG <= eval(count.replace('_', ''), {}) < ENDLESS:  # digits and ** alone
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


def unexplained(tree, paths, patterns):
    """Lines of C or JavaScript with one of {pattern: what it does} and no reason."""
    for path in paths:
        lines = tree.text(path).split('\n')
        for number, line in enumerate(lines, 1):
            for pattern, what in patterns.items():
                if pattern.search(line) and not any(
                        '// steady: ' in one for one in lines[max(0, number - 2):number]):
                    yield '%s:%d: %s' % (path, number, what)


def check_page(tree):
    """A test of the page waits for what it sees."""
    return unexplained(tree, tree.files('.mjs', under='tests/browser/'), {
        PAUSE_JS: 'waits for a time, not for a condition', CLOCK_JS: 'asks the clock'})


def check_c(tree):
    paths = [p for folder in ('unit', 'conformance', 'verify')
             for p in tree.files('.c', under='tests/%s/' % folder)]
    return unexplained(tree, paths, {PAUSE_C: 'waits for a time, not for a condition',
                                     UPPER_C: 'asserts how long something takes'})


CHECKS = {
    'tests of the daemon wait for conditions and judge no seconds': check_python,
    'tests of the page wait for conditions': check_page,
    'tests in C wait for conditions and judge no seconds': check_c,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
