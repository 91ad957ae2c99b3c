"""Numbers against references: compared, and noted for the verification book. Where
MECHD_TESTS_NUMBERS names a file, each comparison is appended to it as a line of JSON, as
tests/unit/unit.c does for programs in C; tests/verify/book.py reads it."""
import json
import os

# opened once; closed with the process
NUMBERS = open(os.environ['MECHD_TESTS_NUMBERS'], 'a', encoding='utf-8', buffering=1) \
    if os.environ.get('MECHD_TESTS_NUMBERS') else None


class Near:
    """For test cases: `near`."""

    def near(self, found, expected, tolerance, of=''):
        """Fails unless the distance is below the tolerance; `of` is what is compared."""
        if NUMBERS:
            part = getattr(self, '_subtest', None)
            words = ', '.join('%s %s' % pair for pair in part.params.items()) if part else ''
            NUMBERS.write(json.dumps({'test': self.id().split('.')[-1], 'case': words, 'text': of,
                                      'found': found, 'expected': expected,
                                      'bar': tolerance}) + '\n')
        self.assertLess(abs(found - expected), tolerance, '%s: %r against %r' % (
            of or 'number', found, expected))
