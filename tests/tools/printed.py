"""The generated documents as committed are what the tables print: OpenAPI, JSON Schema, the types
of the answers for Python, and the table of error codes in protocol/README.md. With --write the
committed copies are brought up to date. The check is shown that it sees a difference: a copy with
one changed letter must fail."""
import difflib
import json
import os
import subprocess
import sys
import replies
from tree import ROOT

sys.path.insert(0, os.path.join(ROOT, 'tests', 'integration'))
from harness import program  # noqa: E402

WHOLE = {'openapi': 'protocol/openapi.json', 'schema': 'protocol/schema/model.schema.json',
         'replies': 'clients/python/mechd/replies.py'}
PART = {'errors': 'protocol/README.md'}
MOST = 12  # lines of a difference that are shown


def printed(what):
    if what == 'replies':
        return replies.text(json.loads(printed('openapi')))
    done = subprocess.run([program('mechd'), '--print', what], stdout=subprocess.PIPE, timeout=60)
    if done.returncode != 0 or not done.stdout:
        raise SystemExit('mechd --print %s ended with %d' % (what, done.returncode))
    return done.stdout.decode()


def read(path):
    try:
        with open(os.path.join(ROOT, path), encoding='utf-8') as f:
            return f.read()
    except FileNotFoundError:
        return ''


def table_of(page):
    """The lines of the page's table of codes."""
    lines = page.split('\n')
    start = next((i for i, line in enumerate(lines) if line.startswith('| number | HTTP |')), None)
    if start is None:
        return ''
    end = start
    while end < len(lines) and lines[end].startswith('|'):
        end += 1
    return '\n'.join(lines[start:end]) + '\n'


def is_same(what, committed, text):
    return (committed if what in WHOLE else table_of(committed)) == text


def write(what, path, committed, text):
    if what in PART:
        text = committed.replace(table_of(committed), text) if table_of(committed) else committed
    with open(os.path.join(ROOT, path), 'w', encoding='utf-8') as f:
        f.write(text)


def differences(what, committed, text):
    """The first lines of the two that differ."""
    old = committed if what in WHOLE else table_of(committed)
    lines = difflib.unified_diff(old.split('\n'), text.split('\n'), 'committed', 'printed', n=0,
                                 lineterm='')
    return ['    ' + line[:200] for line in lines][:MOST]


def main(is_writing):
    passed, failed = 0, 0
    for what, path in {**WHOLE, **PART}.items():
        text, committed = printed(what), read(path)
        if is_writing and not is_same(what, committed, text):
            write(what, path, committed, text)
            committed = read(path)
            print('%s: written' % path)
        good = is_same(what, committed, text)
        # one letter less must be seen
        good_test = not is_same(what, committed.replace('invalid-model', 'invalid-mode', 1)
                                if 'invalid-model' in committed else committed[:-2], text)
        if path.endswith('.json'):
            json.loads(text)
        if not good:
            print('FAILED %s is not what mechd --print %s prints; '
                  'tests/tools/printed.py --write brings it up to date' % (path, what))
            print('\n'.join(differences(what, committed, text)))
        if not good_test:
            print('FAILED a changed letter in %s is not seen' % path)
        passed += good + good_test
        failed += (not good) + (not good_test)
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main('--write' in sys.argv[1:]))
