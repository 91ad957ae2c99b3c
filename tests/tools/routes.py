"""Each fact of a route is in its row (protocol/wire/routes/) alone: nowhere in the server is a
second list of its keys, no two rows list the same members (those are in shared.h), no operation
says who may use it or what it changes, and each route has one operation and one line. Keys of
requests are read, and those of replies written, by the walker of their row (protocol/wire/body.h);
by_hand.txt counts those that the server still reads or writes itself, or changes in a document, by
file, and says why: it only becomes shorter. A key that a row names is none of these. The scopes of
tokens are listed in protocol/wire/scopes.h alone, and which of them a route requires is derived
from its row in one place. No code decides by the id of a route: its row says what it is (traits,
of_id, shown)."""
import re
import sys
from tree import report, split_arguments

ROWS = 'protocol/wire/routes/'
# what an operation may say of itself
OPERATION = {'run', 'spread', 'prepare', 'plain'}


# a key of a request that is read, and one of a reply that is written, where it stands
# of a body, of a part of one (any object), and a list of keys that an object may have
OBJECT = r'(?!\w+->body,)(?:[^;"()]|\([^;"()]*\))+,'
READ = re.compile(r'\b(?:json_object_get|mechp_json_\w+)\(\s*\w+->body,'
                  r'(?!\s*[\w>\[\].-]+(?:->|\.)name\))'
                  r'|\b(?:json_object_get|mechp_json_\w+)\(\s*' + OBJECT + r'\s*"(?![/"])'
                  r'|\bmechp_json_only\(\s*' + OBJECT +
                  r'|\bmechd_(?:call_query|call_word|query_number|query_whole)\(\s*c, "')
WRITTEN = re.compile(r'\bmechp_text_(?:key|literal|member_\w+)\(\s*[\w&>.-]+,\s*"'
                     r'|\bjson_object_(?:set\w*|del)\([^",]+,\s*"|\bjson_pack\(')
KNOWN = 'tests/tools/by_hand.txt'
# members that two bodies may have alike, with type and description
ALIKE = 4
# arguments of a macro, with strings and calls among them
ARGUMENTS = r'\(((?:[^()"]|"(?:[^"\\]|\\.)*"|\([^()]*\))*)\)'


def shared_members(tree):
    """{name: text} of the lists of members in shared.h."""
    path = ROWS + 'shared.h'
    code = tree.code(path).replace('\\\n', '\n') if path in tree.paths else ''
    return dict(re.findall(r'#define (MECHP_\w+_MEMBERS)\b(.*?)(?=#define|\Z)', code, re.S))


def bodies(tree):
    """(path, line, text) of the members of each body and each query."""
    shared = shared_members(tree)
    for path in tree.files('.c', under=ROWS):
        code = tree.code(path)
        for match in re.finditer(r'MECHP_(?:MEMBERS|QUERY)' + ARGUMENTS, code):
            text = match.group(1)
            for name in re.findall(r'MECHP_\w+_MEMBERS\b', text):
                text += shared.get(name, '')
            yield path, code[:match.start()].count('\n') + 1, text


def key_sets(tree):
    """The keys that each body and each query has, as sets."""
    return [set(re.findall(r'\{\s*"(\w+)",', text)) for _, _, text in bodies(tree)]


def check_members_once(tree):
    """Of the members as they are written, without those that shared.h has."""
    seen = []
    for path in tree.files('.c', under=ROWS):
        code = tree.code(path)
        for match in re.finditer('MECHP_MEMBERS' + ARGUMENTS, code):
            members = set(re.sub(r'"\s+"', '', m) for m in re.findall(
                r'\{("\w+",\s*"[^"]*",\s*(?:"(?:[^"\\]|\\.)*"\s*)+)', match.group(1)))
            for other, known in seen:
                alike = members & known
                if len(alike) > ALIKE:
                    yield '%s:%d: %d members that %s lists too: %s' % (
                        path, code[:match.start()].count('\n') + 1, len(alike), other,
                        ', '.join(sorted(re.findall(r'^"(\w+)"', m)[0] for m in alike)))
            seen.append((path, members))


def check_one_list_of_keys(tree):
    sets = key_sets(tree)
    lists = re.compile(r'(?:char \*const \w+\[\w*\]\s*=|char \*const \[\]\)|\.(?:keys|query)\s*=)'
                       r'\s*\{([^{}]*)\}')
    for path in tree.files('.c', '.h', under='server/'):
        code = tree.code(path)
        for match in lists.finditer(code):
            words = re.findall(r'"([^"]*)"', match.group(1))
            if len(words) > 1 and any(set(words) <= keys for keys in sets):
                yield '%s:%d: lists keys that a row has: %s' % (
                    path, code[:match.start()].count('\n') + 1, ', '.join(words))


def check_operations(tree):
    for path in tree.files('.c', under='server/'):
        for name, body in re.findall(r'const struct mechd_operation (mechd_operation_\w+)\s*=\s*'
                                     r'\{(.*?)\};', tree.code(path), re.S):
            for field in set(re.findall(r'\.(\w+)\s*=', body)) - OPERATION:
                yield '%s: %s says .%s, which is its row\'s' % (path, name, field)


