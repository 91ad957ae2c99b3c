"""What a machine needs, for deploy/README.md, from the data of the benchmark book alone. Each row
names the program of tests/bench that measures it; one whose figures were not measured is left
out."""
import re

KHZ = 1000  # steps a second of an instance in real time


class Missing(Exception):
    """A figure is not among those measured."""


class Figures:
    """Rows of the book by their name."""

    def __init__(self, rows):
        self.rows = {row['what'].strip(): row for row in rows}

    def get(self, what, key):
        row = self.rows.get(what)
        if row is None or not row.get(key):
            raise Missing(what)
        return row[key]

    def value(self, what):
        return self.get(what, 'value')

    def seconds(self, what):
        return 1e-9 * self.get(what, 'ns')

    def names(self, pattern):
        found = [what for what in self.rows if re.fullmatch(pattern, what)]
        if not found:
            raise Missing(pattern)
        return found


def number(x):
    """Three digits, as in the book."""
    return '{:,.0f}'.format(float('%.3g' % x)) if x >= 100 else '%.3g' % x


def idle(f):
    return '%s MB for the daemon, %s KiB for each instance of 2 coordinates' % (
        number(f.value('resident when idle, MB')), number(f.value('memory of an instance, KiB')))


def large(f):
    bytes_of = [f.value(what) for what in f.names(r'chain \d+, bytes a coordinate')]
    return '%s to %s bytes for each coordinate of a large model of joints' % (number(min(bytes_of)),
                                                                  number(max(bytes_of)))


def requests(f):
    cost = f.seconds('step, tcp 64 / hello, CPU')
    return ('%s µs of a processor for a request that steps a small model: a processor serves %s '
            'instances that clients step %s times a second' % (
                number(1e6 * cost), number(1 / cost / KHZ), '{:,}'.format(KHZ)))


def batches(f):
    return ('one request for ten steps of each of 1,000 small instances takes %s ms on all '
            'processors' % number(1e3 * f.seconds('instances in a request: 1000')))


def models(f):
    rows = (('64 links in space', 'links in space: 64'),
            ('1,000 masses and springs', 'masses as items: 1000'),
            ('380 contacts of spheres', 'contacts of spheres: 380'))
    found = ['%s with %s' % (number(1 / f.seconds(what) / KHZ), text)
             for text, what in rows if what in f.rows]
    if not found:
        raise Missing('models')
    return ('instances that a processor steps 1,000 times a second, as far as the solver alone '
            'goes: ' + ', '.join(found))


def connections(f):
    return ('%s steps a second over 64 connections, %s over one, client and server on the same '
            'machine' % (number(64 / f.seconds('connections: 64')),
                         number(1 / f.seconds('connections: 1'))))


def disk(f):
    return 'with `every-step` %s bytes for a step that is stored by itself' % '{:,.0f}'.format(
        f.value('bytes that a stored step writes'))


def stored(f):
    return '%s stored steps a second over 64 connections, %s over one' % (
        number(64 / f.seconds('connections with stored steps: 64')),
        number(1 / f.seconds('connections with stored steps: 1')))


ROWS = (
    ('memory', idle, ('service-start', )),
    ('memory', large, ('closed', )),
    ('processors', requests, ('service', )),
    ('processors', batches, ('service-scaling', )),
    ('processors', models, ('scaling', )),
    ('connections', connections, ('service-scaling', )),
    ('disk', disk, ('service-storage', )),
    ('disk', stored, ('service-storage', )))


def rows(of_book):
    """[(need, plan, programs)] from the rows of the book."""
    figures, found = Figures(of_book), []
    for need, plan, programs in ROWS:
        try:
            found.append((need, plan(figures), ', '.join('`bench-%s`' % p for p in programs)))
        except Missing:
            continue
    return found
