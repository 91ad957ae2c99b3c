"""deploy/release, in a copy of the tree: one command makes every file of a release, with the
version everywhere, and refuses what is no release."""
import hashlib
import os
import re
import subprocess
import tarfile
import unittest
from places import DEPLOY, LONG, ROOT, need, run

VERSION = '99.0.0'


def release(*words):
    done = subprocess.run([os.path.join(DEPLOY, 'release'), *words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LONG,
                          check=False)
    return done.returncode, done.stdout.decode(errors='replace')


class Release(unittest.TestCase):
    def test_one_command_makes_a_release(self):
        need(**{'dpkg-shlibdeps': 'dpkg-dev', 'patchelf': 'patchelf', 'meson': 'meson'})
        code, text = release(VERSION, '--dry-run')
        self.assertEqual(code, 0, text[-4000:])
        out = os.path.join(ROOT, 'build', 'release')
        with open(os.path.join(out, 'SHA256SUMS'), encoding='ascii') as f:
            sums = dict(reversed(line.split()) for line in f)
        for name, digest in sums.items():
            with open(os.path.join(out, name), 'rb') as f:
                self.assertEqual(hashlib.sha256(f.read()).hexdigest(), digest, name)
        for pattern in (r'mechd-99\.0\.0\.tar\.gz', r'mechd-99\.0\.0-linux-\w+\.tar\.gz',
                        r'mechd-99\.0\.0-\w+\.cdx\.json', r'mechd_99\.0\.0_\w+\.deb',
                        r'python3-mechd_99\.0\.0_all\.deb', r'NOTES\.md'):
            self.assertTrue(any(re.fullmatch(pattern, n) for n in sums), (pattern, sorted(sums)))
        with open(os.path.join(out, 'NOTES.md'), encoding='utf-8') as f:
            self.assertIn('### Added', f.read())
        with tarfile.open(os.path.join(out, 'mechd-99.0.0.tar.gz')) as tar:
            page = tar.extractfile('mechd-99.0.0/protocol/openapi.json').read().decode()
            self.assertIn('"%s"' % VERSION, page)
            changes = tar.extractfile('mechd-99.0.0/CHANGELOG.md').read().decode()
            self.assertIn('## %s (' % VERSION, changes)
        # the tree itself is as it was
        self.assertNotIn(VERSION, run('git', '-c', 'safe.directory=*', '-C', ROOT, 'tag'))

    def test_what_is_no_release_is_refused(self):
        self.assertEqual(release('1.2')[0], 2)
        code, text = release('0.0.1', '--dry-run')
        self.assertEqual(code, 1)
        self.assertIn('older', text)


if __name__ == '__main__':
    unittest.main()
