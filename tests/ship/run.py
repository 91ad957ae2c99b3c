"""Runs the tests of this folder, or those modules that are named (image monitoring …), one after
another: a line when one has ended. Ends with "N passed, N failed, N skipped"; a test is skipped
where a program is missing, and its line names the package to install.

    run.py NAME…"""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, '..', 'integration'))
sys.path.append(os.path.join(HERE, '..', 'tools'))


class Result(unittest.TestResult):
    """Says what has passed, failed or been skipped, as it happens."""

    def __init__(self, most):
        super().__init__()
        self.passed, self.done, self.most, self.bad = 0, 0, most, set()

    def say(self, test, how):
        self.done += 1
        print('%3d of %d  %-60s %s' % (self.done, self.most, test.id(), how), flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1
        self.say(test, 'passed')

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say(test, 'skipped: ' + reason)

    def fault(self, test, error):
        self.bad.add(test.id())
        self.say(test, 'failed')
        print('FAILED %s: alone: tests/run %s:%s' % (
            test.id(), os.environ.get('MECHD_TESTS_SUITE', 'ship'), test.id().split('.')[0][5:]))
        text = self._exc_info_to_string(error, test)
        print('\n'.join('    ' + line for line in text.rstrip().split('\n')[-40:]), flush=True)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.fault(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self.fault(test, error)


    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.bad.add(test.id())
            print('FAILED %s' % subtest.id())
            text = self._exc_info_to_string(error, test).strip()
            print('    ' + text.split('\n')[-1], flush=True)


def main(names):
    found = sorted(f[5:-3] for f in os.listdir(HERE) if f.startswith('test_') and f[-3:] == '.py')
    unknown = [n for n in names if n not in found]
    if unknown:
        print('no such tests: %s; there are: %s' % (' '.join(unknown), ' '.join(found)))
        return 2
    suite = unittest.defaultTestLoader.loadTestsFromNames(['test_' + n for n in names or found])
    result = Result(suite.countTestCases())
    suite.run(result)
    print('%d passed, %d failed, %d skipped' % (result.passed, len(result.bad),
                                                len(result.skipped)))
    return 1 if result.bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
