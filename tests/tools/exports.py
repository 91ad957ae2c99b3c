"""What a header declares is used: every function of a header is called, or its address taken, in
another file than the one that defines it. One that only its own file uses is static there, one
that nothing uses is removed. A test counts as a user."""
import collections
import os
import re
import sys
from tree import report

# what programs outside the tree call
PUBLIC = ('clients/c/mechc.h',)
SOURCES = ('.c', '.cpp', '.def', '.h')
# rooms whose headers stand for many files: a comment before the functions of a file begins with its
# name; without one they are of the file of the header's name
SAID = ('solver/model/',)
SAYS = re.compile(r'^/\* (?:---.*?|)\(?(?:\w+/)*(\w+\.c)\b', re.M)
TYPE = r'^(?!static|extern|typedef|return|else)[a-z][\w *]*?\b'


def check_used(tree):
    code = {p: tree.code(p) for p in tree.files(*SOURCES)}
    code.update((p, tree.text(p)) for p in tree.files('.py', under='tests/'))
    users = collections.defaultdict(collections.Counter)  # by name, its places in each file
    for path, text in code.items():
        users_here = collections.Counter(re.findall(r'\bmech\w+', text))
        for name, count in users_here.items():
            users[name][path] = count
    declared = collections.defaultdict(dict)  # by name, its prototypes in each header
    for path in (p for p in code if p.endswith('.h') and not p.startswith('tests/')):
        for name in re.findall(TYPE + r'(mech\w*)\([^;{}]*\);', code[path], re.M):
            declared[name][path] = declared[name].get(path, 0) + 1
    for path in (p for p in code if p.endswith('.c') and not p.startswith('tests/')):
        for name in re.findall(TYPE + r'(mech\w*)\([^;{}]*\)\s*\{', code[path], re.M):
            headers = declared.get(name, {})
            used = any(count > headers.get(p, 0) for p, count in users[name].items() if p != path)
            if headers and not used and not set(headers) & set(PUBLIC):
                yield '%s: only %s uses %s' % (', '.join(headers), path, name)


def check_said(tree):
    homes = {}
    for path in (p for p in tree.files('.c') if not p.startswith('tests/')):
        for name in re.findall(TYPE + r'(mech\w*)\([^;{}]*\)\s*\{', tree.code(path), re.M):
            homes.setdefault(name, os.path.basename(path))
    for path in (p for p in tree.files('.h') if p.startswith(SAID)):
        code = tree.code(path)
        said = [(0, os.path.basename(path)[:-2] + '.c')]
        said += [(m.start(), m.group(1)) for m in SAYS.finditer(tree.text(path))]
        for found in re.finditer(TYPE + r'(mech\w*)\([^;{}]*\);', code, re.M):
            name = found.group(1)
            file = [f for at, f in said if at <= found.start()][-1]
            if homes.get(name, file) != file:
                yield '%s:%d: %s is of %s, not of %s' % (
                    path, code.count('\n', 0, found.start()) + 1, name, homes[name], file)


CHECKS = {
    'a function of a header is used outside its own file': check_used,
    'a header of many files says of which one each function is': check_said,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
