"""The pages of the verification book: one for each program of this folder and for each test against
published numbers, with what is compared, from where that is, errors beneath their bars and orders;
and the index, README.md."""
import ast
import os
import re
from dataclasses import dataclass, field
import book_plots
import book_sources

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = """# The verification book

The comparisons of mechd with closed forms, published numbers, balances and literal implementations:
a page for each program of this folder and for each test of published numbers, with the source,
error and bar of each comparison, and with observed orders beside the expected ones. All pages are
printed from the tests' own numbers by

    /usr/bin/python3 tests/verify/book.py build/tests/release --write

`tests/run verify` and `tests/run integration` fail where a number leaves its bar. "Share" is the
error that comes nearest to its bar, as a part of it: far below 1 is right to rounding, near 1 is
what the method at that step size, or the closed form, leaves out, from which the bar was derived.

Each program runs with two kernels of OpenBLAS (%s); digits are those that both runs
have in common. An error below %.0e, beside the number or absolute, is called rounding; one of which
the runs share no digit stands as the decade that both are below. On another machine the last digit
may differ.

%d comparisons in %d programs, and %d over HTTP and ZeroMQ with published numbers and closed forms.
%d of them are observed orders.

![Largest error of each page, as a part of its bar](book.svg)
"""
# of sentences made of names
WORDS = {'http': 'HTTP', 'zeromq': 'ZeroMQ', 'lti': 'LTI', 'rhs': 'right-hand side', 'klu': 'KLU',
         'moreau jean': 'Moreau–Jean', 'euler moreau': 'Euler–Moreau', 'newton': 'Newton',
         'newtons': "Newton's", 'euler': 'Euler', 'bernoulli': 'Bernoulli', 'bessel': 'Bessel'}


@dataclass
class Page:
    """A program, or a test of published numbers."""
    name: str  # of its file, without .md
    title: str
    text: str  # what it is about
    source: str
    alone: str  # what runs it alone
    rows: list  # of its numbers
    comments: dict  # of its tests, in their order: what stands before each
    orders: list = field(default_factory=list)  # the rows that are observed orders
    errors: list = field(default_factory=list)  # the others

    def __post_init__(self):
        self.orders = [r for r in self.rows if r.order]
        self.errors = [r for r in self.rows if not r.order]

    @property
    def share(self):
        """Of its bar, the largest; None: all is rounding, or there are no numbers."""
        return max((r.share for r in self.rows if r.share and r.order != 'from'),
                   key=lambda s: float(s.lstrip('< ')), default=None)


def sentence(name):
    """A name of C or Python in words."""
    words = re.sub('^test_', '', name).replace('_', ' ')
    for plain_word, word in WORDS.items():
        words = re.sub(r'\b%s\b' % plain_word, word, words)
    return words


def title(name):
    words = sentence(name)
    return words[0].upper() + words[1:]


def plain(comment):
    """A comment of C or Python as paragraphs; what is set off in it is a formula."""
    lines = [re.sub(r'^ ?\*(?: |$)|^ (?=\S)', '', line).rstrip() for line in comment.split('\n')]
    return '\n'.join('    ' + line.strip() if re.match('   ', line) else line
                     for line in lines).strip()


def of_program(name, rows):
    with open(os.path.join(HERE, name + '.c'), encoding='utf-8') as f:
        text = f.read()
    before = r'(?:/\*((?:(?!\*/).)*)\*/\n)?static void %s\(void\)\n'
    comments = {}
    for test in re.findall(r'UNIT_TEST\((\w+)\)', text[text.index('UNIT_TESTS('):]):
        comments[test] = plain(re.search(before % test, text, re.S).group(1) or '')
    return Page(name, title(name),
                plain(re.match(r'/\*(.*?)\*/', text, re.S).group(1)), book_sources.PROGRAMS[name],
                'tests/run verify:' + name, rows, comments)


def of_published(module, rows):
    """Pages for the tests of a module of tests/integration."""
    path = os.path.join(HERE, '..', 'integration', 'test_%s.py' % module)
    with open(path, encoding='utf-8') as f:
        text = f.read()
    about = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith('test_'):
            about[node.name] = ast.get_docstring(node) or ''
    for test, words in about.items():
        door = 'ZeroMQ' if test.endswith('zeromq') else 'HTTP'
        yield Page('published_' + re.sub('^test_', '', test), title(test),
                   words or 'Over %s the daemon creates the models, takes their steps and is asked '
                   'for what they came to.' % door,
                   book_sources.of_test(test), 'tests/run integration:' + module,
                   [r for r in rows if r.test == test], {test: ''})


def cell(words):
    return words.replace('|', '\\|')


