"""Which room includes which: every #include against the allow-list of rooms, outside headers too.

The table is the house's: a room may include itself, the rooms named, the C standard library and
the outside headers named. The server and the clients also speak to the operating system. Generated
files and tests stand outside the table: tests may include any room, no room may include tests."""
import re
import sys
from tree import report

BASE, LINALG, LSOL, SYS = 'solver/base', 'solver/linalg', 'solver/lsol', 'solver/sys'
VI, EXPR, ITEMS, CONTACT = 'solver/vi', 'solver/expr', 'solver/items', 'solver/contact'
MODEL, STEP, ANALYSIS, COUPLE = 'solver/model', 'solver/step', 'solver/analysis', 'solver/couple'
SIM, FRAME, WIRE, BIND = 'solver/sim', 'protocol/frame', 'protocol/wire', 'protocol/bind'
FMI, FMU = 'protocol/fmi', 'clients/fmu'
OS, STORE, AUTH, ENGINE = 'server/os', 'server/store', 'server/auth', 'server/engine'
INSTANCE, CALL, SWEEP = 'server/instance', 'server/call', 'server/sweep'
COUPLING = 'server/coupling'
OPERATIONS, EXAMPLES, DAEMON = 'server/operations', 'server/examples', 'server/daemon'
HTTP, ZMQ, LANE = 'server/http', 'server/zmq', 'server/lane'
BLAS = ['cblas.h', 'cblas-openblas.h', 'lapacke.h', 'openblas_config.h']
POSIX = r'(arpa/inet|dirent|dlfcn|fcntl|getopt|grp|ifaddrs|net/if|netdb|netinet/\w+|poll|' \
        r'pthread|pwd|sched|semaphore|spawn|strings|sys/\w+|syslog|termios|unistd|execinfo|link)\.h'

# room: (rooms, outside headers as regular expressions)
ROOMS = {
    BASE: ([], []),
    LINALG: ([BASE], BLAS),
    LSOL: ([BASE, LINALG], BLAS + [r'(suitesparse/)?(klu|btf|amd|colamd|cholmod|camd|ccolamd|'
                                   r'SuiteSparse_config)\.h']),
    SYS: ([BASE, LINALG], []),
    VI: ([BASE, LINALG, LSOL, SYS], []),
    EXPR: ([BASE], []),
    ITEMS: ([BASE, LINALG, EXPR], []),
    CONTACT: ([BASE, LINALG, ITEMS], []),
    MODEL: ([BASE, LINALG, EXPR, SYS, ITEMS, CONTACT], []),
    STEP: ([BASE, LINALG, LSOL, SYS, VI, EXPR, ITEMS, CONTACT, MODEL], []),
    ANALYSIS: ([BASE, LINALG, LSOL, SYS, VI, EXPR, ITEMS, CONTACT, MODEL, STEP], []),
    COUPLE: ([BASE, LINALG, LSOL], []),
    SIM: (['solver'], []),
    FRAME: ([BASE], []),
    WIRE: ([BASE, FRAME], [r'jansson\.h']),
    BIND: ([BASE, ITEMS, SIM, WIRE], [r'jansson\.h']),
    FMI: ([BASE, ITEMS, SIM, WIRE], [r'zlib\.h']),
    OS: ([BASE], [r'(malloc|linux/tcp)\.h', POSIX]),
    STORE: ([BASE, WIRE, OS], [r'sqlite3\.h', POSIX]),
    AUTH: ([BASE, WIRE, OS], [r'(sodium|zmq)\.h', POSIX]),
    ENGINE: ([BASE, SIM, FRAME, FMI, OS], [r'(fts|zip|expat|seccomp|linux/landlock)\.h', POSIX]),
    INSTANCE: ([BASE, SIM, FRAME, WIRE, BIND, OS, STORE, AUTH, ENGINE], [POSIX]),
    CALL: ([BASE, ITEMS, SIM, FRAME, WIRE, BIND, OS, STORE, AUTH, ENGINE, INSTANCE],
           [r'jansson\.h', POSIX]),
    SWEEP: ([BASE, SIM, WIRE, BIND, OS, STORE, AUTH, ENGINE, INSTANCE, CALL], [r'jansson\.h']),
    COUPLING: ([BASE, COUPLE, ITEMS, SIM, FRAME, WIRE, BIND, OS, STORE, AUTH, ENGINE, INSTANCE,
                CALL, SWEEP], [r'jansson\.h', POSIX]),
    OPERATIONS: ([BASE, ITEMS, SIM, FRAME, WIRE, BIND, FMI, OS, STORE, AUTH, ENGINE, INSTANCE, CALL,
                  SWEEP, COUPLING, EXAMPLES], [r'jansson\.h']),
    EXAMPLES: ([], []),
    HTTP: ([BASE, FRAME, WIRE, OS, AUTH, INSTANCE, CALL],
           [r'(microhttpd|zlib|gnutls/abstract|sodium|linux/tcp)\.h', POSIX]),
    ZMQ: ([BASE, FRAME, WIRE, OS, AUTH, INSTANCE, CALL],
          [r'(zmq|linux/filter|linux/tcp)\.h', POSIX]),
    LANE: ([BASE, FRAME, WIRE, OS, AUTH, INSTANCE, CALL], [POSIX]),
    DAEMON: ([BASE, SIM, WIRE, BIND, 'server'], [POSIX]),
    FMU: (['solver', FRAME, WIRE, BIND, FMI, 'clients'], [r'(winsock2|ws2tcpip)\.h', POSIX]),
    'clients': ([BASE, FRAME, WIRE], [r'(curl/curl|zmq)\.h', POSIX]),
}

