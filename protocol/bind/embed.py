#!/usr/bin/env python3
"""Turn recorded answers into one C file: embed.py OUTPUT RECORDED.json. Each is found by kind and
name (mechp_recorded in openapi.h)."""
import json
import sys

TAIL = r'''
const char *mechp_recorded(const char *kind, const char *name)
{
    for (const struct recorded *r = recorded; r->kind != NULL; r++) {
        if (strcmp(r->kind, kind) == 0 && strcmp(r->name, name) == 0) {
            return r->json;
        }
    }
    return NULL;
}
'''

with open(sys.argv[2], encoding='utf-8') as f:
    recorded = json.load(f)
out = ['/* Generated from protocol/recorded.json. */', '#include "protocol/bind/openapi.h"', '',
       '#include <string.h>', '']
table = []
for kind, answers in sorted(recorded.items()):
    for name, answer in sorted(answers.items()):
        text = json.dumps(answer, ensure_ascii=True, separators=(',', ':')).encode()
        # numbers: compilers take no long text
        numbers = [str(b) for b in text] + ['0']
        symbol = 'text_%d' % len(table)
        out.append('static const char %s[] = {' % symbol)
        out += ['    ' + ', '.join(numbers[at:at + 24]) + ','
                for at in range(0, len(numbers), 24)]
        out.append('};')
        table.append('    {"%s", "%s", %s},' % (kind, name, symbol))
out += ['', 'static const struct recorded {', '    const char *kind, *name, *json;',
        '} recorded[] = {', *table, '    {NULL, NULL, NULL},', '};', TAIL]
with open(sys.argv[1], 'w', encoding='utf-8') as f:
    f.write('\n'.join(out))
