"""Plots of the benchmark book as SVG: lines in two logarithmic axes, and bars along one.

A line is (name, [(x, y)], is_ours); lines of mechd are drawn through, those of others dashed."""
import html
import math

COLORS = ('#1f77b4', '#d62728', '#2ca02c', '#9467bd', '#8c564b', '#7f7f7f')
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 330, 62, 16, 14, 40
ROW = 15  # of a plot of bars
START = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" '
         'font-size="11" fill="#44505c">')
GRID = '<path d="M%.1f %.1fL%.1f %.1f" stroke="#e4e8ec"/>'
WORD = '<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>'


def word(x, y, anchor, text):
    return WORD % (x, y, anchor, html.escape(text))


def decades(values):
    """The powers of ten around some positive values."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def power(k):
    return {-1: '0.1', 0: '1', 1: '10', 2: '100', 3: '1000'}.get(k, '1e%d' % k)


def lines(x_label, y_label, of):
    (x0, x1), (y0, y1) = (decades([p[k] for _, points, _ in of for p in points]) for k in (0, 1))
    right, low = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x(value):
        return LEFT + (right - LEFT) * (math.log10(value) - x0) / (x1 - x0)

    def y(value):
        return low - (low - TOP) * (math.log10(value) - y0) / (y1 - y0)
    out = [START % (WIDTH, HEIGHT), '<rect width="100%" height="100%" fill="#fff"/>']
    for k in range(x0, x1 + 1):
        out += [GRID % (x(10. ** k), TOP, x(10. ** k), low),
                word(x(10. ** k), low + 14, 'middle', power(k))]
    for k in range(y0, y1 + 1):
        out += [GRID % (LEFT, y(10. ** k), right, y(10. ** k)),
                word(LEFT - 5, y(10. ** k) + 4, 'end', power(k))]
    out += [word((LEFT + right) / 2, HEIGHT - 6, 'middle', x_label),
            '<text transform="translate(13 %.1f) rotate(-90)" text-anchor="middle">%s</text>' % (
                (TOP + low) / 2, html.escape(y_label))]
    for k, (name, points, is_ours) in enumerate(of):
        color = COLORS[k % len(COLORS)]
        out.append('<path d="M%s" fill="none" stroke="%s" stroke-width="1.5"%s/>' % (
            'L'.join('%.1f %.1f' % (x(a), y(b)) for a, b in points), color,
            '' if is_ours else ' stroke-dasharray="5 4"'))
        out += ['<circle cx="%.1f" cy="%.1f" r="2.5" fill="%s"/>' % (x(a), y(b), color)
                for a, b in points]
        out += ['<path d="M%d %dh22" stroke="%s" stroke-width="1.5"%s/>' % (
            LEFT + 10, TOP + 10 + 15 * k, color, '' if is_ours else ' stroke-dasharray="5 4"'),
            word(LEFT + 37, TOP + 14 + 15 * k, 'start', name)]
    return '\n'.join(out + ['</svg>', ''])


def bars(label, of):
    """of: [(name, value)], names of at most 24 letters."""
    left, right, low = 150, WIDTH - RIGHT, TOP + ROW * len(of)
    x0, x1 = decades([value for _, value in of])

    def x(value):
        return left + (right - left) * (math.log10(value) - x0) / (x1 - x0)
    out = [START % (WIDTH, low + BOTTOM), '<rect width="100%" height="100%" fill="#fff"/>']
    for k in range(x0, x1 + 1):
        out += [GRID % (x(10. ** k), TOP, x(10. ** k), low),
                word(x(10. ** k), low + 14, 'middle', power(k))]
    for k, (name, value) in enumerate(of):
        out += [word(left - 6, TOP + ROW * k + 11, 'end', name),
                '<rect x="%d" y="%d" width="%.1f" height="9" fill="%s"/>' % (
                    left, TOP + ROW * k + 3, max(x(value) - left, 1), COLORS[0])]
    out.append(word((left + right) / 2, low + BOTTOM - 8, 'middle', label))
    return '\n'.join(out + ['</svg>', ''])
