"""Every header compiles alone, twice in one file, as C17 with gcc and with clang; the header of
the C client as C++17 too."""
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from tree import report

WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Werror', '-Wconversion', '-Wshadow', '-Wundef',
            '-Wno-unused-function', '-D_POSIX_C_SOURCE=200809L', '-fsyntax-only', '-I.',
            '-I/usr/include/suitesparse']
PUBLIC = ['clients/c/mechc.h']


def compile_alone(tree, compiler, language, standard, header):
    """The compiler's complaint, or None."""
    program = '#include "%s"\n#include "%s"\n' % (header, header)
    language_flag = ['-x', language, '-std=' + standard, '-DMECHD_VERSION="0"']
    done = subprocess.run([compiler] + language_flag + WARNINGS + ['-'], cwd=tree.root,
                          input=program.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode == 0:
        return None
    lines = [line for line in done.stdout.decode().split('\n') if 'error' in line]
    return '%s with %s: %s' % (header, compiler, (lines or ['does not compile'])[0].strip())


def check(tree, compilers, language, standard, headers):
    missing = [c for c in compilers if not shutil.which(c)]
    for compiler in missing:
        yield '%s is not installed' % compiler
    jobs = [(c, h) for h in headers for c in compilers if c not in missing]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for fault in pool.map(lambda j: compile_alone(tree, j[0], language, standard, j[1]), jobs):
            if fault:
                yield fault


def check_c(tree):
    return check(tree, ['gcc', 'clang'], 'c', 'c17', tree.files('.h'))


def check_cpp(tree):
    return check(tree, ['g++', 'clang++'], 'c++', 'c++17',
                 [p for p in PUBLIC if p in tree.paths])


CHECKS = {
    'every header compiles alone with gcc and clang': check_c,
    'the header of the C client is C++ too': check_cpp,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
