"""What the compiler and the linker guard is there in the programs and the libraries as built: read
from their ELF by readelf(1)."""
import glob
import json
import os
import re
import shlex
import subprocess
import unittest
import harness

# read only where the processor has it (CET of x86)
X86 = os.uname().machine == 'x86_64'


def read(path, *options):
    return subprocess.run(['readelf', '-W', *options, path], capture_output=True, text=True,
                          check=True, env={**os.environ, 'LC_ALL': 'C'}).stdout


def has_endbr(path, symbols):
    """Whether main, or every function that the library offers, begins with endbr64. CET's note
    is no evidence: the linker drops it where a distribution's start files were built without."""
    line = r'^\s*\d+: ([0-9a-f]+)\s+\d+ FUNC\s+GLOBAL \w+\s+\d+ (main|mechc_\w+|fmi[23]\w+)$'
    names = re.findall(line, symbols, re.M)
    text = re.search(r' \.text\s+PROGBITS\s+([0-9a-f]+) ([0-9a-f]+)', read(path, '-S'))
    with open(path, 'rb') as f:
        content = f.read()
    shift = int(text.group(2), 16) - int(text.group(1), 16)
    return bool(names) and all(content[int(at, 16) + shift:][:4] == b'\xf3\x0f\x1e\xfa'
                               for at, _ in names)


def faults(path, is_program):
    """What is missing, by name."""
    header, segments, dynamic = read(path, '-h'), read(path, '-l'), read(path, '-d')
    symbols = read(path, '--dyn-syms')
    stack = re.search(r'GNU_STACK.*', segments)
    fortified = re.search(r'UND __\w+_chk@', symbols.replace('__stack_chk', ''))
    there = {
        'position-independent': 'DYN' in header and (not is_program or re.search(
            r'FLAGS_1.*PIE', dynamic)),
        'read-only relocations': 'GNU_RELRO' in segments,
        'no lazy binding': re.search(r'FLAGS_1.*NOW|BIND_NOW', dynamic),
        'no executable stack': stack and 'RWE' not in stack.group(),
        'stack protector': '__stack_chk_fail' in symbols,
        'fortified calls': fortified,
        'CET': not X86 or has_endbr(path, read(path, '-s') if is_program else symbols),
    }
    return [name for name, found in there.items() if not found]


@unittest.skipIf(harness.SANITIZED, 'a sanitizer has guards of its own in their place')
class Hardened(unittest.TestCase):
    def test_programs_and_libraries_have_every_guard(self):
        library, = (path for path in glob.glob(os.path.join(harness.BUILD, 'clients/c/*.so*'))
                    if not os.path.islink(path) and os.path.isfile(path) and path.count('.so.'))
        model, proxy = (os.path.join(harness.BUILD, 'clients', 'fmu', 'mechd-%s.so' % name)
                        for name in ('model', 'proxy'))
        for path, is_program in ((harness.program('mechd'), True), (model, False), (proxy, False),
                                 (harness.program('mechctl'), True), (library, False)):
            with self.subTest(path):
                self.assertEqual(faults(path, is_program), [])


def generated():
    """[(name, command of its compiler, without output)] of the C sources that the build makes."""
    build = os.path.abspath(harness.BUILD)
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as f:
        entries = json.load(f)
    for entry in entries:
        path = os.path.normpath(os.path.join(entry['directory'], entry['file']))
        if path.startswith(build + os.sep) and path.endswith('.c'):
            words = shlex.split(entry['command'])
            yield os.path.relpath(path, build), words[:words.index('-o')] + [path]


class Portable(unittest.TestCase):
    def test_generated_sources_compile_whether_char_has_a_sign_or_none(self):
        """It has one on x86-64 and none on AArch64."""
        found = dict(generated())
        self.assertIn('protocol/fmi/licenses.c', found)
        for name, words in found.items():
            for sign in ('-fsigned-char', '-funsigned-char'):
                with self.subTest(name, sign=sign):
                    done = subprocess.run(
                        [*words, sign, '-fsyntax-only', '-Werror'], cwd=harness.BUILD,
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT, check=False)
                    self.assertEqual(done.returncode, 0, done.stdout[:1000])


class Fenced(harness.Served):
    def test_what_a_browser_shows_may_run_nothing(self):
        for path, status in (('/docs', 200), ('/', 200), ('/v1/instances/none', 404)):
            with self.subTest(path):
                reply = self.daemon.call('GET', path)
                self.assertEqual(reply.status, status)
                policy = reply.headers['Content-Security-Policy']
                self.assertIn("frame-ancestors 'none'", policy)
                self.assertNotIn('script-src', policy)
                self.assertRegex(policy, "default-src '(none|self)'")
                self.assertEqual(reply.headers['X-Content-Type-Options'], 'nosniff')
                self.assertEqual(reply.headers['Referrer-Policy'], 'no-referrer')


if __name__ == '__main__':
    unittest.main()
