"""The gate sees what is broken: plants one fault after another in a copy of the tree, runs the part
of the gate (tests/run SUITE:NAME) that must see it, and checks that it is red and names the fault.
Before that each of these parts must be green in the copy as it is.

    planted.py [--keep FOLDER] [NAME…]      all faults, or those whose names contain one of these
    planted.py --list                       their names
    planted.py --places                     only whether the text of each is where it was

--keep FOLDER makes the copy there and leaves it, so that the next time little is built. A fault
whose text is no longer in its file is a failure: then the table needs another place for it."""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
from tree import ROOT, Tree

# what the fault is; where it is planted: a file, the text that is there once, what replaces it;
# which part of the gate must see it, and what that part's output must contain (an expression)
Fault = collections.namedtuple('Fault', 'name path old new gate says')

FAULTS = [
    Fault('a wrong sign in an item\'s force',
          'solver/items/connector/coordinate_spring_damper.c',
          '        g[r->slot[0]] -= f;\n',
          '        g[r->slot[0]] += f;\n',
          'unit:solver/items/connector/coordinate_spring_damper',
          r'a_law_sees_its_own_numbers_and_the_parameters'),
    Fault('a state that is not restored after a failed step',
          'solver/sim/step.c',
          '    mech_sim_step_abandon(s);\n    return code;\n',
          '    memcpy(s->now.q, s->next.q, (size_t)s->sizes.q * sizeof *s->now.q);\n'
          '    mech_sim_step_abandon(s);\n    return code;\n',
          'unit:solver/sim/step', r'a_failed_step_changes_nothing'),
    Fault('one byte read behind a frame',
          'protocol/frame/frame.c',
          'memcpy(at, bytes, size < sizeof at ? size - size % 8 : sizeof at);',
          'memcpy(at, bytes, size < sizeof at ? size + 1 : sizeof at);',
          'sanitized:frame',
          r'AddressSanitizer: heap-buffer-overflow(.*\n)*.* in fields_of .*frame\.c'),
    Fault('a leak a request',
          'server/call/call.c',
          '    json_decref(c->body);\n    mechp_text_fini(&c->text);\n',
          '    mechp_text_fini(&c->text);\n',
          'count:HTTP, a step with more',
          r'freed, 100th: \d+, was \d+ \(exact\)\n(.*\n)*.*: kept, 100 requests: \d+, was 0'),
    Fault('a route\'s key renamed',
          'protocol/wire/routes/stepping.c',
          '{"expectTime", ',
          '{"expectedTime", ',
          'printed', r'expectedTime'),
    Fault('a 500',
          'server/operations/trials.c',
          'return mechd_fail(c, MECHP_NO_TRIAL, "there is no trial %s',
          'return mechd_fail(c, MECHP_INTERNAL, "there is no trial %s',
          'integration:test_doors', r'FAILED test_doors(.*\n)*.*500'),
    Fault('a row lost after kill -9',
          'server/instance/recording.c',
          '    *count = r->count - r->chunk;\n',
          '    *count = r->count - r->chunk - (r->count - r->chunk > 1);\n',
          'integration:test_runs', r'FAILED .*kill'),
    Fault('a token\'s scope widened',
          'protocol/wire/row_codes.c',
          '    return mechp_route_changes(route) ? MECHP_SCOPE_STEP : MECHP_SCOPE_READ;\n',
          '    return MECHP_SCOPE_READ;\n',
          'integration:test_tokens', r'FAILED .*test_a_scope_is_what_a_token_may_do'),
    Fault('a page that throws',
          'clients/web/page/main.js',
          'function welcome() {\n',
          'function welcome() {\n'
          '  queueMicrotask(() => {\n    throw new Error("planted");\n  });\n',
          'browser:the_page_loads_without_complaints_or_foreign_requests',
          r'FAILED the_page_loads\w*\n.*the page: Error: planted'),
    Fault('the JSON of a request 1.2 times as costly',
          'protocol/wire/json.c',
          '    *out = json_loadb(bytes, size, flags, &error);\n',
          '    static _Thread_local int turn;\n'
          '    if (++turn % 5 == 0) {\n'
          '        json_decref(json_loadb(bytes, size, flags, &error));\n'
          '    }\n'
          '    *out = json_loadb(bytes, size, flags, &error);\n',
          'count:call', r'FAILED call: a step\'s body, read: .* \(\+'),
    Fault('one more allocation a request',
          'server/call/call.c',
          '    mechd_instance_unref(c->kin);\n    json_decref(c->body);\n',
          '    mechd_instance_unref(c->kin);\n    json_decref(json_integer(1));\n'
          '    json_decref(c->body);\n',
          'count:HTTP, a step:', r'FAILED HTTP, a step: allocated, 100th: '),
    Fault('one more system call a request',
          'server/call/call.c',
          '    mechd_instance_unref(c->kin);\n    json_decref(c->body);\n',
          '    mechd_instance_unref(c->kin);\n    extern int sched_yield(void);\n'
          '    (void)sched_yield();\n    json_decref(c->body);\n',
          'count:HTTP, a step:', r'FAILED HTTP, a step: calls, 100th: '),
    Fault('a daemon that never ends',
          'server/daemon/daemon.c',
          '    mechd_zmq_stop(d->zmq);\n    mechd_lane_stop(d->lane);\n',
          '    mechd_zmq_stop(d->zmq);\n    for (;;) {\n'
          '        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);\n    }\n'
          '    mechd_lane_stop(d->lane);\n',
          'integration:test_shutdown.Shutdown.test_an_idle_daemon_ends',
          r'the daemon does not end(.*\n)*.*nanosleep.* mechd_daemon_stop'),
    Fault('a force on a marker of the ground, which has no node',
          'solver/model/channels.c',
          'ops->seat ? ops->seat(on_it->description, &category) : NULL;',
          'ops->seat(on_it->description, &category);',
          'generated:process', r'ended with SIGSEGV, without a count'),
    Fault('outputs of a model that was not assembled',
          'solver/model/compile.c',
          '{mech_outputs, OUTPUTS, RESOLVED | LAID_OUT | ASSEMBLED | SENSORS},',
          '{mech_outputs, OUTPUTS, RESOLVED | LAID_OUT | SENSORS},',
          'generated:process', r'ended with SIGSEGV, without a count'),
    Fault('the name of a joint that is none',
          'solver/sim/build.c',
          'type->pins ? mech_model_first_unpinned(m) : 0));',
          'mech_model_first_unpinned(m)));',
          'conformance:combinations',
          r'a_scheme_without_joints_names_the_joint_it_refuses|FAILED combinations: ended with'),
    Fault('complex modes at a state of 1e160, whose accelerations are infinite',
          'solver/step/rates.c',
          'result->reason, sizeof result->reason);\n            return MECH_NOT_FINITE;\n',
          'result->reason, sizeof result->reason);\n            return MECH_INTERNAL;\n',
          'conformance:analyses', r'model \d+ at 1e\+160: complex modes ends with -'),
    Fault('a problem whose solution is sought without end',
          'solver/vi/semismooth.c',
          '        it->done = judge(s, it, p, it->iterations + steps, l);\n        rho',
          '        (void)steps;\n        point = 0;\n        rho',
          'generated:process', r'FAILED seed \d+ takes over'),
    Fault('a 500 for a model without mechanical coordinates',
          'server/operations/linearization.c',
          '    } else {\n        linearize(c, &l);\n',
          '    } else if (l.motions.velocities == 0) {\n'
          '        mechd_fail(c, MECHP_INTERNAL, "no velocities");\n'
          '    } else {\n        linearize(c, &l);\n',
          'generated:process', r'FAILED seed .*status 500: GET .*/linearization'),
    Fault('a refused step that leaves a snapshot',
          'server/operations/step.c',
          '    c->why = w->stepping.why;\n',
          '    c->why = w->stepping.why;\n    struct mechd_snapshot *left = NULL;\n'
          '    extern int mechd_snapshots_take(struct mechd_instance *, struct mechd_excess *,\n'
          '                                    struct mechd_snapshot **);\n'
          '    (void)mechd_snapshots_take(c->job.instance, &w->stepping.excess, &left);\n',
          'generated:process', r'FAILED seed .*changed the snapshots'),
    Fault('a refused creation that leaves an instance',
          'server/operations/create.c',
          '        fail_taken(c, o->id);\n',
          '        (void)mechd_table_add(&c->service->host.table, i, NULL);\n'
          '        fail_taken(c, o->id);\n',
          'generated:process', r'FAILED seed .*left an instance'),
    Fault('a refused lease that is granted',
          'server/operations/leases.c',
          '        return MECHD_DONE;\n    }\n    wish.w.seconds',
          '        wish.w = (struct mechd_lease_wish){\n'
          '            .role = MECHD_ROLE_OBSERVER, .seconds = 60., .name = c->who.name};\n'
          '        (void)mechd_leases_take(&i->leases, &wish.w, &number, &holder);\n'
          '        return MECHD_DONE;\n    }\n    wish.w.seconds',
          'generated:process', r'FAILED seed .*changed the leases'),
    Fault('an overlap that becomes momentum',
          'solver/model/gap.c',
          'return fmax(gap, 0.) / (s->theta',
          'return fmax(gap, -0.6 * s->h) / (s->theta',
          'generated:process', r'FAILED seed .*energy from nowhere'),
    Fault('a solution that is none',
          'solver/sys/acceptance.c',
          '    if (!(course <= tolerance)) {\n        return course;\n    }\n',
          '    if (!(course <= tolerance)) {\n        return 0.;\n    }\n',
          'generated:process', r'FAILED seed .*"converged", but'),
]


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def write(path, text):
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def copy(into):
    """The tree; only files that differ are written, so that what is built there stays."""
    tree = Tree()
    for path in tree.paths:
        at = os.path.join(into, path)
        os.makedirs(os.path.dirname(at), exist_ok=True)
        with open(tree.at(path), 'rb') as f:
            now = f.read()
        if not os.path.exists(at) or open(at, 'rb').read() != now:
            shutil.copy2(tree.at(path), at)
    modules = os.path.join('clients', 'web', 'node_modules')
    if os.path.isdir(tree.at(modules)) and not os.path.exists(os.path.join(into, modules)):
        os.symlink(tree.at(modules), os.path.join(into, modules))


