"""What must not stand in the tree: paths of a machine, addresses of package registries, words that
mark unfinished work, commented-out code, letters that are no English, a name with two meanings."""
import collections
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


# the engine of an exported FMU is the solver in it or a server elsewhere: one header, two programs
TWICE = ('clients/fmu/solver.c',)


def named(code):
    """[(kind, name, offset)] of the structs, enumerators and functions that C code defines with
    their owner in front (mech_, mechd_, …)."""
    for match in re.finditer(r'\b(?:struct|enum|union) (mech\w*) *\{', code):
        yield 'type', match.group(1), match.start(1)
    for listed in re.finditer(r'\benum *\w* *\{([^}]*)\}', code):
        for match in re.finditer(r'(?:^|,)\s*(MECH\w+)', listed.group(1)):
            yield 'constant', match.group(1), listed.start(1) + match.start(1)
    function = r'^(?!return|else)[a-z][\w *]*?\b(mech\w*)\([^;{}]*\)\s*\{'
    for match in re.finditer(function, code, re.M):
        yield 'function', match.group(1), match.start(1)


def check_once(tree):
    seen = collections.defaultdict(dict)  # by kind and name, the first place in each file
    for path in tree.files('.c', '.h', '.cpp'):
        if not path.startswith('tests/') and path not in TWICE:
            code = tree.code(path)
            for kind, name, at in named(code):
                seen[kind, name].setdefault(path, code.count('\n', 0, at) + 1)
    for (kind, name), places in sorted(seen.items()):
        # one file may define it twice, for two systems
        if len(places) > 1:
            yield '%s %s is defined in %s' % (kind, name, ', '.join(
                '%s:%d' % place for place in sorted(places.items())))


CHECKS = {
    'no path of a machine is in the tree': check_paths,
    'no address of a package registry is in the tree': check_hosts,
    'no word marks unfinished work': check_words,
    'no code is commented out': check_commented_code,
    'every text is in Latin and Greek letters': check_letters,
    'a name of the tree stands for one thing': check_once,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
