"""What hostile requests, impacts, problems without a solution and badly scaled statics come to,
beside the bounds that are promised for each; then the programs of this folder that print what
neighbours, streams and real time come to.

    /usr/bin/python3 tests/bench/bounds.py BUILD              all
    /usr/bin/python3 tests/bench/bounds.py BUILD impacts …    some parts

Each figure is a line: what, found, bound. It ends with the number of those within their bounds,
outside and, beside other work, not judged, and with 1 where not all are within. It is no part of
the gate, where tests hold the same with an order instead of a clock. A part that takes over LIMIT
seconds is ended and counts as outside."""
import collections
import math
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'integration'))

import bounds_scenes as scenes  # noqa: E402

LIMIT = 240  # seconds of a part
NOT_JUDGED = 77  # exit code of a program beside other work
THETAS = (0.5, 0.75, 1)
SIZES = (2e-4, 1e-3, 2.3e-3, 5e-3, 0.01, 0.03)
# what a solver leaves of a speed: its tolerance times the speeds of an impact of some metres/second
REST = 1e-8
VIS = ('admm', 'apgd', 'barzilai', 'jacobi', 'nsgs', 'psor', 'semismooth')

Figure = collections.namedtuple('Figure', 'what found bound is_held')
FIGURES = []
UNJUDGED = []  # names of figures


def tell(what, found, bound='', is_held=None):
    """A figure; is_held None: for information."""
    FIGURES.append(Figure(what, found, bound, is_held))
    print('%-66s %-26s %-24s%s' % (what, found, bound, ' OUTSIDE' if is_held is False else ''),
          flush=True)


def at_most(what, found, most, unit=''):
    tell(what, '%.3g %s' % (found, unit), 'at most %g %s' % (most, unit), found <= most)


class Overtime(Exception):
    pass


def end(*_):
    raise Overtime()


class Timed:
    """Seconds of the block."""

    def __enter__(self):
        self.begin = time.perf_counter()
        return self

    def __exit__(self, kind, value, trace):
        self.seconds = time.perf_counter() - self.begin


def path_of(daemon, model):
    return '/v1/instances/' + daemon.create(model)


# --- requests -------------------------------------------------------------------------------------

def ask(daemon, what, *request):
    """A reply that is no 5xx, and a daemon that lives on."""
    with Timed() as t:
        reply = daemon.call(*request)
    code = reply.json.get('code', '') if reply.json else ''
    tell(what, '%d %s' % (reply.status, code), 'no 5xx, no end',
         reply.status < 500 and daemon.is_alive())
    return reply, t.seconds


def requests(daemon):
    for what, model in scenes.CHECKED.items():
        ask(daemon, what, 'POST', '/v1/models/check', {'model': model})
    _, seconds = ask(daemon, '1e16 beside nothing', 'POST', '/v1/problems/solve',
                     {'problem': scenes.ENDLESS})
    at_most('  answered after', 1e3 * seconds, 1000, 'ms')
    path = path_of(daemon, scenes.FIRST_ORDER)
    ask(daemon, 'linearization without mechanical coordinates', 'GET', path + '/linearization')
    path = path_of(daemon, scenes.on_spring(stiffness=4, damping=0.5))
    reply = daemon.call('PUT', path + '/state', {'v': [1e160]})
    assert reply.status == 200, reply
    ask(daemon, 'complex modes at a state of 1e160', 'GET', path + '/modes?complex=true')
    left(daemon, path_of(daemon, scenes.on_spring(stiffness=4)))


def left(daemon, path):
    """Clients that give up: a step that would take hours, and one that waits behind it."""
    import raw
    from asking import is_busy
    from harness import gauge, wait_until
    clients = [raw.connect(daemon) for _ in range(2)]
    for client, body in zip(clients, ({'size': 1e9}, {'count': 3})):
        before = gauge(daemon, 'queued_commands')
        client.sendall(raw.request(path + '/step', body))
        wait_until(lambda: gauge(daemon, 'queued_commands') == before + 1, 'it is there', 20)
    with Timed() as t:
        for client in reversed(clients):
            client.close()
        wait_until(lambda: not is_busy(daemon, path), 'both are over', 60)
    at_most('a step of 1e9 s whose client left goes on for', t.seconds, 5, 's')
    at_most('steps done for clients that left', daemon.call('GET', path)['step'], 0)


