#!/usr/bin/env python3
"""Write the kernels of OpenBLAS that an FMU never calls as one C file:
kernels.py OUTPUT NM ARCHIVE.

The tables by which OpenBLAS chooses among processors (gotoblas_HASWELL, …) name the kernels of all
precisions, four fifths of which are of single precision or complex. The solver calls none of these:
each is defined here, so that the linker takes no member of the archive for it, and ends the process
if it is called after all. What the solver calls is what the archive has."""
import re
import subprocess
import sys

HEAD = '''\
/* Written by clients/fmu/kernels.py: kernels of OpenBLAS that are never called. */
void mechfmu_no_kernel(void);
void mechfmu_no_kernel(void)
{
    __builtin_trap();
}
'''
LINE = '__asm__(".globl %s\\n.hidden %s\\n.set %s, mechfmu_no_kernel");\n'


def unused(symbols):
    """Of (name, type) the kernels that are not of double precision, sorted."""
    # the tables of processors that have kernels are initialized data, others are zeros
    cores = [n[len('gotoblas_'):] for n, kind in symbols if kind == 'D' and
             re.fullmatch('gotoblas_[A-Z0-9_]+', n)]
    if not cores:
        return []
    kernel = re.compile('(?!i?d)[a-z0-9]\\w*_(%s)' % '|'.join(sorted(cores, key=len)[::-1]))
    return sorted({n for n, kind in symbols if kind == 'T' and kernel.fullmatch(n)})


def main(output, nm, archive):
    text = subprocess.run([nm, '-g', '--defined-only', archive], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=True).stdout
    rows = [line.split() for line in text.splitlines()]
    names = unused([(r[2], r[1]) for r in rows if len(r) == 3])
    with open(output, 'w', encoding='ascii') as f:
        f.write(HEAD + ''.join(LINE % (n, n, n) for n in names))


if __name__ == '__main__':
    main(*sys.argv[1:])
