"""The verification book: runs the programs of this folder and the tests against published numbers,
and writes what they compared: a page for each, with plots of errors and orders, and an index.

    book.py BUILD [PAGE...]    prints the index, or pages
    book.py BUILD --write      writes tests/verify/README.md, tests/verify/book.svg, the pages and
                               plots of tests/verify/book, and the summary between the marks of the
                               README at the top

Every figure is one that a test of the gate compares in that run; a test that fails ends it."""
import os
import re
import sys
import textwrap
import book_numbers
import book_pages
import book_sources

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PUBLISHED = ('published', 'references')
COLUMNS = 119
# of the README at the top
BEGIN, END = '<!-- tests/verify/book.py prints from here -->', '<!-- up to here -->'
SUMMARY = """Results are compared with closed forms, balances, literal implementations and \
published numbers (of Exudyn, of Siconos, and of ADAMS from the IFToMM library of benchmarks): \
{:,} comparisons in {} programs, and {} over HTTP and ZeroMQ. [The verification book]\
(tests/verify/README.md), printed by `tests/verify/book.py`, has a page for each of these programs \
and published cases: sources, errors beneath their bars, and observed orders."""


def with_summary(readme, counts):
    """The README at the top with the counts of this run; ends all where its marks are missing."""
    head, begin, rest = readme.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        sys.exit('README.md has not the marks %s and %s' % (BEGIN, END))
    text = textwrap.fill(SUMMARY.format(*counts), COLUMNS, break_long_words=False,
                         break_on_hyphens=False)
    return '%s%s\n%s\n%s%s' % (head, BEGIN, text, END, tail)


def measured(build):
    """Pages of the programs, and of the tests of published numbers."""
    with open(os.path.join(HERE, 'units.def'), encoding='utf-8') as f:
        names = re.findall(r'^UNIT\((\w+),', f.read(), re.M)
    programs, published = [], []
    for name in names:
        program = os.path.join(build, 'tests', 'verify-' + name.replace('_', '-'))
        rows = book_numbers.rows(book_numbers.pairs([program], ROOT))
        programs.append(book_pages.of_program(name, rows))
    for module in PUBLISHED:
        command = [sys.executable, os.path.join('tests', 'integration', 'test_%s.py' % module)]
        rows = book_numbers.rows(book_numbers.pairs(command, ROOT))
        published += book_pages.of_published(module, rows)
    published.sort(key=lambda page: page.name)
    book_sources.check(names, [test for page in published for test in page.comments])
    return programs, published


def write(documents):
    """Writes the book, and removes what is of pages that are no more."""
    folder = os.path.join(HERE, 'book')
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        if 'book/' + name not in documents:
            os.remove(os.path.join(folder, name))
    for path, text in documents.items():
        with open(os.path.join(HERE, path), 'w', encoding='utf-8') as f:
            f.write(text)


def main(build, wanted, is_writing):
    os.environ['MECHD_TESTS_BUILD'] = build = os.path.abspath(build)
    programs, published = measured(build)
    documents = book_pages.documents(programs, published, book_numbers.KERNELS,
                                     book_numbers.ROUNDING)
    if not is_writing:
        for name in wanted or ['']:
            print(documents['book/%s.md' % name if name else 'README.md'])
        return
    counts = book_pages.count_of(programs, published)
    top = os.path.join(ROOT, 'README.md')
    with open(top, encoding='utf-8') as f:
        documents[os.path.relpath(top, HERE)] = with_summary(f.read(), counts)
    write(documents)
    print('%d comparisons in %d programs, and %d over HTTP and ZeroMQ' % counts)


if __name__ == '__main__':
    if len(sys.argv) < 2 or sys.argv[1].startswith('-'):
        sys.exit(__doc__)
    main(sys.argv[1], [a for a in sys.argv[2:] if not a.startswith('-')], '--write' in sys.argv[2:])
