"""Plots of the verification book, as SVG: errors beneath their bars, observed orders beside the
expected ones, and how near each page comes to its bar. Readable on light and on dark paper: nothing
is drawn behind, and the letters change with the reader's setting."""
import html
import math

STYLE = """<style>
text{font:12px sans-serif;fill:#57606a}.grid{stroke:#8b949e;stroke-opacity:.3}
.band{fill:#8b949e;fill-opacity:.12}.stem{stroke:#8b949e;stroke-opacity:.6}
.bar{stroke:#d1720b;stroke-width:2.5}.range{fill:#d1720b;fill-opacity:.35}.dot{fill:#2f81d8}
@media (prefers-color-scheme:dark){text{fill:#9ea7b3}.dot{fill:#58a6ff}.bar{stroke:#e3933a}}
</style>"""
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 28, 40
HEIGHT = 230  # of the part that has the plot in it
FLOOR = 16  # of the strip for what is rounding


def power(size):
    return math.log10(float(size.lstrip('< ')))


class Drawing:
    """Parts of a picture, in its units; columns of numbers stand beside each other."""

    def __init__(self, columns):
        self.column = min(24, max(4, 760 / columns))
        self.width = max(430, LEFT + RIGHT + self.column * columns)
        self.column = (self.width - LEFT - RIGHT) / columns
        self.count = columns
        self.height = TOP + HEIGHT + BOTTOM
        self.parts = []

    def x(self, k):
        """The middle of a column."""
        return LEFT + self.column * (k + 0.5)

    def text(self, x, y, words, anchor='middle', more=''):
        self.parts.append('<text x="%.0f" y="%.0f" text-anchor="%s"%s>%s</text>' % (
            x, y, anchor, more, html.escape(words)))

    def line(self, kind, x0, y0, x1, y1):
        self.parts.append('<path class="%s" d="M%.1f %.1fL%.1f %.1f"/>' % (kind, x0, y0, x1, y1))

    def dot(self, x, y):
        self.parts.append('<circle class="dot" cx="%.1f" cy="%.1f" r="3"/>' % (x, y))

    def rectangle(self, kind, x, y, width, height):
        self.parts.append('<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>' % (
            kind, x, y, width, height))

    def bands(self, groups):
        """Every second one of the tests, whose rows stand beside each other, has a ground."""
        start = 0
        for k, count in enumerate(groups):
            if k % 2:
                self.rectangle('band', LEFT + start * self.column, TOP, count * self.column, HEIGHT)
            start += count

    def numbers(self, first):
        """The numbers of the rows, as many as there is room for."""
        step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200)
                    if s * self.column >= 24 or s * 8 > self.count)
        for k in range(self.count):
            if (first + k) % step == 0 or self.count == 1:
                self.text(self.x(k), TOP + HEIGHT + 15, '%d' % (first + k))

    def titles(self, vertical, horizontal):
        middle = TOP + HEIGHT / 2
        self.text(14, middle, vertical, more=' transform="rotate(-90 14 %.0f)"' % middle)
        self.text(LEFT + (self.width - LEFT - RIGHT) / 2, self.height - 6, horizontal)

    def legend(self, mark, of_mark, of_dot):
        self.dot(LEFT + 8, 12)
        self.text(LEFT + 17, 16, of_dot, 'start')
        x = LEFT + 34 + 6.5 * len(of_dot)
        if mark == 'bar':
            self.line('bar', x, 12, x + 12, 12)
        else:
            self.rectangle(mark, x, 6, 12, 12)
        self.text(x + 18, 16, of_mark, 'start')

    def svg(self, title):
        return '\n'.join(['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" '
                          'width="%.0f" role="img">' % (self.width, self.height, self.width),
                          '<title>%s</title>' % html.escape(title), STYLE, *self.parts,
                          '</svg>', ''])


def groups(rows):
    """How many rows each test has, one after the other."""
    found = []
    for k, r in enumerate(rows):
        if k == 0 or rows[k - 1].test != r.test:
            found.append(0)
        found[-1] += 1
    return found


