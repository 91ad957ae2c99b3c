"""One idiom a room, as CONTRIBUTING says: how a pointer is tested, how an error is forwarded."""
import collections
import re
import sys
from tree import report, without_strings

# where a pointer is a condition by itself; elsewhere it is compared with NULL
ALONE = ('solver/', 'clients/', 'protocol/fmi/')
COMPARED = ('protocol/bind/', 'protocol/frame/', 'protocol/wire/', 'server/')

BODY = re.compile(r'^[a-z][^;{}=]*\)\s*\n\{\n.*?^\}', re.M | re.S)
STRUCT = re.compile(r'^struct \w+ \{\n(.*?)^\}', re.M | re.S)
QUALIFIED = r'(?:(?:static|const|unsigned|struct|enum|union|_Atomic)\s+)*\w+\s+'
DECLARED = re.compile(r'^\s+(?:for \()?%s(?:const\s*)?\*+\s*(?:const\s+|restrict\s+)?'
                      r'(\w+)\s*(?:=|;|,|\[)[^;]*' % QUALIFIED, re.M)
MORE = re.compile(r',\s*\*+\s*(?:const\s+|restrict\s+)?(\w+)\s*(?==|;|,|$)')
PARAMETER = re.compile(r'\*+\s*(?:const\s+|restrict\s+)?(\w+)\s*(?=[,)\[])')
TESTED = re.compile(r'!((?:\w+(?:->|\.))*)(\w+)\b(?!\s*(?:\(|\[|->|\.))|'
                    r'(?:\b(?:if|while) \(|&& |\|\| )((?:\w+(?:->|\.))*)(\w+)'
                    r'(?=\)? (?:\{|&&|\|\||\?)|\)(?: \{|;))')
FORWARDED = re.compile(r'\b(\w+) = [^;=]*;\s*if \(\1(?: != 0)?\) \{\s*return \1;\s*\}')


def sources(tree, rooms):
    return [p for p in tree.files('.c', '.h') if p.startswith(rooms)]


def is_number(line, compared):
    """A comparison in brackets of its own, which is added to others or stands for a number."""
    depth, at = 0, compared.start()
    while at > 0 and depth >= 0:
        at -= 1
        depth += (line[at] == ')') - (line[at] == '(')
    return depth < 0 and line[compared.end():compared.end() + 1] == ')' and bool(
        re.search(r'(?:[-+=<>?:,]|^|return)\s*$', line[:at]) or
        re.match(r'\) *(?:\+|[=!]=|[<>]|$)', line[compared.end():]))


def check_alone(tree):
    for path in sources(tree, ALONE):
        for number, line in enumerate(without_strings(tree.code(path)).split('\n'), 1):
            if any(not is_number(line, m) for m in re.finditer(r'[!=]= NULL\b', line)):
                yield '%s:%d: !p or p, not NULL: %s' % (path, number, line.strip())


def pointers_in(code):
    """The members that are pointers in every struct that has one of that name."""
    kinds = collections.defaultdict(set)
    for struct in STRUCT.finditer(code):
        for member in re.finditer(r'([\w*]+[ *]+|, ?\**)(\w+)(\[[^;]*?\])*(?=[;,])',
                                  struct.group(1)):
            kinds[member.group(2)].add('*' in member.group(1) and not member.group(3))
    return {name for name, kind in kinds.items() if kind == {True}}


def check_compared(tree):
    paths = sources(tree, COMPARED)
    code = {p: without_strings(tree.code(p)) for p in paths}
    members = pointers_in('\n'.join(code.values()))
    for path in paths:
        for body in BODY.finditer(code[path]):
            text = body.group(0)
            head = text[:text.index('\n{')]
            names = set(PARAMETER.findall(head))
            for declaration in DECLARED.finditer(text):
                names.add(declaration.group(1))
                names.update(MORE.findall(declaration.group(0)))
            for test in TESTED.finditer(text):
                through, name = test.group(1) or test.group(3), test.group(2) or test.group(4)
                if name in (members if through else names):
                    number = code[path].count('\n', 0, body.start() + test.start()) + 1
                    yield '%s:%d: %s%s is compared with NULL' % (path, number, through or '', name)


def check_forwarded(tree):
    for path in sources(tree, ALONE + COMPARED):
        code = tree.code(path)
        for found in FORWARDED.finditer(code):
            yield '%s:%d: MECH_TRY forwards %s' % (
                path, code.count('\n', 0, found.start()) + 1, found.group(1))


CHECKS = {
    'a pointer is a condition by itself in solver, clients and protocol/fmi': check_alone,
    'a pointer is compared with NULL in server and the rest of protocol': check_compared,
    'what a function returns is forwarded by MECH_TRY': check_forwarded,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