def check_one_row_and_operation(tree):
    path = 'protocol/wire/routes.def'
    if path not in tree.paths:
        return
    lines = [split_arguments(a)[0] if isinstance(a, str) else a[0]
             for _, a in tree.members(path, 'MECHP_ROUTE')]
    for kind, under, pattern in (
            ('row', ROWS, r'const struct mechp_row mechp_row_(\w+)\s*='),
            ('operation', 'server/', r'const struct mechd_operation mechd_operation_(\w+)\s*=')):
        found = [name for source in tree.files('.c', under=under)
                 for name in re.findall(pattern, tree.code(source))]
        for name in sorted(set(lines) | set(found)):
            if found.count(name) != 1 or name not in lines:
                yield '%s: %s has %d %ss and %d lines' % (path, name, found.count(name), kind,
                                                         lines.count(name))


def by_hand(code):
    """How many keys the code reads, and how many it writes."""
    return len(READ.findall(code)), len(WRITTEN.findall(code))


def check_keys_by_rows(tree):
    lines = tree.text(KNOWN).split('\n') if KNOWN in tree.paths else []
    entries = [(line.split(None, 3) + [''])[:4] for line in lines if line[:1] not in '#']
    known = {path: (int(read), int(written)) for path, read, written, _ in entries}
    for path, _, _, why in entries:
        if not re.fullmatch(r'[A-Z].* .*\.', why):
            yield '%s: %s: a sentence says why they are read or written by hand' % (KNOWN, path)
    found = {path: by_hand(tree.code(path)) for path in tree.files('.c', under='server/')}
    for path in sorted(set(known) | set(found)):
        for what, now, listed in zip(('read', 'written'), found.get(path, (0, 0)),
                                     known.get(path, (0, 0))):
            if now > listed:
                yield '%s: %d keys are %s by hand, %d are known: rows do it (MECHP_%s)' % (
                    path, now, what, listed, 'READ' if what == 'read' else 'WRITE')
            elif now < listed:
                yield '%s: %d keys are %s by hand: not %d, in %s' % (path, now, what, listed, KNOWN)


# the list of scopes, what derives one from the access of a row, and documents printed from both
SCOPES = 'protocol/wire/scopes.h'
SCOPE_OF_ACCESS = 'protocol/wire/row_codes.c'
PRINTED = ('clients/python/mechd/replies.py',)


def check_one_list_of_scopes(tree):
    """No second list of their names, also within a sentence, and no second way from the access of
    a row to a scope."""
    if SCOPES not in tree.paths:
        return
    names = [n for n in re.findall(r'\(\w+, "(\w+)"\)', tree.code(SCOPES))]
    accesses = re.findall(r'\bMECHP_\w+', re.search(
        r'enum mechp_access \{(.*?)\}', tree.code('protocol/wire/row.h'), re.S).group(1))
    word = r'["\'`]?\b(?:%s)\b["\'`]?' % '|'.join(names)
    lists = re.compile(r'%s(?:\s*(?:,|\||\bor\b|\band\b)+\s*%s){2,}' % (word, word))
    one = re.compile(r'(?:->|\.)access\b(?!\s*=[^=])|\bcase (?:%s)\b' % '|'.join(accesses))
    for path in tree.files('.c', '.h', '.js', '.py', '.def', under=('server/', 'protocol/',
                                                                    'clients/')):
        if path in PRINTED + (SCOPES,):
            continue
        text = tree.text(path)
        for match in lists.finditer(text):
            yield '%s:%d: lists scopes, as %s does: %s' % (
                path, text[:match.start()].count('\n') + 1, SCOPES, match.group(0))
        if path != SCOPE_OF_ACCESS and path.endswith(('.c', '.h')):
            code = tree.code(path)
            for match in one.finditer(code):
                yield '%s:%d: mechp_route_scope says which scope a route requires' % (
                    path, code[:match.start()].count('\n') + 1)


def check_no_decisions_by_id(tree):
    """The id of a route serves to call it (mechp_route_at), for nothing else."""
    path = 'protocol/wire/routes.def'
    symbols = [split_arguments(a)[0] if isinstance(a, str) else a[0]
               for _, a in tree.members(path, 'MECHP_ROUTE')] if path in tree.paths else []
    ids = re.compile(r'(?<!mechp_route_at\()\bMECHP_ROUTE_(?:%s)\b' % '|'.join(symbols or ['-']))
    for path in tree.files('.c', '.h', under=('server/', 'clients/', 'protocol/bind/')):
        code = tree.code(path)
        for match in ids.finditer(code):
            yield '%s:%d: decides by %s: its row says what it is' % (
                path, code[:match.start()].count('\n') + 1, match.group(0))


CHECKS = {
    'keys of bodies are read and written by their rows': check_keys_by_rows,
    'no second list of keys of a route': check_one_list_of_keys,
    'no two rows list the same members': check_members_once,
    'operations say only what they do': check_operations,
    'no code decides by the id of a route': check_no_decisions_by_id,
    'no second list of scopes': check_one_list_of_scopes,
    'a route has one row, one operation and one line': check_one_row_and_operation,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
