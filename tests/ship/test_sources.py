"""The sources in an FMU compile for the other of the two architectures, with the options of their
build description: gcc 12 ends with an internal error there where it makes vectors of maxima of
which some are left out. Libraries have the same headers for both."""
import concurrent.futures
import io
import os
import platform
import shlex
import subprocess
import sysconfig
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
import zipfile
from harness import Daemon
from places import need

OTHER = 'aarch64-linux-gnu' if platform.machine() == 'x86_64' else 'x86-64-linux-gnu'
COMPILERS = {'C': 'gcc', 'C++': 'g++'}


def commands(folder):
    """{path: the command that compiles it} of all that the build description lists."""
    root = ElementTree.parse(os.path.join(folder, 'buildDescription.xml')).getroot()
    places = ['-idirafter', '/usr/include',
              '-idirafter', '/usr/include/' + sysconfig.get_config_var('MULTIARCH')]
    found = {}
    for of in root.iter('SourceFileSet'):
        language = of.get('language').rstrip('0123456789')
        words = [OTHER.replace('x86-64', 'x86_64') + '-' + COMPILERS[language],
                 '-std=' + of.get('language').lower(), *shlex.split(of.get('compilerOptions')),
                 *('-D%s=%s' % (e.get('name'), e.get('value'))
                   for e in of.iter('PreprocessorDefinition')),
                 *('-I' + e.get('name') for e in of.iter('IncludeDirectory')), *places]
        for e in of.iter('SourceFile'):
            found[e.get('name')] = [*words, '-c', e.get('name'), '-o', os.devnull]
    return found


class Sources(unittest.TestCase):
    def test_all_compile_for_the_other_architecture(self):
        need(**{OTHER.replace('x86-64', 'x86_64') + '-g++': 'g++-' + OTHER})
        with Daemon() as daemon, tempfile.TemporaryDirectory(prefix='mechd-ship-') as folder:
            daemon.call('PUT', '/v1/instances/one', {'example': 'four-bar'})
            with zipfile.ZipFile(io.BytesIO(daemon.call('GET', '/v1/instances/one/fmu').raw)) as z:
                z.extractall(folder, [n for n in z.namelist() if n.startswith('sources/')])
            folder = os.path.join(folder, 'sources')
            lines = commands(folder)
            self.assertGreater(len(lines), 300)

            def compiled(path):
                done = subprocess.run(lines[path], cwd=folder, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      timeout=600, check=False)
                return done.returncode, done.stdout.decode(errors='replace')[-600:]
            with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
                for path, (code, text) in zip(lines, pool.map(compiled, lines)):
                    self.assertEqual(code, 0, '%s: %s' % (path, text))


if __name__ == '__main__':
    unittest.main()
