"""The sources in an FMU: all that they include is there, and what they compile to links, with the
libraries that the build description names, to a binary that repeats the reference results."""
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
import zipfile
import harness
from harness import Served
from importing import Fmu


def objects():
    """{path of a source: its object in this build}, the first of several."""
    with open(os.path.join(harness.BUILD, 'compile_commands.json'), encoding='utf-8') as f:
        rows = json.load(f)
    found = {}
    for row in rows:
        path = os.path.relpath(os.path.join(row['directory'], row['file']), harness.ROOT)
        found.setdefault(path, os.path.join(row['directory'], row['output']))
    return found


def counted():
    """Whether this build counts the lines that it runs (gcov): its objects need that library."""
    with open(os.path.join(harness.BUILD, 'compile_commands.json'), encoding='utf-8') as f:
        return any('--coverage' in row['command'] for row in json.load(f))


@unittest.skipIf(harness.SANITIZED, 'a sanitizer must be there before the FMU is loaded')
class Sources(Served):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        path = '/v1/instances/' + cls.daemon.call('POST', '/v1/instances',
                                                  {'example': 'four-bar'}).json['id']
        cls.archives = {n: cls.daemon.call('GET', '%s/fmu?version=%d' % (path, n)).raw
                        for n in (2, 3)}

    def files(self, version):
        """{path below sources: bytes}"""
        with zipfile.ZipFile(io.BytesIO(self.archives[version])) as z:
            return {n[len('sources/'):]: z.read(n) for n in z.namelist()
                    if n.startswith('sources/')}

    def description(self, version):
        return ElementTree.fromstring(self.files(version)['buildDescription.xml'])

    def test_all_that_is_included_is_there(self):
        for version in (2, 3):
            files = self.files(version)
            for path, text in files.items():
                for name in re.findall(rb'^#\s*include "(.*)"', text, re.M):
                    self.assertIn(name.decode(), files, path)

    def test_version_2_lists_what_is_compiled_as_well(self):
        with zipfile.ZipFile(io.BytesIO(self.archives[2])) as z:
            root = ElementTree.fromstring(z.read('modelDescription.xml'))
        listed = [e.get('name') for e in root.findall('./CoSimulation/SourceFiles/File')]
        described = [e.get('name') for e in self.description(2).iter('SourceFile')]
        self.assertEqual(sorted(listed), sorted(described))
        self.assertGreater(len(listed), 300)

    def test_they_link_to_a_binary_that_repeats_the_results(self):
        built = objects()
        description = self.description(3)
        paths = [e.get('name') for e in description.iter('SourceFile')]
        libraries = ['-l' + e.get('name') for e in description.iter('Library')]
        libraries += ['--coverage'] if counted() else []
        folder = tempfile.mkdtemp(prefix='mechd-sources-')
        self.addCleanup(shutil.rmtree, folder)
        binary = os.path.join(folder, 'own.so')
        with open(os.path.join(folder, 'link'), 'w', encoding='utf-8') as f:
            f.write('\n'.join(shlex.quote(built[path]) for path in paths))
        subprocess.run(['cc', '-shared', '-Wl,-z,defs', '-o', binary,
                        '@' + os.path.join(folder, 'link'), *libraries], check=True)
        with zipfile.ZipFile(io.BytesIO(self.archives[3])) as z:
            text = z.read('extra/org.fmi-standard.fmi-ls-ref/results.csv').decode()
        rows = [[float(x) for x in line.split(',')] for line in text.splitlines()[1:]]
        with Fmu(self.archives[3], binary) as f:
            f.initialize()
            for n, row in enumerate(rows):
                if n > 0:
                    f.step(10 * f.step_size)
                self.assertEqual([f.time] + f.get(f.outputs()), row, n)


if __name__ == '__main__':
    unittest.main()
