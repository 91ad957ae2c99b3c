"""/metrics as Prometheus reads it: a strict reader of the text format, and that each number moves
with what it counts; /readyz and its reasons."""
import collections
import math
import os
import re
import resource
import shutil
import tempfile
import unittest
import harness
import models
from harness import Daemon, Partner, ZmqDoor, wait_until

RACES = True

NAME = re.compile(r'[a-zA-Z_:][a-zA-Z0-9_:]*$')
SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)')
SUFFIXES = {'histogram': ('_bucket', '_sum', '_count'), 'counter': ('',), 'gauge': ('',)}


class Family:
    def __init__(self, help_text):
        self.help, self.kind, self.samples = help_text, None, {}


def labels_of(text):
    """{name: value} of the text between braces; nothing may be left over or occur twice."""
    found, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match, 'labels %r' % text
        assert match.group(1) not in found, 'label twice in %r' % text
        assert match.group(3) == ',' or match.end() == len(text), text
        found[match.group(1)] = match.group(2)
        at = match.end()
    assert not text.endswith(','), text
    return found


def check_histogram(name, samples):
    """Buckets of each series: rising bounds up to +Inf, counts that never fall, the last one the
    count, and a sum beside them."""
    series = collections.defaultdict(dict)
    for (sample, labels), value in samples.items():
        rest = tuple(pair for pair in labels if pair[0] != 'le')
        bound = dict(labels).get('le')
        assert (bound is not None) == (sample == name + '_bucket'), (sample, labels)
        series[rest].setdefault(sample, []).append((bound, value))
    for rest, parts in series.items():
        assert set(parts) == {name + s for s in SUFFIXES['histogram']}, (rest, parts)
        bounds = [math.inf if b == '+Inf' else float(b) for b, _ in parts[name + '_bucket']]
        counts = [v for _, v in parts[name + '_bucket']]
        assert bounds == sorted(set(bounds)) and bounds[-1] == math.inf, (rest, bounds)
        assert counts == sorted(counts), (rest, counts)
        assert parts[name + '_count'] == [(None, counts[-1])], (rest, parts)
        (_, total), = parts[name + '_sum']
        least = sum((a - b) * low for a, b, low in zip(counts, [0] + counts, [0] + bounds))
        assert total >= least * (1 - 1e-9), (rest, total, least)


def read(page):
    """{family: Family} of a page, which must keep every rule of the text format 0.0.4: HELP and
    TYPE once, before the samples; the samples of a family in one piece, none twice; counters end
    in _total and are whole histograms' parts otherwise; numbers that are numbers."""
    assert page.endswith('\n') and '\r' not in page
    families, name = {}, None
    for line in page[:-1].split('\n'):
        if line.startswith('# HELP '):
            name, text = line[7:].split(' ', 1)
            assert NAME.match(name) and name not in families and text.strip() == text, line
            families[name] = Family(text)
            continue
        if line.startswith('# TYPE '):
            kind = line[7:].split(' ')
            assert kind[0] == name and families[name].kind is None, line
            assert not families[name].samples and kind[1] in SUFFIXES and len(kind) == 2, line
            families[name].kind = kind[1]
            continue
        match = SAMPLE.match(line)
        assert match, 'line %r' % line
        family = families[name]
        assert match.group(1) in [name + s for s in SUFFIXES[family.kind]], (name, line)
        labels = labels_of(match.group(2) or '')
        key = match.group(1), tuple(sorted(labels.items()))
        value = float(match.group(3))
        assert key not in family.samples, 'twice: ' + line
        assert math.isfinite(value), line
        assert value >= 0 or family.kind == 'gauge', line
        family.samples[key] = value
    for name, family in families.items():
        assert family.kind is not None, name
        assert (family.kind == 'counter') == name.endswith('_total'), name
        if family.kind == 'histogram':
            check_histogram(name, family.samples)
    return families


