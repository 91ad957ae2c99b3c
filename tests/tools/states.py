"""The tables of states and reasons in server/README.md are the code's: who has an instance and what
comes next (server/instance/queue.c), why work ends (server/os/stop.h), and which file asks for the
reasons of each level; what ends work is a token with a reason there, not a boolean but those that
the table there lists. The way of one step request that the README draws is that of the calls. Files
that ask a simulation past the table of its engine are those that the README lists."""
import os
import re
import sys
from tree import report

README = 'server/README.md'
QUEUE, COMMAND = 'server/instance/queue.c', 'server/coupling/command.c'
# the states of an instance, of a job, and of a command of a coupling: file, prefix, macro of those
# before, head of the table
MACHINES = ((QUEUE, 'MECHD_HOLD_', 'FROM', 'state'), (QUEUE, 'MECHD_JOB_', 'AFTER', 'job'),
            (COMMAND, 'MECHD_COUPLING_', 'AFTER', 'command'))
ENGINE = 'server/engine/'  # where the engine of simulations is
STOP, REASONS = 'MECHD_STOP_', 'server/os/stop.h'
# where work is done that may have to end
WORK = ('server/instance/', 'server/call/', 'server/sweep/', 'server/coupling/',
        'server/operations/')
ASKS = re.compile(r'\bmechd_stop(?:_held)?_reason\(')
# a boolean that says that something has ended, or shall
ENDS = re.compile(r'^[ \t]+(?:_Atomic bool (?:\w+, )*(\w*(?:cancel|stop|interrupt|gone|withdrawn|'
                  r'delet|drain|abandon|ended|closed|active)\w*)'
                  r'|bool (?:\w+, )*(stop|stops|stopped|cancelled))\b(?:, \w+)*;', re.M)

def rows(tree, first):
    """[cells] of the rows of the table whose first column has that head."""
    lines = tree.text(README).split('\n') if README in tree.paths else []
    at = [k for k, line in enumerate(lines) if line.startswith('| %s |' % first)]
    found = []
    for line in lines[at[0] + 2:] if at else []:
        if not line.startswith('|'):
            break
        found.append([cell.strip() for cell in line.strip('|').split('|')])
    return found


def words(text):
    """The names in backticks that are those of states or reasons."""
    return re.findall(r'`([A-Z]+)`', text)


def check_machines(tree):
    for path, prefix, macro, head in MACHINES:
        code, follow = tree.code(path) if path in tree.paths else '', {}
        for state, before in re.findall(r'\[%s(\w+)\] = ([^,;{}]*)' % prefix, code):
            follow.setdefault(state, set())
            for one in re.findall(r'%s\((\w+)\)' % macro, before):
                follow.setdefault(one, set()).add(state)
        for state in follow:
            follow[state].discard(state)
        told = {words(cells[0])[0]: set(words(cells[-1])) - {words(cells[0])[0]}
                for cells in rows(tree, head)} if code else {}
        for state in sorted(set(follow) | set(told)):
            if follow.get(state) != told.get(state):
                yield '%s: next of %s: %s, in %s: %s' % (
                    README, state, ', '.join(sorted(told.get(state, {'no row'}))), path,
                    ', '.join(sorted(follow.get(state, {'no such state'}))))


def check_reasons(tree):
    if REASONS not in tree.paths:
        return
    known = set(re.findall(r'^    %s(\w+)' % STOP, tree.code(REASONS), re.M)) - {'NONE'}
    told = {words(cells[0])[0] for cells in rows(tree, 'reason')}
    for reason in sorted(known ^ told):
        yield '%s: %s is %s' % (README, reason, 'in no row of "Why work ends"' if reason in known
                                else 'no reason of ' + REASONS)


def listed(tree, head, pattern):
    """What the first cells of the table of that head list."""
    return [found for cells in rows(tree, head) for found in re.findall(pattern, cells[0])]


