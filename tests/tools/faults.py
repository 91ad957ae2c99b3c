"""The faults that self_test.py plants: for each check, small trees that it passes and what it must
report once it is changed so."""
import json
import wire

GOOD_C = '''/* A file that no check has anything to say about. */
#include <stddef.h>

int mech_probe(int count);

int mech_probe(int count)
{
    // halve until small
    while (count > 10) {
        count /= 2;
    }
    return count;
}
'''
LONG = '/* Long. */\n' + GOOD_C + 'int mech_long(void)\n{\n' + '    mech_probe(1);\n' * 81 + '}\n'
MANY = 'int mech_many(int a, int b, int c, int d, int e, int f, int g)'
TEXT = 'f()\n{\n    %s(%s, sizeof text, "the force of %%s is large", name);\n}\n'
LIST = '/* Items. */\nMECH_ITEM(f, a)\nMECH_ITEM(f, b)\n'
ITEM = 'const struct mech_item_type mech_item_%s = {\n    .name = "%s",\n};\n'
FAMILY = {'solver/items/items.def': LIST, 'solver/items/f/a.c': ITEM % ('f_a', 'TypeA'),
          'solver/items/f/b.c': ITEM % ('f_b', 'TypeB')}
EXPORT = {'server/a.c': GOOD_C, 'server/a.h': 'int mech_probe(int count);\n',
          'server/b.c': 'int f(void)\n{\n    return mech_probe(1);\n}\n'}
SAID = {'solver/model/b.c': GOOD_C,
        'solver/model/a.h': '/* As a.c. */\n\n/* b.c */\nint mech_probe(int count);\n'}
POINTER = '''struct s {
    bool on;
    char *at;
};

int f(const char *p, bool q, struct s *s)
{
    char *const own = g();

    if (%s) {
        return 1;
    }
    return 0;
}
'''
COUNTS = 'comparisons in 1 programs, and 3 over HTTP.'
BOOK = {'tests/verify/units.def': 'UNIT(a_b, solver)\n', 'tests/verify/a_b.c': 'UNIT_TESTS(1)\n',
        'tests/verify/README.md': '2100 %s\n(book/a_b.md) (book/published_c.md)\n' % COUNTS,
        'tests/verify/book/a_b.md': '![Errors](a_b.svg)\n', 'tests/verify/book/a_b.svg': '\n',
        'tests/integration/test_published.py': '    def test_c(self):\n',
        'tests/verify/book/published_c.md': '\n',
        'README.md': '2,100 %s\n' % COUNTS.replace(' ', '\n')}
UNITS = {'tests/unit/units.def': 'UNIT(base/x, base)\n', 'tests/unit/base/x.c': 'UNIT_TESTS(1)\n'}
CODES = 'MECHP_CODE(A, %d, 200, "a", "b")\nMECHP_CODE(B, 2, 200, "b, c", "d")\n'
BAR = 'BAR("lti", "chain", "own loops", 1, 0.05, %g, 2, "2026-11-23")\n'

ROW = 'const struct mechp_row mechp_row_%s = {.body = &a};\n'
BODY = 'const struct mechp_shape a = {MECHP_MEMBERS({"q", "number"}, {"v", "number"})};\n'
SIX = 'const struct mechp_shape %%s = {MECHP_MEMBERS(%s)};\n' % ', '.join(
    '{"%s", "number", "m", MECHP_IN(x, %s)}' % (name, name) for name in 'abcdef')
OPERATION = 'const struct mechd_operation mechd_operation_%s = {.run = %s};\n'
ROUTE = {'protocol/wire/routes.def': 'MECHP_ROUTE(A, "GET", "/a", "a", "A")\n',
         'protocol/wire/routes/a.c': BODY + ROW % 'A',
         'server/operations/a.c': OPERATION % ('A', 'f')}
SHARED = {'protocol/wire/routes/a.c':
          BODY.replace('{"v", "number"}', 'MECHP_X_MEMBERS') + ROW % 'A',
          'protocol/wire/routes/shared.h': '#define MECHP_X_MEMBERS \\\n    { \\\n"x", "number"}\n'}

OPTION = """static const struct mechctl_option options[] = {%s, {0}};
f(mechctl_add_keys(m, NULL));
f(mechctl_query_keys(m, path, sizeof path));
const struct mechctl_command a = {.body = &mechp_row_A, .query = &mechp_row_B};
"""
WORDED = {
    'protocol/openapi.json': json.dumps({
        'paths': {'/v1/a/{id}': {'post': {
            'requestBody': {'content': {'application/json': {
                'schema': {'$ref': '#/components/schemas/A'}}}},
            'parameters': [{'name': 'atOnce', 'in': 'query', 'schema': {'type': 'boolean'},
                            'description': 'Without a wait.'}]}}},
        'components': {'schemas': {'A': {'properties': {
            'far': {'type': 'number', 'description': 'how far'}}}}}}),
    'clients/python/mechd/a.py': '''def go(far: Optional[float] = None, at_once: bool = False):
    """Go.

    Keywords, of POST /v1/a/{id}:
        far: how far
        at_once: without a wait
    """
'''}
PAGE = {'protocol/openapi.json': json.dumps({'components': {'schemas': {
            'A': {'properties': {'far': {}, 'near': {}, 'pace': {}}}}}}),
        'protocol/wire/routes/a.c': 'const struct mechp_shape b = {MECHP_MEMBERS({"pace", '
                                    '"\'slow\'|\'fast\'|\'idle\'", "x"})};\n',
        'clients/web/page/types.js': '/** @typedef {{far: {pace?: number}, near: number}} B */\n',
        'clients/web/page/a.js': '/** @typedef {object} C\n * @property {number} far\n'
                                 ' * @property {{b: string}} near\n */\n'
                                 '/** @param {"slow" | "fast"} pace */\nf({ odd: 1 });\n'}