C_HEADERS = set('''assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp
signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath time
uchar wchar wctype'''.split())
CPP_HEADERS = {'charconv', 'cstddef', 'cstdint', 'cstring', 'cmath', 'system_error', 'limits'}
SOURCES = ('.c', '.h', '.cpp', '.hpp')


def room_of(path):
    parts = path.split('/')
    pair = '/'.join(parts[:2])
    return pair if pair in ROOMS else parts[0]


def includes(tree, path):
    for number, line in enumerate(tree.code(path).split('\n'), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match.group(1), match.group(2)


def outside_fault(room, path, name):
    if name[:-2] in C_HEADERS and name.endswith('.h'):
        return None
    if path.endswith('.cpp') and name in CPP_HEADERS:
        return None
    if any(re.fullmatch(pattern, name) for pattern in ROOMS[room][1]):
        return None
    return '%s may not include <%s>' % (room, name)


def inside_fault(tree, room, path, name):
    if name not in tree.paths:
        return '"%s" is not a path from the root' % name
    target = room_of(name)
    allowed = ROOMS[room][0] + [room]
    if any(target == a or target.startswith(a + '/') for a in allowed):
        return None
    return '%s may not include %s ("%s")' % (room, target, name)


def check_includes(tree):
    for path in tree.files(*SOURCES):
        room = room_of(path)
        if room == 'tests':
            continue
        if room not in ROOMS:
            yield '%s: the table of rooms does not know %s' % (path, room)
            continue
        for number, kind, name in includes(tree, path):
            fault = outside_fault(room, path, name) if kind == '<' else \
                inside_fault(tree, room, path, name)
            if fault:
                yield '%s:%d: %s' % (path, number, fault)


def check_one_cpp_file(tree):
    found = tree.files('.cpp', '.cc', '.cxx')
    if found not in ([], ['protocol/wire/number.cpp']):
        yield 'C++ beside protocol/wire/number.cpp: ' + ', '.join(found)


def check_no_globals_in_solver(tree):
    """Objects at file scope in the solver are const (tables) or functions."""
    for path in tree.files('.c', under='solver/'):
        code = re.sub(r'^#.*(\\\n.*)*', '', tree.code(path), flags=re.M)
        for match in re.finditer(r'^(?:static )?(?:_Thread_local )?(?:struct |unsigned |enum )?'
                                 r'[a-z_][\w]* \**\w+(?:\[[^\]]*\])*\s*(?:=[^;{]*|= *\{.*?\})?;',
                                 code, flags=re.M):
            text = match.group(0)
            words = re.split(r'\W+', text.split('=')[0])
            if 'const' not in words and words[0] not in ('typedef', 'extern', 'return', 'goto'):
                line = code[:match.start()].count('\n') + 1
                yield '%s:%d: mutable global: %s' % (path, line, text.split('\n')[0])


def check_top_level(tree):
    allowed = {'README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE',
               'meson.build', 'meson_options.txt',
               'solver', 'protocol', 'server', 'clients', 'tests', 'deploy'}
    for name in sorted({p.split('/')[0] for p in tree.paths}):
        if name not in allowed and not name.startswith('.'):
            yield '%s does not belong at the top' % name


def check_tests_apart(tree):
    """What test modules share lives beside them, in modules that are no tests."""
    for path in tree.files('.py', under='tests/'):
        for match in re.finditer(r'^\s*(?:from|import) (test_\w+)', tree.text(path), re.M):
            line = tree.text(path)[:match.start()].count('\n') + 1
            yield '%s:%d: imports the test module %s' % (path, line, match.group(1))


CHECKS = {
    'every include is allowed by the table of rooms': check_includes,
    'number text is the only C++ file': check_one_cpp_file,
    'the solver has no mutable globals': check_no_globals_in_solver,
    'only the rooms stand at the top': check_top_level,
    'no test module is imported': check_tests_apart,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
