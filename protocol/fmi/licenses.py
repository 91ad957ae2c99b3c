#!/usr/bin/env python3
"""Write the licenses of what an FMU contains as one C file: licenses.py OUTPUT LICENSE PACKAGE…
(mechp_fmi_license and mechp_fmi_licenses in package.h). Of a library its distribution keeps them:
/usr/share/doc/PACKAGE/copyright."""
import os
import re
import sys

HEAD = '''\
The binary in this FMU contains code of these libraries, besides that of mechd (LICENSE.txt).
Of SuiteSparse it contains KLU, BTF, AMD, COLAMD and CHOLMOD's modules Core, Cholesky and
Partition, and nothing that is under the GPL. Their sources are those of the distribution's
packages.
'''


def numbers(symbol, text):
    # whether a char above 127 is negative is the compiler's choice
    values = [str(b) if b < 128 else "'\\x%x'" % b for b in text.encode() + b'\0']
    yield 'const char %s[] = {' % symbol
    for at in range(0, len(values), 24):
        yield '    ' + ', '.join(values[at:at + 24]) + ','
    yield '};'


def part(package):
    path = '/usr/share/doc/%s/copyright' % package
    text = 'See the package %s.\n' % package
    if os.path.exists(path):
        with open(path, encoding='utf-8', errors='replace') as f:
            text = f.read()
    title = re.sub(r'-dev$', '', package)
    return '\n%s\n%s\n%s\n\n%s' % ('=' * 80, title, '=' * 80, text)


with open(sys.argv[2], encoding='utf-8') as f:
    own = f.read()
lines = ['/* Generated from the licenses of what an FMU contains. */',
         '#include "protocol/fmi/package.h"', '']
lines += numbers('mechp_fmi_license', own)
lines += numbers('mechp_fmi_licenses', HEAD + ''.join(part(p) for p in sys.argv[3:]))
with open(sys.argv[1], 'w', encoding='utf-8') as f:
    f.write('\n'.join(lines) + '\n')