KEYED = {'protocol/wire/routes/a.c':
         'const struct mechp_shape a = {MECHP_MEMBERS({"most", "integer 1..50",\n'
         '"How many rows."}, {"pace", "\'slow\'|\'fast\'", "how fast"})};\n'
         'static const struct mechp_parameter q[] = {{"withEmpty", "boolean", "true: count "\n'
         '"the empty"}};\n'
         'const struct mechp_row mechp_row_A = {.body = &a};\n'
         'const struct mechp_row mechp_row_B = {.query = q};\n',
         'clients/cli/commands/a.c':
         OPTION % '{.key = "most"}, MECHCTL_OPTION("save", "F", "file")'}

# each change of one word in the second document is one that a client for the first would notice
OLDER = json.dumps({'paths': {'/a': {'post': {
    'parameters': [{'in': 'query', 'name': 'n'}, {'in': 'query', 'name': 'm'}],
    'requestBody': {'content': {'application/json': {
        'schema': {'$ref': '#/components/schemas/A'}}}},
    'responses': {'200': {'content': {'application/json': {
        'schema': {'$ref': '#/components/schemas/B'}}}}}}}},
    'components': {'schemas': {
        'A': {'type': 'object', 'required': ['x'], 'properties': {
            'x': {'type': ['number', 'string']}, 'y': {'enum': ['slow', 'fast']},
            'z': {'type': 'array', 'items': {'oneOf': [{'$ref': '#/components/schemas/C'},
                                                       {'type': 'null'}]}}}},
        'B': {'type': 'object', 'required': ['p', 'q'], 'properties': {
            'p': {'type': 'number'}, 'q': {'type': 'boolean'}}},
        'C': {'type': 'object', 'properties': {'u': {'type': 'number'}}}}}})
# two members of one schema, of which a later document writes out the second one
TWICE = json.dumps({'paths': {'/a': {'get': {'responses': {'200': {'content': {'application/json': {
    'schema': {'type': 'object', 'properties': {
        'k': {'$ref': '#/components/schemas/C'}, 'l': {'$ref': '#/components/schemas/C'},
        'm': {'$ref': '#/components/schemas/C'}}}}}}}}}},
    'components': {'schemas': {'C': {'type': 'object', 'properties': {'u': {'type': 'number'}}}}}})
SAME = '{"type": "object", "properties": {"u": {"type": "number"}}}'
WIRE = {'tests/golden/wire.json': wire.text_of(wire.outline(json.loads(OLDER))),
        'protocol/openapi.json': OLDER}


def wired(old, new):
    assert OLDER.count(old) == 1
    return (WIRE, {'protocol/openapi.json': OLDER.replace(old, new)})


def written_out(schema):
    """TWICE with the last two members as they are, and the last one as this schema."""
    def document(last):
        return TWICE.replace('"l": {"$ref": "#/components/schemas/C"}', '"l": ' + SAME).replace(
            '"m": {"$ref": "#/components/schemas/C"}', '"m": ' + last)
    golden = {'tests/golden/wire.json': wire.text_of(wire.outline(json.loads(TWICE)))}
    return ({**golden, 'protocol/openapi.json': document(SAME)},
            {'protocol/openapi.json': document(schema)})


SCOPES = {'protocol/wire/scopes.h':
          '#define S(F, N) F(READ, "read") N(STEP, "step") N(FMU, "fmu") N(ADMIN, "admin")\n',
          'protocol/wire/row.h': 'enum mechp_access {\n    MECHP_OPEN,\n    MECHP_ADMIN\n};\n',
          'protocol/wire/row_codes.c': 'f(route->row->access);\n',
          'protocol/wire/routes/a.c': 'const struct mechp_row r = {.access = MECHP_OPEN};\n'}

HEAD = '| state | who | next |\n|---|---|---|\n'
STATES = {'server/instance/queue.c':
          'f = {[MECHD_HOLD_A] = 0,\n[MECHD_HOLD_B] = FROM(A) | FROM(B)};\n',
          'server/README.md': HEAD + '| `A` | x | `B` |\n| `B` | y | – |\n'}
