"""Writes the words that libFuzzer mixes into inputs, one file <target>.dict each, from the printed
tables: the model's schema, the routes, the members of the OpenAPI document.

    dictionaries.py FOLDER"""
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'tools'))
from tree import objects  # noqa: E402

VALUES = ['"="', '"=sin(t)"', '1e308', '-0.0', '5e-324', '1e999', '[[1]]', '{}', '[]', 'null',
          '9007199254740993', '"\\\\u0000"', '\\xff', '\\n']
FRAMING = ['HTTP/1.1\\x0d\\x0a', 'HTTP/1.0', '\\x0d\\x0a\\x0d\\x0a', 'Host: a\\x0d\\x0a',
           'Content-Length: ', 'Transfer-Encoding: chunked\\x0d\\x0a', '0\\x0d\\x0a\\x0d\\x0a',
           'Expect: 100-continue\\x0d\\x0a', 'Connection: close\\x0d\\x0a', 'Accept: ',
           'Accept-Encoding: gzip\\x0d\\x0a', 'Authorization: Bearer ', 'If-Match: ',
           'If-None-Match: ', 'Idempotency-Key: ', 'Last-Event-ID: ', 'Prefer: respond-async',
           'Origin: ', 'Access-Control-Request-Method: ', 'traceparent: 00-', 'Range: bytes=',
           'Content-Type: application/vnd.mechd.snapshot', 'Content-Encoding: gzip', '%2F', '%00']
GRAMMAR = ['sin(', 'atan2(', 'sqrt(', 'abs(', 'min(', 'max(', 'sum(', 'avg(', 'rint(', 'sign(',
           'exp(', 'ln(', 'log2(', 'log10(', 'tanh(', '&&', '||', '==', '!=', '<=', '?', ':', '=',
           '_pi', '_e', 'pi', 't', 'u', '1e308', '0x1F', ',', '((', '))', '^-', '**', '"', '+=']


def read(*path):
    with open(os.path.join(ROOT, *path), encoding='utf-8') as f:
        return f.read()


def keys(document):
    """Names of all members that a document describes."""
    return {key for part in objects(document) for key in part.get('properties', {})}


def quoted(words):
    return ['"%s"' % word for word in sorted(set(words))]


def routes():
    """(method, path, operation) of each route."""
    return re.findall(r'^MECHP_ROUTE\(\w+, "(\w+)", "([^"]+)", "([^"]*)"',
                      read('protocol', 'wire', 'routes.def'), re.M)


def words():
    schema = quoted(re.findall(r'"([A-Za-z][A-Za-z0-9]{0,40})"',
                               read('protocol', 'schema', 'model.schema.json')))
    members = quoted(keys(json.loads(read('protocol', 'openapi.json'))) | {'op', 'sequence'})
    codes = re.findall(r'"([a-z0-9]+)", "', read('protocol', 'schema', 'model.schema.json'))
    paths = ['%s %s ' % (method, path.replace('{id}', 'i').replace('{rid}', 'r-1')
                         .replace('{sid}', 's-1')) for method, path, _ in routes()]
    yield 'model', schema + VALUES
    examples = ['#%s\\n' % name[:-5] for name in
                sorted(os.listdir(os.path.join(ROOT, 'server', 'examples')))
                if name.endswith('.json')]
    yield 'operations', quoted(op for _, _, op in routes() if op) + members + examples + VALUES
    yield 'http', paths + members + FRAMING + VALUES
    yield 'control', members + ['MCHD\\x01%s' % ('\\x%02x' % kind) for kind in range(1, 12)]
    yield 'store', schema + quoted(codes) + VALUES
    yield 'expression', GRAMMAR


def line(word):
    """As libFuzzer reads it: quotes and backslashes escaped, \\xAB and \\n are bytes."""
    text = re.sub(r'\\(?!x[0-9a-f]{2})', r'\\\\', word.replace('\\n', '\\x0a'))
    return '"%s"\n' % text.replace('"', '\\"')


def main(folder):
    for name, found in words():
        with open(os.path.join(folder, name + '.dict'), 'w', encoding='utf-8') as f:
            f.writelines(map(line, dict.fromkeys(found)))


if __name__ == '__main__':
    main(*sys.argv[1:])
