"""The generated documents as committed are what the tables print: OpenAPI, JSON Schema, the types
of the answers for Python and of the page, and the table of error codes in protocol/README.md; and
the page, plots and summary of the benchmark book are what its data print. With --write the
committed copies are brought up to date. The check is shown that it sees a difference: a copy with
one changed letter must fail, and a changed figure must change the book's page."""
import difflib
import json
import os
import subprocess
import sys
import keywords
import page_types
import replies
from tree import ROOT

sys.path[:0] = [os.path.join(ROOT, 'tests', folder) for folder in ('bench', 'integration')]
import book  # noqa: E402
import book_page  # noqa: E402
from harness import program  # noqa: E402

WHOLE = {'openapi': 'protocol/openapi.json', 'schema': 'protocol/schema/model.schema.json',
         'replies': 'clients/python/mechd/replies.py', 'page': 'clients/web/schemas.d.ts'}
PART = {'errors': 'protocol/README.md'}
MOST = 12  # lines of a difference that are shown


def printed(what):
    if what == 'replies':
        return replies.text(json.loads(printed('openapi')))
    if what == 'page':
        return page_types.text(json.loads(printed('openapi')))
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


def book_faults(is_writing):
    """Faults of the benchmark book: documents that its data do not print, plots of another run."""
    if not os.path.exists(book.DATA):
        print('the benchmark book has no data: tests/bench/book.py BUILD --write measures them')
        yield from ('%s has a page of the book without its data' % path for path in book_page.PAGES
                    if book_page.BEGIN + '\n' + book_page.END not in read(path))
        return
    data = book.read_data()
    documents = book_page.documents(data, ROOT)
    if is_writing:
        book.write(data)
    for path, text in documents.items():
        if read(path) != text:
            yield '%s is not what tests/bench/book.py --print --write writes' % path
    plots = os.path.join('tests', 'bench', 'plots')
    for name in sorted(os.listdir(os.path.join(ROOT, plots))):
        if os.path.join(plots, name) not in documents:
            yield '%s/%s is no plot of the book' % (plots, name)
    if read(os.path.relpath(book.DATA, ROOT)) != book.text_of(data):
        yield 'tests/bench/book.json is not as tests/bench/book.py writes it'
    for program_of in (p for section in data['sections'].values() for p in section['programs']):
        for row in program_of.get('rows', []):
            for key in ('ns', 'value', 'times'):
                if key in row:
                    row[key] *= 1.5
    if book_page.documents(data, ROOT)['tests/bench/README.md'] == documents[
            'tests/bench/README.md']:
        yield 'a changed figure in tests/bench/book.json does not change the page'


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
    if is_writing:
        keywords.write()
    faults = list(book_faults(is_writing))
    print(''.join('FAILED %s\n' % fault for fault in faults), end='')
    passed, failed = passed + (not faults), failed + len(faults)
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main('--write' in sys.argv[1:]))
