"""Many threads on many instances and on one; a long command delays no other instance."""
import contextlib
import select
import signal
import socket
import threading
import time
import unittest
import harness
import models
from asking import Asked, is_busy
from harness import Daemon, HttpDoor, Partner, ZmqDoor, gauge, wait_until

ALONE = RACES = True

THREADS, INSTANCES, ROUNDS = 8, 12, 15


class Concurrency(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon('--workers', '2')
        self.faults = []

    def tearDown(self):
        self.daemon.stop()
        self.assertEqual(self.faults, [])

    def together(self, work, count=THREADS):
        """work(number) in as many threads; what they raise is a fault of the test."""
        def guarded(number):
            try:
                work(number)
            except Exception as e:  # pylint: disable=broad-except
                self.faults.append(repr(e))
        threads = [threading.Thread(target=guarded, args=(n,)) for n in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120 * harness.SLOW)
            self.assertFalse(thread.is_alive(), 'a thread hangs')

    def expect(self, status, wanted, body):
        if status not in wanted:
            raise AssertionError('%s: %s' % (status, body))

    def test_instances_do_not_disturb_each_other(self):
        """Each thread steps its own instances; all end where a lone one ends."""
        ends = set()

        def work(number):
            door = (HttpDoor, ZmqDoor)[number % 2](self.daemon)
            mine = [door.call('create', model=models.nonlinear_oscillator())[1]['id']
                    for _ in range(INSTANCES // 4)]
            for _ in range(ROUNDS):
                for i in mine:
                    status, body = door.call('step', id=i, size=0.01, inputs={'force': 2.0})
                    self.expect(status, (200,), body)
            for i in mine:
                state = door.call('get-state', id=i)[1]
                ends.add((state['time'], state['q'][0], state['v'][0]))
                self.expect(door.call('delete', id=i)[0], (200, 204), 'delete')
            door.close()
        self.together(work)
        self.assertEqual(len(ends), 1)
        self.assertEqual(self.daemon.call('GET', '/v1/instances').json['items'], [])

    def test_commands_to_one_instance_queue_up(self):
        """No step is lost and none is done twice, through every door at once."""
        i = self.daemon.create(models.oscillator())
        done = []

        def work(number):
            if number % 4 == 3:
                with Partner(self.daemon, i, [], ['x']) as partner:
                    for _ in range(ROUNDS):
                        partner.step(0.01)
                        done.append(1)
                return
            door = (HttpDoor, ZmqDoor)[number % 2](self.daemon)
            for _ in range(ROUNDS):
                status, body = door.call('step', id=i, size=0.01)
                self.expect(status, (200,), body)
                done.append(1)
            door.close()
        self.together(work)
        state = HttpDoor(self.daemon).call('get-state', id=i)[1]
        self.assertEqual(len(done), THREADS * ROUNDS)
        self.assertAlmostEqual(state['time'], 0.01 * len(done), delta=1e-9)

    def test_create_and_delete_while_others_list(self):
        def work(number):
            door = HttpDoor(self.daemon)
            for _ in range(ROUNDS):
                if number % 2:
                    for item in door.call('instances')[1]['items']:
                        self.expect(door.call('get-state', id=item['id'])[0], (200, 404), item)
                else:
                    status, body = door.call('create', model=models.oscillator())
                    self.expect(status, (201,), body)
                    door.call('step', id=body['id'], count=3)
                    self.expect(door.call('delete', id=body['id'])[0], (200, 204), body)
            door.close()
        self.together(work)

    def test_a_long_command_delays_no_other_client(self):
        """While more long commands run than there are workers, probes and others answer."""
        long_ones = ['/v1/instances/' + self.daemon.create(models.nonlinear_oscillator())
                     for _ in range(4)]
        other = self.daemon.create(models.oscillator())
        asked = [Asked(self.daemon, 'POST', i + '/step', {'count': 10 ** 9}) for i in long_ones]
        for i in long_ones:
            wait_until(lambda i=i: is_busy(self.daemon, i), 'it works')
        for _ in range(20):
            self.assertEqual(self.daemon.call('GET', '/livez').status, 200)
            # by the thread that carries it, and by the pool
            for count in (1, 5000):
                reply = self.daemon.call('POST', '/v1/instances/%s/step' % other, {'count': count})
                self.assertEqual(reply.status, 200)
        for i in long_ones:
            self.assertTrue(self.daemon.call('POST', i + '/stop')['stopped'])
        self.assertEqual([one.answer()['code'] for one in asked], ['cancelled'] * len(long_ones))

    def test_a_full_queue_is_refused_with_429(self):
        """64 commands wait behind a long one; more are refused, the waiting ones are done."""
        i = self.daemon.create(models.nonlinear_oscillator())
        door = ZmqDoor(self.daemon)

        def send(op, **fields):
            door.socket.send_multipart([b'', harness.json.dumps({'op': op, 'id': i,
                                                                 **fields}).encode()])
        before = gauge(self.daemon, 'steps_total')
        send('step', count=10 ** 9)
        wait_until(lambda: gauge(self.daemon, 'steps_total') > before, 'it has begun')
        for _ in range(80):
            send('step', count=1)
        refused = [door.receive()[1] for _ in range(16)]
        self.assertEqual({r['code'] for r in refused}, {'queue-full'})
        self.assertEqual({r['status'] for r in refused}, {429})
        self.assertTrue(self.daemon.call('POST', '/v1/instances/%s/stop' % i)['stopped'])
        replies = [door.receive()[1] for _ in range(65)]
        self.assertEqual([r['code'] for r in replies if 'code' in r], ['cancelled'])
        self.assertEqual(sorted(r['step'] for r in replies if 'code' not in r),
                         list(range(1, 65)))
        door.close()

    def test_a_paced_run_keeps_time_and_can_be_stopped(self):
        i = self.daemon.create(models.driven())
        door = HttpDoor(self.daemon)
        start = time.monotonic()
        status, run = door.call('run', id=i, pace=1)
        self.assertEqual(status, 202, run)
        reached = wait_until(lambda: door.call('get-state', id=i)[1]['time'] >= 0.5,
                             'half a second has passed in the model')
        took = time.monotonic() - start
        self.assertTrue(reached)
        self.assertGreater(took, 0.4)
        status, body = door.call('step', id=i, count=1)
        self.assertEqual((status, body['code']), (409, 'run-in-progress'))
        self.assertEqual(door.call('stop-run', id=i, rid=run['id'])[0] // 100, 2)
        wait_until(lambda: door.call('step', id=i, count=1)[0] == 200, 'the run has ended')

    def test_a_free_run_ends_where_steps_end(self):
        a, b = (self.daemon.create(models.driven()) for _ in range(2))
        door = HttpDoor(self.daemon)
        status, run = door.call('run', id=a, until=2.0)
        self.assertEqual(status, 202, run)

        def is_over():
            return door.call('get-run', id=a, rid=run['id'])[1]['state'] != 'running'
        wait_until(is_over, 'the run is over')
        door.call('step', id=b, until=2.0)
        self.assertEqual(door.call('get-state', id=a)[1]['time'], 2.0)
        found, expected = (door.call('get-state', id=i)[1]['q'][0] for i in (a, b))
        self.assertLess(abs(found - expected), 1e-9)


class Ready(unittest.TestCase):
    def test_any_number_of_connections_that_are_ready_at_once_is_served(self):
        """The requests arrive while the daemon is stopped, on one connection more each time; the
        last one says nothing until then, however long that takes."""
        with Daemon('--head-seconds', '600', '--idle-seconds', '600') as daemon:
            host = daemon.base.split('//')[1].split(':')
            with contextlib.ExitStack() as stack:
                sockets = [stack.enter_context(socket.create_connection((host[0], int(host[1]))))
                           for _ in range(300)]
                for count in (*range(1, 100, 9), *range(100, 301)):
                    daemon.process.send_signal(signal.SIGSTOP)
                    for s in sockets[:count]:
                        s.sendall(b'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
                    daemon.process.send_signal(signal.SIGCONT)
                    waiting = set(sockets[:count])
                    while waiting:
                        ready = select.select(list(waiting), [], [], 20 * harness.SLOW)[0]
                        self.assertTrue(ready, '%d of %d are not answered' % (len(waiting), count))
                        for s in ready:
                            self.assertEqual(s.recv(4096)[:13], b'HTTP/1.1 200 ')
                        waiting.difference_update(ready)


if __name__ == '__main__':
    unittest.main()
