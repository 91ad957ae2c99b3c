"""Every example of the daemon is a valid model, creates, steps, and describes what it shows."""
import unittest
from harness import Daemon, HttpDoor


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.door = HttpDoor(cls.daemon)
        cls.names = [e['name'] for e in cls.door.call('examples')[1]['items']]

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def test_there_are_the_first_five(self):
        text = ' '.join(self.names)
        for word in ('mass1d', 'spring-mass-damper', 'ball', 'chain', 'beads'):
            self.assertIn(word, text)
        self.assertGreaterEqual(len(self.names), 5)

    def test_each_creates_steps_and_shows(self):
        for name in self.names:
            with self.subTest(name):
                model = self.daemon.call('GET', '/v1/examples/' + name).json
                model = model.get('model', model)
                checked = self.daemon.call('POST', '/v1/models/check', {'model': model})
                self.assertEqual(checked.status, 200, checked)
                i = self.daemon.create(example=name)
                before = self.door.call('get-state', id=i)[1]
                status, reply = self.door.call('step', id=i, count=200)
                self.assertEqual(status, 200, reply)
                self.assertEqual(reply['step'], 200)
                self.assertNotEqual(self.door.call('get-state', id=i)[1]['q'] +
                                    self.door.call('get-state', id=i)[1]['x'],
                                    before['q'] + before['x'])
                self.assertTrue(self.door.call('outputs', id=i)[1]['outputs'])
                self.assertEqual(self.door.call('scene', id=i)[0], 200)
                self.assertEqual(self.door.call('delete', id=i)[0] // 100, 2)

    def test_the_model_of_an_instance_makes_the_same_instance(self):
        for name in self.names:
            with self.subTest(name):
                i = self.daemon.create(example=name)
                model = self.door.call('model', id=i)[1]
                j = self.daemon.create(model.get('model', model))
                for one in (i, j):
                    self.door.call('step', id=one, count=50)
                self.assertEqual(self.door.call('get-state', id=i)[1],
                                 self.door.call('get-state', id=j)[1])


if __name__ == '__main__':
    unittest.main()