class Page:
    def __init__(self, daemon):
        self.families = read(daemon.call('GET', '/metrics').raw.decode())

    def get(self, name, **labels):
        """A sample's number; 0 where it has not come into being."""
        family = re.sub('_(bucket|sum|count)$', '', name)
        family = self.families[name if name in self.families else family]
        return family.samples.get((name, tuple(sorted(labels.items()))), 0)


class Reader(unittest.TestCase):
    GOOD = ('# HELP a_total A.\n# TYPE a_total counter\na_total{x="1",y="q\\"\\n"} 3\n'
            '# HELP h H.\n# TYPE h histogram\nh_bucket{le="0.1"} 1\nh_bucket{le="+Inf"} 2\n'
            'h_sum 0.7\nh_count 2\n')

    def test_the_reader_takes_what_is_right_and_refuses_what_is_not(self):
        read(self.GOOD)
        for good, bad in (('h_count 2', 'h_count 3'), ('le="0.1"} 1', 'le="0.1"} 3'),
                          ('h_sum 0.7\n', ''), ('h_sum 0.7', 'h_sum 0.05'),
                          ('h_bucket{le="+Inf"} 2\n', ''), ('"} 3\n', '"} three\n'),
                          ('# TYPE a_total counter\n', ''), ('a_total counter', 'a_total gauge'),
                          ('x="1",y', 'x="1",x'), ('x="1",', 'x="1"'), ('q\\"', 'q"'),
                          ('a_total{', 'b_total{'), ('h_count 2\n', 'h_count 2'),
                          ('le="0.1"', 'le="+Inf"'), ('# HELP h H.', '# HELP a_total H.')):
            self.assertEqual(self.GOOD.count(good) > 0, True, good)
            with self.assertRaises((AssertionError, KeyError, ValueError), msg=(good, bad)):
                read(self.GOOD.replace(good, bad))