def quantity(r):
    """What a row compares: of C, the expression."""
    words = ', '.join(w for w in (r.case, r.text) if w)
    return cell(words) if r.case or not re.search(r'[^ \w]', words) else '`%s`' % cell(words)


def table_of_errors(page, test, first):
    lines = ['| no. | compared | numbers | found | expected | error | bar | share |%s' % (
        ' source |' if len(page.source.split('; ')) > 1 and page.name.startswith('published')
        else ''), '|---|---|---|---|---|---|---|---|']
    has_source = lines[0].endswith('source |')
    lines[1] += '---|' if has_source else ''
    for k, r in enumerate(page.errors):
        if r.test == test:
            model = re.match('model ([^,]*)', r.case)
            lines.append('| %d | %s | %d | %s | %s | %s | %s | %s |%s' % (
                first + k, quantity(r), r.count, r.found, r.expected, r.error, r.bar, r.share,
                ' %s |' % book_sources.of_model(test, model and model.group(1))
                if has_source else ''))
    return lines + ['']


def table_of_orders(page):
    first = len(page.errors) + 1
    lines = ['## Observed orders', '', '![Observed orders](%s-orders.svg)' % page.name, '',
             '| no. | test | of | observed | expected |', '|---|---|---|---|---|']
    for k, r in enumerate(page.orders):
        lines.append('| %d | %s | %s | %s | %s |' % (
            first + k, sentence(r.test), cell(r.text), r.found,
            'from ' + r.expected if r.order == 'from' else '%s ± %s' % (r.expected, r.bar)))
    return lines + ['']


def printed(page):
    """A page in full."""
    count = sum(r.count for r in page.rows)
    lines = ['# ' + page.title, '', page.text, '',
             '**Compared with**: %s.' % page.source, '',
             '**%s**' % ('%d comparisons' % count if count else 'Conditions, without numbers') +
             ' in %d %s; alone: `%s`.' % (
                 len(page.comments), 'tests' if len(page.comments) > 1 else 'test', page.alone) +
             (' The largest error is %s of its bar.' % page.share if page.share else ''), '']
    if page.errors:
        lines += ['![Errors beneath their bars](%s.svg)' % page.name, '']
    if page.orders:
        lines += table_of_orders(page)
    lines += ['## Tests', '']
    for test, comment in page.comments.items():
        if len(page.comments) > 1:
            lines += ['### ' + title(test), '']
        lines += [comment, ''] if comment else []
        if any(r.test == test for r in page.errors):
            lines += table_of_errors(page, test, 1)
        elif any(r.test == test for r in page.orders):
            lines += ['Its numbers are the orders above.', '']
        else:
            lines += ['Conditions, without numbers.', '']
    lines += ['[All pages](../README.md)', '']
    return '\n'.join(lines)


def pictures(page):
    """{name of the file: its text}"""
    found = {}
    if page.errors:
        found[page.name + '.svg'] = book_plots.errors(
            page.title + ': errors beneath their bars', page.errors)
    if page.orders:
        found[page.name + '-orders.svg'] = book_plots.orders(
            page.title + ': observed orders', page.orders, len(page.errors) + 1)
    return found


def index(programs, published, kernels, rounding):
    """README.md: all pages."""
    counts = count_of(programs, published)
    orders = sum(r.count for p in programs for r in p.orders)
    lines = [HEAD % (' and '.join(kernels), rounding, *counts, orders)]
    for heading, pages in (('Published numbers, over HTTP and ZeroMQ', published),
                           ('Programs', programs)):
        lines += ['## ' + heading, '', '| page | compared with | numbers | orders | share |',
                  '|---|---|---|---|---|']
        for p in pages:
            lines.append('| [%s](book/%s.md) | %s | %s | %s | %s |' % (
                p.title, p.name, p.source, sum(r.count for r in p.rows) or '–',
                len(p.orders) or '–', p.share or ('rounding' if p.errors else '–')))
        lines.append('')
    return '\n'.join(lines)


def count_of(programs, published):
    """Comparisons in programs, programs that compare numbers, comparisons over the network."""
    return (sum(r.count for p in programs for r in p.rows), sum(bool(p.rows) for p in programs),
            sum(r.count for p in published for r in p.rows))


def documents(programs, published, kernels, rounding):
    """{path in this folder: text} of the whole book."""
    found = {'README.md': index(programs, published, kernels, rounding),
             'book.svg': book_plots.shares(
                 'Largest error of each page, as a part of its bar',
                 [(p.title, p.share) for p in published + programs if p.errors])}
    for page in published + programs:
        found['book/%s.md' % page.name] = printed(page)
        found.update(('book/' + name, text) for name, text in pictures(page).items())
    return found
