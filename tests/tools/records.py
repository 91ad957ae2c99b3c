"""The table of tests/README.md with the last result of each long run. A run prints its line; with
MECHD_TESTS_RECORD=yes it also replaces the line that the table has of the same command, or adds it
where there is none."""
import os
import re
import time
from tree import ROOT

PAGE = os.path.join('tests', 'README.md')
HEAD = '| command | what was done | result | when |\n|---|---|---|---|\n'


def line(command, done, result, when):
    return '| `%s` | %s | %s | %s |\n' % (command, done, result, when)


def with_line(page, text):
    """The page with this line of the table."""
    before, head, after = page.partition(HEAD)
    assert head, 'the page has no table of long runs'
    rows = re.match(r'(?:\|.*\n)*', after).group()
    kept = ''.join(row for row in rows.splitlines(True)
                   if row.split(' | ')[0] != text.split(' | ')[0])
    return before + head + kept + text + after[len(rows):]


def record(command, done, result, root=ROOT):
    text = line(command, done, result, time.strftime('%Y-%m-%d'))
    print(text, end='', flush=True)
    if os.environ.get('MECHD_TESTS_RECORD') != 'yes':
        return
    path = os.path.join(root, PAGE)
    with open(path, encoding='utf-8') as f:
        page = f.read()
    with open(path, 'w', encoding='utf-8') as f:
        f.write(with_line(page, text))