JOBS = {'server/instance/queue.c': 'f = {[MECHD_JOB_B] = AFTER(A)};\n',
        'server/README.md': HEAD.replace('state', 'job') + '| `A` | x | `B` |\n| `B` | y | – |\n'}
SIMS = {'server/README.md': '| only of models | where |\n|---|---|\n| a | `instance/a.c` `b.c` |\n',
        'server/instance/a.c': 'f(i->sim);\n', 'server/instance/b.c': 'f(i->sim == NULL);\n',
        'server/instance/c.c': 'i->sim = s;\n', 'server/engine/c.c': 'f(e->sim);\n'}
REASONS = {'server/os/stop.h': 'enum r {\n    MECHD_STOP_NONE,\n    MECHD_STOP_A\n};\n',
           'server/README.md': '| reason | by |\n|---|---|\n| `A` | x |\n'}
BOOLEANS = {'server/os/pool.h': '    bool stop;\n',
            'server/README.md': '| boolean | of |\n|---|---|\n| `os/pool.h` `stop` | x |\n'}
WAY = {'server/a.c': 'int f(void)\n{\n    return o->run(h());\n}\n',
       'server/b.c': 'static int g(void)\n{\n}\nint h(int a,\n      int b)\n{\n}\n'
                     't = {.run = g};\n',
       'server/README.md': '    f      a.c   first\n     h     b.c\n     g     b.c (o->run)  x\n'}
ASKERS = {'server/call/a.c': 'f(mechd_stop_reason(&c->stop));\n',
          'server/README.md': '| asker | of |\n|---|---|\n| `call/a.c` | x |\n'}

TEST = 'tests/integration/test_a.py'
WAITS = """import time


def test(self):
    start = time.monotonic()
    self.call('step', {'count': 10 ** 9})
    wait_until(over)
    self.assertGreater(time.monotonic() - start, 1)
    # steady: the lease's time, in which it must not end
    time.sleep(3)
"""

RUNS = "\n\nif __name__ == '__main__':\n    unittest.main()\n"
TIMER = '''

def stop(d):
    start = time.monotonic()
    d.end()
    return time.monotonic() - start
'''

GONE = """import unittest


class Gone(unittest.TestCase):
    @unittest.skip('nothing (Debian package none)')
    def test_one(self):
        pass
"""

DAEMON = {'server/daemon/options.c': 'LIST("listen", a, "A", "address (127.0.0.1:8080)"),\n'
                                     'NUMBER("workers", b, 1, 0, "N", "threads (0)"),\n',
          'server/daemon/metrics.c': 'head(w, "steps_total"); /* metrics */\n'}
WORKFLOW = {'deploy/run': '#\n', 'tests/run': '#\n', 'README.md': 'on Debian 12\n',
            '.github/workflows/a.yaml': '- run: deploy/run --background\n- run: bash tests/run\n'
                                        '# debian:12\n'}
VERSION = {'meson.build': "project('mechd', 'c',\n  version: '1.2.3')\n"}

