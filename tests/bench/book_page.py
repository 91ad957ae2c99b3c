"""The page, the plots and the summaries of the benchmark book, from its data alone (book.json,
which book.py writes)."""
import math
import os
import re
import statistics
import textwrap
import book_plots
import book_sizes
from peers import not_run

PAGES = ('tests/bench/README.md', 'README.md', 'deploy/README.md')
BEGIN, END = '<!-- tests/bench/book.py prints from here -->', '<!-- to here -->'
COLUMNS = 119
SECTIONS = {
    'kernels': 'Kernels',
    'models': 'Models with joints and items, couplings, FMUs',
    'contacts': 'Contacts',
    'scaling': 'Growth with the model, integrators',
    'http': 'HTTP',
    'zmq': 'ZeroMQ and the lane',
    'storage': 'Storage'}
# the other side of pairs without a line in bars.def, which names it
OTHERS = (
    ('connections with stored steps', 'a write and fdatasync for each'),
    ('connections beside nginx', 'nginx'),
    ('connections', 'libmicrohttpd, the same bytes'),
    ('links in space: ', 'MuJoCo'),
    ('.* / MuJoCo', 'MuJoCo'),
    ('.*parse, print', 'libmicrohttpd and jansson'),
    ('.*hello', 'libmicrohttpd, the same bytes'),
    ('.*the steps', 'libmicrohttpd, the steps'),
    ('.*implicit / formed', 'the matrix formed first'),
    ('.* / 50 sweeps', '50 sweeps'),
    ('.*, a window', 'the steps of both without a coupling'),
    ('.*2 workers / 1', 'one worker'),
    ('.*snprintf', 'snprintf'),
    ('stream', 'bare sockets of ZeroMQ'))
# plot: axes, unit of the second one in ns, and its families of rows "family: N", each with the
# lines that it gives: (name, key of the row, is mechd's)
PLOTS = {
    'links': ('links', 'µs a step', 1e3, {
        'links in the plane': [('in the plane', 'ns', True)],
        'links in space': [('in space', 'ns', True), ('in space, MuJoCo', 'floorNs', False)]}),
    'masses': ('masses', 'µs a step', 1e3, {
        'masses as one system': [('one system', 'ns', True)],
        'masses as items': [('items', 'ns', True)]}),
    'contacts': ('contacts', 'ms a step', 1e6, {
        'contacts of spheres': [('spheres in a box', 'ns', True)]}),
    'instances': ('instances', 'µs for ten steps of each, in one request', 1e3, {
        'instances in a request': [('mechd', 'ns', True)]}),
    'connections': ('connections', 'µs for a request on each', 1e3, {
        'connections': [('mechd', 'ns', True), ('libmicrohttpd', 'floorNs', False)],
        'connections beside nginx': [('nginx', 'floorNs', False)]}),
    'stored': ('connections with stored steps', 'ms for a step on each', 1e6, {
        'connections with stored steps': [('mechd', 'ns', True),
                                          ('a write and fdatasync for each', 'floorNs', False)]})}
MASSES = re.compile(r'(\d+) masses by (\w+)$')


def rows_of(data, section):
    return [row for program in data['sections'][section]['programs'] for row in program['rows']]


def all_rows(data):
    return [row for section in SECTIONS for row in rows_of(data, section)]


# --- figures --------------------------------------------------------------------------------------

def duration(ns):
    for unit, size in (('s', 1e9), ('ms', 1e6), ('µs', 1e3)):
        if ns >= size:
            return '%.3g %s' % (ns / size, unit)
    return '%.3g ns' % ns


def figure(x):
    return '%.3g' % x if abs(x) < 1000 else '%.0f' % x


def other(row, data):
    """What a pair is measured beside, libraries with their versions."""
    text = row.get('floor') or next((text for pattern, text in OTHERS
                                     if re.match(pattern, row['what'])), '')
    return re.sub('|'.join(map(re.escape, data['versions'])) or '$^',
                  lambda m: m.group(0) + ' ' + data['versions'][m.group(0)], text)


def points(data, family, key):
    """[(n, ns)] of the rows "family: n"."""
    found = []
    for row in all_rows(data):
        match = re.match(r'(.*): (\d+)$', row['what'])
        if match and match.group(1) == family and row.get(key):
            found.append((int(match.group(2)), row[key]))
    return sorted(found)


