"""The verification book: runs the programs of this folder and the tests against published numbers,
and writes what they compared into a page, with a picture of how far from their bars they are.

    book.py BUILD            prints the page
    book.py BUILD --write    writes tests/verify/README.md, tests/verify/book.svg, and the summary
                             between the marks of the README at the top

Every figure is one that a test of the gate compares in that run; a test that fails ends it."""
import html
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PUBLISHED = ('test_published', 'test_references')
LIMIT = 1200  # seconds of one program
COLUMNS = 119
ADAMS, CLOSED, EXUDYN = 'ADAMS (IFToMM library of benchmarks)', 'closed form', 'Exudyn 1.11'
# what the published numbers of a test are from; of its models, where these differ
SOURCES = {
    'test_joints_in_space_fly_as_published': ADAMS,
    'test_springs_on_bodies_in_space_fly_as_published': ADAMS,
    **dict.fromkeys((
        'test_damping_leads_to_rest', 'test_a_flexible_body_sags_and_vibrates',
        'test_an_inclined_pendulum_is_released', 'test_a_prescribed_coordinate',
        'test_one_system_as_two_kinds', 'test_free_bodies_in_the_plane_and_falling'), CLOSED),
    **dict.fromkeys((
        'test_a_physical_pendulum_and_a_mass_in_a_sweep', 'test_four_bar_of_masses',
        'test_slider_crank', 'test_verlet_over_four_steps',
        'test_body_on_a_spring_in_six_directions'), EXUDYN),
    'test_modes': {'hinged bar': CLOSED, None: EXUDYN},
    **dict.fromkeys(('test_smooth_models_over_http', 'test_smooth_models_over_zeromq'), {
        **dict.fromkeys(('mass1d', 'rotor1d', 'mass_point', 'revolute_z', 'revolute_z_vector'),
                        CLOSED), None: EXUDYN})}
# of the README at the top
BEGIN, END = '<!-- tests/verify/book.py prints from here -->', '<!-- up to here -->'
SUMMARY = """Results are compared with closed forms, balances, literal implementations and \
published numbers (of Exudyn, and of ADAMS from the IFToMM library of benchmarks): {:,} \
comparisons in {} programs, and {} over HTTP and ZeroMQ. [The verification book]\
(tests/verify/README.md), printed by `tests/verify/book.py`, has for each test the comparison that \
comes nearest to its bar, and all of the {}."""
HEAD = """# The verification book

The comparisons of mechd with closed forms, published numbers and literal implementations. This page
is printed from the tests' own numbers by

    /usr/bin/python3 tests/verify/book.py build/tests/release --write

`tests/run verify` and `tests/run integration` fail where a number leaves its bar. A row is a test,
with the comparison that comes nearest to its bar; "share" is its difference as a part of the bar:
far below 1 is right to rounding, near 1 is what the method at that step size, or the closed form,
leaves out, from which the bar was derived. An observed order is compared with the order of the
method. Numbers of another machine differ in their last digits.

%d comparisons in %d programs, and %d over HTTP and ZeroMQ with published numbers and closed forms.

![Largest share of its bar, by program](book.svg)

"""


def sentence(name):
    return re.sub('^test_', '', name).replace('_', ' ')


def number(x):
    return '0' if x == 0 else '%.2g' % x if abs(x) < 1e-3 or abs(x) >= 1e5 else '%.6g' % x


def difference(n):
    return abs(n['found'] - n['expected'])


def share(n):
    """Of its bar. A comparison for equality has none."""
    return difference(n) / n['bar'] if n['bar'] > 0 else 0.0 if difference(n) == 0 else math.inf


def compared(command, folder):
    """The comparisons of one program, in their order; ends all where it fails."""
    place = os.path.join(folder, 'numbers')
    with open(place, 'w', encoding='utf-8'):
        pass  # empty, also where the program compares nothing
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=LIMIT,
                          env={**os.environ, 'MECHD_TESTS_NUMBERS': place,
                               'OPENBLAS_NUM_THREADS': '1'})
    if done.returncode != 0:
        sys.exit('%s: %s' % (' '.join(command), done.stdout.decode(errors='replace')[-2000:]))
    with open(place, encoding='utf-8') as f:
        return [json.loads(line) for line in f]


def introduction(name):
    """The first comment of a program, as paragraphs; what is set off in it is a formula."""
    with open(os.path.join(HERE, name + '.c'), encoding='utf-8') as f:
        text = re.match(r'/\*(.*?)\*/', f.read(), re.S).group(1)
    lines = [re.sub(r'^ ?\*? ?', '', line).rstrip() for line in text.split('\n')]
    return '\n'.join('    ' + line.strip() if line.startswith('  ') else line
                     for line in lines).strip()


def source(n):
    """What a published number is from."""
    found = SOURCES[n['test']]
    if isinstance(found, str):
        return found
    model = re.match('model ([^,]*)', n['case'])
    return found.get(model and model.group(1), found[None])


