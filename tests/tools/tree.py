"""The source tree as the checks of tests/tools see it: its files, their text, their code without
comments, the lines of its registries; and how a check reports."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Tree:
    def __init__(self, root=ROOT):
        self.root = os.path.abspath(root)
        self.paths = sorted(p for p in self._list() if os.path.isfile(self.at(p)))

    def _list(self):
        """Tracked files and new ones that are not ignored; every file where there is no git."""
        if os.path.exists(os.path.join(self.root, '.git')):
            out = subprocess.run(['git', '-c', 'safe.directory=*', 'ls-files', '-co', '-z',
                                  '--exclude-standard'], cwd=self.root, check=True,
                                 stdout=subprocess.PIPE).stdout
            return set(filter(None, out.decode().split('\0')))
        found = set()
        for folder, folders, names in os.walk(self.root):
            folders[:] = [f for f in folders if f not in ('node_modules', '__pycache__')]
            found.update(os.path.relpath(os.path.join(folder, n), self.root) for n in names)
        return found

    def at(self, path):
        return os.path.join(self.root, path)

    def files(self, *suffixes, under=''):
        return [p for p in self.paths if p.endswith(suffixes) and p.startswith(under)]

    def text(self, path):
        with open(self.at(path), encoding='utf-8', errors='surrogateescape', newline='') as f:
            return f.read()

    def code(self, path):
        return without_comments(self.text(path))

    def members(self, path, macro):
        """[(line number, [arguments])] of a registry's lines MACRO(a, b, "c")."""
        found = []
        for number, line in enumerate(self.code(path).split('\n'), 1):
            match = re.match(r'\s*%s\((.*)\)\s*$' % macro, line)
            if match:
                found.append((number, split_arguments(match.group(1))))
        return found


def without_comments(text):
    """C text with comments blanked and line ends kept; strings stay."""
    pattern = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)

    def blank(match):
        found = match.group(0)
        return found if found[0] in '"\'' else re.sub(r'[^\n]', ' ', found)
    return pattern.sub(blank, text)


def without_strings(code):
    """Code in which the contents of strings and characters are blanked."""
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
                  lambda m: m.group(0)[0] + ' ' * (len(m.group(0)) - 2) + m.group(0)[0], code)


def split_arguments(text):
    """Splits at the commas outside brackets and strings."""
    parts, depth, start, quoted, i = [], 0, 0, False, 0
    while i < len(text):
        c = text[i]
        if quoted:
            i += c == '\\'
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c in '([{':
            depth += 1
        elif c in ')]}':
            depth -= 1
        elif c == ',' and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
        i += 1
    parts.append(text[start:].strip())
    return [p for p in parts if p]


def objects(document):
    """All objects of a document in JSON, itself first."""
    if isinstance(document, dict):
        yield document
    for part in document.values() if isinstance(document, dict) else \
            document if isinstance(document, list) else ():
        yield from objects(part)


def report(checks, root=None):
    """Runs {sentence: function(tree) -> faults}; prints the faults; returns the exit code."""
    tree = Tree(root or (sys.argv[1] if len(sys.argv) > 1 else ROOT))
    failed = 0
    for sentence, check in checks.items():
        faults = list(check(tree))
        if faults:
            failed += 1
            print('FAILED %s' % sentence)
            for fault in faults[:40]:
                print('    ' + fault)
            if len(faults) > 40:
                print('    and %d more' % (len(faults) - 40))
    print('%d passed, %d failed' % (len(checks) - failed, failed))
    return 1 if failed else 0
