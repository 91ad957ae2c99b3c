"""A write-ahead log that was cut or damaged while no daemon ran is said in the log at the start,
and one that is whole is not."""
import os
import shutil
import tempfile
import unittest
from harness import Daemon
import models
from keeping import Kept

RACES = True

HEAD, FRAME = 32, 24 + 4096


class Cut(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='mechd-state-')
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        with_steps = Kept(cls.folder)
        i = with_steps.create(models.oscillator(), durability='every-step')
        for _ in range(20):
            assert with_steps.call('POST', '/v1/instances/%s/step' % i, {'count': 1}).status == 200
        with_steps.kill()
        with open(os.path.join(cls.folder, 'mechd.sqlite-wal'), 'rb') as f:
            cls.wal = f.read()
        cls.step = 20
        assert len(cls.wal) % FRAME == HEAD and len(cls.wal) > 20 * FRAME

    def begin(self, wal, index=True):
        """What the next daemon says of this log, and the step that it is at; None: no instance."""
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(self.folder, folder, dirs_exist_ok=True)
            with open(os.path.join(folder, 'mechd.sqlite-wal'), 'wb') as f:
                f.write(wal)
            if not index:
                os.remove(os.path.join(folder, 'mechd.sqlite-shm'))
            with Daemon('--state', folder) as d:
                told = [line for line in d.log().split('\n') if 'event=wal-cut' in line]
                items = d.call('GET', '/v1/instances')['items']
        self.assertLessEqual(len(told), 1)
        return ''.join(told), items[0]['step'] if items else None

    def told(self, wal, words, index=True):
        line, step = self.begin(wal, index)
        self.assertIn('level=warning', line)
        self.assertIn(words, line)
        self.assertIn('bytes=%d' % len(wal), line)
        self.assertNotEqual(step, self.step)

    def flipped(self, at):
        return self.wal[:at] + bytes([self.wal[at] ^ 0x10]) + self.wal[at + 1:]

    def test_a_complete_one_is_not_reported(self):
        for index in (True, False):
            self.assertEqual(self.begin(self.wal, index), ('', self.step))

    def test_a_truncated_one_is_reported(self):
        for index in (True, False):
            for cut in (1, 100, 4000, 4096, 4110, FRAME * 3 // 2):
                with self.subTest(cut=cut, index=index):
                    self.told(self.wal[:-cut], 'truncated', index)
            for size in (HEAD - 5, 1):
                self.told(self.wal[:size], 'its header is truncated', index)

    def test_one_that_ends_too_early_is_detected_by_its_index(self):
        for size in (0, HEAD, len(self.wal) // 2 // FRAME * FRAME + HEAD, len(self.wal) - FRAME):
            with self.subTest(size=size):
                line, step = self.begin(self.wal[:size])
                self.assertRegex(line, 'shorter than the data|incomplete')
                self.assertNotEqual(step, self.step)

    def test_flipped_bits_are_reported(self):
        last = len(self.wal) - FRAME
        for at, words in ((0, 'head'), (9, 'head'), (17, 'head'), (30, 'head'),
                          (HEAD + 2, 'damaged'), (HEAD + 5 * FRAME + 9, 'damaged'),
                          (HEAD + 5 * FRAME + 2000, 'damaged'), (last + 1, 'damaged'),
                          (last + 18, 'damaged'), (len(self.wal) - 1, 'damaged')):
            for index in (True, False):
                with self.subTest(at=at, index=index):
                    self.told(self.flipped(at), words, index)

    def test_garbage_after_its_end_is_reported_and_zeros_are_not(self):
        line, step = self.begin(self.wal + self.wal[HEAD:HEAD + FRAME])
        self.assertIn('incomplete', line)
        self.assertEqual(step, self.step)
        self.assertEqual(self.begin(self.wal + bytes(FRAME + 100)), ('', self.step))

    def test_old_frames_after_a_restarted_log_are_not_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            d = Kept(folder)
            i = d.create(models.oscillator(), durability='every-step')
            path, before, again = os.path.join(folder, 'mechd.sqlite-wal'), b'', 0
            for k in range(3000):
                assert d.call('POST', '/v1/instances/%s/step' % i, {'count': 1}).status == 200
                with open(path, 'rb') as f:
                    salts = f.read(24)[16:]
                again += before not in (b'', salts)
                before = salts
                if again == 2:
                    break
            d.kill()
            self.assertEqual(again, 2)
            with Daemon('--state', folder) as d:
                self.assertNotIn('wal-cut', d.log())
                self.assertEqual(d.call('GET', '/v1/instances/' + i)['step'], k + 1)


if __name__ == '__main__':
    unittest.main()
