#!/usr/bin/env python3
"""Turn model files into one C file: embed.py OUTPUT FILE… (server/examples/examples.h)."""
import json
import os
import sys

out = ['/* Generated from the models in server/examples. */',
       '#include "server/examples/examples.h"', '']
table = []
for path in sorted(sys.argv[2:]):
    name = os.path.splitext(os.path.basename(path))[0]
    with open(path, encoding='utf-8') as f:
        text = json.dumps(json.load(f), ensure_ascii=False, separators=(',', ':')).encode()
    symbol = 'text_' + ''.join(c if c.isalnum() else '_' for c in name)
    out.append('static const char %s[] = {' % symbol)
    # whether a char above 127 is negative is the compiler's choice
    numbers = [str(b) if b < 128 else "'\\x%x'" % b for b in text]
    for at in range(0, len(numbers), 24):
        out.append('    ' + ', '.join(numbers[at:at + 24]) + ',')
    out.append('};')
    table.append('    {"%s", %s, sizeof %s},' % (name, symbol, symbol))
out += ['', 'const struct mechd_example mechd_examples[] = {', *table, '};',
        'const size_t mechd_example_count = %d;' % len(table), '']
open(sys.argv[1], 'w', encoding='utf-8').write('\n'.join(out))
