"""A kill within a batch of durable changes: what has been acknowledged is there, nothing is twice,
and the same request again does what is left of it.

MECHD_TESTS_KILLS: how often the daemon is killed (10)."""
import random
import shutil
import tempfile
import threading
import unittest
import harness
import models
from harness import Daemon, Http
from asking import batch
from keeping import KILLS, Kept

RACES = True

INSTANCES = ['i%d' % k for k in range(40)]
COUNT = 3


class Kills(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.answered = 0  # batches

    def body(self):
        # one item in three on an instance that the batch has stepped before
        again = INSTANCES[::2]
        items = [{'op': 'step', 'id': i, 'count': COUNT} for i in INSTANCES + again]
        return {'items': items}, {i: COUNT * (2 if i in again else 1) for i in INSTANCES}

    def steps(self, daemon):
        return {i: daemon.call('GET', '/v1/instances/' + i)['step'] for i in INSTANCES}

    def send(self, daemon, number):
        body, _ = self.body()
        return batch(daemon, body, **{'Idempotency-Key': 'batch-%d' % number})

    def send_until_killed(self, daemon, number):
        door = Http(daemon.base)  # of this thread alone
        try:
            while True:
                reply = self.send(door, number)
                assert (reply.status, reply['failed']) == (200, 0), reply
                number += 1
                self.answered = number
        except (OSError, ValueError):
            pass  # the daemon is gone
        except Exception as error:  # pylint: disable=broad-except
            if 'http.client' not in type(error).__module__:
                self.surprise = error
        finally:
            door.close()

    def test_every_acknowledged_item_is_there_and_none_twice(self):
        self.surprise = None
        chance = random.Random(7)
        _, each = self.body()
        cut = 0
        daemon = Kept(self.folder, '--durability', 'every-step')
        for i in INSTANCES:
            reply = daemon.call('PUT', '/v1/instances/' + i, {'model': models.oscillator()})
            self.assertEqual(reply.status, 201, reply)
        for _ in range(KILLS):
            worker = threading.Thread(target=self.send_until_killed, args=(daemon, self.answered))
            worker.start()
            worker.join(chance.uniform(0.01, 0.25))
            daemon.kill()
            worker.join(20 * harness.SLOW)
            self.assertFalse(worker.is_alive())
            self.assertIsNone(self.surprise)
            daemon = Kept(self.folder, '--durability', 'every-step')
            # between the last batch that was answered and the one that was cut short
            found = self.steps(daemon)
            ahead = {i: found[i] - self.answered * each[i] for i in INSTANCES}
            for i in INSTANCES:
                self.assertIn(ahead[i], range(0, each[i] + 1, COUNT), i)
            cut += 0 < sum(ahead.values()) < sum(each.values())
            # again, under its key: the rest of it, and no more
            reply = self.send(daemon, self.answered)
            self.assertEqual((reply.status, reply['failed']), (200, 0), reply)
            self.answered += 1
            self.assertEqual(self.steps(daemon), {i: self.answered * each[i] for i in INSTANCES})
        print('%d of %d kills came within a batch' % (cut, KILLS)) if KILLS > 20 else None
        states = {i: daemon.call('GET', '/v1/instances/%s/state' % i).json for i in INSTANCES}
        daemon.stop()
        with Daemon() as other:
            for factor in (1, 2):
                twin = other.create(models.oscillator())
                for _ in range(self.answered * factor):
                    other.call('POST', '/v1/instances/%s/step' % twin, {'count': COUNT})
                expected = other.call('GET', '/v1/instances/%s/state' % twin).json
                for i in INSTANCES:
                    if each[i] == COUNT * factor:
                        self.assertEqual({**states[i], 'id': None}, {**expected, 'id': None}, i)


if __name__ == '__main__':
    unittest.main()
