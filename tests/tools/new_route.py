"""A route is a row, an operation and one line: one with fields of its own, and the structs that
they fill, is added to a copy of the tree, the copy is built, and its server is asked. No other file
is changed, and yet the new route is admitted by its scope, its keys and its query are checked,
OpenAPI, /docs, ZeroMQ and batches know it, and no check finds a second list of its keys."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import routes
from tree import Tree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINE = ('MECHP_ROUTE(CLOCK, "POST", "/v1/instances/{id}/clock", "clock", '
        '"Time of an instance by another clock")\n')
BODIES = '''const struct mechp_shape mechp_body_clock_request = {
    .name = "ClockRequest",
    .doc = "Another clock.",
    .request = true,
    .members = MECHP_MEMBERS({"rate", "number", "seconds of it per second",
                              MECHP_IN(clock_request, rate)}),
    .example = "{\\"rate\\":2}"};

const struct mechp_shape mechp_body_clock_reply = {
    .name = "ClockReply",
    .doc = "What it shows.",
    .members = MECHP_MEMBERS({"shows", "number", "s", MECHP_IN(clock_reply, shows)})};

'''
LISTED = '&mechp_body_clock_request, &mechp_body_clock_reply, '
ROW = '''
const struct mechp_row mechp_row_CLOCK = {
    .tag = "view",
    .doc = "What another clock shows that has run since time 0.",
    .effect = MECHP_READS,
    .body = &mechp_body_clock_request,
    .query = MECHP_QUERY({"zone", "number -1e9..1e9", "What it shows at time 0, s.", "3600",
                          MECHP_ASKED(clock, zone)}),
    .status = 200,
    .reply = "@ClockReply",
    .content = MECHP_JSON};
'''
OPERATION = '''
static enum mechd_progress run_clock(struct mechd_call *c)
{
    struct mechp_query_clock asked;
    struct mechp_body_clock_request in;
    MECHD_ASK(clock, c, &asked);
    MECHP_READ(clock_request, c->body, &c->diag, &in);
    if (isnan(in.rate)) {
        mech_diag_add(&c->diag, "/rate", "a number is needed");
    }
    const double zone = isnan(asked.zone) ? 0. : asked.zone;
    if (mechd_call_faulty(c)) {
        return MECHD_DONE;
    }
    const double time = mechd_engine_time(&c->job.instance->engine);
    const struct mechp_body_clock_reply body = {.shows = zone + in.rate * time};
    MECHP_WRITE(clock_reply, &body, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_CLOCK = {.run = run_clock};
'''
# what the row's fields fill
STRUCTS = '''struct mechp_body_clock_request {
    double rate;
};

struct mechp_body_clock_reply {
    double shows; /* s */
};

'''
QUERY = 'struct mechp_query_clock {\n    double zone; /* s */\n};\n\n'
INCLUDES = ('#include "server/call/shapes.h"\n',
            '#include "server/call/query.h"\n#include "server/call/shapes.h"\n\n'
            '#include <math.h>\n')
SHAPES = ''.join('extern const struct mechp_shape mechp_body_clock_%s;\n' % body
                 for body in ('reply', 'request'))


def edit(root, path, change):
    with open(os.path.join(root, path), encoding='utf-8') as f:
        text = f.read()
    changed = change(text)
    assert changed != text, path
    with open(os.path.join(root, path), 'w', encoding='utf-8') as f:
        f.write(changed)


def before(mark, text):
    """A change that puts a text in front of a mark."""
    return lambda whole: whole.replace(mark, text + mark, 1)


def add_route(root):
    edit(root, 'protocol/wire/routes.def', before('MECHP_ROUTE(CLONE', LINE))
    row = 'protocol/wire/routes/view.c'
    edit(root, row, before('const struct mechp_shape *const mechp_shapes_view[]', BODIES))
    edit(root, row, before('&mechp_body_contact,', LISTED))
    edit(root, row, lambda text: text + ROW)
    edit(root, 'protocol/wire/bodies.h', before('struct mechp_body_commit_request {', STRUCTS))
    edit(root, 'protocol/wire/bodies.h',
         before('extern const struct mechp_shape mechp_body_commit_request;', SHAPES))
    edit(root, 'protocol/wire/queries.h', before('struct mechp_query_modes {', QUERY))
    edit(root, 'server/operations/contacts.c',
         lambda text: text.replace(*INCLUDES, 1) + OPERATION)


def build(root):
    for command in (['meson', 'setup', 'build', '--buildtype=debug', '-Doptimization=0'],
                    ['ninja', '-C', 'build', 'server/mechd']):
        done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise SystemExit(done.stdout.decode()[-4000:] + '\nthe copy does not build')


class NewRoute(unittest.TestCase):
    root = None  # of the copy

    @classmethod
    def setUpClass(cls):
        from harness import Daemon
        import models
        cls.daemon = Daemon()
        cls.id = cls.daemon.create(models.mass1d())
        cls.path = '/v1/instances/%s/clock' % cls.id
        cls.daemon.call('POST', '/v1/instances/%s/step' % cls.id, {'count': 10})
        cls.time = cls.daemon.call('GET', '/v1/instances/%s' % cls.id)['time']

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def test_it_answers(self):
        reply = self.daemon.call('POST', self.path + '?zone=5', {'rate': 2})
        self.assertEqual((reply.status, reply['shows']), (200, 5 + 2 * self.time))

    def test_it_refuses_what_its_row_does_not_name(self):
        reply = self.daemon.call('POST', self.path, {'rat': 2})
        self.assertEqual(reply.status, 422)
        self.assertIn("did you mean 'rate'", json.dumps(reply.json))
        reply = self.daemon.call('POST', self.path + '?zon=5', {'rate': 2})
        self.assertEqual((reply.status, 'zone' in reply['detail']), (400, True))

    def test_documents_know_it(self):
        document = self.daemon.call('GET', '/openapi.json').json
        operation = document['paths']['/v1/instances/{id}/clock']['post']
        self.assertEqual(operation['operationId'], 'clock')
        self.assertIn('zone', [p.get('name') for p in operation['parameters']])
        self.assertIn('rate', document['components']['schemas']['ClockRequest']['properties'])
        page = self.daemon.call('GET', '/docs').raw.decode()
        self.assertIn('What another clock shows', page)
        self.assertIn('seconds of it per second', page)

    def test_the_checks_of_routes_find_nothing(self):
        for sentence, check in routes.CHECKS.items():
            self.assertEqual(list(check(Tree(self.root))), [], sentence)

    def test_zeromq_and_batches_know_it(self):
        from harness import ZmqDoor
        with ZmqDoor(self.daemon) as door:
            _, reply = door.call(op='clock', id=self.id, rate=3, zone=1)
        self.assertEqual(reply['shows'], 1 + 3 * self.time)
        reply = self.daemon.call('POST', '/v1/batch', {
            'instances': [self.id], 'operation': 'clock', 'body': {'rate': 1}})
        self.assertEqual(reply['results'][0]['body']['shows'], self.time)


def main():
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.join(folder, 'tree')
        names = subprocess.run(['git', '-c', 'safe.directory=*', 'ls-files', '-co', '-z',
                                '--exclude-standard'], cwd=ROOT, check=True,
                               stdout=subprocess.PIPE).stdout.decode().split('\0')
        for name in filter(None, names):
            if os.path.isfile(os.path.join(ROOT, name)):
                os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
                shutil.copy2(os.path.join(ROOT, name), os.path.join(root, name))
        add_route(root)
        build(root)
        NewRoute.root = root
        os.environ['MECHD_TESTS_BUILD'] = os.path.join(root, 'build')
        sys.path.insert(0, os.path.join(ROOT, 'tests', 'integration'))
        result = unittest.TextTestRunner(stream=sys.stdout).run(
            unittest.defaultTestLoader.loadTestsFromTestCase(NewRoute))
        failed = len(result.failures) + len(result.errors)
        print('%d passed, %d failed' % (result.testsRun - failed, failed))
        return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