def run(root, gate):
    """(exit code, output) of a part of the gate in the copy."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ('MECHD_TESTS_BUILDS', 'MECHD_TESTS_BUILD', 'MECHD_TESTS_SUITE')}
    done = subprocess.run(['bash', 'tests/run', '--no-install', gate], cwd=root, env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode(errors='replace')


def first_failure(text):
    found = re.search(r'^ *((?:\d+[:-])?FAILED .*|.*error: .*)', text, re.M)
    return re.sub(r'^\d+[:-]', '', found.group(1))[:200] if found else '(no line of a failure)'


def naming_line(text, named):
    """The line in which the match that names a fault ends."""
    start = text.rfind('\n', 0, named.end() - 1) + 1
    end = text.find('\n', named.end() - 1)
    return re.sub(r'^ *\d+[:-] *', '', text[start:end if end >= 0 else len(text)]).strip()[:200]


def plant(root, fault):
    """What is wrong with the gate, or None; the copy is as before then."""
    path = os.path.join(root, fault.path)
    sound = read(path)
    write(path, sound.replace(fault.old, fault.new))
    try:
        code, text = run(root, fault.gate)
    finally:
        write(path, sound)
    if code == 0:
        return 'tests/run %s is green' % fault.gate
    if 'error: ' in text and 'ninja: build stopped' in text:
        return 'the copy does not build\n' + text[-3000:]
    named = re.search(fault.says, text)
    if not named:
        return 'tests/run %s is red, but does not say "%s":\n%s' % (fault.gate, fault.says,
                                                                   text[-3000:])
    first, line = first_failure(text), naming_line(text, named)
    print('%s: tests/run %s: %s%s' % (fault.name, fault.gate, first,
                                      '' if line in first else '\n    ' + line), flush=True)
    return None


def places(root, faults):
    """{what: what is wrong} of the places of these faults: each is there once"""
    wrong = {}
    for fault in faults:
        times = read(os.path.join(root, fault.path)).count(fault.old)
        if times != 1:
            wrong[fault.name] = 'its text is in %s %d times: the table of tests/tools/planted.py ' \
                'needs another place for it:\n%s' % (fault.path, times, fault.old)
    return wrong


def check(root, faults):
    """{what: what is wrong} of these faults"""
    wrong = places(root, faults)
    for gate in sorted({fault.gate for fault in faults if fault.name not in wrong}):
        code, text = run(root, gate)
        if code != 0:
            wrong['no fault in tests/run ' + gate] = 'it is red:\n' + text[-3000:]
        print('no fault: tests/run %s is %s' % (gate, 'red' if code else 'green'), flush=True)
    for fault in faults:
        if fault.name not in wrong:
            fault_of_gate = plant(root, fault)
            if fault_of_gate:
                wrong[fault.name] = fault_of_gate
                print('FAILED %s: %s' % (fault.name, fault_of_gate), flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--places', action='store_true')
    parser.add_argument('--keep')
    parser.add_argument('names', nargs='*')
    o = parser.parse_args()
    faults = [f for f in FAULTS if not o.names or any(name in f.name for name in o.names)]
    if o.list:
        print('\n'.join(fault.name for fault in faults))
        return 0
    if o.places:
        wrong = places(ROOT, faults)
    else:
        with tempfile.TemporaryDirectory(prefix='mechd-planted-') as folder:
            root = o.keep or folder
            copy(root)
            wrong = check(root, faults)
    for name, text in wrong.items():
        print('FAILED %s: %s' % (name, text))
    failed = len(wrong)
    print('%d passed, %d failed' % (max(0, len(faults) - failed), failed))
    return 1 if wrong or not faults else 0


if __name__ == '__main__':
    sys.exit(main())
