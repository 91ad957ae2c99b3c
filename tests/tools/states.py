"""The tables of states and reasons in server/README.md are the code's: who has an instance and what
comes next (server/instance/queue.c), and why work ends (server/os/stop.h); and what ends work is a
token with a reason there, not a boolean."""
import re
import sys
from tree import report

README = 'server/README.md'
HOLD, STATES = 'MECHD_HOLD_', 'server/instance/queue.c'
STOP, REASONS = 'MECHD_STOP_', 'server/os/stop.h'
# where work is done that may have to end; threads of the doors end by booleans of their own
WORK = ('server/instance/', 'server/call/', 'server/sweep/', 'server/coupling/',
        'server/operations/')
ENDS = (r'_Atomic bool (?:\w+, )*'
        r'(cancel\w*|stop\w*|interrupt\w*|gone|withdrawn|delet\w*|drain\w*|abandon\w*)\b')


def rows(tree, first):
    """[cells] of the rows of the table whose first column has that head."""
    lines = tree.text(README).split('\n')
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


def check_hold(tree):
    if STATES not in tree.paths:
        return
    follow = {}
    for state, before in re.findall(r'\[%s(\w+)\] = ([^,;{}]*)' % HOLD, tree.code(STATES)):
        follow.setdefault(state, set())
        for one in re.findall(r'FROM\((\w+)\)', before):
            follow.setdefault(one, set()).add(state)
    for state in follow:
        follow[state].discard(state)
    told = {words(cells[0])[0]: set(words(cells[-1])) for cells in rows(tree, 'state')}
    for state in sorted(set(follow) | set(told)):
        if follow.get(state) != told.get(state):
            yield '%s: next of %s: %s, in %s: %s' % (
                README, state, ', '.join(sorted(told.get(state, {'no row'}))), STATES,
                ', '.join(sorted(follow.get(state, {'no such state'}))))


def check_reasons(tree):
    if REASONS not in tree.paths:
        return
    known = set(re.findall(r'^    %s(\w+)' % STOP, tree.code(REASONS), re.M)) - {'NONE'}
    told = {words(cells[0])[0] for cells in rows(tree, 'reason')}
    for reason in sorted(known ^ told):
        yield '%s: %s is %s' % (README, reason, 'in no row of "Why work ends"' if reason in known
                                else 'no reason of ' + REASONS)


def check_tokens(tree):
    for path in tree.files('.h', '.c'):
        code = tree.code(path) if path.startswith(WORK) else ''
        for match in re.finditer(ENDS, code):
            yield '%s:%d: %s says that work ends, without a reason: struct mechd_stop' % (
                path, code[:match.start()].count('\n') + 1, match.group(1))


CHECKS = {
    'the table of who has an instance is the code\'s': check_hold,
    'each reason to end has its row': check_reasons,
    'work ends by a token with a reason': check_tokens,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