class Metrics(unittest.TestCase):
    def test_requests_are_counted_by_route_and_code_with_their_latency(self):
        with Daemon() as d:
            i = d.create(models.oscillator())
            for count, status in ((1, 200), (1, 200), ('x', 422)):
                reply = d.call('POST', '/v1/instances/%s/step' % i, {'count': count})
                self.assertEqual(reply.status, status, reply)
            self.assertEqual(d.call('GET', '/nowhere').status, 404)
            self.assertEqual(d.call('GET', '/').status, 200)
            page = Page(d)
            step = {'route': '/v1/instances/{id}/step', 'method': 'POST'}
            for labels, count in (({**step, 'code': '200'}, 2), ({**step, 'code': '422'}, 1),
                                  ({'route': 'none', 'method': 'none', 'code': '404'}, 1),
                                  ({'route': '/', 'method': 'GET', 'code': '200'}, 1)):
                self.assertEqual(page.get('mechd_http_requests_total', **labels), count, labels)
            self.assertEqual(page.get('mechd_http_request_seconds_count', **step), 3)
            self.assertGreater(page.get('mechd_http_request_seconds_sum', **step), 0)
            self.assertEqual(page.get('mechd_request_seconds_count', door='http'), 6)
            self.assertEqual(page.get('mechd_request_errors_total', door='http'), 2)

    def test_steps_bytes_and_instances_move_with_what_they_count(self):
        with Daemon() as d:
            before = Page(d)
            i = d.create(models.oscillator())
            d.call('POST', '/v1/instances/%s/step' % i, {'count': 7})
            door = ZmqDoor(d)
            self.assertEqual(door.call('step', id=i, count=5)[0], 200)
            door.close()
            with Partner(d, i, outputs=['x']) as partner:
                partner.step(1e-3)
            page = Page(d)
            grown = lambda name, **labels: page.get(name, **labels) - before.get(name, **labels)
            self.assertEqual(grown('mechd_commands_total'), 3)
            self.assertGreaterEqual(grown('mechd_steps_total'), 13)
            self.assertEqual(page.get('mechd_instances'), 1)
            self.assertEqual(grown('mechd_request_seconds_count', door='zmq-json'), 1)
            self.assertGreaterEqual(grown('mechd_request_seconds_count', door='zmq-frame'), 2)
            self.assertGreater(grown('mechd_received_bytes_total'), len(str(models.oscillator())))
            self.assertGreater(grown('mechd_sent_bytes_total'), 500)

    def test_metrics_of_the_process_have_memory_descriptors_and_processor(self):
        with Daemon() as d:
            page = Page(d)
            with open('/proc/%d/statm' % d.pid(), encoding='ascii') as f:
                resident = int(f.read().split()[1]) * resource.getpagesize()
            told = page.get('process_resident_memory_bytes')
            self.assertLess(abs(told - resident), 0.5 * resident)
            opened = len(os.listdir('/proc/%d/fd' % d.pid()))
            self.assertLessEqual(abs(page.get('process_open_fds') - opened), 1)
            self.assertGreaterEqual(page.get('process_max_fds'), opened)
            self.assertGreater(page.get('process_cpu_seconds_total'), 0)

    def test_a_queue_is_seen_while_a_command_is_long_and_is_empty_after(self):
        with Daemon('--workers', '1') as d:
            i = d.create(models.oscillator())
            door = ZmqDoor(d)
            for count in (10 ** 9, 1, 1):
                door.socket.send_multipart([b'', harness.json.dumps(
                    {'op': 'step', 'id': i, 'count': count}).encode()])
            wait_until(lambda: Page(d).get('mechd_queued_commands') >= 2, 'two commands wait')
            d.call('POST', '/v1/instances/%s/stop' % i)
            self.assertEqual(sorted(door.receive()[0] for _ in range(3)), [200, 200, 409])
            door.close()
            wait_until(lambda: Page(d).get('mechd_queued_commands') == 0, 'the queue is empty')
            wait_until(lambda: Page(d).get('mechd_pool_waiting') == 0, 'the pool is empty')


class Storage(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='mechd-metrics-')
        self.addCleanup(shutil.rmtree, self.folder)

    def test_records_are_counted_and_a_full_disk_shows_in_readiness_until_it_is_over(self):
        with Daemon('--state', self.folder) as d:
            i = d.create(models.oscillator(), durability='every-step')
            path = '/v1/instances/%s/step' % i
            self.assertEqual(d.call('POST', path, {'count': 1}).status, 200)
            page = wait_until(lambda: (lambda p: p.get('mechd_store_records_total') >= 2 and p)(
                Page(d)), 'creation and step are counted')
            self.assertGreaterEqual(page.get('mechd_store_commits_total'), 2)
            self.assertEqual(page.get('mechd_store_failures_total'), 0)
            self.assertEqual(d.call('GET', '/readyz').status, 200)
            with d.full_disk():
                self.assertEqual(d.call('POST', path, {'count': 1}).status, 507)
                reply = d.call('GET', '/readyz')
                self.assertEqual((reply.status, reply['code']), (507, 'storage-failed'))
                self.assertIn('cannot be stored', reply['detail'])
                self.assertEqual(d.call('GET', '/livez').status, 200)
                page = wait_until(lambda: (lambda p: p.get('mechd_store_failures_total') >= 1
                                           and p)(Page(d)), 'the failure is counted')
                self.assertEqual(page.get('mechd_store_faulty'), 1)
            wait_until(lambda: d.call('GET', '/readyz').status == 200,
                       'readiness comes back without a change')
            self.assertEqual(Page(d).get('mechd_store_faulty'), 0)

    def test_without_a_directory_there_are_no_numbers_of_storage(self):
        with Daemon() as d:
            self.assertFalse([f for f in Page(d).families if f.startswith('mechd_store')])


if __name__ == '__main__':
    unittest.main()