def published(found):
    unknown = sorted({n['test'] for n in found} - set(SOURCES))
    if unknown:
        sys.exit('SOURCES does not say what the numbers of %s are from' % ', '.join(unknown))
    lines = ['## Published numbers', '',
             'And closed forms of the same models, over HTTP and, where the case says so, over '
             'ZeroMQ.', '',
             '| case | published | mechd | difference | bar | source |',
             '|---|---|---|---|---|---|']
    for n in found:
        case = sentence(n['test']) + (': ' + n['case'] if n['case'] else '')
        lines.append('| %s | %.10g | %.10g | %.1e | %.1e | %s |' % (
            case, n['expected'], n['found'], difference(n), n['bar'], source(n)))
    return lines + ['']


def section(name, found):
    """A program: what it is, and its tests."""
    lines = ['## ' + sentence(name).capitalize(), '', introduction(name), '']
    if not found:
        return lines + ['Its tests are conditions and inequalities, without numbers to compare.',
                        '']
    lines += ['| test | numbers | found | expected | difference | bar | share |',
              '|---|---|---|---|---|---|---|']
    by_test = {}
    for n in found:
        by_test.setdefault(n['test'], []).append(n)
    for test, of in by_test.items():
        worst = max(of, key=share)
        lines.append('| %s | %d | %s | %s | %.1e | %s | %s |' % (
            sentence(test), len(of), number(worst['found']), number(worst['expected']),
            difference(worst), number(worst['bar']), number(share(worst))))
    return lines + ['']


def picture(shares):
    """Bars from 1e-16 to 1, logarithmic."""
    left, right, row, least = 190, 600, 16, -16
    height = row * (len(shares) + 2)

    def x(power):
        return left + (right - left) * (power - least) / -least
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 620 %d" '
             'font-family="sans-serif" font-size="11" fill="#44505c">' % height,
             '<rect width="100%" height="100%" fill="#fff"/>']
    for power in range(least, 1, 4):
        lines.append('<path d="M%.0f 4V%d" stroke="#e4e8ec"/><text x="%.0f" y="%d" '
                     'text-anchor="middle">%s</text>' % (
                         x(power), height - row, x(power), height - 4,
                         '1' if power == 0 else '1e%d' % power))
    for k, (name, value) in enumerate(sorted(shares.items(), key=lambda pair: pair[1])):
        power = max(math.log10(value), least) if value > 0 else least
        lines.append('<text x="%d" y="%d" text-anchor="end">%s</text><rect x="%d" y="%d" '
                     'width="%.1f" height="10" fill="#1f77b4"/>' % (
                         left - 6, row * k + 14, html.escape(sentence(name)), left, row * k + 5,
                         max(x(power) - left, 1)))
    return '\n'.join(lines + ['</svg>', ''])


def with_summary(readme, counts):
    """The README at the top with the counts of this run; ends all where its marks are missing."""
    head, begin, rest = readme.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        sys.exit('README.md has not the marks %s and %s' % (BEGIN, END))
    text = textwrap.fill(SUMMARY.format(*counts, counts[2]), COLUMNS, break_long_words=False,
                         break_on_hyphens=False)
    return '%s%s\n%s\n%s%s' % (head, BEGIN, text, END, tail)


def main(build, is_writing):
    os.environ['MECHD_TESTS_BUILD'] = build = os.path.abspath(build)
    with open(os.path.join(HERE, 'units.def'), encoding='utf-8') as f:
        names = re.findall(r'^UNIT\((\w+),', f.read(), re.M)
    with tempfile.TemporaryDirectory(prefix='mechd-book-') as folder:
        programs = {name: compared([os.path.join(
            build, 'tests', 'verify-' + name.replace('_', '-'))], folder) for name in names}
        numbers = [n for module in PUBLISHED for n in compared(
            [sys.executable, os.path.join('tests', 'integration', module + '.py')], folder)]
    lines = published(numbers)
    for name, found in programs.items():
        lines += section(name, found)
    counts = sum(map(len, programs.values())), sum(map(bool, programs.values())), len(numbers)
    page = HEAD % counts + '\n'.join(lines)
    if not is_writing:
        print(page)
        return
    shares = {name: max(map(share, found)) for name, found in programs.items() if found}
    top = os.path.join(ROOT, 'README.md')
    with open(top, encoding='utf-8') as f:
        readme = with_summary(f.read(), counts)
    for path, text in ((os.path.join(HERE, 'README.md'), page),
                       (os.path.join(HERE, 'book.svg'), picture(shares)), (top, readme)):
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
    print('%d comparisons in %d programs, and %d over HTTP and ZeroMQ' % counts)


if __name__ == '__main__':
    if len(sys.argv) < 2 or sys.argv[1].startswith('-'):
        sys.exit(__doc__)
    main(sys.argv[1], '--write' in sys.argv[2:])
