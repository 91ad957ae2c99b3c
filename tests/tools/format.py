"""The layout of C files is clang-format's (version 14, .clang-format); text files end their lines
with one line feed and carry no trailing blanks; braces stand around every branch."""
import re
import shutil
import subprocess
import sys
from tree import report, without_strings

TEXT = ('.c', '.h', '.cpp', '.def', '.py', '.build', '.md', '.js', '.ts', '.css', '.html', '.sh',
        '.yaml', '.yml', '.json', '.txt', '.mjs')


def clang_format():
    return shutil.which('clang-format-14') or shutil.which('clang-format')


def check_layout(tree):
    program = clang_format()
    files = tree.files('.c', '.h', '.cpp')
    if not program:
        return ['clang-format 14 is not installed']
    version = subprocess.run([program, '--version'], stdout=subprocess.PIPE).stdout.decode()
    if not re.search(r'version 14\.', version):
        return ['clang-format is not version 14: ' + version.strip()]
    if not files:
        return []
    done = subprocess.run([program, '--dry-run', '-Werror', '--style=file', '--ferror-limit=1'] +
                          files, cwd=tree.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = [line for line in done.stdout.decode().split('\n') if ' error: ' in line]
    return [] if done.returncode == 0 else lines or ['clang-format failed']


def check_ends(tree):
    for path in tree.files(*TEXT):
        text = tree.text(path)
        if '\r' in text:
            yield '%s: a carriage return' % path
        if text and not text.endswith('\n') or text.endswith('\n\n'):
            yield '%s: ends without one line feed' % path
        if path.endswith('.md'):
            continue
        for number, line in enumerate(text.split('\n'), 1):
            if line != line.rstrip(' \t'):
                yield '%s:%d: blanks at the end of the line' % (path, number)
            if '\t' in line and path.endswith(('.c', '.h', '.cpp', '.py', '.def')):
                yield '%s:%d: a tab' % (path, number)


def check_braces(tree):
    """A branch or loop opens a brace before its next line ends in a semicolon."""
    head = re.compile(r'^\s*(?:\} )?(?:else if|if|for|while|else)\b')
    for path in tree.files('.c', '.h', '.cpp'):
        lines = without_strings(tree.code(path)).split('\n')
        for i, line in enumerate(lines):
            if not head.match(line) or re.match(r'\s*(\} )?while\b.*(;|\(0\))', line):
                continue
            depth, text, j = 0, '', i
            while j < len(lines) and j < i + 12:
                text += lines[j].rstrip('\\').strip() + ' '
                depth += lines[j].count('(') - lines[j].count(')')
                if depth <= 0:
                    break
                j += 1
            if not text.rstrip().endswith('{'):
                yield '%s:%d: a branch without braces' % (path, i + 1)


CHECKS = {
    'every C file is laid out by clang-format': check_layout,
    'lines and files end as they should': check_ends,
    'every branch has its braces': check_braces,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
