"""What must not stand in the tree: paths of a machine, addresses of package registries, words that
mark unfinished work, commented-out code; and letters that are no English."""
import re
import sys
from tree import report

CODE = ('.c', '.h', '.cpp', '.def', '.py', '.build', '.js', '.mjs', '.ts', '.sh', '.css')
WORDS = ['st' 'ub', 'place' 'holder', 'not ' 'implemented', 'un' 'implemented', 'fix' 'me',
         'to' 'do', 'xx' 'x', 'for ' 'now', 'hard-?' 'coded', 'dum' 'my']
HOSTS = ['regis' 'try.npmjs.org', 'deb' '.debian.org', 'py' 'pi.org', 'archive.' 'ubuntu.com']
EXECUTABLE = ('tests/run', 'deploy/run', '.ci/run', 'tests/browser/run')


def is_code(path):
    return path.endswith(CODE) or path in EXECUTABLE


def search(tree, pattern, wanted, what):
    for path in tree.paths:
        if not wanted(path):
            continue
        for number, line in enumerate(tree.text(path).split('\n'), 1):
            match = re.search(pattern, line, re.I)
            if match:
                yield '%s:%d: %s: %s' % (path, number, what, line.strip()[:100])


def is_text(path):
    return not path.endswith(('.png', '.ico', '.woff2', '.npy', '.bin', '.mchd'))


def check_paths(tree):
    pattern = r'(^|[^A-Za-z0-9._{}<>$-])/(work|farm|root|home/[a-z]+|Users)/'
    return search(tree, pattern, is_text, 'a path of a machine')


def check_hosts(tree):
    return search(tree, '|'.join(re.escape(h) for h in HOSTS), is_text, 'a package registry')


def check_words(tree):
    pattern = r'\b(%s)\b' % '|'.join(WORDS)
    # an input's hint text in the page has its name from HTML
    attribute = re.compile(r'\b' + WORDS[1] + r'(\s*=|["\']|\s*:|::)', re.I)
    for fault in search(tree, pattern, is_code, 'unfinished'):
        if not (attribute.search(fault) and fault.split(':')[0].endswith(('.js', '.ts', '.css'))):
            yield fault


def check_commented_code(tree):
    pattern = r'^\s*(//|/\*)\s*(#include\b|[a-z_]\w*(\.|->|\()[^.]*\);\s*(\*/)?$|' \
              r'(if|for|while) \(.*\) \{|return .*;|\}\s*(else)?\s*\{?)\s*(\*/)?$'
    return search(tree, pattern, lambda p: p.endswith(('.c', '.h', '.cpp')), 'code in a comment')


def check_letters(tree):
    """ASCII, Greek and the signs of mathematics and of authors' names in Latin letters."""
    for path in tree.paths:
        if not is_text(path):
            continue
        for number, line in enumerate(tree.text(path).split('\n'), 1):
            for c in line:
                code = ord(c)
                if 0x400 <= code < 0x1D00 or 0x3000 <= code < 0xD800 or 0xDC80 <= code < 0xE000:
                    yield '%s:%d: U+%04X' % (path, number, code)
                    break


CHECKS = {
    'no path of a machine is in the tree': check_paths,
    'no address of a package registry is in the tree': check_hosts,
    'no word marks unfinished work': check_words,
    'no code is commented out': check_commented_code,
    'every text is in Latin and Greek letters': check_letters,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
