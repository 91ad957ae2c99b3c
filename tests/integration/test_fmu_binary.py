"""The binaries of FMUs of models, as built: what they offer to the tool that loads them, and what
they need there. Read from its ELF by nm(1) and readelf(1)."""
import os
import re
import shutil
import subprocess
import unittest
import harness

BINARY = os.path.join(harness.BUILD, 'clients', 'fmu', 'mechd-model.so')
OBJDUMP = 'x86_64-w64-mingw32-objdump'
PROXY = os.path.join(harness.BUILD, 'clients', 'fmu', 'mechd-proxy.so')


def listed(version):
    """{name: group} of the functions of a version, from its list."""
    path = os.path.join(harness.ROOT, 'protocol', 'fmi', 'fmi%d.def' % version)
    with open(path, encoding='utf-8') as f:
        text = f.read()
    rows = re.findall(r'^MECHP_FMI%d\((\w+), [^,]+,\s*[^,]+,\s*(\w+),' % version, text, re.M)
    return {'fmi%d%s' % (version, name): group for group, name in rows}


def read(binary, *options):
    return subprocess.run(['readelf', '-W', *options, binary], stdout=subprocess.PIPE, text=True,
                          check=True, env={**os.environ, 'LC_ALL': 'C'}).stdout


class FmuBinary(unittest.TestCase):
    path, libraries = BINARY, {'libc.so.6', 'libm.so.6'}

    def test_it_exports_the_functions_of_fmi_and_no_others(self):
        text = subprocess.run(['nm', '-D', '--defined-only', self.path], stdout=subprocess.PIPE,
                              text=True, check=True).stdout
        names = {line.split()[-1] for line in text.splitlines()}
        names = {n for n in names if not n.startswith(('__asan', '__ubsan', '__sanitizer'))}
        two, three = listed(2), listed(3)
        self.assertGreater(len(two), 40)
        self.assertGreater(len(three), 70)
        self.assertEqual(names, set(three) | {n for n in two if two[n] != 'EXCHANGE'})

    @unittest.skipIf(harness.SANITIZED, 'a sanitizer is a shared library')
    @unittest.skipIf(harness.COUNTED, 'with counters of coverage it is linked to shared libraries')
    def test_it_needs_the_c_library_alone(self):
        text = read(self.path, '-d')
        needed = set(re.findall(r'\(NEEDED\).*\[(.*)\]', text))
        self.assertIn('libc.so.6', needed)
        self.assertEqual({n for n in needed if not n.startswith('ld-linux')} - self.libraries,
                         set())
        self.assertNotIn('TEXTREL', text)

    @unittest.skipIf(harness.SANITIZED, 'a sanitizer is a shared library')
    def test_it_has_the_kernels_of_double_precision_alone(self):
        # with those of all precisions 27 MB
        self.assertLess(os.path.getsize(BINARY), 12e6)

    @unittest.skipIf(harness.SANITIZED, 'a sanitizer needs what is newer')
    @unittest.skipIf(harness.COUNTED, 'with counters of coverage it is linked to shared libraries')
    def test_it_runs_with_a_c_library_of_2018(self):
        needed = re.findall(r'UND (\w+)@GLIBC_([0-9.]+)', read(self.path, '--dyn-syms'))
        self.assertGreater(len(needed), 20)
        newer = [(name, version) for name, version in needed
                 if tuple(map(int, version.split('.'))) > (2, 28)]
        self.assertEqual(newer, [])


class ProxyBinary(FmuBinary):
    path = PROXY


class WindowsBinary(unittest.TestCase):
    """Where the compiler for Windows was there when the build was set up."""

    def setUp(self):
        self.path = os.path.join(harness.BUILD, 'clients', 'fmu', 'mechd-proxy.dll')
        if not os.path.exists(self.path) or not shutil.which(OBJDUMP):
            self.skipTest('no compiler for Windows (Debian: gcc-mingw-w64-x86-64)')
        self.text = subprocess.run([OBJDUMP, '-p', self.path], stdout=subprocess.PIPE, text=True,
                                   check=True).stdout

    def test_it_exports_the_functions_of_fmi_and_no_others(self):
        table = self.text.split('[Ordinal/Name Pointer] Table')[1].split('\n\n')[0]
        names = set(re.findall(r'\[ *\d+\](?: \S+)? (\w+)$', table, re.M))
        two, three = listed(2), listed(3)
        self.assertEqual(names, set(three) | {n for n in two if two[n] != 'EXCHANGE'})

    def test_it_needs_libraries_of_the_system_alone(self):
        self.assertEqual(set(re.findall(r'DLL Name: (\S+)', self.text)),
                         {'KERNEL32.dll', 'WS2_32.dll', 'msvcrt.dll'})


if __name__ == '__main__':
    unittest.main()
