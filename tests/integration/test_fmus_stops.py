"""Hosted FMUs whose steps are stopped, and return early from them: the tests' FMU, which then has
done a quarter of its step of 0.1 s."""
import unittest
import fmus
from fmus import RETURNS, SAVES, VARIES, WAITS, processes, ticks
from harness import Daemon, wait_until

# of which it has a hundredth to come back
PATIENT = ['--fmu-seconds', '1000']


class Stops(unittest.TestCase):
    def begin(self, d, abilities):
        """The path of an instance whose steps wait until they are stopped, and its process."""
        path = fmus.hosted(d, fmus.archive(3, abilities), u=1)
        d.call('PUT', path + '/parameters', {'mood': WAITS})
        hosting, = processes(d)
        return path, hosting

    def is_at_work(self, hosting):
        before = ticks(hosting)
        wait_until(lambda: ticks(hosting) > before + 10, 'the FMU is in its step')

    def stop_step(self, d, path, hosting):
        """The answer of a step."""
        step = d.call('POST', path + '/step', {'size': 0.5}, {'Prefer': 'respond-async'})
        self.assertEqual(step.status, 202, step)
        self.is_at_work(hosting)
        self.assertLess(d.call('POST', path + '/stop').status, 300)
        # the list does not wait for the step, as the instance itself does
        wait_until(lambda: not d.call('GET', '/v1/instances')['items'][0]['busy'], 'it has ended')
        answer = d.call('GET', step.headers['Location'])['answer']
        self.assertEqual(answer['code'], 'cancelled', answer)
        return answer

    def stop_run(self, d, path, hosting):
        run = d.call('POST', path + '/runs', {'until': 1e6, 'period': 0.1})
        self.assertEqual(run.status, 202, run)
        self.is_at_work(hosting)
        stopped = d.call('DELETE', '%s/runs/%s' % (path, run['id']))
        self.assertEqual(stopped['state'], 'stopped', stopped)
        return stopped

    def test_one_that_returns_early_is_put_back_in_its_process(self):
        with Daemon(*fmus.ON, *PATIENT) as d:
            path, hosting = self.begin(d, ' '.join((SAVES, VARIES, RETURNS)))
            self.assertIn('returned early', self.stop_step(d, path, hosting)['detail'])
            self.assertEqual(d.call('GET', path)['time'], 0)
            self.assertNotIn('reason', self.stop_run(d, path, hosting).json)
            self.assertEqual(d.call('GET', path)['time'], 0)
            d.call('PUT', path + '/parameters', {'mood': 0})
            done = d.call('POST', path + '/step', {'size': 0.5})
            self.assertAlmostEqual(done['outputs']['y'], 1.5, 12)
            self.assertEqual(processes(d), [hosting])


if __name__ == '__main__':
    unittest.main()
