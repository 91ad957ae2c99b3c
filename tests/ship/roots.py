"""A clean root filesystem of Debian, for the tests that install into one."""
import os
import shutil
import subprocess
import tempfile
from places import LONG, folder, need, run


class Root:
    """A minimal root of Debian, in which commands run with a /proc and /dev of their own."""

    def __init__(self):
        need(mmdebstrap='mmdebstrap')
        self.base = os.path.join(folder('roots'), 'minbase.tar')
        sources = run('apt-get', 'indextargets', '--format',
                      'deb $(REPO_URI) $(RELEASE) $(COMPONENT)', 'Created-By: Packages',
                      'Origin: Debian')
        if not os.path.exists(self.base):
            subprocess.run(['mmdebstrap', '--quiet', '--mode=root', '--variant=minbase', 'bookworm',
                            self.base + '.new.tar', '-'], input=sources.encode(), check=True,
                           timeout=LONG)
            os.rename(self.base + '.new.tar', self.base)
        self.path = tempfile.mkdtemp(prefix='mechd-root-')
        run('tar', '-xf', self.base, '-C', self.path, '--exclude=./dev/*')
        for name in ('resolv.conf', 'hosts'):
            shutil.copy('/etc/' + name, os.path.join(self.path, 'etc', name))

    def close(self):
        shutil.rmtree(self.path, ignore_errors=True)

    def at(self, path):
        return os.path.join(self.path, path.lstrip('/'))

    def command(self, *words):
        enter = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && ' \
                'exec chroot "$0" "$@"'
        return ['unshare', '--mount', 'sh', '-c', enter, self.path, 'env', '-i',
                'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root', 'LANG=C.UTF-8',
                'DEBIAN_FRONTEND=noninteractive', 'http_proxy=' + os.environ.get('http_proxy', ''),
                *words]

    def run(self, *words):
        return run(*self.command(*words))

    def install(self, *paths):
        for path in paths:
            shutil.copy(path, self.at('/var/cache'))
        self.run('apt-get', 'install', '-y', '-q', '--no-install-recommends',
                 *['/var/cache/' + os.path.basename(p) for p in paths])

    def write(self, path, text):
        with open(self.at(path), 'w', encoding='utf-8') as f:
            f.write(text)
