"""Options of mechctl that are keys of requests take their names, types, ranges, words and texts
from the rows of the routes (clients/cli/keys.c): no table of mechctl repeats one. Keys of replies
that clients in C read are those of the rows."""
import json
import re
import sys
from tree import report

ROWS, CLI = 'protocol/wire/routes/', 'clients/cli/'
TEXT = r'(?:"(?:[^"\\]|\\.)*"\s*)+'
# key, type and text of a member of a body or a parameter of a query
KEY = re.compile(r'\{\s*"(\w+)",\s*("[^"]*"),\s*(%s)' % TEXT)
# a key that is read, or shown as a column
USED = re.compile(r'\bmechc_json_\w+\(\s*[^,"()]+(?:\([^()]*\))?,\s*"([\w./]+)"'
                  r'|\{"([\w./]+)",\s*"[A-Z /]+",\s*(?:true|false)\}')
DOCUMENT = 'protocol/openapi.json'
LEAST = 12  # characters of a text of a key alone: any end of a step is an "end time, s"


def joined(literals):
    return ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals))


def normal(text):
    """As mechctl shows it: without a capital in front and the period behind."""
    text = text.removeprefix('true: ').replace('`', '').rstrip('.')
    return text[:1].lower() + text[1:]


def keys(tree):
    """(key, type, text) of all rows."""
    for path in tree.files('.c', '.h', under=ROWS):
        for name, kind, text in KEY.findall(tree.code(path).replace('\\\n', '\n')):
            yield name, joined(kind), joined(text)


def initialiser(code, name):
    """What a variable of this name holds."""
    found = re.search(r'\b%s(?:\[\])?\s*=\s*\{(.*?)\};' % name, code, re.S)
    return found.group(1) if found else ''


def keys_of(tree, row):
    """Names of the keys of the body and the query of a row."""
    codes = [tree.code(path) for path in tree.files('.c', under=ROWS)]
    given = next((text for text in (initialiser(code, 'mechp_row_' + row) for code in codes)
                  if text), '')
    body = re.search(r'\.body\s*=\s*&(\w+)', given)
    query = re.search(r'\.query\s*=\s*(\w+)\b(?!\()', given)
    for name in [m.group(1) for m in (body, query) if m]:
        given += ''.join(initialiser(code, name) for code in codes)
    return {key for key, _, _ in KEY.findall(given)}


def check_texts(tree):
    texts = {normal(text): key for key, _, text in keys(tree)
             if len(text) >= LEAST and ' ' in text}
    for path in tree.files('.c', '.h', under=CLI):
        code = tree.code(path)
        for match in re.finditer(TEXT, code):
            key = texts.get(normal(joined(match.group())))
            if key:
                yield '%s:%d: repeats the text of the key %s: an option has it by .key' % (
                    path, code[:match.start()].count('\n') + 1, key)


def check_keys(tree):
    for path in tree.files('.c', under=CLI):
        code = tree.code(path)
        known = set().union(*(keys_of(tree, row) for row in
                              re.findall(r'\.(?:body|query)\s*=\s*&mechp_row_(\w+)', code)))
        for match in re.finditer(r'MECHCTL_OPTION\(\s*"([\w-]+)"', code):
            key = re.sub(r'-(\w)', lambda m: m.group(1).upper(), match.group(1))
            if key in known:
                yield '%s:%d: --%s is a key of the command\'s row' % (
                    path, code[:match.start()].count('\n') + 1, match.group(1))


def check_words(tree):
    lists = {frozenset(words): key for key, kind, _ in keys(tree)
             for words in [re.findall(r"'([^']*)'", kind)] if len(words) > 1}
    for path in tree.files('.c', '.h', under=CLI):
        code = tree.code(path)
        for match in re.finditer(r'\{((?:\s*"[^"]*",?)+\s*(?:NULL)?\s*)\}|("\'[^"]*")', code):
            words = re.findall(r'"([^"]*)"', match.group(1)) if match.group(1) else \
                re.findall(r"'([^']*)'", match.group(2))
            key = lists.get(frozenset(words))
            if key:
                yield '%s:%d: lists the words of the key %s' % (
                    path, code[:match.start()].count('\n') + 1, key)


def check_ranges(tree):
    ranges = {}
    for key, kind, _ in keys(tree):
        for least, most in re.findall(r'(?:integer|number) ([\d.e-]+?)\.\.([\d.e+-]+)', kind):
            ranges.setdefault(key, set()).add('%s to %s' % (least, most))
    for path in tree.files('.c', under=CLI + 'commands/'):
        code = tree.code(path)
        for match in re.finditer(r'\{[^{}]*\.key = "(\w+)"[^{}]*\}', code):
            for text in ranges.get(match.group(1), ()):
                if text in joined(match.group()):
                    yield '%s:%d: repeats the range of the key %s' % (
                        path, code[:match.start()].count('\n') + 1, match.group(1))


def check_sent(tree):
    """By the command; names of a query as members of the body, where both are of one row."""
    for path in tree.files('.c', under=CLI + 'commands/'):
        code = tree.code(path)
        of = dict(re.findall(r'\.(body|query)\s*=\s*&mechp_row_(\w+)', code))
        if 'body' in of and 'mechctl_add_keys(m, NULL)' not in code:
            yield '%s: options that are members of the body are not sent' % path
        if 'query' in of and of['query'] != of.get('body') and not re.search(
                r'mechctl_(?:query_keys|print_sweep)\(', code):
            yield '%s: options that are names of the query are not sent' % path


def check_known(tree):
    """Keys of replies that are read, shown as columns, and of bodies that are written: by the C
    clients, without the FMU's, which is no client of the routes."""
    schemas = json.loads(tree.text(DOCUMENT))['components']['schemas'] \
        if DOCUMENT in tree.paths else {}
    known = {key for schema in schemas.values() for key in schema.get('properties', ())}
    for path in tree.files('.c', '.h', under='protocol/'):
        # of a row, or of what describes the types of items (protocol/bind/types.c)
        known.update(re.findall(r'(?:\{\s*|\(w, )"(\w+)"[,)]', tree.code(path)))
    for path in tree.files('.c', under=('clients/c/', CLI)):
        code = tree.code(path)
        found = [(m.start(), key) for m in USED.finditer(code) for key in filter(None, m.groups())]
        for match in re.finditer(r'\bmechc_bytes_text\([^"]*(%s)' % TEXT, code):
            found += [(match.start(), key) for key in re.findall(r'\\"(\w+)\\":', match.group(1))]
        for place, keys in found:
            for key in set(re.split(r'[./]', keys)) - known - {''}:
                yield '%s:%d: no row has the key %s' % (path, code[:place].count('\n') + 1, key)


CHECKS = {
    'keys that clients in C read and write are those of rows': check_known,
    'options of mechctl that are keys of a row are sent': check_sent,
    'no option of mechctl repeats a text of a row': check_texts,
    'no option of mechctl repeats a key of a row': check_keys,
    'no option of mechctl repeats words of a row': check_words,
    'no option of mechctl repeats a range of a row': check_ranges,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
