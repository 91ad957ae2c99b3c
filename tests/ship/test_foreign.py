"""deploy/image for the other of the two architectures: compiled here for that one, packed and run
by an emulator. A container of it does the main job, and computes what this machine does."""
import contextlib
import os
import platform
import unittest
import models
from containers import Containers
from harness import Daemon
from places import Engine, need, run

TAG = 'localhost/mechd:foreign'
FORMATS = '/proc/sys/fs/binfmt_misc'
# the name of Debian, that of qemu, and the machine in the head of a program (ELF, e_machine)
ARM, INTEL = ('arm64', 'qemu-aarch64', '00b7'), ('amd64', 'qemu-x86_64', '003e')
OTHER = ARM if platform.machine() == 'x86_64' else INTEL


@contextlib.contextmanager
def emulated(name):
    """As long as it lasts, the kernel hands programs of another architecture to qemu."""
    entry, mounted = os.path.join(FORMATS, name), False
    if os.path.exists(entry):
        yield
        return
    if not os.path.exists(os.path.join(FORMATS, 'register')):
        run('mount', '-t', 'binfmt_misc', 'binfmt_misc', FORMATS)
        mounted = True
    try:
        with open('/usr/lib/binfmt.d/%s.conf' % name, encoding='latin-1') as f:
            line = f.read()
        with open(os.path.join(FORMATS, 'register'), 'w', encoding='latin-1') as f:
            f.write(line)
        try:
            yield
        finally:
            with open(entry, 'w', encoding='ascii') as f:
                f.write('-1')
    finally:
        if mounted:
            run('umount', FORMATS)


class Foreign(Containers):
    TAG = TAG

    @classmethod
    def setUpClass(cls):
        arch, emulator, cls.machine = OTHER
        need(buildah='buildah', podman='podman', runc='runc', mmdebstrap='mmdebstrap',
             conmon='conmon', **{emulator + '-static': 'qemu-user-static',
                                 'arch-test': 'arch-test'})
        cls.engine = Engine()
        cls.addClassCleanup(cls.engine.close)
        # before the kernel knows the emulator: the command brings it about for itself
        cls.engine.image(TAG, '--arch', arch)
        cls.enterClassContext(emulated(emulator))

    def test_it_is_of_the_other_architecture(self):
        image = self.engine.podman('image', 'inspect', '--format', '{{.Architecture}}', TAG)
        self.assertEqual(image.strip(), OTHER[0])
        for program in ('mechd', 'mechd-fmu', 'mechctl'):
            head = self.podman('run', '--rm', '--network', 'none', TAG, 'od', '-An', '-tx2',
                               '-j18', '-N2', '/usr/bin/' + program)
            self.assertEqual(head.strip(), self.machine, program)

    def test_it_is_small(self):
        self.check_size()

    def test_the_main_job_survives_a_restart_with_the_numbers_of_this_machine(self):
        before, again = self.do_the_main_job('mechd-foreign')
        with Daemon() as daemon:
            i = daemon.call('POST', '/v1/instances', {'model': models.oscillator()})['id']
            daemon.call('POST', '/v1/instances/%s/step' % i, {'count': 10})
            state = daemon.call('GET', '/v1/instances/%s/state' % i).json
            step = daemon.call('POST', '/v1/instances/%s/step' % i, {'count': 1}).json
        self.assertEqual((before['step'], before['time']), (state['step'], state['time']))
        # libraries of another processor may sum in another order: a few units of the last place
        for here, there in ((state['q'], before['q']), (state['v'], before['v']),
                            (step['outputs'].values(), again['outputs'].values())):
            for x, y in zip(here, there, strict=True):
                self.assertAlmostEqual(y, x, delta=1e-14 * max(1, abs(x)))


if __name__ == '__main__':
    unittest.main()
