"""What shells complete behind mechd: every option of its --help, and behind one of them the words
that it can be, files or folders."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from harness import BUILD, SLOW, program
from terminals import lines_of

# what bash offers behind a line, what zsh adds (its functions stand for the menu), what fish offers
SHELLS = {'bash': ['bash', '--norc', '-c', '''
source <(mechd --print bash)
complete -p mechd | grep -q -- '-F _mechd' || exit 3
COMP_LINE=$1 COMP_POINT=${#1}
_mechd mechd '' ''
printf '%s\\n' "${COMPREPLY[@]}"
''', 'bash'], 'zsh': ['zsh', '-f', '-c', '''
compdef() { : }
compadd() { shift; for w in $@; do [[ $w == ${words[CURRENT]}* ]] && print -r -- $w; done; true }
_files() {
    [[ $1 != -/ ]] && print -rl -- ${words[CURRENT]}*(N.)
    print -rl -- ${words[CURRENT]}*(N/)
}
source <(mechd --print zsh)
words=(${=1}); [[ $1 == *' ' ]] && words+=('')
CURRENT=${#words}
_mechd
''', 'zsh'], 'fish': ['fish', '--no-config', '-c', '''
mechd --print fish | source
complete -C $argv[1] | string replace -r '\\t.*' ''
true
''']}


class Completion(unittest.TestCase):
    def setUp(self):
        self.mechd = program('mechd')
        self.shells = [name for name in SHELLS if shutil.which(name)]
        self.folder = tempfile.mkdtemp(prefix='mechd-words-')
        self.addCleanup(shutil.rmtree, self.folder)

    def offered(self, shell, line):
        folder = os.path.dirname(os.path.abspath(self.mechd))
        words = lines_of(SHELLS[shell] + [line], LC_ALL='C.UTF-8',
                         PATH=folder + ':' + os.environ['PATH'])
        # bash and fish close a folder differently
        return sorted(word.rstrip('/') for word in words if word)

    def helped(self):
        """{option: its value's name or ''} of --help."""
        found = dict(re.findall(r'^  (--[a-z-]+) ?([A-Z]*)', '\n'.join(
            lines_of([self.mechd, '--help'])), re.M))
        self.assertGreater(len(found), 40)
        return found

    def test_every_option_is_completed(self):
        options = self.helped()
        for shell in self.shells:
            with self.subTest(shell):
                self.assertEqual(self.offered(shell, 'mechd --'), sorted(options))
                self.assertEqual(self.offered(shell, 'mechd --insecure --log-'), ['--log-level'])
                self.assertEqual(self.offered(shell, 'mechd --workers 3 --tok'), ['--tokens'])

    def test_values_are_completed_as_what_they_are(self):
        path, inner = (os.path.join(self.folder, name) for name in ('a-file', 'a-folder'))
        open(path, 'w', encoding='ascii').close()
        os.mkdir(inner)
        begun = self.folder + '/a-'
        for option, value in self.helped().items():
            for shell in self.shells:
                with self.subTest(shell, option=option):
                    expected = {'FILE': [path, inner], 'DIR': [inner]}.get(value, [])
                    if value:
                        line = 'mechd %s ' % option
                        self.assertEqual(self.offered(shell, line + begun), expected)

    def test_words_that_are_completed_are_accepted(self):
        accepted = 0
        for option, value in self.helped().items():
            offered = {tuple(self.offered(shell, 'mechd %s ' % option)) for shell in self.shells
                       if value and value not in ('FILE', 'DIR')}
            self.assertLessEqual(len(offered), 1, option)
            for word in set().union(*offered):
                accepted += 1
                more = {'--print': [], '--scopes': ['--make-token', 'rig']}.get(option, [
                    '--check-config', '--state', self.folder, '--control', 'none', '--stream',
                    'none', '--forces', 'none', '--listen', '127.0.0.1:0'])
                done = subprocess.run([self.mechd, option, word, *more], capture_output=True,
                                      text=True, timeout=60 * SLOW, check=False)
                self.assertEqual(done.returncode, 0, (option, word, done.stderr))
        # of durability, FMUs, the log, scopes and documents
        self.assertGreaterEqual(accepted, 3 + 2 + 4 + 4 + 9)

    def test_scripts_are_installed(self):
        place = os.path.join(BUILD, 'server', 'completion')
        if not os.path.isdir(place):
            self.skipTest('sanitized programs print nothing at build time')
        for name, shell in (('mechd', 'bash'), ('_mechd', 'zsh'), ('mechd.fish', 'fish')):
            with open(os.path.join(place, name), encoding='utf-8') as f:
                self.assertEqual(f.read().splitlines(), lines_of([self.mechd, '--print', shell]))


if __name__ == '__main__':
    unittest.main()
