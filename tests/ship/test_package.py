"""deploy/package: the Debian packages are installed, used, upgraded and purged in a clean root; the
tarball runs from any folder; libmechc is found by pkg-config and CMake; the bill of materials names
the package of each library; the unit keeps the daemon from what it does not need."""
import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import harness
import models
from harness import wait_until, with_us
from places import DEPLOY, ROOT, folder, need, run
from roots import Root

OUT = None  # the folder of what deploy/package makes, by the first test that needs it
WHEN = None  # the time that it has, seconds since 1970: a commit meanwhile is no difference
READY = '/var/lib/mechd/ready.json'
EXPOSURE = 1.5  # of systemd-analyze security: 0 is closed, 10 is open
EXAMPLE = 'cmake_minimum_required(VERSION 3.13)\nproject(user C)\n' \
          'find_package(mechc 0.1 REQUIRED)\n' \
          'add_executable(user user.c)\ntarget_link_libraries(user mechc::mechc m)\n'


def made():
    """(folder, {package: path}) of the packages, the tarball and the bill of this tree."""
    global OUT, WHEN
    need(**{'dpkg-shlibdeps': 'dpkg-dev', 'patchelf': 'patchelf', 'meson': 'meson'})
    if OUT is None:
        OUT, WHEN = folder('package'), run(os.path.join(DEPLOY, 'epoch')).strip()
        run(os.path.join(DEPLOY, 'package'), '--out', OUT,
            env={**os.environ, 'SOURCE_DATE_EPOCH': WHEN})
    with open(os.path.join(OUT, 'SHA256SUMS'), encoding='ascii') as f:
        names = [line.split()[1] for line in f]
    return OUT, {n.split('_')[0]: os.path.join(OUT, n) for n in names}


def bill():
    """The bill of materials."""
    out, _ = made()
    path = next(f for f in os.listdir(out) if f.endswith('.cdx.json'))
    with open(os.path.join(out, path), encoding='utf-8') as f:
        return json.load(f)


def files_of(folder):
    """Paths below a folder, from it."""
    return [os.path.relpath(os.path.join(place, n), folder)
            for place, folders, names in os.walk(folder) for n in folders + names]


def digest(path):
    with open(path, 'rb') as f:
        return hashlib.sha256(f.read()).hexdigest()


class Installed(Root):
    """A root in which the package is installed."""

    def service(self):
        """(environment, words) with which systemd starts the installed unit."""
        rows = {}
        with open(self.at('/usr/lib/systemd/system/mechd.service'), encoding='utf-8') as f:
            for name, text in re.findall(r'^(\w+)=(.*)$', f.read(), re.M):
                rows.setdefault(name, []).append(text)
        environment = [word for text in rows['Environment'] for word in text.split()]
        for path in rows['EnvironmentFile']:
            with open(self.at(path.lstrip('-')), encoding='utf-8') as f:
                environment += f.read().split()
        command, = rows['ExecStart']
        return environment, command.replace('%S', '/var/lib').split()

    def dynamic(self, uid):
        """As an older service with DynamicUser=yes leaves it: a link to its state, and a user that
        only the running systemd knows."""
        os.makedirs(self.at('/var/lib/private/mechd'))
        os.chown(self.at('/var/lib/private/mechd'), uid, uid)
        os.symlink('private/mechd', self.at('/var/lib/mechd'))
        os.rename(self.at('/usr/bin/getent'), self.at('/usr/bin/getent.real'))
        self.write('/usr/bin/getent', '#!/bin/sh\n[ "$*" != "passwd mechd" ] || '
                   'exec echo mechd:x:%d:%d::/:/bin/false\nexec getent.real "$@"\n' % (uid, uid))
        os.chmod(self.at('/usr/bin/getent'), 0o755)

    @contextlib.contextmanager
    def daemon(self):
        """The installed daemon, started as its unit says: what it reports when ready."""
        # the part of systemd: StateDirectory=
        self.run('install', '-d', '-o', 'mechd', '-g', 'mechd', '-m', '700', '/var/lib/mechd')
        environment, words = self.service()
        process = subprocess.Popen(with_us() + self.command(
            *environment, 'setpriv', '--reuid=mechd', '--regid=mechd', '--clear-groups', *words),
            stderr=subprocess.DEVNULL)
        try:
            yield wait_until(lambda: harness.read_json(self.at(READY)), 'it is ready', 60)
        finally:
            process.send_signal(signal.SIGTERM)
            self.code = process.wait(60 * harness.SLOW)


