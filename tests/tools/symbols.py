"""Which room calls which: every symbol that an object file of a build takes from another, against
the table of rooms that layers.py holds includes to. A room may call one that it may include, and
what a header that it reaches declares of a room below that header's. A header whose functions live
above it, or a declaration written again in place of an #include, is seen here. Within a room, files
call each other in a cycle only where modules.py lists them as one module.

    symbols.py BUILD        the build is one of the plain kind, such as build/release

Ends with "N passed, N failed"."""
import json
import os
import re
import subprocess
import sys
import tempfile
import modules
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
    """(functions, data, used): global symbols."""
    out = subprocess.run(['nm', '-g', path], check=True, stdout=subprocess.PIPE, text=True).stdout
    functions, data, used = set(), set(), set()
    for line in out.splitlines():
        kind, name = line.split()[-2:]
        (used if kind in 'Uw' else functions if kind in 'TW' else data).add(name)
    return functions, data, used


def objects_of(build):
    """{source: symbols} of the objects of a build."""
    return {source: symbols(path) for path, source in objects(build).items()
            if os.path.exists(path)}


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
    """Of {source: (functions, data, used)}; texts: {path: code} of sources and headers."""
    home = {name: source for source, (functions, data, _) in found.items()
            for name in functions | data if source != STANDS_IN}
    declared = {path: set(re.findall(r'\bmech\w+\b', code)) for path, code in texts.items()}
    for source, (_, _, used) in sorted(found.items()):
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
        found = objects_of(build)
        if len(found) < 100:
            yield 'only %d object files in %s' % (len(found), build)
        yield from faults(found, {p: tree.code(p) for p in tree.files('.c', '.h', '.cpp', '.def')
                                  if room_of(p) in ROOMS})
    return check


def compiled(texts):
    """{source: symbols} of such texts."""
    found = {}
    with tempfile.TemporaryDirectory(prefix='mechd-symbols-') as folder:
        for source, text in texts.items():
            name = os.path.join(folder, os.path.basename(source))
            with open(name, 'w', encoding='utf-8') as f:
                f.write(text)
            subprocess.run([os.environ.get('CC', 'cc'), '-c', name, '-o', name + '.o'], check=True)
            found[source] = symbols(name + '.o')
    return found


def function(name, calls=''):
    return 'void %s(void);\nvoid %s(void)\n{\n    %s\n}\n' % (name, name, calls)


def check_itself(_):
    """Two objects, compiled here, of which the lower calls the upper."""
    found = compiled({'solver/items/a.c': 'void upper(void);\n' + function('lower', 'upper();'),
                      'solver/model/b.c': function('upper')})
    if len(list(faults(found, {}))) != 1:
        yield 'a call from solver/items to solver/model is not seen'


def check_cycles(build):
    def check(_):
        yield from modules.faults(objects_of(build), (modules.MODULES, modules.KNOTS))
    return check


def check_order(build):
    def check(tree):
        yield from modules.order_faults(objects_of(build), tree.text(modules.README),
                                        modules.ORDERED)
    return check


def check_cycles_itself(_):
    """Two objects that call each other, in a room: named in a table, or as data, they may."""
    calls = compiled({'solver/model/a.c': 'void b(void);\n' + function('a', 'b();'),
                      'solver/model/b.c': 'void a(void);\n' + function('b', 'a();')})
    data = compiled({'solver/model/a.c': 'extern const int b;\nvoid c(int);\n' +
                     function('a', 'c(b);'),
                     'solver/model/b.c': 'void a(void);\nextern const int b;\nconst int b = 1;\n' +
                     function('d', 'a();')})
    one = {'solver/model': {'one': 'a b'}}
    text = '| `lane/` | files |\n|---|---|\n| a | `%s` |\n| b | `%s` |\n'
    found = compiled({'server/lane/a.c': function('a'),
                      'server/lane/b.c': 'void a(void);\n' + function('b', 'a();')})
    for names, rooms, count in ((('a', 'b'), {'server/lane'}, 0), (('b', 'a'), {'server/lane'}, 1),
                                (('a', 'c'), {'server/lane'}, 2), (('a', 'b'), set(), 1),
                                (('a', 'b'), {'server/lane', 'server/zmq'}, 1)):
        if len(list(modules.order_faults(found, text % names, rooms))) != count:
            yield 'the order %s is not judged' % ' '.join(names)
    for found, table, count in ((calls, {}, 1), (calls, one, 0), (data, {}, 0), (data, one, 1),
                                (calls, {'solver/model': {'one': 'a b c'}}, 2)):
        if len(list(modules.faults(found, (table,)))) != count:
            yield 'of %s with %s not %d faults' % (sorted(found), table, count)


if __name__ == '__main__':
    sys.exit(report({'no room calls one that it may not include': check_build(sys.argv[1]),
                     'the check sees a planted call': check_itself,
                     'files call each other in a cycle within a module': check_cycles(sys.argv[1]),
                     'files are in the order of the README': check_order(sys.argv[1]),
                     'the check sees a planted cycle': check_cycles_itself}, ROOT))
