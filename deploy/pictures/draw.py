"""Draws the picture of README.md: steps the example of a column of beads in a running mechd and
plots the height of every bead over time.

    deploy/pictures/draw.py http://127.0.0.1:8080 > deploy/pictures/beads.svg"""
import json
import sys
import urllib.request

EXAMPLE, END, FRAMES = 'column-of-beads', 1.2, 300
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 380, 52, 18, 16, 44
DARK, LIGHT = (0x0B, 0x3C, 0x5D), (0x5A, 0xB1, 0xBB)


def ask(base, method, path, body=None):
    request = urllib.request.Request(base + path, None if body is None else
                                     json.dumps(body).encode(), method=method,
                                     headers={'Content-Type': 'application/json'})
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.loads(reply.read() or b'null')


def run(base):
    """[(time, heights)] from the running server."""
    path = '/v1/instances/' + ask(base, 'POST', '/v1/instances', {'example': EXAMPLE})['id']
    state = ask(base, 'GET', path + '/state')
    samples = [(state['time'], state['q'])]
    for k in range(FRAMES):
        ask(base, 'POST', path + '/step', {'until': END * (k + 1) / FRAMES})
        state = ask(base, 'GET', path + '/state')
        samples.append((state['time'], state['q']))
    ask(base, 'DELETE', path)
    return samples


def draw(samples):
    top = max(max(q) for _, q in samples)
    ceiling = int(top) + 1

    def x(t):
        return LEFT + (WIDTH - LEFT - RIGHT) * t / END

    def y(h):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * h / ceiling
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" '
             'font-size="13" fill="#44505c">' % (WIDTH, HEIGHT),
             '<rect width="100%" height="100%" fill="#fff"/>']
    for k in range(5):
        t = END * k / 4
        lines.append('<path d="M%.1f %dV%d" stroke="#e4e8ec"/><text x="%.1f" y="%d" '
                     'text-anchor="middle">%g</text>' % (x(t), TOP, HEIGHT - BOTTOM, x(t),
                                                         HEIGHT - BOTTOM + 18, t))
    for h in range(ceiling + 1):
        lines.append('<path d="M%d %.1fH%d" stroke="#e4e8ec"/><text x="%d" y="%.1f" '
                     'text-anchor="end">%d</text>' % (LEFT, y(h), WIDTH - RIGHT, LEFT - 8,
                                                      y(h) + 4, h))
    lines.append('<text x="%d" y="%d" text-anchor="middle">time in s</text>' %
                 ((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8))
    lines.append('<text transform="translate(16 %d) rotate(-90)" text-anchor="middle">height in m'
                 '</text>' % ((TOP + HEIGHT - BOTTOM) / 2))
    lines.append('<path d="M%d %.1fH%d" stroke="#44505c" stroke-width="2"/>' %
                 (LEFT, y(0), WIDTH - RIGHT))
    count = len(samples[0][1])
    for bead in range(count):
        mix = bead / max(1, count - 1)
        colour = '#%02x%02x%02x' % tuple(round(a + (b - a) * mix) for a, b in zip(DARK, LIGHT))
        points = ' '.join('%.1f,%.1f' % (x(t), y(q[bead])) for t, q in samples)
        lines.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="1.6" '
                     'stroke-linejoin="round"/>' % (points, colour))
    return '\n'.join(lines + ['</svg>'])


if __name__ == '__main__':
    print(draw(run(sys.argv[1].rstrip('/'))))
