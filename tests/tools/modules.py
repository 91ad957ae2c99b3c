"""Modules: within a room files may call each other in a cycle only where one module is cut into
files. Each such module stands here with all of its files, and nothing stands here that is no cycle.

A call is a direct one: a function that one object takes from another, by nm (symbols.py). The table
of a member of a family, which its registry names (solver/step/stepper.c and the integrators), is
data: that is no call, nor is a function whose address a file above hands to one below, such as an
observer (server/README.md, Rooms)."""
import re
from layers import room_of

README, ORDERED = 'server/README.md', {'server/instance', 'server/coupling'}

# room: {module: its files}
MODULES = {
    'clients': {
        'replay': 'cli/commands/replay cli/replay_copy cli/replay_coupling'},
    'protocol/bind': {
        'reader of models': 'read read_items read_matrix read_names read_numbers',
        'writer of models': 'write write_matrix',
        'OpenAPI': 'openapi openapi_routes'},
    'server/call': {
        'batches': 'batch batch_items',
        'programs outside': 'outside outside_table'},
    'server/engine': {
        'binary of an FMU': 'fmu_binary fmu_steps fmu_updates fmu_values',
        'description of an FMU': 'fmu_description fmu_resolve',
        'session with an FMU': 'fmu_exchange fmu_session',
        'packages': 'ssp_join ssp_links ssp_parts ssp_read ssp_starts ssp_units'},
    'server/store': {
        'store': 'numbers store'},
    'solver/contact': {
        'convex shapes': 'convex convex_gjk convex_part',
        'scene': 'scene scene_place'},
    'solver/couple': {
        'window': 'bonds finish flow window'},
    'solver/expr': {
        'expression': 'compile expr reader',
        'series': 'angle series'},
    'solver/model': {
        'descriptor': 'to_sys_rows to_sys_touch'},
    'solver/step': {
        'generalized alpha': 'alpha alpha_adaptive alpha_kept alpha_newton alpha_sided',
        'explicit Runge-Kutta': 'erk erk_pair',
        'rates': 'rates sided',
        'tangent': 'tangent tangent_runs tangent_start',
        'rows of bodies': 'moreau_jean/bodies_foretold moreau_jean/bodies_rows '
                          'moreau_jean/bodies_touch',
        'sweeps of bodies': 'moreau_jean/bodies_gather moreau_jean/bodies_sweeps',
        'impacts of bodies': 'moreau_jean/bodies_impact moreau_jean/bodies_solvers'},
}

# Knots that are no modules: they are to be divided, and none may come or grow. What would divide
# them: in mechctl, that usage (arguments.c) and ink (print.c) stand below requests; in libmechc,
# that a handle is entered below what it sends; in the FMU of models, that what a component says
# stands below its engines; in the model, that mech_model_point (nonlinear.c), mech_site_of
# (assemble.c), and poses and slots of pairs (pairs.c) stand below all terms.
KNOTS = {
    'clients': {
        'mechctl': 'cli/arguments cli/body cli/keys cli/lane cli/main cli/picture cli/print '
                   'cli/request cli/table',
        'libmechc': 'c/ask c/curve c/handle c/http c/lane c/line'},
    'clients/fmu': {
        'component': 'component proxy proxy_lease proxy_states proxy_step proxy_table proxy_values '
                     'saved updates variables'},
    'solver/model': {
        'terms': 'assemble balance channels compile equations flex forces frames markers nonlinear '
                 'outputs pairs penalty penalty_tangent rows switches touch_compile touch_output '
                 'turns'},
}


def calls_within(found):
    """{source: {source of the same room that it calls: [functions]}} of {source: (functions,
    data, used)}."""
    home = {name: source for source, (functions, _, _) in found.items() for name in functions}
    calls = {source: {} for source in found}
    for source, (_, _, used) in found.items():
        for name in sorted(used & set(home)):
            target = home[name]
            if target != source and room_of(target) == room_of(source):
                calls[source].setdefault(target, []).append(name)
    return calls


def reached(calls, start):
    found, ahead = set(), [start]
    while ahead:
        for target in calls[ahead.pop()]:
            if target not in found:
                found.add(target)
                ahead.append(target)
    return found


def cycles(calls):
    """The sets of two and more files each of which calls all others, directly or through others."""
    below = {source: reached(calls, source) for source in calls}
    found = {frozenset([source] + [s for s in below[source] if source in below[s]])
             for source in calls}
    return sorted((files for files in found if len(files) > 1), key=lambda f: (-len(f), min(f)))


def faults(found, tables):
    """Of {source: (functions, data, used)}."""
    calls = calls_within(found)
    listed = {frozenset('%s/%s.c' % (room, name) for name in files.split()): (room, module)
              for table in tables for room, modules in table.items()
              for module, files in modules.items()}
    there = cycles(calls)
    for files in there:
        if files not in listed:
            yield '%s: a cycle that is no module of tests/tools/modules.py: %s' % (
                room_of(min(files)), '; '.join('%s calls %s (%s)' % (a, b, ', '.join(names[:3]))
                                               for a in sorted(files)
                                               for b, names in sorted(calls[a].items())
                                               if b in files))
    for files, (room, module) in sorted(listed.items(), key=lambda one: one[1]):
        if files not in there:
            yield '%s: the files of the module "%s" are not one cycle, all of it and no more' % (
                room, module)


def order_faults(found, text, ordered):
    """Of {source: (functions, data, used)} and README: its tables of the files of a room, each of
    which calls those of its line and of lines above."""
    calls = calls_within(found)
    tables = {'server/' + room: lines for room, lines in re.findall(
        r'^\| `(\w+)/` \| files \|\n\|---\|---\|\n((?:\|.*\n)+)', text, re.M)}
    for room in sorted(ordered ^ set(tables)):
        yield '%s: %s table of the files of %s' % (
            README, 'no' if room in ordered else 'an unknown', room)
    for room in sorted(ordered & set(tables)):
        line_of = {'%s/%s.c' % (room, name): number
                   for number, line in enumerate(tables[room].splitlines())
                   for name in re.findall(r'`(\w+)`', line.split('|')[2])}
        there = {source for source in calls if room_of(source) == room}
        for source in sorted(there ^ set(line_of)):
            yield '%s: %s is %s' % (README, source,
                                    'in no line of its room' if source in there else 'no file')
        for source in sorted(there & set(line_of)):
            for target in sorted(set(calls[source]) & set(line_of)):
                if line_of[target] > line_of[source]:
                    yield '%s: %s calls %s (%s), which is in a line below' % (
                        README, source, target, ', '.join(calls[source][target]))
