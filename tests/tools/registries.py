"""The registries (*.def): sorted, each line has its file, each file that defines a member has its
line, and no file outside a family's folder decides by the name or the symbol of a member. Modules
of tests in Python have no list; each runs its own."""
import re
import sys
from tree import report

# registry: macro, file of a member, symbol of a member ({} is its name, or {0} its family and {1}
# its name)
FAMILIES = {
    'solver/couple/schemes.def': ('MECH_SCHEME', 'solver/couple/{}.c', 'mech_scheme_{}'),
    'solver/items/items.def': ('MECH_ITEM', 'solver/items/{0}/{1}.c', 'mech_item_{0}_{1}'),
    'solver/contact/pairs.def': ('MECH_SHAPE_PAIR', 'solver/contact/pair_{}.c',
                                 'mech_shape_pair_{}'),
    'solver/lsol/lsols.def': ('MECH_LSOL', 'solver/lsol/{}.c', 'mech_lsol_{}'),
    'solver/step/steppers.def': ('MECH_STEPPER', 'solver/step/{}.c', 'mech_stepper_{}'),
    'solver/vi/vis.def': ('MECH_VI', 'solver/vi/{}.c', 'mech_vi_{}'),
    'server/store/databases.def': ('MECHD_DATABASE', 'server/store/{}.c', 'mechd_database_{}'),
    'server/engine/engines.def': ('MECHD_ENGINE', 'server/engine/{}.c', 'mechd_engine_{}'),
    'clients/cli/commands.def': ('MECHCTL_COMMAND', 'clients/cli/commands/{}.c', 'mechctl_{}'),
}
UNITS = ('unit', 'conformance', 'verify')


def families(tree):
    for path, (macro, file, symbol) in FAMILIES.items():
        if path in tree.paths:
            yield path, [(n, tuple(a)) for n, a in tree.members(path, macro)], file, symbol


def sorted_faults(path, keys, what):
    for (_, before), (number, after) in zip(keys, keys[1:]):
        if not before < after:
            yield '%s:%d: %s is not after %s (%s)' % (path, number, after, before, what)


def check_sorted(tree):
    for path, members, _, _ in families(tree):
        if not members:
            yield '%s: no members found' % path
        yield from sorted_faults(path, members, 'by name')
    for folder in UNITS:
        path = 'tests/%s/units.def' % folder
        if path in tree.paths:
            keys = [(n, a[0]) for n, a in tree.members(path, 'UNIT')]
            yield from sorted_faults(path, keys, 'by path')


def check_sorted_lists(tree):
    by = {
        'protocol/wire/codes.def': ('MECHP_CODE', lambda a: int(a[1]), 'by number'),
        'protocol/wire/routes.def': ('MECHP_ROUTE', lambda a: (a[2].strip('"'), a[1]),
                                     'by path, then method'),
        'protocol/wire/wants.def': ('MECHP_WANT', lambda a: a[1].strip('"'), 'by name'),
        'solver/base/outcomes.def': ('MECH_OUTCOME', lambda a: int(a[1]), 'by number'),
        'solver/items/outputs.def': ('MECH_OUTPUT', lambda a: a[1].strip('"'), 'by name'),
    }
    for path, (macro, key, what) in by.items():
        if path in tree.paths:
            keys = [(n, key(a)) for n, a in tree.members(path, macro)]
            if not keys:
                yield '%s: no members found' % path
            yield from sorted_faults(path, keys, what)


def check_files(tree):
    for path, members, file, symbol in families(tree):
        for number, name in members:
            expected = file.format(*name)
            if expected not in tree.paths:
                yield '%s:%d: %s is missing' % (path, number, expected)
            elif symbol and not re.search(r'\b%s\b\s*=\s*\{' % symbol.format(*name),
                                          tree.code(expected)):
                yield '%s: does not define %s' % (expected, symbol.format(*name))
    for folder in UNITS:
        path = 'tests/%s/units.def' % folder
        for number, arguments in tree.members(path, 'UNIT') if path in tree.paths else []:
            expected = 'tests/%s/%s.c' % (folder, arguments[0])
            if expected not in tree.paths:
                yield '%s:%d: %s is missing' % (path, number, expected)


def check_lines(tree):
    """A file that defines a member, or that holds tests, has its line."""
    for path, members, file, symbol in families(tree):
        names = {symbol.format(*name) for _, name in members}
        if not symbol:
            continue
        pattern = r'^(?:static )?const struct \w+ (%s\w+)\s*=' % symbol.split('{')[0]
        for source in tree.files('.c', under=file.split('{')[0]):
            for name in re.findall(pattern, tree.code(source), re.M):
                if name not in names:
                    yield '%s: %s has no line in %s' % (source, name, path)
    for folder in UNITS:
        path = 'tests/%s/units.def' % folder
        listed = {a[0] for _, a in tree.members(path, 'UNIT')} if path in tree.paths else set()
        for source in tree.files('.c', under='tests/%s/' % folder):
            name = source[len('tests/%s/' % folder):-2]
            if 'UNIT_TESTS(' in tree.code(source) and name not in listed:
                yield '%s: has no line in %s' % (source, path)


