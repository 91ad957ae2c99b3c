"""Random calls from several threads through every door by the hundred: each is answered, by a
success or by a problem with a code; the daemon lives and ends in order. With a sanitizer behind it,
this is where races and uses after the end would show.

MECHD_TESTS_LOAD: calls of each thread (1500); MECHD_TESTS_SEED: of what they call (1)."""
import os
import random
import threading
import unittest

import harness
import models
from harness import Daemon, Forces, FrameError, HttpDoor, Partner, ZmqDoor

ALONE = RACES = True

CALLS = int(os.environ.get('MECHD_TESTS_LOAD', '1500'))
SEED = int(os.environ.get('MECHD_TESTS_SEED', '1'))
THREADS = 6
BUILDS = [models.oscillator, models.nonlinear_oscillator, models.ball]
NAMES = ['load-%d' % k for k in range(4)]
# what random calls may well come to: refusals of values, names, states and limits
EXPECTED = {200, 201, 202, 204, 400, 404, 409, 412, 422, 429}


class Load(unittest.TestCase):
    def test_random_calls_are_all_answered(self):
        faults = []
        with Daemon('--workers', '2') as daemon:
            def guarded(number):
                try:
                    work(daemon, number, random.Random(SEED + number))
                except Exception as e:  # pylint: disable=broad-except
                    faults.append('seed %d, thread %d: %r' % (SEED, number, e))
            threads = [threading.Thread(target=guarded, args=(n,)) for n in range(THREADS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60 * harness.SLOW)
                self.assertFalse(thread.is_alive(), 'a thread hangs, seed %d' % SEED)
            self.assertEqual(faults, [])
            self.assertEqual(daemon.call('GET', '/livez').status, 200)


def work(daemon, number, dice):
    """Random operations on a few instances that all threads share."""
    door = (HttpDoor, ZmqDoor)[number % 2](daemon)
    http = harness.Http(daemon.base)
    for _ in range(CALLS):
        name = dice.choice(NAMES)
        if dice.random() < 0.15:
            frames(daemon, name, dice)
        else:
            status, body = one_call(door, http, name, dice)
            if status not in EXPECTED:
                raise AssertionError('%s: %s' % (status, body))
            if status >= 400 and not body.get('code'):
                raise AssertionError('a problem without a code: %s' % body)
    door.close()
    http.close()


def put(http, name, model):
    reply = http.call('PUT', '/v1/instances/' + name, {'model': model})
    return reply.status, reply.json


def one_call(door, http, name, dice):
    kinds = [
        lambda: put(http, name, dice.choice(BUILDS)()),
        lambda: door.call('step', id=name, count=dice.choice([1, 10, 1000, 100000])),
        lambda: door.call('step', id=name, size=0.01, inputs={'force': dice.gauss(0, 10)},
                          commit=dice.random() < 0.5),
        lambda: door.call('step', id=name, size=-1.0),
        lambda: door.call('commit', id=name, trial=dice.randrange(1, 9)),
        lambda: door.call('set-inputs', id=name, inputs={'force': dice.gauss(0, 10)}),
        lambda: door.call('set-parameters', id=name, parameters={'k': dice.uniform(50, 150)}),
        lambda: door.call('get-state', id=name),
        lambda: door.call('outputs', id=name),
        lambda: door.call('reset', id=name),
        lambda: door.call('snapshot', id=name),
        lambda: door.call('restore', id=name, sid='s-%d' % dice.randrange(1, 4)),
        lambda: door.call('delete-snapshot', id=name, sid='s-%d' % dice.randrange(1, 4)),
        lambda: door.call('run', id=name, period=0.05, pace=dice.choice([5, 20])),
        lambda: door.call('stop-run', id=name, rid='r-%d' % dice.randrange(1, 4)),
        lambda: door.call('instances'),
        lambda: door.call('delete', id=name),
    ]
    status, body = dice.choice(kinds)()
    return status, body or {}


def frames(daemon, name, dice):
    """A short visit as a binary partner; the instance may go at any time."""
    try:
        with Partner(daemon, name, ['force'], ['x']) as partner:
            forces = Forces(daemon, partner)
            for _ in range(dice.randrange(1, 6)):
                forces.push([dice.gauss(0, 1)] * len(partner.hello['inputLayout']),
                            dice.choice([0.0, 0.1, 10.0]))
                getattr(partner, dice.choice(['step', 'trial']))(dice.choice([0.01, 1.0]))
                if dice.random() < 0.3:
                    partner.commit()
            forces.close()
            if dice.random() < 0.5:
                partner.bye()
    except FrameError as error:
        if not 1000 < error.header['status'] < 3000:
            raise


if __name__ == '__main__':
    unittest.main()