# --- impacts --------------------------------------------------------------------------------------

def upwards(daemon, model, h, from_time, to_time):
    """The largest value of the output `up` after a time."""
    path, most = path_of(daemon, model), float('-inf')
    for k in range(int(to_time / h)):
        reply = daemon.call('POST', path + '/step', {'count': 1})
        assert reply.status == 200, reply
        most = max(most, reply['outputs']['up']) if k * h > from_time else most
    daemon.call('DELETE', path)
    return most


def gained(daemon, model, steps, twin=None):
    """The largest part of its kinetic energy that a step adds: beyond what the report says that
    Newton's law adds, or beyond the same step of the twin, which touches nothing."""
    path, worst, before = path_of(daemon, model), 0, None
    twin = twin and path_of(daemon, twin)
    step = {'count': 1, 'want': ['energy']}
    for _ in range(steps):
        if twin:
            state = daemon.call('GET', path + '/state').json
            daemon.call('PUT', twin + '/state', {k: state[k] for k in ('time', 'q', 'v')})
            before = daemon.call('POST', twin + '/step', step)['energy']
        reply = daemon.call('POST', path + '/step', step)
        assert reply.status == 200, reply
        if before is not None:
            more = reply['energy'] - before - (0 if twin else reply['report']['impactEnergyGain'])
            worst = max(worst, more / max(before, 1e-3))
        before = reply['energy']
    for made in filter(None, (path, twin)):
        daemon.call('DELETE', made)
    return worst