def check_modules(tree):
    """A module of tests runs them when it is run itself; without that it ends as if all were well.
    """
    for path in tree.files('.py', under='tests/'):
        if path.rsplit('/', 1)[-1].startswith('test_') and not re.search(
                r"^if __name__ == '__main__':\n(?:    .*\n)*    .*\bunittest\.main\(",
                tree.text(path), re.M):
            yield '%s: does not call unittest.main() where it is run itself' % path


def pages_of_book(tree):
    """The names of the verification book's pages: {name: who has it}."""
    found = {a[0]: 'tests/verify/units.def:%d' % n
             for n, a in tree.members('tests/verify/units.def', 'UNIT')}
    for module in ('published', 'references'):
        path = 'tests/integration/test_%s.py' % module
        for test in re.findall(r'^    def test_(\w+)\(', tree.text(path), re.M) \
                if path in tree.paths else []:
            found['published_' + test] = path
    return found


def check_book(tree):
    """Every program of verify and every test of published numbers has its page in the verification
    book, with its plots and a line in the index, and no other is there; the README at the top has
    the book's counts."""
    if 'tests/verify/units.def' not in tree.paths:
        return
    index, folder = 'tests/verify/README.md', 'tests/verify/book/'
    listed = tree.text(index) if index in tree.paths else ''
    wanted, again = {}, 'print it again (tests/verify/book.py)'
    for name, source in pages_of_book(tree).items():
        page = folder + name + '.md'
        wanted[page] = source
        if page in tree.paths:
            plots = re.findall(r'^!\[.*\]\((.*)\)$', tree.text(page), re.M)
            wanted.update((folder + plot, page) for plot in plots)
        if '(book/%s.md)' % name not in listed:
            yield '%s: does not list %s: %s' % (index, page, again)
    for path, source in wanted.items():
        if path not in tree.paths:
            yield '%s: %s is missing: %s' % (source, path, again)
    for path in tree.files('', under=folder):
        if path not in wanted:
            yield '%s: is of no program of verify and no published test: %s' % (path, again)
    counts = [re.findall(r'(\d+) comparisons in (\d+) programs and (\d+) over',
                         re.sub(r'\s+', ' ', tree.text(page).replace(',', '')))
              if page in tree.paths else [] for page in (index, 'README.md')]
    if counts[0] != counts[1]:
        yield 'README.md: has not the counts of %s: %s' % (index, again)


def member_names(tree, members, file):
    """The public names of a family's members: .name = "Mass1D" in their tables."""
    names = set()
    for _, member in members:
        path = file.format(*member)
        if path in tree.paths:
            table = tree.code(path).rsplit('const struct', 1)[-1]
            names.update(re.findall(r'\.name\s*=\s*"([^"]+)"', table)[:1])
    return names


def check_databases(tree):
    """Above the store nothing names a kind of database, nor a file of one."""
    path = 'server/store/databases.def'
    names = [a[0] for _, a in tree.members(path, 'MECHD_DATABASE')] if path in tree.paths else []
    named = re.compile(r'"[^"\n]*(?:%s)[^"\n]*"' % '|'.join(names or ['-^']), re.I)
    for source in tree.files('.c', '.h', under='server/'):
        code = tree.code(source) if not source.startswith('server/store/') else ''
        for match in named.finditer(code):
            if not re.match(r'\s*#include', code[code.rfind('\n', 0, match.start()) + 1:]):
                yield '%s:%d: names a kind of database: %s' % (
                    source, code[:match.start()].count('\n') + 1, match.group(0))


def check_no_decisions(tree):
    """Outside its folder no file compares with a member's name or uses its symbol."""
    for path, members, file, symbol in families(tree):
        folder = path.rsplit('/', 1)[0] + '/'
        names = member_names(tree, members, file)
        compare = re.compile(r'(strn?(case)?cmp|memcmp)\s*\(.*"(%s)"' %
                             '|'.join(map(re.escape, sorted(names)))) if names else None
        use = re.compile(r'\b%s\b' % '(%s)' % '|'.join(symbol.format(*m) for _, m in members)) \
            if symbol and members else None
        for source in tree.files('.c', '.h', '.cpp'):
            if source.startswith((folder, 'tests/')) or folder.startswith('clients/'):
                continue
            for number, line in enumerate(tree.code(source).split('\n'), 1):
                if compare and compare.search(line) or use and use.search(line):
                    yield '%s:%d: decides by a member of %s: %s' % (source, number, path,
                                                                    line.strip())
                if re.search(r'\bswitch\s*\(.*type->', line):
                    yield '%s:%d: a switch over types' % (source, number)


CHECKS = {
    'every registry of members is sorted': check_sorted,
    'every list is sorted': check_sorted_lists,
    'every member has its file': check_files,
    'every file of a member has its line': check_lines,
    'every module of tests runs its tests': check_modules,
    'every program of verify and every published test has its page': check_book,
    'nothing above the store names a kind of database': check_databases,
    'no file decides by a member outside its folder': check_no_decisions,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
