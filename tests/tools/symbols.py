"""Which room calls which: every symbol that an object file of a build takes from another, against
the table of rooms that layers.py holds includes to. A room may call one that it may include, and
what a header that it reaches declares of a room below that header's. A header whose functions live
above it, or a declaration written again in place of an #include, is seen here.

    symbols.py BUILD        the build is one of the plain kind, such as build/release

Ends with "N passed, N failed"."""
import json
import os
import re
import subprocess
import sys
import tempfile
from layers import ROOMS, room_of
from tree import ROOT, report

# what it defines stands for functions of the C library and others, within one binary alone
STANDS_IN = 'clients/fmu/alone.c'


def objects(build):
    """{object file: source from the root} of the rooms' own sources."""
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as f:
        commands = json.load(f)
    found = {}
    for one in commands:
        source = os.path.relpath(os.path.join(one['directory'], one['file']), ROOT)
        if room_of(source) in ROOMS:
            found[os.path.join(one['directory'], one['output'])] = source
    return found


def symbols(path):
    """(defined, used) global symbols."""
    out = subprocess.run(['nm', '-g', path], check=True, stdout=subprocess.PIPE, text=True).stdout
    defined, used = set(), set()
    for line in out.splitlines():
        words = line.split()
        (used if words[-2] in 'Uw' else defined).add(words[-1])
    return defined, used


def may(room, target):
    return any(target == a or target.startswith(a + '/') for a in ROOMS[room][0] + [room])


def reached(path, texts, found):
    """Adds the headers that a file includes, directly or through others."""
    for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', texts.get(path, ''), re.M):
        if name in texts and name not in found:
            found.add(name)
            reached(name, texts, found)
    return found


def faults(found, texts):
    """Of {source: (defined, used)}; texts: {path: code} of sources and headers."""
    home = {name: source for source, (defined, _) in found.items() for name in defined
            if source != STANDS_IN}
    declared = {path: set(re.findall(r'\bmech\w+\b', code)) for path, code in texts.items()}
    for source, (_, used) in sorted(found.items()):
        room, headers = room_of(source), None
        for name in sorted(used & set(home)):
            target = room_of(home[name])
            if may(room, target):
                continue
            headers = headers or reached(source, texts, set())
            if not any(name in declared[h] and may(room_of(h), target) for h in headers):
                yield '%s: %s of %s: %s may not call %s' % (source, name, home[name], room, target)


def check_build(build):
    def check(tree):
        found = {source: symbols(path) for path, source in objects(build).items()
                 if os.path.exists(path)}
        if len(found) < 100:
            yield 'only %d object files in %s' % (len(found), build)
        yield from faults(found, {p: tree.code(p) for p in tree.files('.c', '.h', '.cpp', '.def')
                                  if room_of(p) in ROOMS})
    return check


def check_itself(_):
    """Two objects, compiled here, of which the lower calls the upper."""
    with tempfile.TemporaryDirectory(prefix='mechd-symbols-') as folder:
        found = {}
        for source, text in (('solver/items/a.c', 'void upper(void);\nvoid lower(void);\n'
                              'void lower(void)\n{\n    upper();\n}\n'),
                             ('solver/model/b.c', 'void upper(void);\nvoid upper(void)\n{\n}\n')):
            name = os.path.join(folder, os.path.basename(source))
            with open(name, 'w', encoding='utf-8') as f:
                f.write(text)
            subprocess.run([os.environ.get('CC', 'cc'), '-c', name, '-o', name + '.o'], check=True)
            found[source] = symbols(name + '.o')
        if len(list(faults(found, {}))) != 1:
            yield 'a call from solver/items to solver/model is not seen'


if __name__ == '__main__':
    sys.exit(report({'no room calls one that it may not include': check_build(sys.argv[1]),
                     'the check sees a planted call': check_itself}, ROOT))
