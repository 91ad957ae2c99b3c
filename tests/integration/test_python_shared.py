"""One client of the Python package in several processes and threads: everybody gets the answers to
their own questions."""
import asyncio
import os
import pickle
import threading
import unittest

import models
from forking import TYPES, Child
from harness import SLOW, Daemon, Served
from package import mechd
import mechd.aio  # noqa: E402


class Shared(Served):
    def setUp(self):
        self.server = mechd.Server(self.daemon.base, timeout=20 * SLOW)
        self.addCleanup(self.server.close)

    def asked(self, server, name):
        """How often the answer was another one than that to the question."""
        return sum(server.type(name)['type'] != name for _ in range(150))

    def check_processes(self, server):
        server.about()  # there is a connection
        children = [Child(lambda name=name: self.asked(server, name)) for name in TYPES[1:]]
        own = self.asked(server, TYPES[0])
        self.assertEqual([c.result() for c in children] + [own], [0] * len(TYPES))
        self.assertEqual(self.asked(server, TYPES[0]), 0)

    def test_forked_processes_have_connections_of_their_own(self):
        self.check_processes(self.server)

    def test_forked_processes_await_requests(self):
        async def steps(server):
            async with await server.create(models.oscillator()) as instance:
                done = [await instance.step(count=1) for _ in range(5)]
            return [step.step for step in done]

        def alone():
            return asyncio.run(asyncio.wait_for(steps(server), 20 * SLOW))
        server = mechd.aio.Server(self.daemon.base, timeout=20 * SLOW)
        expected = [1, 2, 3, 4, 5]
        self.assertEqual(alone(), expected)  # there are threads
        children = [Child(alone) for _ in range(2)]
        self.assertEqual([c.result() for c in children] + [alone()], [expected] * 3)

    def test_over_a_unix_socket_too(self):
        with Daemon('--listen', 'unix:http.sock') as daemon, \
                mechd.Server('unix:' + os.path.join(daemon.folder, 'http.sock'),
                             timeout=20 * SLOW) as server:
            self.check_processes(server)

    def test_threads_share_a_client(self):
        found = {}

        def ask(name):
            instance = self.server.create(models.oscillator())
            times = [instance.step(count=1).step for _ in range(50)]
            found[name] = (self.asked(self.server, name), times == list(range(1, 51)))
        threads = [threading.Thread(target=ask, args=(name,)) for name in TYPES]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, {name: (0, True) for name in TYPES})

    def test_events_go_on_in_each_process(self):
        instance = self.server.create(models.oscillator())
        run = instance.run(count=2000, period=0.001, record=1)
        rows = run.events()
        first = [next(rows).id for _ in range(10)]

        def rest():
            return [int(e.id) for e in rows if e.name == 'row']
        children = [Child(rest) for _ in range(2)]
        expected = list(range(int(first[-1]) + 1, 2002))
        self.assertEqual([c.result() for c in children] + [rest()], [expected] * 3)

    def test_a_forked_process_must_open_its_own_partner(self):
        instance = self.server.create(models.oscillator())
        with instance.connect(['force'], ['x'], timeout=5) as partner, \
                instance.stream(timeout=5) as stream, partner.forces() as forces:
            partner.step(0.001, [1])
            next(stream)

            def use():
                told = []
                for act in (lambda: partner.step(0.001, [1]), partner.get_outputs,
                            partner.forces, lambda: forces.push([1]), lambda: next(stream)):
                    try:
                        act()
                        told.append('it did')
                    except ValueError as fault:
                        told.append(str(fault))
                for door in (forces, stream, partner):
                    door.close()
                with instance.connect(['force'], ['x'], timeout=5) as own:
                    told.append(len(own.get_outputs()))
                return told
            told = [Child(use).result() for _ in range(2)]
            how = "this %s belongs to process %d, which has opened it; in a forked process its " \
                  "instance opens another one"
            expected = [how % (name, os.getpid()) for name in (
                'partner', 'partner', 'partner', 'forces', 'stream')]
            self.assertEqual(told, [expected + [1]] * 2)
            partner.step(0.001, [1])
            self.assertEqual(next(stream).step, 2)
            self.assertEqual(partner.count, 2)

    def test_threads_share_a_partner(self):
        instance = self.server.create(models.oscillator())
        found = {}
        with instance.connect(['force'], ['x'], timeout=20 * SLOW) as partner:
            alone = {f: float(partner.trial(0.01, [f])[0]) for f in (1.0, 2.0, 3.0)}

            def ask(force):
                found[force] = {float(partner.trial(0.01, [force])[0]) for _ in range(200)}
            threads = [threading.Thread(target=ask, args=(force,)) for force in alone]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(found, {force: {x} for force, x in alone.items()})

    def test_a_stream_is_closed_while_a_thread_waits(self):
        instance = self.server.create(models.oscillator())
        stream, told = instance.stream(), []

        def wait():
            try:
                next(stream)
            except ValueError as fault:
                told.append(str(fault))
        thread = threading.Thread(target=wait)
        thread.start()
        stream.close()
        thread.join()
        self.assertRegex(told[0], '^this stream has been closed')

    def test_a_client_goes_to_a_spawned_process(self):
        self.server.about()
        copy = pickle.loads(pickle.dumps(self.server))
        self.assertEqual(copy.type('Mass1D')['type'], 'Mass1D')


if __name__ == '__main__':
    unittest.main()
