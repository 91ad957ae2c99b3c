"""deploy/release, in clones of the tree as it is committed: one command makes every file of a
release, with the version everywhere; its source makes the same packages again; what is no release
is refused, and a failure leaves everything as it was."""
import hashlib
import os
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
import unittest
from places import LONG, ROOT, need, run

VERSION = '99.0.0'
WHEN = 86400 * 20000  # a day, in seconds since 1970
DAY = '2024-10-04'
GIT = ('git', '-c', 'safe.directory=*')


def deaf_to_none():
    """Signals have their effect, also where these tests run in the background."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Release(unittest.TestCase):
    def setUp(self):
        need(git='git')
        self.place = tempfile.mkdtemp(prefix='mechd-release-')
        self.addCleanup(shutil.rmtree, self.place)
        self.tree = os.path.join(self.place, 'tree')
        run(*GIT, 'clone', '-q', '--no-hardlinks', ROOT, self.tree)
        for name, value in (('name', 'tests'), ('email', 'tests@localhost')):
            self.git('config', 'user.' + name, value)
        self.out = os.path.join(self.tree, 'build', 'release-dry-run')

    def git(self, *words):
        return run(*GIT, '-C', self.tree, *words)

    def at(self, path):
        return os.path.join(self.tree, path)

    def write(self, path, text):
        os.makedirs(os.path.dirname(self.at(path)), exist_ok=True)
        with open(self.at(path), 'w', encoding='utf-8') as f:
            f.write(text)

    def commit(self):
        """Long ago."""
        run(*GIT, '-C', self.tree, 'commit', '-q', '-a', '-m', 'a change',
            env={**os.environ, 'GIT_COMMITTER_DATE': '2001-02-03T04:05:06Z'})

    def release(self, *words, **environment):
        done = subprocess.run([self.at('deploy/release'), *words], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LONG,
                              env={**os.environ, **environment}, check=False,
                              preexec_fn=deaf_to_none)
        return done.returncode, done.stdout.decode(errors='replace')

    def test_one_command_makes_a_release(self):
        need(**{'dpkg-shlibdeps': 'dpkg-dev', 'patchelf': 'patchelf', 'meson': 'meson'})
        self.write('build/release/NOTES.md', 'of a release that was made before')
        code, text = self.release(VERSION, '--dry-run', SOURCE_DATE_EPOCH=str(WHEN))
        self.assertEqual(code, 0, text[-4000:])
        with open(os.path.join(self.out, 'SHA256SUMS'), encoding='ascii') as f:
            sums = dict(reversed(line.split()) for line in f)
        for name, digest in sums.items():
            with open(os.path.join(self.out, name), 'rb') as f:
                self.assertEqual(hashlib.sha256(f.read()).hexdigest(), digest, name)
        for pattern in (r'mechd-99\.0\.0\.tar\.gz', r'mechd-99\.0\.0-linux-\w+\.tar\.gz',
                        r'mechd-99\.0\.0-\w+\.cdx\.json', r'mechd_99\.0\.0_\w+\.deb',
                        r'python3-mechd_99\.0\.0_all\.deb', r'NOTES\.md'):
            self.assertTrue(any(re.fullmatch(pattern, n) for n in sums), (pattern, sorted(sums)))
        with open(os.path.join(self.out, 'NOTES.md'), encoding='utf-8') as f:
            self.assertIn('### Added', f.read())
        with tarfile.open(os.path.join(self.out, 'mechd-99.0.0.tar.gz')) as tar:
            page = tar.extractfile('mechd-99.0.0/protocol/openapi.json').read().decode()
            self.assertIn('"%s"' % VERSION, page)
            changes = tar.extractfile('mechd-99.0.0/CHANGELOG.md').read().decode()
            self.assertIn('## %s (%s)' % (VERSION, DAY), changes)
        # the tree itself is as it was, and so is a release
        self.assertNotIn(VERSION, self.git('tag'))
        self.assertEqual(self.git('status', '--porcelain'), '')
        self.assertEqual(os.listdir(self.at('build/release')), ['NOTES.md'])

        # its source, unpacked below another repository, makes the same packages
        source = self.unpacked('mechd-99.0.0')
        made = os.path.join(self.place, 'made')
        run(os.path.join(source, 'deploy', 'package'), '--out', made, 'deb',
            env={**os.environ, 'SOURCE_DATE_EPOCH': str(WHEN)})
        debs = [n for n in sums if n.endswith('.deb')]
        self.assertEqual(len(debs), 5)
        for name in debs:
            with open(os.path.join(made, name), 'rb') as f:
                self.assertEqual(hashlib.sha256(f.read()).hexdigest(), sums[name], name)

    def unpacked(self, name):
        """The source of the release, in a repository that is another one's."""
        other = os.path.join(self.place, 'other')
        run(*GIT, 'init', '-q', other)
        with tarfile.open(os.path.join(self.out, name + '.tar.gz')) as tar:
            tar.extractall(other)
        return os.path.join(other, name)

    def test_the_time_is_that_of_the_tree(self):
        def epoch(tree, **environment):
            return int(run(os.path.join(tree, 'deploy', 'epoch'),
                           env={**os.environ, **environment}))
        os.makedirs(self.out)
        when = int(self.git('log', '-1', '--format=%ct'))
        self.assertEqual(epoch(self.tree), when)
        self.assertEqual(epoch(self.tree, SOURCE_DATE_EPOCH='7'), 7)
        self.git('archive', '--format=tar.gz', '--prefix=mechd/', '-o', self.out + '/mechd.tar.gz',
                 'HEAD')
        source = self.unpacked('mechd')
        # neither the other repository's commit counts, nor that it has none
        self.assertEqual(epoch(source), when)
        run(*GIT, '-C', os.path.dirname(source), '-c', 'user.name=a', '-c', 'user.email=b',
            'commit', '-q', '--allow-empty', '-m', 'of another tree')
        self.assertEqual(epoch(source), when)
        shutil.copy(self.at('deploy/epoch'), os.path.join(source, 'deploy', 'epoch'))
        os.utime(os.path.join(source, 'meson.build'), (WHEN, WHEN))
        self.assertEqual(epoch(source), WHEN)
        self.image(source, WHEN)

    def image(self, source, when):
        """deploy/image of the source gives its time to buildah, of which a copy of the words is
        kept here in its place."""
        self.write('bin/buildah', '#!/bin/sh\nprintf "%s " "$@"\nexit 3\n')
        os.chmod(self.at('bin/buildah'), 0o755)
        done = subprocess.run([os.path.join(source, 'deploy', 'image'), '--base', 'base'],
                              stdout=subprocess.PIPE, check=False, timeout=LONG, env={
                                  **os.environ, 'PATH': self.at('bin') + ':' + os.environ['PATH']})
        self.assertEqual(done.returncode, 3)
        self.assertIn(' --timestamp %d ' % when, done.stdout.decode())

    def test_what_is_no_release_is_refused(self):
        self.assertEqual(self.release('1.2')[0], 2)
        code, text = self.release('0.0.1', '--dry-run')
        self.assertEqual(code, 1)
        self.assertIn('older', text)
        self.write('README.md', 'changed')
        for words in ((), ('--dry-run',)):
            code, text = self.release(VERSION, *words)
            self.assertEqual((code, text), (1, 'release: the tree has changes\n'))

    def build_that(self, then, calls=0):
        """A build that makes empty files; after so many calls it does what the text says."""
        self.write('deploy/package', '#!/bin/sh\ntree=%s\necho >>$tree/build/calls\n'
                   'touch $2/a.deb $2/a.json\n[ $(wc -l <$tree/build/calls) -le %d ] || { %s; }\n'
                   % (self.tree, calls, then))
        self.write('tests/tools/printed.py', '')
        self.write('build/calls', '')
        self.write('build/release/NOTES.md', 'of a release that was made before')
        self.commit()

    def unreleased(self, text, before, changed=''):
        """Nothing is released; the tree has those changes."""
        self.assertIn('nothing is released', text)
        self.assertEqual(self.git('status', '--porcelain'), changed)
        self.assertEqual((self.git('rev-parse', 'HEAD'), self.git('tag')), before)
        with open(self.at('build/release/NOTES.md'), encoding='utf-8') as f:
            self.assertIn('before', f.read())

    def heads(self):
        return self.git('rev-parse', 'HEAD'), self.git('tag')

    def test_a_failure_leaves_the_tree_as_it_was(self):
        # a build that fails at first, and one that fails when the commit and its tag are there
        for calls in (0, 1):
            with self.subTest(calls):
                self.build_that('exit 1', calls)
                before = self.heads()
                code, text = self.release(VERSION)
                self.assertEqual(code, 1, text)
                self.unreleased(text, before)

    def test_a_signal_leaves_the_tree_as_it_was(self):
        for name, number in (('INT', 2), ('TERM', 15), ('HUP', 1)):
            for calls in (0, 1):
                with self.subTest((name, calls)):
                    # as a terminal does: all of its processes get the signal
                    self.build_that('kill -%s $PPID; kill -%s $$' % (name, name), calls)
                    before = self.heads()
                    code, text = self.release(VERSION)
                    self.assertEqual(code, 128 + number, text)
                    self.unreleased(text, before)

    def test_changes_made_meanwhile_stay_and_are_not_released(self):
        for then, code in (('echo changed >$tree/README.md; exit 1', 1),
                           ('echo changed >$tree/README.md', 0),
                           # of a file that the release changes too
                           ('echo changed >$tree/CHANGELOG.md', 1)):
            with self.subTest(then):
                name = 'README.md' if 'README' in then else 'CHANGELOG.md'
                self.build_that(then, 1)
                before = self.heads()
                found, text = self.release(VERSION)
                self.assertEqual(found, code, text)
                with open(self.at(name), encoding='utf-8') as f:
                    self.assertEqual(f.read(), 'changed\n')
                if code:
                    self.unreleased(text, before, ' M %s\n' % name)
                else:
                    self.assertEqual(self.git('status', '--porcelain'), ' M README.md\n')
                    self.assertEqual(self.git('log', '-2', '--format=%s'),
                                     'release: %s\na change\n' % VERSION)
                    self.assertEqual(self.git('rev-parse', 'HEAD'),
                                     self.git('rev-parse', 'v%s^{commit}' % VERSION))
                    self.assertNotIn('README.md',
                                     self.git('show', '--format=', '--name-only').split())
                    self.assertIn('SHA256SUMS', os.listdir(self.at('build/release')))
                    self.git('tag', '-d', 'v' + VERSION)
                    self.git('reset', '-q', '--hard', before[0].strip())
                self.git('checkout', '-q', '--', name)

    def test_a_commit_made_meanwhile_is_no_part_of_it(self):
        self.build_that('git -C $tree -c safe.directory=* commit -q --allow-empty -m meanwhile', 1)
        tags = self.git('tag')
        code, text = self.release(VERSION)
        self.assertEqual(code, 1, text)
        self.assertIn('another commit', text)
        self.assertEqual(self.git('log', '-1', '--format=%s'), 'meanwhile\n')
        self.assertEqual(self.git('tag'), tags)

    def test_the_date_is_that_of_the_day(self):
        self.write('deploy/package', '#!/bin/sh\nsed -n "s/^## %s //p" CHANGELOG.md >%s\nexit 1\n'
                   % (VERSION, self.at('build/day')))
        os.makedirs(self.at('build'))
        self.commit()
        days = [time.strftime('(%Y-%m-%d)\n', time.gmtime())]
        self.assertEqual(self.release(VERSION)[0], 1)
        days.append(time.strftime('(%Y-%m-%d)\n', time.gmtime()))
        with open(self.at('build/day'), encoding='utf-8') as f:
            self.assertIn(f.read(), days)


if __name__ == '__main__':
    unittest.main()
