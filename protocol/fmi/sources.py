#!/usr/bin/env python3
"""Write the sources of an FMU's binary, packed, as one C file (protocol/fmi/sources.h):
sources.py OUTPUT DEPFILE ROOT.

They are the files that are compiled for it, and all that these include of the project: a file that
is included and is not there ends the script. What the binary has from the server's libraries
without using it stays out."""
import os
import re
import sys
import zlib

FOLDERS = ['clients/fmu', 'protocol/bind', 'protocol/fmi', 'protocol/wire', 'solver']
# what of these folders is compiled: the rest is the server's, or of other binaries
COMPILED = re.compile('|'.join([
    r'clients/fmu/(component|fmi[23]|saved|solver|updates|variables)\.c',
    r'protocol/bind/read\w*\.c', r'protocol/fmi/(find|layout|settings|symbols)\.c',
    r'protocol/wire/(json|json_guard)\.c', r'protocol/wire/number\.cpp',
    r'solver/(?!couple/)[\w/]+\.c']))
INCLUDE = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.M)
HEAD = '''\
/* Written by protocol/fmi/sources.py: the sources of an FMU's binary, packed. */
#include "protocol/fmi/sources.h"

'''


def compiled(root):
    """The files that are compiled, sorted, and the build files that list them."""
    found, lists = [], []
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                file = os.path.relpath(os.path.join(path, name), root)
                if name == 'meson.build':
                    lists.append(file)
                elif COMPILED.fullmatch(file):
                    found.append(file)
    return sorted(found), sorted(lists)


def with_included(root, files):
    """{path: bytes} of these files and of all that they include."""
    texts, left = {}, list(files)
    while left:
        file = left.pop()
        if file not in texts:
            with open(os.path.join(root, file), 'rb') as f:
                texts[file] = f.read()
            left += [name.decode() for name in INCLUDE.findall(texts[file])]
    return texts


def packed(data):
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return deflate.compress(data) + deflate.flush()


def table(texts, files):
    """Lines of the C file."""
    rows, numbers = [], []
    for path in sorted(texts):
        data = packed(texts[path])
        rows.append('    {"%s", %d, %d, %d, %du},' % (path, len(numbers), len(data),
                                                      len(texts[path]), zlib.crc32(texts[path])))
        numbers += data
    yield 'const unsigned char mechp_fmi_source_bytes[] = {'
    for at in range(0, len(numbers), 24):
        yield '    ' + ', '.join(map(str, numbers[at:at + 24])) + ','
    yield '};'
    yield 'const struct mechp_fmi_source mechp_fmi_sources[] = {'
    yield from rows
    yield '};'
    yield 'const size_t mechp_fmi_source_count = %d;' % len(rows)
    yield 'const char *const mechp_fmi_compiled[] = {'
    yield from ('    "%s",' % path for path in files)
    yield '    NULL};'


def main(output, depfile, root):
    files, lists = compiled(root)
    texts = with_included(root, files)
    with open(output, 'w', encoding='ascii') as f:
        f.write(HEAD + '\n'.join(table(texts, files)) + '\n')
    with open(depfile, 'w', encoding='utf-8') as f:
        f.write('%s: %s\n' % (output, ' '.join(os.path.join(root, name)
                                               for name in lists + sorted(texts))))


if __name__ == '__main__':
    main(*sys.argv[1:])
