"""The Python package against a running daemon: every route, bits through every door, errors, lost
connections, and the package as pip installs it."""
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile
import fmus
import harness
import models
from harness import Daemon, ROOT, Served, wait_until
from package import PACKAGE, copied, imported, mechd, pip
from mechd import frames, values
from mechd.partner import Layout
from mechd.transport import Transport
from python_many import ManyTests
from python_states import StateTests
from proxy import Lossy

# pages for people and probes for machines
PAGES = {('GET', '/'), ('GET', '/docs'), ('GET', '/livez')}


def bits(numbers):
    return struct.pack('<%dd' % len(numbers), *numbers)


class Python(ManyTests, StateTests, Served):
    OPTIONS = fmus.ON

    def setUp(self):
        self.server = mechd.Server(self.daemon.base)
        self.addCleanup(self.server.close)

    def created(self, **more):
        instance = self.server.create(models.oscillator(), **more)
        self.addCleanup(self.gone, instance)
        return instance

    def gone(self, instance):
        try:
            instance.delete()
        except mechd.NotFound:
            pass

    # --- stepping and values ----------------------------------------------------------------------

    def test_a_session(self):
        with self.server.create(models.oscillator(), labels={'made': 'here'}) as i:
            self.assertEqual(i.info()['labels'], {'made': 'here'})
            step = i.step(0.01, inputs={'force': 20}, want=['energy', 'derivatives', 'jacobian'])
            self.assertEqual((step.time, step.step), (0.01, 10))
            self.assertEqual(step.outputs, i.outputs)
            self.assertAlmostEqual(step.derivatives['x'], step.outputs['v'], delta=1e-9)
            self.assertEqual(step.jacobian['matrix'].shape, (2, 1))
            self.assertGreater(step.energy, 0)
            self.assertEqual(i.inputs['force'], 20)
            i.inputs['force'] = 1.5
            i.inputs.update(force=2.5)
            self.assertEqual(dict(i.inputs), {'force': 2.5})
            i.parameters = {'k': 4000}
            self.assertEqual(i.parameters['k'], 4000)
            self.assertEqual(sorted(i.parameters), ['d', 'k'])
            self.assertEqual(i.step(count=3, outputs=['x']).outputs.keys(), {'x'})
            self.assertEqual(i.step(until=0.1).time, 0.1)
            self.assertEqual(i.time, 0.1)
            i.reset()
            self.assertEqual(i.time, 0)
        with self.assertRaises(mechd.NotFound):
            i.info()

    def test_a_step_is_stopped_by_another_client(self):
        i = self.created()
        self.assertFalse(i.stop())
        with mechd.Server(self.daemon.base) as other:
            stopper = threading.Thread(target=lambda: harness.wait_until(
                other.instance(i.id).stop, 'it is in progress'))
            stopper.start()
            with self.assertRaises(mechd.StepFailed) as caught:
                i.step(count=10 ** 9)
            stopper.join()
        self.assertEqual((caught.exception.code, i.info()['busy'], i.time), ('cancelled', False, 0))

    def test_a_trial_leaves_no_trace_until_it_is_committed(self):
        i = self.created()
        before = i.state
        first = i.trial(0.01, inputs={'force': 7})
        second = i.step(0.01, inputs={'force': 9}, trial=True)
        self.assertEqual(i.state.q.tolist(), before.q.tolist())
        self.assertNotEqual(first.outputs, second.outputs)
        with self.assertRaises(mechd.Conflict) as refused:
            first.commit()
        self.assertEqual(refused.exception.code, 'no-trial')
        second.commit()
        self.assertEqual(i.outputs, second.outputs)
        self.assertEqual(i.inputs['force'], 9)

    def test_snapshots_restore_the_bits(self):
        i = self.created()
        i.step(0.05, inputs={'force': 3})
        kept = i.snapshot()
        expected = i.step(0.2).outputs
        data = kept.data()
        for back in (kept.restore, lambda: i.restore(kept), lambda: i.restore(kept.id)):
            back()
            self.assertEqual(i.time, kept.time)
            self.assertEqual(i.step(0.2).outputs, expected)
        self.assertEqual([(s.id, s.time) for s in i.snapshots()], [(kept.id, kept.time)])
        kept.delete()
        self.assertEqual(i.snapshots(), [])
        with self.assertRaises(mechd.NotFound):
            kept.restore()
        with self.server.create(snapshot=data) as other:
            self.assertEqual(other.step(0.2).outputs, expected)

    def test_a_model_is_an_fmu(self):
        i = self.created()
        for version in (3, 2):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, 'model.fmu')
                data = i.fmu(path, version=version)
                with open(path, 'rb') as f:
                    self.assertEqual(f.read(), data)
                with zipfile.ZipFile(path) as z:
                    self.assertIn(b'fmiVersion="%d.0"' % version, z.read('modelDescription.xml'))
        self.assertEqual(i.fmu(version=2), data)
        with self.assertRaises(mechd.Refused) as refused:
            i.fmu(version=1)
        self.assertIn('/version', str(refused.exception))

    def test_a_clone_goes_its_own_way(self):
        i = self.created()
        i.step(0.05, inputs={'force': 3})
        with i.clone('twin', labels={'of': i.id}, ttl=3600) as twin:
            has = twin.info()
            self.assertEqual((twin.id, has['labels'], has['ttl']), ('twin', {'of': i.id}, 3600))
            self.assertEqual(twin.step(0.1).outputs, i.step(0.1).outputs)
            twin.step(0.1)
            self.assertNotEqual(twin.time, i.time)

    def test_a_state_is_read_and_written_as_arrays(self):
        i = self.created()
        i.set_state(time=2, q=values.numpy.array([1.25]), v=[-1])
        state = i.state
        self.assertIsInstance(state.q, values.numpy.ndarray)
        self.assertEqual((state.time, state.q.tolist(), state.v.tolist()), (2, [1.25], [-1]))

    def test_runs_and_records(self):
        i, other = self.created(), self.created()
        seen = []
        run = i.run(until=1.0, period=0.1, progress=seen.append)
        self.assertEqual((run.state, run.periods, run.time), ('finished', 10, 1.0))
        self.assertEqual(seen[-1], 1.0)
        record = other.record(until=1.0, period=0.1)
        self.assertEqual(len(record), 11)
        self.assertEqual(record['x'].shape, (11,))
        self.assertEqual(record['x'][-1], i.outputs['x'])
        kept = i.run(until=2.0, period=0.1, record=2).results()
        self.assertEqual((len(kept), kept.time[-1], kept['x'][-1]), (6, 2.0, i.outputs['x']))
        self.assertEqual([r.id for r in i.runs()], ['r-2', 'r-1'])
        run = i.run(count=2, period=0.01, record=1)
        self.assertEqual([e.name for e in run.events()], ['row', 'row', 'row', 'end'])
        run.delete_results()
        run = i.run(pace=1, period=0.01)
        self.assertEqual(run.look().state, 'running')
        with self.assertRaises(mechd.Conflict):
            i.step(0.01)
        self.assertEqual(run.stop().state, 'stopped')

    def test_a_record_drives_the_inputs(self):
        i, other = self.created(), self.created()
        record = i.record(until=0.05, period=0.01, outputs=['x'], inputs=lambda t: {'force': t})
        for k in range(5):
            x = other.step(until=0.05 if k == 4 else (k + 1) * 0.01,
                           inputs={'force': record.time[k]}).outputs['x']
            self.assertEqual(record['x'][k + 1], x)

    # --- analyses ---------------------------------------------------------------------------------

    def test_analyses_come_as_arrays(self):
        i = self.created()
        line = i.linearization()
        self.assertEqual(line['A'].tolist(), [[0, 1], [-100, -1]])
        mode, = i.modes(count=1)['modes']
        self.assertAlmostEqual(mode['frequency'], 10 / (2 * 3.141592653589793), delta=1e-12)
        self.assertEqual(mode['shape'].tolist(), [1])
        self.assertEqual(i.statics(commit=False)['q'].tolist(), [1])
        self.assertEqual(i.time, 0)
        found = i.evaluate(['mass', 'rhs'], q=[1.5], v=[0])
        self.assertAlmostEqual(found['rhs'][0], -50, delta=1e-12)
        self.assertEqual(values.numpy.shape(found['mass']), (1, 1))
        self.assertEqual(i.jvp(0.01, inputs={'force': 1})['outputs'].keys(), {'x', 'v'})
        self.assertEqual(i.derivatives(direction={'v': [1]})['derivative']['qdot'], [1])
        i.set_field('spring', 'stiffness', 200)
        self.assertAlmostEqual(i.evaluate(['rhs'], q=[1.5], v=[0])['rhs'][0], -100, delta=1e-12)
        self.assertEqual(i.output('mass', 'Velocity', configuration='current')[0], 0.5)
        i.set_field('F', 'load', 20, category='loads')
        self.assertEqual(i.model()['loads'][0]['load'], 20)
        self.assertEqual(i.output('n', 'Coordinates_t', category='nodes')[0], 0.5)
        self.assertEqual(i.contacts(), [])

    def test_the_system_of_equations(self):
        with self.server.create(example='four-bar') as i:
            info, masses = i.system.info(), i.system.part('M')
            n = len(masses)
            self.assertEqual(masses.shape, (n, n))
            rows = i.system.part('Cq')
            self.assertEqual(rows.shape[1], n)
            self.assertEqual(i.system.part('b').shape, (len(rows),))
            z = i.system.part('Z')
            x = values.numpy.arange(1.0, 1 + len(z))
            x[n:] *= -1
            product = i.system.product(values.numpy.arange(1.0, 1 + len(z)), symmetric=True)
            flat = [a for a in product.values() if values.numpy.shape(a) == (len(z),)]
            self.assertEqual(len(flat), 1, product)
            self.assertLess(abs(flat[0] - z @ values.numpy.arange(1.0, 1 + len(z))).max(),
                            1e-9 * abs(z).max() * len(z) ** 2)
            self.assertTrue(info)

    def test_every_route_has_its_method(self):
        called, url_of, method_of = set(), Transport.url, Transport._send

        def spy(transport, method, url, *more):
            called.add((method, url[len(transport.base):]))
            return method_of(transport, method, url, *more)

        def spy_lines(transport, parts):
            url = url_of(transport, parts)
            called.add(('GET', url[len(transport.base):]) if parts[-1] == 'events' else None)
            return url

        Transport._send, Transport.url = spy, spy_lines
        try:
            self.call_everything()
        finally:
            Transport._send, Transport.url = method_of, url_of
        called.discard(None)
        with open(os.path.join(ROOT, 'protocol', 'wire', 'routes.def'), encoding='utf-8') as f:
            known = re.findall(r'^MECHP_ROUTE\(\w+, "(\w+)", "([^"]+)"', f.read(), re.M)
        self.assertGreater(len(known), 40)
        # what has braces matches last
        plain = {route for route in known if '{' not in route[1].split('{id}')[-1]}
        used = set()
        for method, path in called:
            fits = [r for r in known if r[0] == method and re.fullmatch(
                re.sub(r'\{\w+\}', '[^/]+', r[1]), path)]
            used |= set(fits) & plain or set(fits)
        self.assertEqual(set(known) - used - PAGES, set())

    def test_a_coupling_steps_its_instances_together(self):
        one, other = (self.server.create(example='driven-oscillator') for _ in range(2))
        name, force = list(one.outputs)[0], list(one.inputs.all())[0]
        with self.server.couple({'left': one, 'right': other},
                                [('left.' + name, 'right.' + force, -5)], step_size=0.01) as pair:
            step = pair.step(until=0.1)
            self.assertEqual((step.window, round(step.time, 12)), (10, 0.1))
            self.assertEqual(step.outputs['left.' + name], one.outputs[name])
            with self.assertRaises(mechd.Conflict):
                one.step(0.01)
            self.assertEqual([c.id for c in self.server.couplings()], [pair.id])
            self.assertGreater(pair.stability(0.01)['spectralRadius'], 0)
            self.assertEqual(pair.ssp()[:2], b'PK')
            trial = pair.step(count=2, commit=False, want=['interface', 'energy'])
            self.assertGreater(trial.energy, 0)
            self.assertEqual(list(trial.report['interface']), pair.connections)
            self.assertEqual((trial.window, pair.look().windows), (12, 10))
            done = pair.commit(trial)
            self.assertEqual((done.outputs, pair.look().windows), (trial.outputs, 12))
            sid = pair.snapshot()
            pair.step(count=3)
            data = pair.data()
            self.assertEqual(pair.restore(sid).outputs, done.outputs)
            self.assertEqual((pair.restore(data).window, pair.look().windows), (15, 15))
            self.assertEqual(pair.restore(sid).window, 12)
            self.assertEqual(pair.snapshots(), [pair.show_snapshot(sid)])
            pair.delete_snapshot(sid)
            self.assertEqual(pair.snapshots(), [])
            self.assertEqual((pair.look().windows, pair.reset().time), (12, 0))
            ran = pair.run(count=4, record=['left.' + name], progress=False)
            found = ran.results()
            self.assertEqual((len(found), found['left.' + name][-1]), (5, one.outputs[name]))
            self.assertEqual([e.name for e in ran.events()], ['row'] * 5 + ['end'])
            with pair.stream(timeout=60 * harness.SLOW) as stream:
                self.assertEqual(next(stream).outputs['left.' + name], one.outputs[name])
                live = next(pair.events())['outputs']
                self.assertEqual(live['left.' + name], one.outputs[name])
                pair.step(count=1)
                self.assertEqual(next(stream).step, 5)
            ran.delete_results()
            self.assertEqual(ran.stop().state, 'finished')
            self.assertEqual([r.id for r in pair.runs()], [ran.id])
            with pair.stream(60 * harness.SLOW, outputs=['right.' + name], every=1) as stream:
                chosen, = pair.streams()
                self.assertEqual(pair.streams(chosen['name'])['topic'], chosen['topic'])
                self.assertEqual(list(next(stream).outputs), ['right.' + name])
            self.assertEqual(pair.streams(), [])
        self.assertGreater(one.step(0.01).time, 0)

    def call_everything(self):
        s = self.server
        s.about(), s.ready(), s.quota(), s.metrics(), s.set_log_level('info')
        s.openapi(), s.check(models.oscillator())
        self.assertIn('Mass1D', [t['type'] for t in s.types()])
        self.assertEqual(s.type('Mass1D')['type'], 'Mass1D')
        self.assertIn('four-bar', s.examples())
        fmu = s.fmus.upload(fmus.archive())
        self.assertEqual([f.id for f in s.fmus], [fmu.id])
        self.assertEqual(s.fmus[fmu.id].variables()[0]['name'], 'u')
        hosted = fmu.create(gain=2, u=1)
        self.assertEqual(hosted.step(0.5).outputs, {'y': 3})
        hosted.delete(), fmu.delete()
        i = s.create(s.example('four-bar'), id='mine')
        self.assertIn('mine', [e.id for e in s.instances()])
        self.assertEqual(s.instance('mine').model()['name'], i.info()['name'])
        i.scene(), i.variables(), i.outputs, i.inputs.all(), i.parameters.all(), i.state
        i.system.info(), i.system.blocks(), i.stop()
        cq = i.system.part('Cq')
        l, w = [0.0] * len(cq), [0.0] * len(cq[0])
        i.system.project(l=l), i.system.schur_product(l), i.system.feasibility(w, l)
        i.system.product(w + l)
        self.assertEqual(next(i.events())['time'], 0)
        i.lease().renew(), i.leases(), i.break_leases(), i.show_lease(None)
        with i.stream(every=2):
            chosen, = i.streams()
            self.assertEqual(i.streams(chosen['name'])['topic'], chosen['topic'])
        i.edit(labels={'a': 'b'}, ttl=600), i.delete()
        s.create(example='driven-oscillator').delete()
        for test in (self.test_a_session, self.test_analyses_come_as_arrays,
                     self.test_a_problem_that_stands_alone, self.test_snapshots_restore_the_bits,
                     self.test_a_trial_leaves_no_trace_until_it_is_committed,
                     self.test_snapshots_are_a_tree_and_are_compared,
                     self.test_trials_are_kept_under_names,
                     self.test_a_batch_gives_results_or_a_table, self.test_a_sweep_gives_a_table,
                     self.test_a_coupling_steps_its_instances_together,
                     self.test_an_answer_may_come_later, self.test_runs_and_records,
                     self.test_a_clone_goes_its_own_way, self.test_a_model_is_an_fmu,
                     self.test_a_state_is_read_and_written_as_arrays):
            test()

    # --- other doors ------------------------------------------------------------------------------

    def test_a_partner_gives_the_bits_of_http(self):
        i, other = self.created(), self.created()
        with i.connect(['force'], ['x', 'v']) as partner:
            for k in range(20):
                y = partner.step(0.01, {'force': 3.0 * k} if k % 2 else [3.0 * k])
                expected = other.step(0.01, inputs={'force': 3.0 * k})
                self.assertEqual(bits(y), bits([expected.outputs[n] for n in ('x', 'v')]))
                self.assertEqual((partner.time, partner.count), (expected.time, expected.step))
            self.assertEqual(partner.outputs.named(y), expected.outputs)
            tried = partner.trial(0.02, [1.0]).tolist()
            self.assertEqual(partner.get_outputs().tolist(), y.tolist())
            self.assertEqual(partner.commit().tolist(), tried)
            kept = partner.snapshot()
            after = partner.step(0.01).tolist()
            partner.restore(kept)
            self.assertEqual(partner.step(0.01).tolist(), after)
            partner.set_inputs({'force': -2})
            self.assertEqual(i.inputs['force'], -2)
            partner.set_state([1.5, 0.25])
            self.assertEqual(partner.get_state().tolist(), [1.5, 0.25])

    def test_a_partner_is_refused_with_reasons(self):
        i = self.created()
        with self.assertRaises(mechd.Invalid) as refused:
            i.connect(['torque'], ['x'])
        self.assertIn('torque', str(refused.exception))
        with i.connect(['force'], ['x']) as partner:
            with self.assertRaisesRegex(ValueError, 'unknown name torque; force is missing'):
                partner.step(0.01, {'torque': 1})
            with self.assertRaises(mechd.Invalid):
                partner.step(-1.0)
            i.delete()
            with self.assertRaises(mechd.Refused):
                partner.step(0.01)

    def test_the_stream_brings_each_step_once(self):
        i = self.created()
        with i.stream(timeout=10 * harness.SLOW) as stream:
            samples = [next_after(stream, i)]
            first = samples[0].sequence
            ends = [i.step(0.01) for _ in range(5)]
            while samples[-1].time < ends[-1].time:
                samples.append(next(stream))
            self.assertEqual([s.sequence for s in samples],
                             list(range(first, first + len(samples))))
            self.assertEqual([s.outputs for s in samples[-5:]], [e.outputs for e in ends])
            i.reset()
            i.step(0.01)
            self.assertTrue(any(next(stream).rewound for _ in range(2)))

    def test_a_late_answer_is_not_taken_for_the_next(self):
        i = self.created()
        with i.connect(['force'], ['x']) as partner:
            partner._socket.send_multipart([b'', frames.pack(
                frames.STEP, [1.0], instance=partner._number, lease=partner._lease,
                sequence=1000, size=0.01)])
            y = partner.step(0.01, [2.0])
            self.assertEqual((partner.time, y[0]), (0.02, i.outputs['x']))

    def test_derivatives_of_inputs_extrapolate_them(self):
        i, other = self.created(), self.created()
        driven = i.step(0.01, inputs={'force': 1}, input_derivatives={'force': [500]})
        self.assertNotEqual(driven.outputs, other.step(0.01, inputs={'force': 1}).outputs)
        with self.created().connect(['force'], ['x', 'v'], order=1) as partner:
            self.assertEqual(partner.step(0.01, [1, 500]).tolist(), list(driven.outputs.values()))
            with self.assertRaises(ValueError):
                partner.step(0.01, {'force': 1})

    def test_stamped_forces_act_from_their_time(self):
        def driven(push):
            i = self.created()
            with i.connect(['force'], ['x']) as partner, partner.forces() as forces:
                before = self.taken()
                if push:
                    forces.push({'force': 7.0}, 0.004)
                    wait_until(lambda: self.taken() == before + 1, 'the force is taken')
                    return partner.step(0.01)[0]
                partner.step(0.004)
                return partner.step(0.01 - 0.004, [7.0])[0]
        self.assertAlmostEqual(driven(True), driven(False), delta=1e-15)

    def taken(self):
        return int(re.search(r'^mechd_forces_total (\d+)$', self.server.metrics(), re.M).group(1))

    def test_events_come_until_the_instance_ends(self):
        i = self.created()
        seen = []

        def read():
            with mechd.Server(self.daemon.base) as server:
                seen.extend(server.instance(i.id).events(rate=50))

        reader = threading.Thread(target=read)
        reader.start()
        wait_until(lambda: (i.step(0.01), len(seen) > 3)[1] if reader.is_alive() else True,
                   'events come')
        i.delete()
        reader.join(10 * harness.SLOW)
        self.assertFalse(reader.is_alive())
        self.assertGreater(len(seen), 3)
        for event in seen:
            self.assertIn('x', event['outputs'])

    def test_a_unix_socket_and_tokens(self):
        from tokens import make
        token, line = make('me', 'read,step')
        with tempfile.TemporaryDirectory(prefix='mechd-python-') as folder:
            path, tokens = os.path.join(folder, 's'), os.path.join(folder, 'tokens')
            with open(tokens, 'w', encoding='utf-8') as f:
                f.write(line + '\n')
            with Daemon('--listen', 'unix:' + path, '--tokens', tokens):
                with mechd.Server('unix:' + path) as server, \
                        self.assertRaises(mechd.Forbidden) as refused:
                    list(server.instances())
                self.assertEqual(refused.exception.code, 'unauthorized')
                with mechd.Server('unix:' + path, token=token) as server:
                    i = server.create(models.oscillator())
                    self.assertEqual(i.step(0.01).step, 10)
                    with i.connect() as partner:
                        self.assertEqual(len(partner.step(0.01, [0])), 2)

    # --- what goes wrong --------------------------------------------------------------------------

    def test_refusals_carry_code_and_places(self):
        wrong = models.oscillator()
        wrong['objects'][0]['physicsMass'] = -1
        wrong['nodes'][0]['colour'] = 'red'
        with self.assertRaises(mechd.Invalid) as refused:
            self.server.create(wrong)
        fault = refused.exception
        self.assertEqual((fault.status, fault.code, fault.number), (422, 'invalid-model', 1019))
        self.assertEqual(sorted(p.split('/')[-1] for p in fault.pointers),
                         ['colour', 'physicsMass'])
        for pointer in fault.pointers:
            self.assertIn(pointer, str(fault))
        i = self.created()
        with self.assertRaises(mechd.Conflict) as refused:
            i.step(0.01, expect_time=1)
        self.assertEqual(refused.exception.code, 'time-mismatch')
        with self.assertRaises(ValueError):
            i.step(float('nan'))
        self.assertEqual(i.time, 0)

    def test_the_exception_of_a_failed_step_has_its_report(self):
        model = models.nonlinear_oscillator()
        model['solver'].update(stepSize=0.01, newton={'maxIterations': 1})
        with self.server.create(model) as i:
            with self.assertRaises(mechd.StepFailed) as failed:
                for _ in range(50):
                    i.step(0.1, inputs={'force': 1e6})
            self.assertEqual(failed.exception.code, 'newton-not-converged')
            self.assertIn('failedTime', failed.exception.report)

    def test_lost_answers_are_asked_for_again_and_done_once(self):
        proxy = Lossy(self.daemon, 0)
        self.addCleanup(proxy.close)
        with mechd.Server(proxy.url) as server:
            count = len(list(server.instances()))
            proxy.losses, proxy.requests = 2, 0
            i = server.create(models.oscillator())
            self.assertEqual(proxy.requests, 3)
            self.assertEqual(len(list(server.instances())), count + 1)
            proxy.losses = 2
            self.assertEqual(i.step(count=3).step, 3)
            proxy.losses = 1
            i.inputs['force'] = 4
            proxy.losses = 1
            with server.create(models.oscillator(), id='by-name') as named:
                self.assertEqual(named.time, 0)
                proxy.losses = 1
            proxy.losses = 1
            i.delete()
            self.assertEqual(len(list(server.instances())), count)
        with mechd.Server(proxy.url, retries=1) as server:
            proxy.losses = 2
            with self.assertRaises(mechd.Unreachable):
                server.about()

    def test_no_server_is_reported(self):
        with socket.create_server(('127.0.0.1', 0)) as silent:
            url = 'http://127.0.0.1:%d' % silent.getsockname()[1]
            with mechd.Server(url, timeout=0.2) as server, \
                    self.assertRaisesRegex(mechd.Unreachable, 'no answer'):
                server.about()
        with mechd.Server(url, retries=0) as server, \
                self.assertRaisesRegex(mechd.Unreachable, 'no connection'):
            server.about()

    # --- the package itself -----------------------------------------------------------------------

    def test_layouts_and_frames_refuse_what_does_not_fit(self):
        layout = Layout([{'name': 'p', 'offset': 1, 'count': 3},
                         {'name': 's', 'offset': 0, 'count': 1}])
        self.assertEqual(layout.packed({'p': [1, 2, 3], 's': 9}), [9, 1, 2, 3])
        self.assertEqual(layout.named([9, 1, 2, 3])['p'], [1, 2, 3])
        for wrong in ({'p': [1, 2], 's': 9}, {'p': [1, 2, 3]}, {'p': 1, 's': 1}):
            with self.assertRaises((ValueError, TypeError)):
                layout.packed(wrong)
        frame = frames.pack(frames.STEP, [1.0, 2.0], sequence=7, size=0.5)
        self.assertEqual(frames.header(frame).sequence, 7)
        for wrong in (frame[:-1], frame[:20], b'X' + frame[1:], frame + b'\0' * 8):
            with self.assertRaises(mechd.BadReply):
                frames.header(wrong)

    def test_matrices_of_every_form_become_dense(self):
        sparse = {'shape': [2, 3], 'coo': [[0, 2, 1.5], [1, 0, -1], [1, 0, -2]]}
        self.assertEqual(values.matrix(sparse).tolist(), [[0, 0, 1.5], [-3, 0, 0]])
        self.assertEqual(values.matrix({'shape': [0, 3], 'rows': []}).shape, (0, 3))
        self.assertEqual(values.matrix({'shape': [2], 'values': [1, 2]}).tolist(), [1, 2])

    def test_it_works_without_numpy(self):
        code = '''
import sys
sys.modules['numpy'] = None
import mechd
with mechd.Server(%r) as server, server.create(example='driven-oscillator') as i:
    assert isinstance(i.state.q, list)
    assert isinstance(i.system.part('M')[0], list)
    with i.connect() as partner:
        y = partner.step(0.01)
        assert isinstance(y, tuple) and list(y) == list(i.outputs.values())
    assert isinstance(i.record(0.05, 0.01).time, list)
print('done')
''' % self.daemon.base
        done = subprocess.run([sys.executable, '-c', code], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60 * harness.SLOW,
                              env={**os.environ, 'PYTHONPATH': PACKAGE})
        self.assertEqual(done.stdout.strip(), 'done')

    def test_pip_installs_it_from_its_folder_without_a_network(self):
        with tempfile.TemporaryDirectory(prefix='mechd-pip-') as folder:
            target = os.path.join(folder, 'there')
            pip(folder, 'install', '--target', target, copied(folder))
            self.assertTrue(os.path.exists(os.path.join(target, 'mechd', 'py.typed')))
            found = imported(target, 'import mechd; print(mechd.__file__)')
            self.assertTrue(found.startswith(target), found)


def next_after(stream, instance):
    """Step until the subscription has arrived: its first sample."""
    found = []

    def step():
        instance.step(0.001)
        if stream._socket.poll(20):
            found.append(next(stream))
        return found
    wait_until(step, 'the subscription arrives')
    # the same frame may come again as the last value; what the stream does with it is its own
    return found[0]


if __name__ == '__main__':
    unittest.main()