# check: [files of the tree, what is changed in it]
FAULTS = {
    'layers.check_includes': [
        ({'solver/base/a.c': GOOD_C, 'protocol/wire/w.h': ''},
         {'solver/base/a.c': '#include "protocol/wire/w.h"\n'}),
        ({'solver/items/a.c': GOOD_C}, {'solver/items/a.c': '#include <jansson.h>\n'}),
        ({'solver/sim/a.c': GOOD_C}, {'solver/sim/a.c': '#include <pthread.h>\n'}),
        ({'clients/c/a.c': GOOD_C, 'solver/sim/m.h': ''},
         {'clients/c/a.c': '#include "solver/sim/m.h"\n'}),
        ({'protocol/wire/a.c': '#include "protocol/frame/f.h"\n', 'protocol/frame/f.h': ''},
         {'protocol/wire/a.c': '#include "f.h"\n'}),
    ],
    'layers.check_one_cpp_file': [({'protocol/wire/number.cpp': ''}, {'server/more.cpp': ''})],
    'layers.check_no_globals_in_solver': [
        ({'solver/vi/a.c': 'static const double limits[2] = {0, 1};\n' + GOOD_C},
         {'solver/vi/a.c': 'static int calls;\n' + GOOD_C}),
        ({'solver/vi/a.c': GOOD_C}, {'solver/vi/a.c': 'double mech_last[3] = {0, 1, 2};\n'}),
    ],
    'layers.check_tests_apart': [
        ({'tests/integration/test_a.py': 'from forms import load_npy\n'},
         {'tests/integration/test_a.py': 'def f():\n    from test_forms import load_npy\n'})],
    'layers.check_top_level': [({'README.md': ''}, {'notes.md': ''})],
    'texts.check_cut': [
        ({'server/a.c': TEXT % ('mech_text_format', 'text'), 'clients/fmu/a.c': TEXT %
          ('snprintf', 'text'), 'tests/a.c': TEXT % ('snprintf', 'text')},
         {'server/a.c': TEXT % ('snprintf', 'text')}),
        ({'solver/a.c': 'f() { snprintf(key, sizeof key, "%s", s); }'},
         {'solver/a.c': 'f() { (void)snprintf(r->reason, sizeof r->reason, "%s", s); }'}),
        ({'protocol/a.c': 'f() { snprintf(at, 4, "%d %s", 2, ")"); }'},
         {'protocol/a.c': 'f() { n = snprintf(at + n, 4, ") %d " "no such %s", 2, s); }'}),
        ({'server/a.c': 'f() { mech_text_format_list(a, sizeof a, format, list); }'},
         {'server/a.c': 'f() { vsnprintf(a, sizeof a, format, list); }'})],
    'sizes.check_files': [({'server/a.c': '\n' * 600}, {'server/a.c': '\n' * 601})],
    'sizes.check_functions': [
        ({'server/a.c': GOOD_C}, {'server/a.c': LONG}),
        ({'server/a.c': MANY.replace(', int g', '') + '\n{\n}\n'},
         {'server/a.c': MANY + '\n{\n}\n'}),
    ],
    'sizes.check_prototypes': [
        ({'server/a.h': MANY.replace(', int g', '') + ';\n'}, {'server/a.h': MANY + ';\n'})],
    'sizes.check_python_functions': [
        ({'tests/a.py': 'def f():\n' + '    f()\n' * 79},
         {'tests/a.py': 'def f():\n' + '    f()\n' * 80})],
    'sizes.check_columns': [({'server/a.c': 'x' * 100}, {'server/a.c': 'x' * 101})],
    'headers.check_c': [
        ({'server/a.h': '#pragma once\n#include <stddef.h>\nsize_t f(void);\n'},
         {'server/a.h': '#pragma once\nsize_t f(void);\n'}),
        ({'server/a.h': '#pragma once\nstruct s {\n    int a;\n};\n'},
         {'server/a.h': 'struct s {\n    int a;\n};\n'})],
    'headers.check_cpp': [
        ({'clients/c/mechc.h': '#pragma once\nint f(int key);\n'},
         {'clients/c/mechc.h': '#pragma once\nint f(int class);\n'})],
    'format.check_layout': [({'server/a.c': GOOD_C}, {'server/a.c': GOOD_C.replace('    ', '  ')})],
    'format.check_ends': [
        ({'server/a.c': GOOD_C}, {'server/a.c': GOOD_C.replace('\n', '\r\n')}),
        ({'server/a.c': GOOD_C}, {'server/a.c': GOOD_C + '\n'}),
        ({'server/a.c': GOOD_C}, {'server/a.c': GOOD_C.replace('{', '{ ')}),
        ({'server/a.c': GOOD_C}, {'server/a.c': GOOD_C.replace('    ', '\t')})],
    'format.check_braces': [
        ({'server/a.c': 'void f(void)\n{\n    if (a &&\n        b) {\n        c();\n    }\n}\n'},
         {'server/a.c': 'void f(void)\n{\n    if (a)\n        c();\n}\n'})],
    'names.check_paths': [({'README.md': 'see tests/work/x\n'},
                           {'README.md': 'see /' 'work/main\n'})],
    'names.check_hosts': [({'README.md': '\n'}, {'README.md': 'https://pyp' 'i.org/x\n'})],
    'names.check_words': [({'server/a.c': GOOD_C}, {'server/a.c': '/* TO' 'DO: later */\n'}),
                          ({'tests/run': '#\n'}, {'tests/run': '# a st' 'ub\n'})],
    'names.check_commented_code': [({'server/a.c': GOOD_C}, {'server/a.c': '// count();\n'})],
    'names.check_letters': [({'README.md': 'λ ≥ 0, Brüls\n'}, {'README.md': '\u043f\n'})],
    'names.check_once': [
        ({'server/a.c': GOOD_C, 'server/b.h': 'struct mech_probe {\n    int i;\n};\n'},
         {'server/b.c': GOOD_C}),
        ({'server/a.h': 'struct mech_a {\n    int i;\n};\n', 'server/b.h': 'struct mech_a;\n'},
         {'server/b.h': 'struct mech_a {\n    int k;\n};\n'}),
        ({'server/a.h': 'enum { MECH_A, MECH_B = 2 };\n'},
         {'server/b.h': 'enum mech_c { MECH_C, MECH_B };\n'})],
    'exports.check_used': [
        (EXPORT, {'server/b.c': GOOD_C.replace('mech_probe', 'mech_other')}),
        (EXPORT, {'server/b.c': '/* mech_probe */\n'})],
    'exports.check_said': [
        (SAID, {'solver/model/a.h': SAID['solver/model/a.h'].replace('/* b.c */\n', '')}),
        (SAID, {'solver/model/b.c': '', 'solver/model/a.c': GOOD_C})],
    'idioms.check_alone': [
        ({'solver/a.c': POINTER % '!p && (s = (q != NULL) + (p != NULL))'},
         {'solver/a.c': POINTER % 'p == NULL'}),
        ({'clients/cli/a.c': POINTER % 'p'}, {'clients/cli/a.c': POINTER % '(p) != NULL'}),
        ({'solver/a.c': POINTER % 'p'}, {'solver/a.c': POINTER % '(p != NULL) && (q)'})],
    'idioms.check_compared': [
        ({'server/a.c': POINTER % 'p == NULL || !q'}, {'server/a.c': POINTER % '!p'}),
        ({'server/a.c': POINTER % 'p == NULL || !s->on'}, {'server/a.c': POINTER % 'q && p'}),
        ({'server/a.c': POINTER % 's->at != NULL'}, {'server/a.c': POINTER % '!s->at'}),
        ({'protocol/wire/a.c': POINTER % 'own != NULL'},
         {'protocol/wire/a.c': POINTER % 'own'})],
    'idioms.check_forwarded': [
        ({'server/a.c': 'int f(void)\n{\n    MECH_TRY(g());\n    return 0;\n}\n'},
         {'server/a.c': 'int f(void)\n{\n    int c = g();\n    if (c != 0) {\n        return c;\n'
                        '    }\n    return 0;\n}\n'})],
    'registries.check_sorted': [
        (FAMILY, {'solver/items/items.def': 'MECH_ITEM(f, b)\nMECH_ITEM(f, a)\n'}),
        (FAMILY, {'solver/items/items.def': '\n'})],
    'registries.check_sorted_lists': [
        ({'protocol/wire/codes.def': CODES % 1}, {'protocol/wire/codes.def': CODES % 3}),
        ({'protocol/wire/codes.def': CODES % 1}, {'protocol/wire/codes.def': CODES % 2})],
    'registries.check_files': [
        (FAMILY, {'solver/items/items.def': LIST + 'MECH_ITEM(f, c)\n'}),
        (FAMILY, {'solver/items/f/b.c': GOOD_C}),
        (UNITS, {'tests/unit/units.def': 'UNIT(base/y, base)\n'})],
    'registries.check_lines': [
        (FAMILY, {'solver/items/f/c.c': ITEM % ('f_c', 'TypeC')}),
        (UNITS, {'tests/unit/base/z.c': 'UNIT_TESTS(1)\n'})],
    'registries.check_book': [
        (BOOK, {'tests/verify/units.def': 'UNIT(a_b, solver)\nUNIT(c, solver)\n'}),
        (BOOK, {'tests/integration/test_published.py': '    def test_d(self):\n'}),
        (BOOK, {'tests/verify/README.md': '2100 %s\n(book/a_b.md)\n' % COUNTS}),
        (BOOK, {'tests/verify/book/a_b.md': '![Errors](a_b.svg)\n![Orders](b.svg)\n'}),
        (BOOK, {'tests/verify/book/a_b.md': 'no plot\n'}),
        (BOOK, {'tests/verify/book/c.md': '\n'}),
        (BOOK, {'README.md': '2,000 %s\n' % COUNTS})],
    'keywords.check_texts': [
        (WORDED, {'clients/python/mechd/a.py':
                  WORDED['clients/python/mechd/a.py'].replace('how far', 'how far, m')})],
    'keywords.check_types': [
        (WORDED, {'clients/python/mechd/a.py':
                  WORDED['clients/python/mechd/a.py'].replace('[float]', '[int]')}),
        (WORDED, {'clients/python/mechd/a.py':
                  WORDED['clients/python/mechd/a.py'].replace('at_once', 'at_last')})],
    'options.check_sent': [
        (KEYED, {'clients/cli/commands/a.c': KEYED['clients/cli/commands/a.c'].replace(
            'mechctl_query_keys', 'f')}),
        (KEYED, {'clients/cli/commands/a.c': KEYED['clients/cli/commands/a.c'].replace(
            '(m, NULL)', '(m, &part)')})],
    'options.check_known': [
        (KEYED, {'clients/cli/commands/a.c': 'f(mechc_json_member(reply, "mots", &v));\n'}),
        (KEYED, {'clients/c/a.c': 'f(mechc_json_path(at(v, k), "most.pase", &v));\n'}),
        (KEYED, {'clients/cli/a.c': 'c = {{"pace", "PACE", false}, {"mots", "MOST", true}};\n'}),
        (KEYED, {'clients/cli/a.c': 'mechc_bytes_text(&b, ",\\"mots\\":{");\n'})],
    'options.check_texts': [
        (KEYED, {'clients/cli/commands/a.c': 'f(MECHCTL_OPTION("b", "N", "how many rows"));\n'}),
        (KEYED, {'clients/cli/commands/a.c':
                 'f({.key = "most", .doc = "How many "\n"rows."});\n'}),
        (KEYED, {'clients/cli/commands/a.c':
                 'f(MECHCTL_OPTION("c", NULL, "count the empty"));\n'})],
    'options.check_keys': [
        (KEYED, {'clients/cli/commands/a.c': OPTION % 'MECHCTL_OPTION("most", "N", "rows")'}),
        (KEYED, {'clients/cli/commands/a.c':
                 OPTION % 'MECHCTL_OPTION("with-empty", NULL, "x")'})],
    'options.check_words': [
        (KEYED, {'clients/cli/a.c': 'const char *const a[] = {"slow", "fast", NULL};\n'}),
        (KEYED, {'clients/cli/a.c': 'const char *const a = "\'fast\'|\'slow\'";\n'})],
    'options.check_ranges': [
        (KEYED, {'clients/cli/commands/a.c':
                 OPTION % '{.key = "most", .doc = "rows at most, 1 to 50"}'})],
    'page_types.check_keys': [
        (PAGE, {'clients/web/page/types.js':
                PAGE['clients/web/page/types.js'].replace('near', 'nearer')}),
        (PAGE, {'clients/web/page/types.js':
                PAGE['clients/web/page/types.js'].replace('pace', 'speed')}),
        (PAGE, {'clients/web/page/api.js': '/** @param {{far: number, odd: number}} a */\n'})],
    'page_types.check_once': [
        (PAGE, {'clients/web/page/a.js': PAGE['clients/web/page/a.js'].replace(
            ' */', ' * @property {string} pace\n */', 1)})],
    'page_types.check_words': [
        (PAGE, {'clients/web/page/a.js': '/** @type {"fast" | "idle" | "slow"} */\n'}),
        (PAGE, {'clients/web/page/a.js': '/** @type {"slow" | "fast" | "still"} */\n'})],
    'registries.check_databases': [
        ({'server/store/databases.def': 'MECHD_DATABASE(lite)\n',
          'server/store/lite.c': 'f("mechd.lite");\n', 'server/a.c': 'f("a"); // lite\n'},
         {'server/a.c': 'f("mechd.lite-wal");\n'})],
    'registries.check_modules': [
        ({TEST: WAITS + RUNS}, {TEST: WAITS}),
        ({TEST: WAITS + RUNS}, {TEST: WAITS + RUNS.replace('unittest', 'self')})],
    'registries.check_no_decisions': [
        (FAMILY, {'server/a.c': 'int a = strcmp(name, "TypeB") == 0;\n'}),
        (FAMILY, {'solver/model/a.c': 'f(&mech_item_f_a);\n'}),
        (FAMILY, {'solver/model/a.c': '    switch (item->type->tag) {\n'})],
    'routes.check_one_list_of_keys': [
        (ROUTE, {'server/call/a.c': 'static const char *const keys[] = {"v", "q", NULL};\n'}),
        (ROUTE, {'server/call/a.c': 'f((const char *const []){"q", "v", NULL});\n'}),
        (dict(ROUTE, **SHARED), {'server/call/a.c': 'f((const char *const []){"x", "q"});\n'})],
    'routes.check_keys_by_rows': [
        (ROUTE, {'server/operations/a.c': 'f(mechp_text_key(&c->text, "q"));\n'}),
        (ROUTE, {'server/operations/a.c': 'f(json_object_get(c->body, "q"));\n'}),
        (ROUTE, {'server/operations/a.c': 'f(mechd_call_query(c, "q"));\n'}),
        (ROUTE, {'server/operations/a.c': 'f(json_object_get(json_array_get(a, k), "q"));\n'}),
        (ROUTE, {'server/operations/a.c': 'f(mechp_json_number(item, "q", &d, &x));\n'}),
        (ROUTE, {'server/operations/a.c': 'mechp_json_only(item, path, keys, &d);\n'}),
        (ROUTE, {'server/operations/a.c': 'json_object_del(item, "q");\n'}),
        (ROUTE, {'server/operations/a.c': 'f(json_object_set_new(item, "q", v));\n'}),
        (ROUTE, {'server/operations/a.c': 'g = json_pack("{s:i}", "q", 1);\n'}),
        (dict(ROUTE, **{'server/operations/b.c': 'f(json_object_get(c->body, m->name));\n'}),
         {'server/operations/b.c': 'f(json_object_get(c->body, name));\n'}),
        (ROUTE, {'tests/tools/by_hand.txt': '# path keys\nserver/operations/a.c 1 0 Is so.\n'}),
        (dict(ROUTE, **{'server/operations/b.c': 'f(mechd_call_query(c, "q"));\n',
                        'tests/tools/by_hand.txt': 'server/operations/b.c 1 0 Is so.\n'}),
         {'tests/tools/by_hand.txt': 'server/operations/b.c 1 0\n'})],
    'routes.check_members_once': [
        (ROUTE, {'protocol/wire/routes/b.c': SIX % 'b' + SIX % 'c'})],
    'routes.check_no_decisions_by_id': [
        (dict(ROUTE, **{'server/b.c': 'f(mechp_route_at(MECHP_ROUTE_A), MECHP_ROUTE_CODES);\n'}),
         {'server/a.c': 'int a = route->id == MECHP_ROUTE_A;\n'}),
        (ROUTE, {'server/a.c': 'int a[] = {[MECHP_ROUTE_A] = 1};\n'})],
    'routes.check_one_list_of_scopes': [
        (SCOPES, {'server/a.c': 'static const char *const a[] = {"read", "step", "fmu"};\n'}),
        (SCOPES, {'server/a.c': 'f("scopes are read, step, fmu, admin, with commas");\n'}),
        (SCOPES, {'server/a.c': 'f("--scopes read,step,fmu");\n'}),
        (SCOPES, {'clients/web/a.js': '/** @type {"read" | "step" | "fmu"} */\n'}),
        (SCOPES, {'server/a.c': 'f(row->access == 1);\n'}),
        (SCOPES, {'server/a.c': '    case MECHP_ADMIN:\n'})],
    'routes.check_operations': [
        (ROUTE, {'server/operations/a.c': OPERATION % ('A', 'f, .flags = 1')})],
    'routes.check_one_row_and_operation': [
        (ROUTE, {'server/operations/b.c': OPERATION % ('A', 'g')}),
        (ROUTE, {'server/operations/b.c': OPERATION % ('B', 'g')}),
        (ROUTE, {'protocol/wire/routes/a.c': BODY})],
    'wire.check_older': [
        wired('"/a"', '"/b"'), wired('"post"', '"put"'), wired('"name": "m"', '"name": "k"'),
        wired('"name": "n"', '"name": "n", "required": true'), wired('"200"', '"201"'),
        wired('["x"]', '["x", "y"]'), wired('"number", "string"', '"number"'),
        wired('"fast"', '"quick"'), wired('"z": {', '"w": {'), wired('"u"', '"v"'),
        wired('["p", "q"]', '["p"]'), wired('"q": {"type": "boolean"', '"q": {"type": "string"'),
        wired('"p": {"type": "number"', '"p": {"type": ["number", "null"]'),
        written_out(SAME.replace('number', 'string'))],
    'states.check_machines': [
        (JOBS, {'server/README.md': JOBS['server/README.md'].replace('| x | `B`', '| x | –')}),
        (STATES, {'server/README.md': HEAD + '| `A` | x | `B` |\n| `B` | y | `A` |\n'}),
        (STATES, {'server/README.md': HEAD + '| `A` | x | `B` |\n'})],
    'states.check_reasons': [
        (REASONS, {'server/README.md': '| reason | by |\n|---|---|\n| `B` | x |\n'})],
    'states.check_tokens': [
        (BOOLEANS, {'server/call/a.h': '    _Atomic bool cancelled;\n'}),
        (BOOLEANS, {'server/zmq/a.h': '    _Atomic bool is_closed;\n'}),
        (BOOLEANS, {'server/os/pool.h': '    bool stop, stopped;\n'}),
        (BOOLEANS, {'server/README.md': '| boolean | of |\n|---|---|\n'}),
        (BOOLEANS, {'server/os/pool.h': 'struct mechd_stop stop;\n'})],
    'states.check_way': [
        (WAY, {'server/a.c': 'int f(void)\n{\n    h();\n}\n'}),
        (WAY, {'server/README.md': WAY['server/README.md'].replace('h ', 'j ')}),
        (WAY, {'server/README.md': WAY['server/README.md'].replace('o->run', 'o->end')}),
        (WAY, {'server/b.c': WAY['server/b.c'].replace('.run', '.end')})],
    'states.check_askers': [
        (ASKERS, {'server/call/b.c': 'f(mechd_stop_reason(&c->stop));\n'}),
        (ASKERS, {'server/call/a.c': 'f();\n'}),
        (ASKERS, {'server/README.md': '| asker | of |\n|---|---|\n'})],
    'bars.check_lines': [
        ({'tests/bench/bars.def': BAR % 1.1}, {'tests/bench/bars.def': BAR % 1.1 + BAR % 1.1}),
        ({'tests/bench/bars.def': BAR % 1.1},
         {'tests/bench/bars.def': (BAR % 1.1).replace('"own loops"', '""')}),
        ({'tests/bench/bars.def': BAR % 1.1},
         {'tests/bench/bars.def': (BAR % 1.1).replace('2026-11-23', '')})],
    'bars.check_bars': [({'tests/bench/bars.def': BAR % 1.1}, {'tests/bench/bars.def': BAR % 1.2})],
    'bars.check_book': [
        ({'tests/bench/meson.build': "benches = {\n  'lti': [\n  'realtime': [\n}\n",
          'tests/bench/book.py': "SECTIONS = {\n    'kernels': (('lti',), 1),\n}\n"},
         {'tests/bench/book.py': "SECTIONS = {\n    'kernels': (('text',), 1),\n}\n"})],
    'bars.check_margin': [
        ({'tests/bench/rows.c': 'static const double margin = 1.25;\n'},
         {'tests/bench/rows.c': 'static const double margin = 1.3;\n'})],
    'deploy.check_parse': [
        ({'deploy/a.yaml': 'a: [1]\n'}, {'deploy/a.yaml': 'a: [1\n'}),
        ({'deploy/a.json': '{}\n'}, {'deploy/a.json': '{,}\n'}),
        ({'deploy/a.service': '[Unit]\nA=b\n'}, {'deploy/a.service': 'A=b\n'}),
        ({'deploy/start': '#!/bin/sh\n:\n'}, {'deploy/start': '#!/bin/sh\nif\n'})],
    'deploy.check_options': [
        ({**DAEMON, 'deploy/a.md': 'mechd --workers 2\n'}, {'deploy/a.md': 'mechd --worker 2\n'}),
        ({**DAEMON, 'deploy/a.md': 'its option --listen\n'},
         {'deploy/a.md': 'its option --port\n'}),
        ({**DAEMON, 'deploy/a.yaml': 'MECHD_WORKERS: 2\n'},
         {'deploy/a.yaml': 'MECHD_THREADS: 2\n'})],
    'deploy.check_ports': [
        ({**DAEMON, 'deploy/a.yaml': 'port: 8080\n'}, {'deploy/a.yaml': 'port: 8081\n'}),
        ({**DAEMON, 'deploy/a.cfg': 'server one 127.0.0.1:8080\n'},
         {'deploy/a.cfg': 'server one 127.0.0.1:8081\n'}),
        ({**DAEMON, 'deploy/Containerfile': 'EXPOSE 8080\n'}, {'deploy/Containerfile': '\n'})],
    'deploy.check_metrics': [
        ({**DAEMON, 'deploy/a.json': '["rate(mechd_steps_total[5m])"]\n'},
         {'deploy/a.json': '["rate(mechd_step_total[5m])"]\n'})],
    'deploy.check_versions': [
        ({**VERSION, 'deploy/compose.yaml': 'image: localhost/mechd:1.2.3\n'},
         {'deploy/compose.yaml': 'image: localhost/mechd:1.2.2\n'}),
        ({**VERSION, 'CHANGELOG.md': '## 1.2.3\n'}, {'CHANGELOG.md': '## 1.2.2\n'})],
    'deploy.check_workflows': [
        (WORKFLOW, {'README.md': 'Debian 12, Ubuntu 26.04\n'}),
        (WORKFLOW, {'.github/workflows/a.yaml': '- run: deploy/run\n# debian:12\n'}),
        (WORKFLOW, {'.github/workflows/a.yaml': '- run: deploy/run && tests/run && deploy/runs\n'
                                                '# debian:12\n'})],
    'states.check_simulations': [
        (SIMS, {'server/call/d.c': 'f(i->sim);\n'}),
        (SIMS, {'server/instance/b.c': 'i->sim = NULL;\n'})],
    'steady.check_python': [
        ({TEST: WAITS}, {TEST: WAITS.replace('    wait_until(over)', '    time.sleep(0.2)')}),
        ({TEST: WAITS}, {TEST: WAITS + '    self.assertLess(time.monotonic() - start, 5)\n'}),
        ({TEST: WAITS}, {TEST: WAITS + '    took = time.monotonic() - start\n'
                                       '    self.assertLess(took, 5 * SLOW)\n'}),
        ({TEST: WAITS}, {TEST: WAITS + '    waits = []\n    for _ in range(3):\n'
                                       '        waits.append(time.monotonic() - start)\n'
                                       '    self.assertLess(max(waits), 1)\n'}),
        ({TEST: WAITS}, {TEST: WAITS + '    assert time.monotonic() - start < 3\n'}),
        ({TEST: WAITS}, {TEST: WAITS + '    self.assertTrue(time.monotonic() - start < 3)\n'}),
        ({TEST: WAITS + TIMER}, {TEST: WAITS + '    self.assertLess(stop(d), 3)\n' + TIMER}),
        ({TEST: WAITS}, {TEST: WAITS + '    threading.Timer(0.3, self.stop).start()\n'}),
        ({TEST: WAITS}, {TEST: WAITS + '    threading.Event().wait(0.3)\n'}),
        ({TEST: WAITS}, {TEST: WAITS.replace('10 ** 9', '3000000')}),
        ({TEST: WAITS}, {TEST: WAITS.replace('10 ** 9', '10 ** 7')}),
        ({TEST: WAITS}, {TEST: WAITS + '    send(count=int(300_000 / SLOW))\n'}),
        ({TEST: WAITS + 'run(a, timeout=60 * SLOW)\n'}, {TEST: WAITS + 'run(a, timeout=60)\n'})],
    'steady.check_page': [
        ({'tests/browser/a.mjs': 'await until(there);\n'},
         {'tests/browser/a.mjs': 'await page.waitForTimeout(100);\n'}),
        ({'tests/browser/a.mjs': 'await until(there);\n'},
         {'tests/browser/a.mjs': 'assert.ok(Date.now() - begun < 100);\n'})],
    'steady.check_c': [
        ({'tests/unit/a.c': 'nanosleep(&t, NULL); // steady: between two looks\n'},
         {'tests/unit/a.c': 'nanosleep(&t, NULL);\n'}),
        ({'tests/unit/a.c': 'CU_ASSERT(mechd_now() - begin >= 5);\n'},
         {'tests/unit/a.c': 'CU_ASSERT(mechd_now() - begin < 5);\n'})],
}
