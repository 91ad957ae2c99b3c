"""Creates, steps and deletes 1,000 instances in a daemon under valgrind: no leak, no error.

The number may be given as an argument. Linear, nonlinear and nonsmooth models take turns, over
HTTP and over ZeroMQ, with a snapshot and a refused model now and then."""
import os
import sys
os.environ['MECHD_TESTS_WRAP'] = ' '.join([
    'valgrind', '--quiet', '--leak-check=full',
    '--errors-for-leak-kinds=definite,indirect,possible',
    '--show-leak-kinds=definite,indirect,possible', '--error-exitcode=99', '--num-callers=24'])
os.environ['MECHD_TESTS_DEADLINE'] = '30'
import models  # noqa: E402
from harness import Daemon, HttpDoor, ZmqDoor  # noqa: E402


def main(count):
    builders = [models.oscillator, models.nonlinear_oscillator, models.ball, models.generic_ode2,
                models.driven]
    broken = models.oscillator()
    broken['objects'][0]['node'] = 'nowhere'
    daemon = Daemon()
    doors = [HttpDoor(daemon), ZmqDoor(daemon)]
    for n in range(count):
        door = doors[n % 2]
        status, made = door.call('create', model=builders[n % len(builders)]())
        assert status == 201, made
        status, reply = door.call('step', id=made['id'], count=5)
        assert status == 200, reply
        if n % 50 == 0:
            sid = door.call('snapshot', id=made['id'])[1]['id']
            door.call('restore', id=made['id'], sid=sid)
            assert door.call('create', model=broken)[0] == 422
        assert door.call('delete', id=made['id'])[0] // 100 == 2
    for door in doors:
        door.close()
    try:
        daemon.stop(seconds=60)
    except AssertionError as e:
        print('FAILED create, step, delete x %d\n%s' % (count, e))
        print('0 passed, 1 failed')
        return 1
    print('create, step, delete x %d: valgrind has nothing to say' % count)
    print('1 passed, 0 failed')
    return 0


if __name__ == '__main__':
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
