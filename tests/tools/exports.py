"""What a header declares is used: every function of a header is called, or its address taken, in
another file than the one that defines it. One that only its own file uses is static there, one
that nothing uses is removed. A test counts as a user."""
import collections
import re
import sys
from tree import report

# what programs outside the tree call
PUBLIC = ('clients/c/mechc.h',)
SOURCES = ('.c', '.cpp', '.def', '.h')
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


CHECKS = {
    'a function of a header is used outside its own file': check_used,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
