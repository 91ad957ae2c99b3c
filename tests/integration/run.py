"""Runs the integration tests, or those modules that are named (references doors …), one line for
each failing test, and ends with "N passed, N failed"."""
import os
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


# subtests of one test that are told
MOST = 4


class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.passed, self.failed, self.told = 0, set(), {}

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += test.id() not in self.failed

    def fault(self, test, error):
        name = getattr(test, 'test_case', test).id()
        self.failed.add(name)
        self.told[name] = self.told.get(name, 0) + 1
        if self.told[name] > MOST:
            return
        print('FAILED %s' % test.id())
        text = self._exc_info_to_string(error, test)
        print('\n'.join('    ' + line for line in text.rstrip().split('\n')[-14:]), flush=True)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.fault(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self.fault(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.fault(subtest, error)


def main(names):
    sys.path.insert(0, HERE)
    modules = sorted(f[:-3] for f in os.listdir(HERE) if f.startswith('test_'))
    wanted = [m for m in modules if not names or m[5:] in names or m in names]
    unknown = [n for n in names if n not in modules and 'test_' + n not in modules]
    if unknown or not wanted:
        print('no such tests: %s; there are: %s' % (' '.join(unknown),
                                                    ' '.join(m[5:] for m in modules)))
        return 2
    passed, failed = 0, 0
    for module in wanted:
        start, result = time.monotonic(), Result()
        unittest.defaultTestLoader.loadTestsFromName(module).run(result)
        # a class whose set-up or tear-down fails counts once
        passed, failed = passed + result.passed, failed + len(result.failed)
        print('%-14s %3d passed, %d failed, %.1f s' % (module[5:], result.passed,
                                                       len(result.failed),
                                                       time.monotonic() - start), flush=True)
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
