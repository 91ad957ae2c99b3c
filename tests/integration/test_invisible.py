"""What editors leave in files without showing it, in every file that people edit and in bodies: a
mark of UTF-8 means nothing, all else is named by its code point and place."""
import contextlib
import ctypes
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import harness
import models
from certificates import authority, certificate
from harness import FREE_PORTS, Daemon, Served, ZmqDoor, program
from mechc import Handle
from package import mechd
from tokens import make

MARK = b'\xef\xbb\xbf'
# what a text contains, and its name
ODD = [('\u00a0', 'U+00A0 (no-break space)'), ('\u200b', 'U+200B (zero width space)'),
       ('\ufeff', 'U+FEFF (byte order mark)'), ('\u3000', 'U+3000 (ideographic space)')]
WIDE = [('utf-16', 'UTF-16'), ('utf-16-le', 'UTF-16'), ('utf-16-be', 'UTF-16'),
        ('utf-32', 'UTF-32'), ('utf-32-be', 'UTF-32')]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60 * harness.SLOW)


class Bodies(Served):
    def post(self, body, path='/v1/models/check'):
        return self.daemon.call('POST', path, body, {'Content-Type': 'application/json'})

    def model(self, model=None):
        return json.dumps({'model': model or models.oscillator()})

    def test_a_mark_of_utf_8_means_nothing(self):
        i = self.daemon.create(models.oscillator())
        step = '/v1/instances/%s/step' % i
        self.assertEqual(self.post(MARK + self.model().encode()).status, 200)
        self.assertEqual(self.post(MARK + b'{"count":1}', step)['step'], 1)
        with ZmqDoor(self.daemon) as door:
            door.socket.send_multipart(
                [b'', MARK + json.dumps({'op': 'step', 'id': i, 'count': 1}).encode()])
            self.assertEqual(door.receive(200)[0], 200)
        # columns begin behind it
        self.assertIn('line 1, column 2:', self.post(MARK + b'{?}')['detail'])

    def test_other_codings_are_named(self):
        text = self.model()
        for coding, name in WIDE:
            reply = self.post(text.encode(coding))
            self.assertEqual((reply.status, reply['code']), (400, 'malformed-json'))
            self.assertIn(name, reply['detail'])
            self.assertIn('UTF-8', reply['detail'])
        with ZmqDoor(self.daemon) as door:
            door.socket.send_multipart([b'', '{"op":"about"}'.encode('utf-16')])
            self.assertIn('UTF-16', door.receive(400)[1]['detail'])

    def test_what_is_not_seen_is_named_where_it_is(self):
        for odd, name in ODD + [('\u201c', 'U+201C'), ('\x01', 'U+0001')]:
            for text, place in (('{"\u00e4\u00f6": 1,\n  "b":%s2}', 'line 2, column 7'),
                                ('{"\u00e4\u00f6":%s1}', 'line 1, column 7'),
                                ('{"a": [1, 2]}%s', 'line 1, column 14')):
                detail = self.post((text % odd).encode())['detail']
                self.assertEqual(detail.split(':')[0] + ': ' + name,
                                 place + ': ' + detail.split(': ')[1][:len(name)], detail)
                self.assertNotIn(odd, detail)

    def test_keys_strings_and_both_ends(self):
        """Within strings they are what they are."""
        for odd, name in ODD:
            for text, column in (('{"\u00e4"%s: 1}', 5), ('{"\u00e4": 1%s}', 8), ('{%s"a": 1}', 2),
                                 ('{"a": "\\%s"}', 9), ('{"\u00e4\\%s": 1}', 5),
                                 ('{"\\"\u00e4\\\\\u00e4":%s1}', 11), ('{"a": "\\u00%se4"}', 12),
                                 ('{"a": "\u00e4"}%s', 11)):
                with self.subTest(ascii(text % odd)):
                    detail = self.post((text % odd).encode())['detail']
                    where = 'line 1, column %d: %s ' % (column, name)
                    self.assertEqual(detail[:len(where)], where)
                    self.assertEqual('backslash' in detail, '\\%s' in text or 'u00%s' in text)
            # a mark is a mark once
            start = MARK + odd.encode() if odd == '\ufeff' else odd.encode()
            self.assertIn('line 1, column 1: ' + name, self.post(start + b'{}')['detail'])
            body = {'model': dict(models.oscillator(), name='a' + odd), 'labels': {'a': odd}}
            made = self.post(json.dumps(body, ensure_ascii=False).encode(), '/v1/instances')
            self.assertEqual((made.status, made['name'], made['labels']),
                             (201, 'a' + odd, {'a': odd}))

    def test_a_backslash_is_no_part_of_the_character_behind_it(self):
        for letter in ('\u00e4', '\u20ac', '\U0001f600'):
            detail = self.post(('{"a": "C:\\%sber"}' % letter).encode())['detail']
            self.assertEqual(detail, 'line 1, column 11: U+%04X is not allowed after a backslash' %
                             ord(letter))
        for text, place in (('{"\u00e4": "\\x\u00e4"}', 'line 1, column 9: invalid escape'),
                            ('{"\u00e4": "\\u12"\u00e4"}', 'line 1, column 12: invalid escape')):
            self.assertIn(place, self.post(text.encode())['detail'])

    def test_messages_may_have_blanks_in_front(self):
        i = self.daemon.create(models.oscillator())
        text = json.dumps({'op': 'step', 'id': i, 'count': 1}).encode()
        with ZmqDoor(self.daemon) as door:
            door.socket.send_multipart([b'', b' \r\n\t' + text])
            self.assertEqual(door.receive(200)[1]['step'], 1)
            for odd, name in ODD[:2] + ODD[3:]:
                door.socket.send_multipart([b'', odd.encode() + text])
                self.assertIn('line 1, column 1: ' + name, door.receive(400)[1]['detail'])
            for blank in (MARK, b' \n'):
                door.socket.send_multipart([b'', blank])
                self.assertIn('no value', door.receive(400)[1]['detail'])

    def test_what_is_no_text_at_all_has_its_place(self):
        for body, detail in ((b'{"a":1}\0', 'line 1, column 8: U+0000 (null) is not allowed here'),
                             (b'\0', 'line 1, column 1: U+0000 (null) is not allowed here'),
                             (b'{"\xc3\xa4\xff": 1}',
                              'line 1, column 4: the byte 0xff (not UTF-8) is not allowed here'),
                             (b'{\n "a":\xc0\xaf}',
                              'line 2, column 6: the byte 0xc0 (not UTF-8) is not allowed here'),
                             (b'{"a": "\xe2\x80"}',
                              'line 1, column 8: the byte 0xe2 (not UTF-8) is not allowed here')):
            reply = self.post(body)
            self.assertEqual((reply.status, reply['detail']), (400, detail))

    def test_a_body_of_blanks_has_no_value(self):
        for body, place in ((MARK, 'line 1, column 1'), (b' \n ', 'line 2, column 2'),
                            (MARK + b'\n', 'line 2, column 1')):
            reply = self.post(body)
            self.assertEqual((reply.status, reply['detail']), (400, place + ': no value'))

    def test_what_a_message_quotes_is_shown(self):
        for odd, name in ODD + [('\n', 'U+000A'), ('\t', 'U+0009'), ('\r', 'U+000D'),
                                ('\x1b', 'U+001B'), ('\u2800', 'U+2800'), ('\ue000', 'U+E000'),
                                ('\uffff', 'U+FFFF'), ('\U00100000', 'U+100000')]:
            model = models.oscillator()
            model['nodes'][0]['na' + odd + 'me'] = 'x'
            reply = self.post(self.model(model).encode())
            messages = [e['message'] for e in reply['errors']] + [reply['detail']]
            self.assertTrue(any('na%sme' % name.split(' ')[0] in m for m in messages), messages)
            self.assertFalse(any(odd in m for m in messages), messages)


    def test_an_expression_names_it_too(self):
        for odd, name in ODD + [('\u2212', 'U+2212'), ('\u00e4', 'U+00E4')]:
            for text, place in (('=2 %s* k', 4), ('=%sk', 2), ('=k%s', 3)):
                model = models.oscillator()
                model['parameters'] = {**model.get('parameters', {}), 'k': 1}
                model['objects'][0]['physicsMass'] = text % odd
                message = self.post(self.model(model).encode())['errors'][0]['message']
                self.assertEqual(message, '%s is not allowed here (position %d)' % (
                    name, place - 1), ascii(text % odd))


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, content):
        path = os.path.join(self.folder, 'file')
        with open(path, 'wb') as f:
            f.write(content)
        os.chmod(path, 0o600)
        return path

    def check(self, *arguments):
        done = run(program('mechd'), '--check-config', '--listen', '127.0.0.1:0', *FREE_PORTS,
                   *arguments)
        return done.returncode, done.stderr

    def goes_through(self, option, text, more=()):
        """The file with a mark, in other codings, and with what is not seen in its second line."""
        first, second = text.split('\n')[:2]
        self.assertEqual(self.check(option, self.file(MARK + text.encode()), *more), (0, ''))
        for coding, name in WIDE:
            code, err = self.check(option, self.file(text.encode(coding)), *more)
            self.assertEqual(code, 1)
            self.assertIn('is %s: save it as UTF-8' % name, err)
        for odd, name in ODD:
            place = second.index(' ') + 1
            odd_text = '%s\n%s%s%s\n' % (first, second[:place], odd, second[place:])
            code, err = self.check(option, self.file(odd_text.encode()), *more)
            self.assertEqual(code, 1)
            self.assertIn('line 2, column %d: %s' % (place + 1, name), err)
            self.assertNotIn(odd, err)

    def test_the_configuration(self):
        self.goes_through('--config', 'workers = 1\nlog-level = error # \u00e4\u00a0\n')

    def test_tokens(self):
        line = make('rig', 'read')[1]
        other = make('other', 'read')[1]
        self.goes_through('--tokens', '%s\n%s\n' % (line, other))

    def test_a_null_hides_no_token(self):
        line = make('rig', 'read')[1]
        for content, place in (
                (('%s\n\0%s' % (line, line)).encode(), 'line 2, column 1: U+0000 (null)'),
                (('%s \0a=1' % line).encode(), 'line 1, column %d: U+0000' % (len(line) + 2)),
                (('\n' + line).encode('utf-16-le'), 'line 2, column 1: U+0000 (null)')):
            code, err = self.check('--tokens', self.file(content))
            self.assertEqual(code, 1)
            self.assertIn(place, err)

    def test_certificates(self):
        authority(self.folder)
        certificate(self.folder, 'own')

        def read(name):
            with open(os.path.join(self.folder, name), 'rb') as f:
                return f.read()

        def check(option, content):
            own = {'--tls-certificate': 'own.pem', '--tls-key': 'own.key'}
            words = ['--listen', 'https://127.0.0.1:0']
            for each, name in own.items():
                words += [each, self.file(content(read(name))) if each == option else
                          os.path.join(self.folder, name)]
            return self.check(*words)
        for option in ('--tls-certificate', '--tls-key'):
            self.assertEqual(check(option, lambda text: MARK + text)[0], 0)
            self.assertIn('file is empty', check(option, lambda text: b'')[1])
            for coding, name in WIDE:
                code, err = check(option, lambda text, c=coding: text.decode().encode(c))
                self.assertEqual(code, 1)
                self.assertIn('is %s: save it as UTF-8' % name, err)

    def test_tokens_of_clients(self):
        token, line = make('rig', 'read')
        path = self.file(line.encode() + b'\n')
        with Daemon('--tokens', path) as d:
            def answer(text):
                """What mechctl, libmechc and the Python package say."""
                os.environ['MECHD_TOKEN'] = text
                self.addCleanup(os.environ.pop, 'MECHD_TOKEN', None)
                done = run(program('mechctl'), '--server', d.base, 'list')
                told = [done.stderr]
                try:
                    handle = Handle(d.base)
                    handle.get('/v1/instances')
                    handle.close()
                    told.append('')
                except RuntimeError as fault:
                    told.append(str(fault))
                try:
                    with mechd.Server(d.base) as server:
                        list(server.instances())
                    told.append('')
                except ValueError as fault:
                    told.append(str(fault))
                return told
            # as a file has it
            for end in ('', '\n', '\r\n', ' '):
                self.assertEqual(answer(token + end), ['', '', ''], repr(end))
            for odd in [odd for odd, _ in ODD] + ['\n', '\u00e4', ' ', '\x7f']:
                for said in answer(token[:9] + odd + token[9:]):
                    self.assertRegex(said, 'byte 10 of the token, 0x|token, character 10: U')
                    self.assertNotIn(token[9:], said)

    def test_keys(self):
        printed = run(program('mechd'), '--make-curve-key', 'rig').stdout
        lines = dict(line.split(' ', 1) for line in printed.splitlines())
        clients = os.path.join(self.folder, 'clients')
        with open(clients, 'wb') as f:
            f.write(MARK + lines['line'].strip().encode() + b'\n')
        path = self.file(MARK + printed.encode())
        self.assertEqual(self.check('--curve-key', path, '--curve-clients', clients), (0, ''))
        self.assertEqual(mechd.curve.secret_of(path),
                         mechd.curve.key_of(lines['secret'].strip()))
        code, err = self.check('--curve-key', self.file(printed.replace(' ', '\u00a0').encode()),
                               '--curve-clients', clients)
        self.assertEqual(code, 1)
        self.assertIn('U+00A0 (no-break space)', err)

        def told(content):
            """What the daemon, libmechc and the Python package say of the key's file."""
            path = self.file(content)
            code, err = self.check('--curve-key', path, '--curve-clients', clients)
            self.assertEqual(code, 1)
            with self.assertRaises(ValueError) as fault:
                mechd.curve.secret_of(path)
            with contextlib.closing(Handle('http://127.0.0.1:1')) as handle:
                handle.library.mechc_set_key_file(handle.at, path.encode())
                return [err, str(fault.exception), handle.said()]
        for content, words in ((b'', ' empty'), (MARK + b'\n', 'has no line')):
            for said in told(content):
                self.assertIn(words, said)
        for coding, name in WIDE:
            for said in told(printed.encode(coding)):
                self.assertIn('is %s: save it as UTF-8' % name, said)
        for odd, name in ODD:
            for text, place in ((printed.replace('secret ', 'secret' + odd), 'line 1, column 7'),
                                (printed.replace('secret ', 'secret ' + odd), 'line 1, column 8'),
                                ('# \u00e4\n' + printed.replace('secret', odd + 'secret'),
                                 'line 2, column 1')):
                for said in told(MARK + text.encode()):
                    self.assertRegex(said, r'; %s is %s' % (place, name[:6].replace('+', r'\+')))
                    self.assertNotIn(odd, said)
                    self.assertNotIn(lines['secret'].strip(), said)
        path = self.file(MARK + printed.encode())
        with contextlib.closing(Handle('http://127.0.0.1:1')) as handle:
            handle.check(handle.library.mechc_set_key_file(handle.at, path.encode()))

    def test_models_of_mechctl(self):
        text = json.dumps(models.oscillator(), indent=1)
        with Daemon() as d:
            def mechctl(content):
                return run(program('mechctl'), '--server', d.base, 'create', self.file(content))
            done = mechctl(MARK + text.encode())
            self.assertEqual(done.returncode, 0, done.stderr)
            for coding, name in WIDE:
                done = mechctl(text.encode(coding))
                self.assertEqual(done.returncode, 2)
                self.assertIn(name, done.stderr)
            for odd, name in ODD:
                done = mechctl(MARK + text.replace('"mechd":', '"mechd":' + odd).encode())
                self.assertEqual(done.returncode, 1)
                self.assertIn(name, done.stderr)
                self.assertNotIn(odd, done.stderr)

    def test_models_of_libmechc(self):
        text = json.dumps(models.oscillator())
        with Daemon() as d, contextlib.closing(Handle(d.base)) as handle:
            def create(content):
                made = ctypes.create_string_buffer(80)
                return handle.library.mechc_create(handle.at, content, made)
            self.assertEqual(create(MARK + text.encode()), 0)
            for content, said in (
                    (b'{"\xc3\xa4":\xc2\xa01}', 'line 1, column 6: U+00A0 (no-break space)'),
                    (MARK + b'{"\xc3\xa4\xff": 1}', 'line 1, column 4: the byte 0xff (not UTF-8)'),
                    (b'{"\xc3\xa4": 1, "\xc3\xa4": 2}', 'line 1, column 12: duplicate'),
                    (b'{"a": "\\u0000"}', 'line 1, column 14: a string must not contain'),
                    (b'', 'a body is needed')):
                self.assertNotEqual(create(content), 0)
                self.assertIn(said, handle.said())

    def test_empty_files_of_mechctl_are_named(self):
        empty = self.file(b'')
        with Daemon('--fmus', 'on') as d:
            i = d.create(models.oscillator())
            package = os.path.join(self.folder, 'empty.ssp')
            with open(package, 'wb'):
                pass
            for words in (('create', empty), ('check', empty), ('solve', empty), ('couple', empty),
                          ('couple', package), ('sweep', empty, 'k=1'), ('evaluate', i, empty),
                          ('restore', i, '--file', empty), ('fmus', '--upload', empty)):
                done = run(program('mechctl'), '--server', d.base, *words)
                self.assertEqual((done.returncode, done.stderr),
                                 (2, 'mechctl: %s: it is empty\n' % words[-1 if 'k=1' not in words
                                                                          else 1]), words)
            for content in (MARK, b' \n\t', MARK + b'\r\n'):
                done = run(program('mechctl'), '--server', d.base, 'create', self.file(content))
                self.assertEqual((done.returncode, done.stderr),
                                 (2, 'mechctl: %s: it is empty\n' % empty))
            done = subprocess.run([program('mechctl'), '--server', d.base, 'create', '-'],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=60 * harness.SLOW)
            self.assertEqual(done.stderr, 'mechctl: standard input: it is empty\n')
            for body in ('', ' ', '\ufeff\n'):
                done = run(program('mechctl'), '--server', d.base, 'batch', 'step', i, '--body',
                           body)
                self.assertEqual((done.returncode, done.stderr),
                                 (2, 'mechctl: --body: it is empty\n'))
            for odd, name in ODD:
                path = os.path.join(self.folder, 'a%sb' % odd)
                for content in (b'', b'{"a":\xc2\xa01}', b'{"mechd": "1"}'):
                    with open(path, 'wb') as f:
                        f.write(content)
                    done = run(program('mechctl'), '--server', d.base, 'create', path)
                    self.assertIn('a%sb: ' % name.split(' ')[0], done.stderr)
                    self.assertNotIn(odd, done.stderr)

    def test_files_of_the_python_package(self):
        text = json.dumps(models.oscillator(), indent=1)
        path = pathlib.Path(self.folder, 'file')
        with Daemon() as d, mechd.Server(d.base) as server:
            def told(content):
                self.file(content)
                with self.assertRaises(ValueError) as fault:
                    server.create(path)
                return str(fault.exception)
            self.file(MARK + text.encode())
            server.create(path)
            for content in (b'', MARK, b' \n', MARK + b'\t'):
                self.assertEqual(told(content), '%s: it is empty' % path)
            for coding, name in WIDE:
                self.assertEqual(told(text.encode(coding)),
                                 '%s: it is %s: save it as UTF-8' % (path, name))
            for odd, name in ODD + [('\x01', 'U+0001'), ('\u201c', 'U+201C')]:
                for before, place in (('{"\u00e4\u00f6": 1,\n  "b":', 'line 2, column 7'),
                                      ('{"\u00e4\u00f6":', 'line 1, column 7')):
                    said = told((before + odd + '1}').encode())
                    where = '%s, %s: %s' % (path, place, name.split(' ')[0])
                    self.assertEqual(said[:len(where)], where)
                    self.assertNotIn(odd, said)
            said = told('{"a\u00e4": "b\x02"}'.encode())
            self.assertRegex(said,
                             r'column 10: U\+0002 must be written as an escape in a string$')
            for mark in (b'', MARK):
                self.assertEqual(told(mark + b'{"\xc3\xa4\xff": 1}'), '%s, line 1, column 4: the '
                                 'byte 0xff (not UTF-8) is not allowed here' % path)
                self.assertRegex(told(mark + b'{"\xc3\xa4": "\\\xc3\xa4"}'),
                                 r'line 1, column 9: U\+00E4 .*is not allowed after a backslash$')
            self.assertRegex(told(b'\0'), r'line 1, column 1: U\+0000 is not allowed here$')
            self.file(b'')
            for use in (server.check, server.couple_package, server.instance('i-1').restore):
                with self.assertRaisesRegex(ValueError, '^%s: it is empty$' % path):
                    use(path)

    def test_places_that_mechctl_names_are_shown(self):
        with Daemon() as d:
            for odd, name in ODD + [('\x1b', 'U+001B'), ('\n', 'U+000A')]:
                model = models.oscillator()
                model['nodes'][0]['na' + odd + 'me'] = 'x'
                done = run(program('mechctl'), '--server', d.base, 'create',
                           self.file(json.dumps(model).encode()))
                self.assertEqual(done.returncode, 1)
                self.assertIn('/nodes/0/na%sme: ' % name.split(' ')[0], done.stderr)
                self.assertNotIn(odd, done.stderr.replace('\n', '', 2) if odd == '\n'
                                 else done.stderr)

    def test_words_of_mechctl_are_shown(self):
        def mechctl(*words):
            return run(program('mechctl'), *words)
        with Daemon() as d:
            for odd, name in ODD:
                name = name.split(' ')[0]
                for words in (('step', 'i-1', '--count', '1' + odd),
                              ('step', 'i-1', '--co' + odd + 'unt', '1'),
                              ('inputs', 'i-1', 'F' + odd + '=1'), ('li' + odd + 'st',),
                              ('create', 'no' + odd + 'file.json'),
                              ('list', '--label', 'a' + odd + '=1,'),
                              ('--server', 'http:' + odd + '//127.0.0.1:1', 'list')):
                    with self.subTest(words=ascii(words)):
                        where = [] if '--server' in words else ['--server', d.base]
                        done = mechctl(*where, *words)
                        self.assertNotEqual(done.returncode, 0)
                        self.assertIn(name, done.stderr)
                        self.assertNotIn(odd, done.stderr)

    def test_a_body_of_an_option_is_a_text_of_its_own(self):
        with Daemon() as d:
            i = d.create(models.oscillator(), labels={'a': ''})

            def step(body):
                return run(program('mechctl'), '--server', d.base, 'batch', 'step', '--label', 'a',
                           '--body', body)
            done = step('\ufeff{"count": 1}')
            self.assertEqual((done.returncode, d.call('GET', '/v1/instances/' + i)['step']), (0, 1),
                             done.stderr)
            done = step('{"count":\u00a01}')
            self.assertEqual(done.returncode, 1)
            self.assertIn('--body: line 1, column 10: U+00A0 (no-break space)', done.stderr)

    def test_options_quote_nothing_that_is_not_seen(self):
        done = run(program('mechd'), '--workers', '3\u00a0', '--check-config')
        self.assertEqual(done.returncode, 1)
        self.assertIn("'3U+00A0'", done.stderr)


if __name__ == '__main__':
    unittest.main()