def impacts(daemon):
    """Without restitution nothing rebounds; no impact adds kinetic energy."""
    both = [(theta, h) for theta in THETAS for h in SIZES[1:]]
    # it meets the ground at 0.45 s
    at_most('sphere, e = 0, dropped 1 m: upwards afterwards',
            max(upwards(daemon, scenes.sphere(*k), k[1], 0, 0.7) for k in both), REST, 'm/s')
    # and the rod the box at 0.4 s
    at_most('hinged rod at a box: back',
            max(upwards(daemon, scenes.rod(*k), k[1], 0.2, 0.7) for k in both), REST, 'rad/s')
    cases = [(seed, THETAS[seed % 3], SIZES[seed // 3 % len(SIZES)]) for seed in range(54)]
    worst = [0, 0]
    for case in cases:
        pair = [scenes.thrown(*case, 0.4 * (case[0] % 9 // 3), 0, shapes) for shapes in (1, 0)]
        worst[case[0] % 2] = max(worst[case[0] % 2], gained(daemon, pair[0], 40, pair[1]))
    at_most('27 scenes, e = 0, any friction: T(v) beyond T(v free)', worst[0], 1e-9, 'of it')
    # rows of hinges are those of the end, which is another one without the impulses
    tell('  27 scenes with hinges', '%.3g of it' % worst[1])
    worst = max(gained(daemon, scenes.thrown(2 * k, theta, h, 0, k % 5 / 4), 40)
                for k, theta, h in cases)
    at_most('54 scenes, e of 0 to 1, no friction: T beyond the report', worst, 1e-9, 'of it')


# --- problems without a solution ------------------------------------------------------------------

def must_end(daemon, what, model, names):
    """Steps of 0.01 s until one is refused with the names of what is in conflict."""
    path = path_of(daemon, model)
    for _ in range(100):
        reply = daemon.call('POST', path + '/step', {'size': 0.01})
        if reply.status != 200:
            break
    detail = reply.json.get('detail', '')
    found = '%d %s' % (reply.status, reply.json.get('code', 'after 1 s'))
    tell(what, found, 'refused with the names',
         reply.status == 422 and all(name in detail for name in names))
    daemon.call('DELETE', path)


def unsolvable(daemon):
    """N = 0, what is led into each other; and a contact beside one that is 1e8 times heavier."""
    for solver in (None, *VIS):
        problem = {'N': {'shape': [3, 3], 'coo': []}, 'r': [-1, 0, 0], 'mu': [0.5]}
        by = ', by ' + (solver or 'the chain')
        if solver:
            problem['solver'] = {'type': solver}
        reply = daemon.call('POST', '/v1/problems/solve', {'problem': problem})
        tell('N = 0, r = -1, friction 1/2' + by, '%d %s' % (
            reply.status, reply.json.get('code', '')), 'no solution, row 0',
             'no solution: its row 0 cannot' in reply.json.get('detail', ''))
        settings = {'vi': {'type': solver}} if solver else {}
        must_end(daemon, 'a ball under a lid that is led down' + by,
                 scenes.lid(**settings), ('"ground"–"ball"', '"ball"–"lid"'))
        must_end(daemon, 'a bead between walls that close' + by,
                 scenes.walls(**settings), ('"bead"–"left"', '"bead"–"right"'))
        must_end(daemon, 'a point that is led into the ground' + by,
                 scenes.led(**settings), ('"ground"–"b"',))
        light(daemon, solver)
    must_end(daemon, 'a prescribed coordinate and its stop', scenes.STOPPED, ('"stop"',))


def light(daemon, solver):
    """Two contacts, one with 1e-8 of the other's mass: impulses of 1 and 1e8."""
    problem = {'N': {'diag': [1] * 3 + [1e-8] * 3}, 'r': [-1, 0.1, 0, -1, 0.1, 0],
               'mu': [0.5, 0.5], 'solver': {'tolerance': 1e-10, 'maxIterations': 20000}}
    if solver:
        problem['solver']['type'] = solver
    reply = daemon.call('POST', '/v1/problems/solve', {'problem': problem})
    name = 'light beside 1e8 times heavier, by ' + (solver or 'the chain')
    if reply.status == 422:
        tell(name, 'reported as not solved', 'never called solved', True)
        return
    at_most(name, max(abs(reply['l'][0] - 1), abs(1e-8 * reply['l'][3] - 1)), 2e-10)


# --- statics, many contacts, starts ---------------------------------------------------------------

def balances(daemon):
    for count in (40, 100):
        tips = []
        for steps in (1, 8):
            path = path_of(daemon, scenes.cables(count))
            reply = daemon.call('POST', path + '/statics', {'loadSteps': steps})
            found = '%d' % reply.status
            if reply.status == 200:
                tips.append(reply['q'][-4:-2])
                found = '%d Newton iterations' % reply['report']['iterations']
            tell('statics of %d cables in %d load steps' % (count, steps), found, 'converges',
                 reply.status == 200)
        if len(tips) == 2:
            at_most('  places of the tip differ by', max(
                abs(a - b) for a, b in zip(*tips)), 1e-7, 'm')
    reply = daemon.call('POST', path + '/step', {'count': 100})
    tell('100 steps of 100 cables', '%d' % reply.status, 'steps', reply.status == 200)
    for law in ('=1e4*u^1.5', '=1e4*sqrt(u)', '=50*sqrt(v)'):
        for integrator in ('GeneralizedAlpha', 'MoreauJean', 'TrapezoidalIndex2', 'RK44'):
            path = path_of(daemon, scenes.on_spring(integrator, springForceUserFunction=law))
            reply = daemon.call('POST', path + '/step', {'count': 3})
            tell('%s at rest where it ends, %s' % (law[1:], integrator), '%d' % reply.status,
                 'steps', reply.status == 200)


def crowds(daemon):
    """Many contacts at default settings: iterations of the complementarity solver."""
    for theta in (0.5, 1):
        found = iterations(daemon, scenes.dominoes(theta), 100)
        at_most('six dominoes, theta %g, 100 steps: iterations' % theta, found[0], 25000)
        at_most('  of the dearest step', found[1], 1000)
    with Timed() as t:
        found = iterations(daemon, scenes.drop(500), 200)
    at_most('drop of 500 spheres, 200 steps: iterations', found[0], 600000)
    tell('  of the dearest step; seconds in all', '%d; %.1f' % (found[1], t.seconds))


def iterations(daemon, model, steps):
    """Those of all steps, and of the dearest one; without end where a step fails."""
    path, all_of_them = path_of(daemon, model), []
    for _ in range(steps):
        reply = daemon.call('POST', path + '/step', {'count': 1})
        if reply.status != 200:
            print(reply)
            return float('inf'), float('inf')
        all_of_them.append(reply['report']['viIterations'])
    daemon.call('DELETE', path)
    return sum(all_of_them), max(all_of_them)


def starts(daemon):
    reply = daemon.call('POST', '/v1/instances', {'model': scenes.ROD})
    warnings = ' '.join(w['message'] for w in reply.json.get('warnings', []))
    tell('a start velocity against a rod', '%d, %d warning' % (
        reply.status, len(reply.json.get('warnings', []))), 'a warning with "o"', '"o"' in warnings)
    path = path_of(daemon, scenes.SPRING)
    reply = daemon.call('POST', path + '/step', {'count': 4000})
    assert reply.status == 200, reply
    # m = 1, k = 4, d = 0.5
    decay, turn = 0.25, math.sqrt(4 - 0.25 ** 2)
    exact = 0.6 / turn * math.sin(2 * turn) * math.exp(-2 * decay)
    at_most('a spring of length 0 whose ends meet: off its closed form',
            abs(daemon.call('GET', path + '/state')['q'][0] - exact), 1e-5, 'm')
    path = path_of(daemon, scenes.WRENCH)
    units = [v['unit'] for v in daemon.call('GET', path + '/variables')['items']
             if v['causality'] == 'input']
    tell('units of six components, a force, a moment', '; '.join(units), 'N, N m; N; N m',
         units == ['N, N m', 'N', 'N m'])


def examples(daemon):
    """Each for 60 s; four-bar's crank turns on."""
    names = [e['name'] for e in daemon.call('GET', '/v1/examples')['items']]
    done = []
    for name in names:
        path = '/v1/instances/' + daemon.create(example=name)
        reply = daemon.call('POST', path + '/step', {'until': 60})
        done.append(reply.status == 200)
        if not done[-1]:
            print(name, reply)
        elif name == 'four-bar':
            before = daemon.call('GET', path + '/outputs')['outputs']['crank']
            daemon.call('POST', path + '/step', {'until': 62})
            turned = daemon.call('GET', path + '/outputs')['outputs']['crank'] - before
            tell('four-bar: its crank turns in the 2 s after a minute', '%.2f rad' % turned,
                 'at least 2 rad', turned >= 2)
        daemon.call('DELETE', path)
    tell('examples that step for 60 s', '%d of %d' % (sum(done), len(done)), 'all', all(done))


# --- doors ----------------------------------------------------------------------------------------

def program(build, name, *options):
    """Its lines as they are; a promise that it does not keep is in its exit code."""
    print('\n%s %s' % (name, ' '.join(options)), flush=True)
    done = subprocess.run([os.path.join(build, 'tests', 'bench', name), *options],
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode == NOT_JUDGED:
        UNJUDGED.append(name)
        tell(name, 'NOT JUDGED', 'a machine at rest')
    else:
        tell(name, 'ends with %d' % done.returncode, '0', done.returncode == 0)


def doors(build):
    """A neighbour with large bodies, frames lost, and real time."""
    program(build, 'bench-service-zmq', '--quick', '--only', 'beside bodies')
    program(build, 'bench-realtime', '--quick')


PARTS = (requests, impacts, unsolvable, balances, crowds, starts, examples)


def run(part, argument):
    """The part, to its end or LIMIT."""
    print('\n%s: %s' % (part.__name__, (part.__doc__ or '').split('\n')[0]))
    signal.alarm(LIMIT)
    try:
        part(argument)
    except (Overtime, AssertionError, OSError) as e:
        tell(part.__name__, str(e)[:200] or 'not over', 'over in %d s' % LIMIT, False)
    finally:
        signal.alarm(0)


def main():
    build = os.path.abspath(sys.argv[1])
    os.environ['MECHD_TESTS_BUILD'] = build
    from harness import Daemon
    signal.signal(signal.SIGALRM, end)
    asked = sys.argv[2:]
    for part in PARTS:
        if not asked or part.__name__ in asked:
            with Daemon('--workers', '2') as daemon:
                run(part, daemon)
    if not asked or 'doors' in asked:
        run(doors, build)
    within, outside = (sum(f.is_held is held for f in FIGURES) for held in (True, False))
    print('\n%d within their bounds, %d outside, %d not judged%s' % (
        within, outside, len(UNJUDGED), ''.join(': ' + name for name in UNJUDGED)))
    return 1 if outside or UNJUDGED else 0


if __name__ == '__main__':
    sys.exit(main())
