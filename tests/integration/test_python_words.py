"""What the Python package says to people: bad addresses, closed doors, objects in a prompt."""
import os
import sys
import unittest

import models
from harness import ROOT, Served

sys.path.insert(0, os.path.join(ROOT, 'clients', 'python'))
import mechd  # noqa: E402


class Words(Served):
    def setUp(self):
        self.server = mechd.Server(self.daemon.base)
        self.addCleanup(self.server.close)

    def test_an_address_that_is_none_is_refused_at_once(self):
        for url, why in (('ftp://host', 'ftp'), ('http://', 'host'), (':80', 'host'),
                         ('127.0.0.1:99999', 'port'), ('http://host:port', 'port'),
                         ('unix:', 'path'), ('http://[::1', 'host'), ('http://a b', 'host'),
                         ('tcp://127.0.0.1:5555', 'tcp'), ('/run/mechd.sock', 'host'),
                         ('http://host:80/?x', r'not contain \?'), ('http://host:80#x', 'contain')):
            with self.subTest(url), self.assertRaises(ValueError) as refused:
                mechd.Server(url)
            self.assertRegex(str(refused.exception),
                             r"^'.*' is not an address of a server \(.*%s.*\): http://host:port, "
                             r'https://host:port or unix:/path$' % why)

    def test_names_that_a_path_cannot_have_ask_for_nothing_else(self):
        kept = self.server.create(example='mass1d')
        for name in ('', '.', '..'):
            for ask in (lambda name=name: self.server.instance(name).delete(),
                        lambda name=name: self.server.type(name),
                        lambda name=name: kept.output(name, 'Position')):
                with self.subTest(name), self.assertRaisesRegex(ValueError, 'is not an id'):
                    ask()
        kept.delete()

    def test_numbers_and_labels_that_are_none_are_refused_at_once(self):
        with self.assertRaisesRegex(ValueError, '^retries: -1 is less than 0$'):
            mechd.Server(self.daemon.base, retries=-1)
        for label in (['a', 'b'], ('a',), {'a'}, {'a': 1}, b'a'):
            with self.assertRaisesRegex(ValueError, '^/label/only: .* is not a string$'):
                list(self.server.instances(only=label))

    def test_a_certificate_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(ValueError, 'there is no file /nowhere/ca.pem, .*verify'):
            mechd.Server('https://127.0.0.1:1', verify='/nowhere/ca.pem')

    def test_no_server_is_reported_in_a_sentence(self):
        for url, why in (('http://127.0.0.1:1', 'Connection refused'),
                         ('unix:/nowhere/mechd.sock', 'No such file or directory')):
            with self.assertRaises(mechd.Unreachable) as told:
                mechd.Server(url, retries=0).about()
            self.assertEqual(str(told.exception), 'no connection to %s: %s' % (url, why))

    def test_a_closed_partner_says_so(self):
        instance = self.server.create(models.oscillator())
        partner, stream = instance.connect(['force'], ['x']), instance.stream()
        forces = partner.forces()
        for what, use in ((forces, lambda: forces.push([1])), (stream, lambda: next(stream)),
                          (partner, lambda: partner.step(0.01, [1])), (partner, partner.forces)):
            what.close()
            what.close()
            with self.assertRaisesRegex(ValueError, '^this %s has been closed' %
                                        type(what).__name__.lower()):
                use()

    def test_values_that_are_no_numbers_are_refused(self):
        instance = self.server.create(models.oscillator())
        with instance.connect(['force'], ['x']) as partner:
            for values in (['much'], [None]):
                with self.assertRaisesRegex(ValueError, 'numbers are needed'):
                    partner.step(0.01, values)
            self.assertEqual(len(partner.step(0.01, [1.0])), 1)

    def test_objects_show_what_they_are(self):
        instance = self.server.create(models.oscillator())
        with instance.connect(['force'], ['x']) as partner, instance.stream() as stream, \
                partner.forces() as forces:
            for thing, shown in (
                    (partner, "Partner(%r, inputs=['force'], outputs=['x'], time=0.0)"),
                    (stream, "Stream(%r, outputs=['x', 'v'])"),
                    (forces, "Forces(%r, inputs=['force'])"),
                    (instance.system, 'System(Instance(%r))')):
                self.assertEqual(repr(thing), shown % instance.id)
            self.assertEqual(repr(partner.outputs), "Layout(['x'])")
        self.assertEqual(repr(partner), "Partner(%r, closed)" % instance.id)
        run = instance.run(count=2, record={}, wait=True)
        self.assertRegex(repr(instance.snapshot()), r"^Snapshot\('s-1', time=0\.\d+\)$")
        self.assertEqual(repr(run.results()), "Record(['x', 'v'], 3 rows)")
        table = self.server.sweep(models.oscillator(), points=[{}], count=1).results()
        self.assertEqual(repr(table), "Table(['point', 'time', 'x', 'v'], 1 row)")
        self.assertEqual(repr(self.server.problems), 'Problems(%r)' % self.daemon.base)


if __name__ == '__main__':
    unittest.main()
