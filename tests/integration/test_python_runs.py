"""Events of runs through the Python package while connections are cut and daemons killed."""
import shutil
import socket
import tempfile
import threading
import unittest
import models
from harness import Served
from keeping import Kept
from package import mechd
from proxy import Lossy


class Cutting(Lossy):
    """A proxy that ends each connection once it has carried so many bytes of answers."""

    def __init__(self, daemon, most):
        self.most, self.cut = most, 0
        super().__init__(daemon, 0)

    def carry(self, client):
        with client, socket.create_connection(self.target) as server:
            threading.Thread(target=self.hand_on, args=(client, server), daemon=True).start()
            left = self.most
            try:
                while left > 0:
                    answer = server.recv(left)
                    if not answer:
                        return
                    left -= len(answer)
                    client.sendall(answer)
                self.cut += 1
                # the other thread still waits in it
                client.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # the client has gone first

    @staticmethod
    def hand_on(client, server):
        try:
            while True:
                request = client.recv(65536)
                if not request:
                    return
                server.sendall(request)
        except OSError:
            pass


class PythonRuns(Served):
    def test_results_come_as_arrays_in_parts_and_as_events(self):
        server = mechd.Server(self.daemon.base)
        self.addCleanup(server.close)
        i = server.create(models.oscillator())
        run = i.run(count=20, period=0.01, record=0.05)
        self.assertEqual((run.raw['record']['every'], run.recorded), (5, 5))
        run = i.run(count=20, period=0.01, record=['v'])
        kept = run.results()
        self.assertEqual((list(kept.columns), len(kept)), (['v'], 21))
        part = run.results(start=kept.time[3], end=kept.time[7])
        self.assertEqual(part['v'].tolist(), kept['v'][3:8].tolist())
        self.assertEqual(len(run.results(limit=2)), 2)
        told = list(run.events(after=15))
        self.assertEqual([e.data['outputs']['v'] for e in told[:-1]], kept['v'][15:].tolist())
        self.assertEqual((told[-1].name, told[-1].data['state']), ('end', 'finished'))
        run.delete_results()
        with self.assertRaises(mechd.NotFound):
            run.results()

    def test_events_of_a_run_go_on_when_their_connection_is_lost(self):
        with mechd.Server(self.daemon.base) as near:
            i = near.create(models.oscillator())
            run = i.run(until=2.0, period=0.01, pace=4, record=1, wait=False)
            proxy = Cutting(self.daemon, 6000)
            self.addCleanup(proxy.close)
            with mechd.Server(proxy.url) as far:
                there = far.instance(i.id).runs()[0]
                rows = [e.data['time'] for e in there.events(rate=60) if e.name == 'row']
            self.assertGreater(proxy.cut, 1)
            self.assertEqual(rows, run.results().time.tolist())

    def test_events_of_an_instance_go_on_when_their_connection_is_lost(self):
        with mechd.Server(self.daemon.base) as near:
            i = near.create(models.oscillator())
            proxy = Cutting(self.daemon, 2500)
            self.addCleanup(proxy.close)
            run = i.run(pace=1, period=0.01)
            times = []
            with mechd.Server(proxy.url) as far:
                for event in far.instance(i.id).events(rate=60):
                    times.append(event['time'])
                    if proxy.cut > 2:
                        break
            run.stop()
            self.assertEqual(times, sorted(set(times)))

    def test_a_run_is_taken_up_where_a_killed_daemon_left_it(self):
        folder = tempfile.mkdtemp(prefix='mechd-state-')
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        d = Kept(folder)
        with mechd.Server(d.base) as server:
            i = server.create(models.oscillator(), id='rig', durability='every-step')
            run = i.run(until=1000, pace=10, period=0.01, record=1, wait=False)
            rows = []
            for event in run.events():
                rows += [event.data['time']] if event.name == 'row' else []
                if len(rows) == 40:
                    break
            d.kill()
        with Kept(folder) as d, mechd.Server(d.base) as server:
            run = server.instance('rig').runs()[0]
            self.assertEqual(run.state, 'interrupted')
            rows += [e.data['time'] for e in run.events(after=len(rows)) if e.name == 'row']
            self.assertEqual(rows, run.results().time.tolist())
            self.assertEqual(rows[-1], run.time)
            run = server.instance('rig').run(count=10, period=0.01)
            self.assertEqual(run.state, 'finished')


if __name__ == '__main__':
    unittest.main()