class Package(unittest.TestCase):
    def test_installed_used_upgraded_and_purged(self):
        out, debs = made()
        newer = run(os.path.join(DEPLOY, 'package'), '--out', out, '--revision', '+2', 'deb')
        root = Installed()
        self.addCleanup(root.close)
        before = set(files_of(root.at('/etc')))
        root.dynamic(61234)
        root.run('apt-get', 'update', '-q')
        # a file of the administrator from before is neither asked about nor replaced
        os.mkdir(root.at('/etc/mechd'))
        root.write('/etc/mechd/mechd.conf', 'durability = every-step\n')
        names = ('mechd', 'mechctl', 'libmechc0', 'libmechc-dev', 'python3-mechd')
        root.install(*[debs[n] for n in names])
        self.assertEqual(root.run('dpkg', '--verify', *names), '')
        with open(root.at('/etc/mechd/mechd.conf'), encoding='utf-8') as f:
            self.assertEqual(f.read(), 'durability = every-step\n')
        # only systemd moves the state of the dynamic user
        self.assertTrue(os.path.islink(root.at('/var/lib/mechd')))
        self.assertEqual(os.stat(root.at('/var/lib/private/mechd')).st_uid, 61234)
        os.unlink(root.at('/var/lib/mechd'))
        # what an administrator sets in both files
        root.write('/etc/default/mechd', 'MECHD_LISTEN=127.0.0.1:0\n')
        root.write('/etc/mechd/mechd.conf', 'durability = every-step\n'
                   'ready-file = %s\n' % READY + ''.join(
            '%s = tcp://127.0.0.1:*\n' % door for door in ('control', 'stream', 'forces')))
        for path in ('/usr/lib/systemd/system/mechd.service', '/usr/share/man/man1/mechd.1.gz',
                     '/usr/share/man/man1/mechd-fmu.1.gz', '/usr/share/man/man1/mechctl.1.gz',
                     '/usr/share/fish/vendor_completions.d/mechctl.fish',
                     '/usr/share/fish/vendor_completions.d/mechd.fish',
                     '/usr/share/doc/mechd/examples/mechd.conf',
                     '/usr/share/bash-completion/completions/mechctl',
                     '/usr/share/bash-completion/completions/mechd',
                     '/usr/share/zsh/site-functions/_mechctl',
                     '/usr/share/zsh/site-functions/_mechd', '/usr/share/doc/mechd/copyright',
                     '/usr/lib/sysusers.d/mechd.conf', '/usr/lib/tmpfiles.d/mechd.conf'):
            self.assertTrue(os.path.exists(root.at(path)), path)
        with root.daemon() as info:
            ask = ['env', 'MECHD_SERVER=' + info['http'], 'mechctl']
            root.run(*ask, 'create', '--id', 'rig', '--example', 'four-bar')
            shown = json.loads(root.run(*ask, '--json', 'show', 'rig'))
            # that of the file, which the unit's default does not overrule
            self.assertIn('every-step', json.dumps(shown['durability']))
            root.run(*ask, 'step', 'rig', '--count', '7')
            script = 'import mechd; print(mechd.__version__)'
            self.assertRegex(root.run('python3', '-c', script), r'^\d+\.\d')
            script = 'import importlib.metadata as m; print(m.metadata("mechd"))'
            self.assertRegex(root.run('python3', '-c', script),
                             r"(?s)Requires-Python: >=.*Requires-Dist: numpy.*; extra == 'numpy'")
        self.assertEqual(root.code, 0)

        root.install(*newer.split())
        self.assertTrue(root.run('dpkg-query', '-W', '-f', '${Version}', 'mechd').endswith('+2'))
        with root.daemon() as info:
            shown = root.run('env', 'MECHD_SERVER=' + info['http'], 'mechctl', '--json', 'show',
                             'rig')
            self.assertEqual(json.loads(shown)['step'], 7)
        root.run('apt-get', 'remove', '-y', '-q', *names)
        self.assertTrue(os.path.exists(root.at('/var/lib/mechd/mechd.sqlite')))
        root.run('apt-get', 'purge', '-y', '-q', 'mechd')
        self.assertFalse(os.path.exists(root.at('/var/lib/mechd')))
        with open(root.at('/etc/passwd'), encoding='utf-8') as f:
            self.assertNotIn('mechd', f.read())
        left = set(files_of(root.at('/etc'))) - before
        self.assertEqual([n for n in left if 'mechd' in n or 'mechctl' in n], [])
        self.assertEqual(os.listdir(root.at('/var/lib/private')), [])
        left = [os.path.join(place, n) for place, _, found in os.walk(root.at('/usr'))
                for n in found if 'mechd' in n or 'mechctl' in n or 'mechc.' in n]
        self.assertEqual(left, [])

    def test_the_same_tree_gives_the_same_bytes(self):
        """Wherever it is, and wherever it is built: of another one's build nothing is used."""
        _, debs = made()
        place = tempfile.mkdtemp(prefix='mechd-again-')
        self.addCleanup(shutil.rmtree, place)
        tree, out = os.path.join(place, 'a', 'copy'), os.path.join(place, 'out')
        shutil.copytree(ROOT, tree, symlinks=True, ignore=lambda folder, names: [
            n for n in names if n in ('node_modules', '__pycache__')
            or folder == ROOT and (n == '.git' or n.startswith('build'))])
        run(os.path.join(tree, 'deploy', 'package'), '--out', out,
            env={**os.environ, 'SOURCE_DATE_EPOCH': WHEN})
        for name, path in debs.items():
            self.assertEqual(digest(os.path.join(out, os.path.basename(path))), digest(path), name)

    def test_the_tarball_runs_from_any_folder(self):
        out, _ = made()
        path = next(f for f in os.listdir(out) if f.endswith('.tar.gz'))
        place = tempfile.mkdtemp(prefix='mechd tarball ')
        self.addCleanup(shutil.rmtree, place)
        run('tar', '-xf', os.path.join(out, path), '-C', place)
        top = os.path.join(place, os.listdir(place)[0])
        for program in ('mechd', 'mechctl'):
            # libraries of its own, but for the C library
            for line in run('ldd', os.path.join(top, 'bin', program)).splitlines():
                found = re.match(r'\s*(\S+) => (\S.*) \(', line)
                if found and not re.match(r'lib(c|m|dl|rt|pthread|resolv)\.so', found.group(1)):
                    self.assertTrue(found.group(2).startswith(top), line)
                    self.licensed(os.path.join(top, 'licenses'), found.group(1))
        with harness.Daemon(program_path=os.path.join(top, 'bin', 'mechd')) as d:
            run(os.path.join(top, 'bin', 'mechctl'), '--server', d.base, 'create', '--id', 'a',
                '--example', 'mass1d')
            script = 'import sys, mechd; print(mechd.Server(sys.argv[1]).about())'
            run(sys.executable, '-c', script, d.base,
                env={**os.environ, 'PYTHONPATH': os.path.join(top, 'python')})

    def licensed(self, folder, soname):
        """The terms of a library are there, with the texts that they name."""
        package, = (c['name'] for c in bill()['components']
                    if soname in [p['value'] for p in c['properties']])
        with open(os.path.join(folder, package), encoding='utf-8') as f:
            text = f.read()
        self.assertRegex(text, '(?i)copyright|public domain')
        for name in re.findall(r'/usr/share/common-licenses/([\w+-]+(?:\.\d+)*)', text):
            self.assertTrue(os.path.getsize(os.path.join(folder, 'common', name)))

    def test_libmechc_is_found_by_pkg_config_and_cmake(self):
        _, debs = made()
        place = tempfile.mkdtemp(prefix='mechd-dev-')
        self.addCleanup(shutil.rmtree, place)
        for name in ('libmechc0', 'libmechc-dev'):
            run('dpkg-deb', '-x', debs[name], place)
        shutil.copy(os.path.join(ROOT, 'clients', 'c', 'example.c'), os.path.join(place, 'user.c'))
        text = os.path.join(place, 'user.c')
        with open(text, encoding='utf-8') as f:
            code = f.read().replace('"clients/c/mechc.h"', '<mechc.h>')
        with open(text, 'w', encoding='utf-8') as f:
            f.write(code)
        with open(os.path.join(place, 'CMakeLists.txt'), 'w', encoding='utf-8') as f:
            f.write(EXAMPLE)
        host = run('dpkg-architecture', '-qDEB_HOST_MULTIARCH').strip()
        lib = os.path.join(place, 'usr', 'lib', host)
        flags = run('pkg-config', '--cflags', '--libs', 'mechc', env={
            **os.environ, 'PKG_CONFIG_PATH': os.path.join(lib, 'pkgconfig'),
            'PKG_CONFIG_SYSROOT_DIR': place}).split()
        run('cc', text, '-o', os.path.join(place, 'user'), *flags, '-lm')
        programs = [os.path.join(place, 'user')]
        if shutil.which('cmake'):
            run('cmake', '-S', place, '-B', os.path.join(place, 'build'),
                '-DCMAKE_PREFIX_PATH=' + os.path.join(place, 'usr'))
            run('cmake', '--build', os.path.join(place, 'build'))
            programs.append(os.path.join(place, 'build', 'user'))
        with harness.Daemon() as d:
            for program in programs:
                text = run(program, d.base, d.create(models.oscillator()), 'force', '0.01', '4',
                           'x', env={**os.environ, 'LD_LIBRARY_PATH': lib})
                self.assertEqual(len(text.splitlines()), 4)

    def test_the_bill_names_the_package_of_each_library(self):
        out, _ = made()
        told = bill()
        self.assertEqual((told['bomFormat'], told['specVersion']), ('CycloneDX', '1.4'))
        named = {p['value'] for c in told['components'] for p in c['properties']}
        for program in ('mechd', 'mechctl'):
            text = run('ldd', os.path.join(out, 'root', 'usr', 'bin', program))
            for soname in re.findall(r'^\s*(\S+) => /', text, re.M):
                self.assertIn(soname, named)
        for c in told['components']:
            self.assertTrue([n['license']['name'] for n in c['licenses']])
            self.assertRegex(c['purl'], r'^pkg:deb/\w+/\S+@\S+\?arch=\w+$')

    def test_the_unit_is_closed(self):
        out, _ = made()
        if not shutil.which('systemd-analyze'):
            self.skipTest('apt-get install systemd')
        unit = os.path.join(out, 'root', 'usr', 'lib', 'systemd', 'system', 'mechd.service')
        with open(unit, encoding='utf-8') as f:
            self.assertIn('\nExecStart=/usr/bin/mechd ', f.read())
        text = run('systemd-analyze', 'security', '--offline=yes', '--no-pager', unit)
        found = float(re.search(r'exposure level for \S+: ([\d.]+)', text).group(1))
        self.assertLessEqual(found, EXPOSURE)


if __name__ == '__main__':
    unittest.main()