def check_tokens(tree):
    known = {('server/' + path, name)
             for path, name in listed(tree, 'boolean', r'`([\w/]+\.[ch])` `(\w+)`')}
    seen = set()
    for path in tree.files('.h', '.c', under='server/'):
        code = tree.code(path)
        for match in ENDS.finditer(code):
            name = match.group(1) or match.group(2)
            seen.add((path, name))
            if (path, name) not in known:
                yield '%s:%d: %s says that work ends, without a reason: struct mechd_stop' % (
                    path, code[:match.start()].count('\n') + 1, name)
    for path, name in sorted(known - seen):
        yield '%s: %s has no boolean %s' % (README, path, name)


def check_askers(tree):
    known = {'server/' + path for path in listed(tree, 'asker', r'`([\w/]+\.[ch])`')}
    asks = {path: ASKS.search(tree.code(path)) for path in tree.files('.h', '.c', under=WORK)}
    for path in sorted(known | {path for path, found in asks.items() if found}):
        if not asks.get(path):
            yield '%s: %s asks for no reason' % (README, path)
        elif path not in known:
            yield '%s:%d: asks for a reason, and is no asker of its level (%s, "Why work ends")' % (
                path, tree.code(path)[:asks[path].start()].count('\n') + 1, README)


def body_of(tree, path, name):
    """The body of a function, or None."""
    code = tree.code(path) if path in tree.paths else ''
    match = re.search(r'^[a-z][^;{}()]*\b%s\([^;{}]*\)\n\{\n(.*?)^\}$' % name, code, re.S | re.M)
    return match.group(1) if match else None


def check_way(tree):
    """Each line is a function of its file, which the line that it is under calls: by its name, or
    by the pointer in brackets, to which its file sets it."""
    above = []
    for line in tree.text(README).split('\n') if README in tree.paths else ():
        match = re.match(r'    ( *)(\w+) +([\w/]+\.[ch])(?: \(([\w>-]+)\))?(?:  |$)', line)
        if not match:
            above = []
            continue
        depth, (name, path, pointer) = len(match.group(1)), match.groups()[1:]
        path = path if path.startswith('solver/') else 'server/' + path
        above = [one for one in above if one[0] < depth]
        body = body_of(tree, path, name)
        if body is None:
            yield '%s: %s has no function %s' % (README, path, name)
        elif above and above[-1][2] is not None and not re.search(
                r'\b%s\(' % re.escape(pointer or name), above[-1][2]):
            yield '%s: %s does not call %s' % (README, above[-1][1], pointer or name)
        elif pointer and not re.search(r'\b%s = %s\b' % (pointer.split('->')[-1], name),
                                       tree.code(path)):
            yield '%s: %s does not set %s to %s' % (README, path, pointer, name)
        above.append((depth, name, body))


def listed_files(cell):
    """Paths below server/ of a cell: a name without a folder is in the folder before it."""
    folder = ''
    for word in re.findall(r'`([\w/.]+)`', cell):
        folder = os.path.dirname(word) if '/' in word else folder
        if word.endswith('.c'):
            yield os.path.join('server', folder, os.path.basename(word))


def check_simulations(tree):
    """What an engine's table has is asked by it."""
    listed = {path for cells in rows(tree, 'only of models') for path in listed_files(cells[-1])}
    found = {path for path in tree.files('.c', under='server/') if not path.startswith(ENGINE) and
             re.search(r'->sim\b(?! =[^=])', tree.code(path))}
    for path in sorted(found - listed):
        yield '%s: asks a simulation; the table of its engine does, or %s lists it' % (path, README)
    for path in sorted(listed - found):
        yield '%s: lists %s, which asks no simulation' % (README, path)


CHECKS = {
    'the tables of owners, and of the lives of jobs and commands, are the code\'s': check_machines,
    'each reason to end has its row': check_reasons,
    'work ends by a token with a reason': check_tokens,
    'a step request goes the way that is drawn': check_way,
    'the reasons of a level are asked for in one file': check_askers,
    'a simulation is asked in the files that are listed': check_simulations,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