def errors(title, rows):
    """The error of each row below its bar, by decades; what is rounding lies in a strip."""
    d = Drawing(len(rows))
    bars = [power(r.bar) for r in rows if r.bar != '0']
    sizes = [math.log10(r.size) for r in rows if r.size]
    high = math.ceil(max(bars + sizes, default=0))
    low = min(math.floor(min(bars + sizes, default=-12) - 0.1), high - 3)
    bottom = TOP + HEIGHT - FLOOR

    def y(power_of):
        return bottom - (bottom - TOP) * (power_of - low) / (high - low)
    d.bands(groups(rows))
    step = max(1, math.ceil((high - low) / 7))
    for decade in range(high, low - 1, -step):
        d.line('grid', LEFT, y(decade), d.width - RIGHT, y(decade))
        if bottom - y(decade) > 6:
            d.text(LEFT - 6, y(decade) + 4, '1' if decade == 0 else '1e%d' % decade, 'end')
    d.text(LEFT - 6, TOP + HEIGHT - 3, 'rounding', 'end', ' style="font-size:10px"')
    half = min(7, d.column / 2 - 0.5)
    for k, r in enumerate(rows):
        x, at = d.x(k), y(math.log10(r.size)) if r.size else TOP + HEIGHT - FLOOR / 2
        if r.bar != '0':
            d.line('stem', x, y(power(r.bar)), x, at)
            d.line('bar', x - half, y(power(r.bar)), x + half, y(power(r.bar)))
        d.dot(x, at)
    d.numbers(1)
    d.titles('error', 'number of the comparison; shades part tests')
    d.legend('bar', 'its bar', 'largest error')
    return d.svg(title)


def orders(title, rows, first):
    """Observed orders, and the range in which each has to be."""
    d = Drawing(len(rows))
    found = [float(r.found) for r in rows]
    high = math.ceil(max(found + [float(r.expected) for r in rows]) + 0.3)

    def y(order):
        return TOP + HEIGHT - HEIGHT * min(max(order, 0), high) / high
    d.bands(groups(rows))
    for order in range(high + 1):
        d.line('grid', LEFT, y(order), d.width - RIGHT, y(order))
        d.text(LEFT - 6, y(order) + 4, '%d' % order, 'end')
    half = min(7, d.column / 2 - 0.5)
    for k, r in enumerate(rows):
        expected, bar = float(r.expected), float(r.bar)
        if r.order == 'from':
            d.line('stem', d.x(k), y(expected), d.x(k), y(found[k]))
            d.line('bar', d.x(k) - half, y(expected), d.x(k) + half, y(expected))
        else:
            top = y(expected + bar)
            d.rectangle('range', d.x(k) - half, top, 2 * half, y(expected - bar) - top)
        d.dot(d.x(k), y(found[k]))
    d.numbers(first)
    d.titles('order', 'number of the order; shades part tests')
    d.legend('range', 'where it has to be; a line: at least', 'observed')
    return d.svg(title)


def shares(title, pages):
    """Of each page the largest error as a part of its bar. pages: [(title, share or None)]."""
    row, left, width, least = 15, 300, 740, -8
    d = Drawing(1)
    d.width, d.height = width, row * len(pages) + 64

    def x(power_of):
        return left + (width - left - 20) * (max(power_of, least) - least) / -least
    for decade in range(least, 1, 2):
        d.line('grid', x(decade), 8, x(decade), d.height - 44)
        d.text(x(decade), d.height - 28, '1' if decade == 0 else '1e%d' % decade)
    for k, (name, part) in enumerate(sorted(pages, key=lambda p: (power(p[1]) if p[1] else -99,
                                                                  p[0]))):
        y = 8 + row * (k + 0.5)
        d.text(left - 8, y + 4, name, 'end')
        if part:
            d.line('stem', left, y, x(power(part)), y)
            d.dot(x(power(part)), y)
        else:
            d.text(left + 4, y + 4, 'rounding', 'start')
    d.text((left + width) / 2, d.height - 8, 'largest error, as a part of the bar')
    return d.svg(title)
