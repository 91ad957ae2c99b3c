"""Jacobians of a step restricted to outputs, and what they hold for."""
import math
import unittest
import models
from harness import Partner, Served

RACES = True


class Jacobians(Served):
    def jacobian(self, i, **more):
        status, reply = self.door.call('step', id=i, size=0.01, want=['jacobian'], commit=False,
                                       **more)
        self.assertEqual(status, 200, reply)
        return reply['jacobian']

    def test_one_has_the_rows_of_the_outputs_asked_for(self):
        i = self.daemon.create(models.oscillator())
        whole = self.jacobian(i)
        for names in (['v'], ['v', 'x'], ['x'], []):
            with self.subTest(names):
                part = self.jacobian(i, outputs=names)
                self.assertEqual(part['outputs'], names)
                self.assertEqual(part['matrix'],
                                 [whole['matrix'][whole['outputs'].index(n)] for n in names])
        with Partner(self.daemon, i, ['force'], [], want=['jacobian']) as partner:
            self.assertEqual(len(partner.trial(0.01)['values']), 0)

    def test_it_says_for_what_it_holds(self):
        model = models.ball()
        model['parameters'] = {'push': 0}
        model['objects'][0]['Fext'] = ['=push - 9.81']
        model['inputs'] = [{'name': 'up', 'parameter': 'push'}]
        model['sensors'] = [{'name': 'p', 'type': 'SensorObject', 'object': 's',
                             'outputVariable': 'Coordinates'}]
        model['outputs'] = [{'name': 'y', 'sensor': 'p', 'component': 0}]
        i = self.daemon.create(model)
        found = self.jacobian(i)
        self.assertEqual((found['activeSet'], found['activeSetConstant']), ([], True))
        self.door.call('step', id=i, until=math.floor(math.sqrt(2 / 9.81) * 100) / 100 - 0.01)
        status, reply = self.door.call('step', id=i, size=0.03, want=['jacobian'])
        self.assertEqual(status, 200, reply)
        found = reply['jacobian']
        self.assertFalse(found['activeSetConstant'])
        model['interactions'][0]['law']['e'] = 0
        i = self.daemon.create(model)
        self.door.call('step', id=i, until=0.6)
        found = self.jacobian(i)
        self.assertEqual(found['activeSet'], [{'of': 'interaction', 'item': 'c', 'row': 0}])
        self.assertTrue(found['activeSetConstant'])


if __name__ == '__main__':
    unittest.main()