def slope(of):
    """The exponent p of y = c x^p by least squares of the logarithms."""
    x, y = [[math.log(p[k]) for p in of] for k in (0, 1)]
    mx, my = statistics.mean(x), statistics.mean(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def series(data):
    """{plot: [(line, points in ns, is mechd's)]}, without what was not measured."""
    found = {}
    for plot, (_, _, _, families) in PLOTS.items():
        of = [(name, points(data, family, key), ours)
              for family, names in families.items() for name, key, ours in names]
        of = [line for line in of if len(line[1]) > 1]
        if of:
            found[plot] = of
    return found


# --- the page -------------------------------------------------------------------------------------

def table(head, rows):
    return ['| %s |' % ' | '.join(head), '|' + '---|' * len(head)] + [
        '| %s |' % ' | '.join(cells) for cells in rows] + ['']


def cells(row, data):
    """case, mechd, beside, times, ±%, bar"""
    kind, name = row['kind'], row['what'].strip()
    if row['what'].startswith(' '):
        name = '– ' + name
    if kind == 'skipped':
        return [name, 'not measured', '', '', '', '']
    bar = figure(row['bar']) if row.get('bar') else ''
    if kind in ('pair', 'time'):
        beside = other(row, data)
        pair = [duration(row['floorNs']) + (', ' + beside if beside else ''), figure(row['value']),
                '%.0f' % (50 * (row['high'] - row['low']) / row['value'])] \
            if kind == 'pair' else ['', '', '']
        return [name, duration(row['ns'])] + pair + [bar]
    return [name, figure(row['value']), '', '', '', bar]


def about(data):
    at, versions = data['machine'], ', '.join('%s %s' % v for v in sorted(data['versions'].items()))
    return ('Measured on %s in %d s on %s, %d processors; the load of the machine before was %.1f. '
            'Versions: %s.' % (data['date'], data['seconds'], at['processor'], at['cores'],
                               at['load'], versions))


def slopes(data):
    lines = ['### Slopes', '',
             'The time grows with the number n as n to the power p: over all points, and over the '
             'last two.', '']
    rows = []
    for plot, of in series(data).items():
        for name, found, _ in of:
            rows.append(['%s, %s' % (PLOTS[plot][0], name),
                         '%d to %d' % (found[0][0], found[-1][0]), '%.2f' % slope(found),
                         '%.2f' % slope(found[-2:]), duration(found[-1][1])])
    lines += table(['n', 'from … to', 'p', 'p at the end', 'time at the end'], rows)
    for plot in series(data):
        lines += ['![%s over %s](plots/%s.svg)' % (PLOTS[plot][1], PLOTS[plot][0], plot), '']
    if integrators(data):
        lines += ['![µs a step of 64 masses by each integrator](plots/integrators.svg)', '']
    return lines


def integrators(data):
    return [(match.group(2), 1e-3 * row['ns']) for row in rows_of(data, 'scaling')
            for match in [MASSES.match(row['what'])] if match]


def section(data, name):
    lines = ['### ' + SECTIONS[name], '']
    for program in data['sections'][name]['programs']:
        lines += ['`bench-%s`, %s:' % (program['name'], times(program['runs'])), '']
        lines += table(['case', 'mechd', 'beside', 'times', '±%', 'bar'],
                       [cells(row, data) for row in program['rows']])
    return lines


def times(runs):
    return 'one run' if runs == 1 else 'medians of %d runs' % runs


def peers(data):
    lines = ['### Other programs', '',
             'The same models and step sizes, in turns in this run; "times" is how many times as '
             'long mechd takes.', '']
    for found in data['sections']['peers']['programs']:
        if found['version'] is None:
            lines += [not_run(found) + '.', '']
            continue
        built = ', built %s' % found['built'] if 'built' in found else ''
        lines += ['**%s %s**%s, %s: %s.' % (found['name'], found['version'], built,
                                            times(found['runs']), found['how']), '']
        lines += table(['case', 'unit', 'mechd', found['name'], 'times'], [
            [row['what'], row['unit'], figure(row['ours']), figure(row['theirs']),
             figure(row['times'])] for row in found['rows']])
    return lines


def page(data):
    lines = ['## The book', '', about(data), '',
             'A row is a median; "beside" ran in turns with it, "times" is the median of the '
             'ratios of such pairs, "±%" half the width of its 99 % interval, "bar" the most that '
             'it may be (without margin). A row without "beside" that has no time is a value in '
             'the unit that it names.', '']
    lines += slopes(data)
    for name in SECTIONS:
        if data['sections'][name]['programs']:
            lines += section(data, name)
    lines += peers(data)
    left = [program for of in data['sections'].values() for program in of['left']]
    if left:
        lines += ['Not measured in this run: %s.' % ', '.join(left), '']
    return '\n'.join(wrapped(line) for line in lines)


def wrapped(line):
    return line if line.startswith(('|', '!')) else textwrap.fill(
        line, COLUMNS, break_long_words=False, break_on_hyphens=False)


# --- the summary ----------------------------------------------------------------------------------

def span(values, form='%.2g'):
    """"a" or "a to b"."""
    low, high = form % min(values), form % max(values)
    return low if low == high else '%s to %s' % (low, high)


def pair(data, what):
    return next((row['value'] for row in all_rows(data)
                 if row['what'] == what and row['kind'] == 'pair'), None)


def growth(data):
    found = ['%s of %s' % (span([slope(p) for _, p, ours in of if ours], '%.2f'), PLOTS[plot][0])
             for plot, of in series(data).items() if any(ours for _, _, ours in of) and
             plot in ('links', 'masses', 'contacts', 'instances')]
    return 'The time of a step grows with the power %s.' % ', '.join(found) if found else ''


def served(data):
    found = []
    for what, text in (
            ('step, tcp 64 / hello', 'a step over HTTP on 64 connections takes %.2g times as long '
             'as an answer of the same size by bare libmicrohttpd'),
            ('connections beside nginx: 64', '%.2g times as long as one by nginx'),
            ('step as a frame / a frame back', 'a step over ZeroMQ takes %.2g times as long as a '
             'frame there and back'),
            ('connections with stored steps: 64', 'a stored step on 64 connections takes %.2g '
             'times as long as a write and fdatasync each')):
        if pair(data, what):
            found.append(text % pair(data, what))
    text = '; '.join(found)
    return text[:1].upper() + text[1:] + '.' if text else ''


def beside_peers(data):
    found = [p for p in data['sections']['peers']['programs'] if p['version'] is not None]
    return ' '.join('Beside %s %s mechd takes %s.' % (
        peer['name'], peer['version'], '; '.join(
            '%.2g%s (%s)' % (row['times'], '' if k else ' times as long', row['what'])
            for k, row in enumerate(peer['rows']))) for peer in found)


def listed(names):
    """"a, b and c"."""
    return ' and '.join(filter(None, [', '.join(names[:-1]), *names[-1:]]))


def run_and_read(data):
    """Which of the codes were run for speed; what is said beyond that was read."""
    found = data['sections']['peers']['programs']
    run, none = ([p['name'] for p in found if (p['version'] is None) == is_none]
                 for is_none in (False, True))
    texts = ['%s %s run for these figures' % (listed(run), 'were' if len(run) > 1 else 'was')
             if run else '', '%s %s not' % (listed(none), 'were' if len(none) > 1 else 'was')
             if none else '']
    text = '; '.join([*filter(None, texts),
                      'what else is said of other codes was read in their documentation.'])
    return text[:1].upper() + text[1:]


def summary(data):
    """What the README at the top says."""
    at = data['machine']
    kernels = [row['value'] for row in rows_of(data, 'kernels')
               if row['kind'] == 'pair' and 'floor' in row]
    sentences = [
        'Speed is measured by `tests/bench` beside programs written for one case each, bare '
        'libraries and other codes, in turns in one run. [The benchmark book](tests/bench/README.md'
        '#the-book) has the tables, plots and how each of them was run; in short, of %s on %s, '
        '%d processors:' % (data['date'], at['processor'], at['cores']),
        'Kernels take %s times as long as such programs (median %.2g, %d cases).' % (
            span(kernels), statistics.median(kernels), len(kernels)) if kernels else '',
        growth(data), served(data), beside_peers(data), run_and_read(data)]
    return wrapped(' '.join(filter(None, sentences))) + '\n'


def sizes(data):
    """What operators plan with."""
    at = data['machine']
    head = ('Measured on %s on %s, %d processors. The figures are rows of [the benchmark book]'
            '(../tests/bench/README.md#the-book), which also shows how they grow with models, '
            'instances and connections; the programs that measure them are in the folder '
            '`tests/bench` of a build.' % (data['date'], at['processor'], at['cores']))
    return '\n'.join([wrapped(head), ''] + table(['need', 'plan', 'measured by'],
                                                 book_sizes.rows(all_rows(data))))


# --- the documents --------------------------------------------------------------------------------

def plots(data):
    found = {}
    for plot, of in series(data).items():
        x, y, unit, _ = PLOTS[plot]
        found[plot] = book_plots.lines(x, y, [(name, [(n, ns / unit) for n, ns in p], ours)
                                              for name, p, ours in of])
    if integrators(data):
        found['integrators'] = book_plots.bars('µs a step of 64 masses', integrators(data))
    return found


def between_marks(text, printed):
    """The text with what stands between its marks replaced; ends all where they are missing."""
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise SystemExit('a page has not the marks %s and %s once' % (BEGIN, END))
    head, _, rest = text.partition(BEGIN)
    return '%s%s\n%s%s%s' % (head, BEGIN, printed, END, rest.partition(END)[2])


def documents(data, root):
    """{path: text} of all that is printed from the data."""
    found = {'tests/bench/plots/%s.svg' % name: text for name, text in plots(data).items()}
    for path, text in zip(PAGES, (page(data), summary(data), sizes(data))):
        with open(os.path.join(root, path), encoding='utf-8') as f:
            found[path] = between_marks(f.read(), text)
    return found
