"""How long things are: files to 600 lines, functions to 80 lines and 6 arguments, lines to 100
columns in C. Registries, data and generated documents are tables and excepted."""
import ast
import re
import sys
from tree import report, split_arguments, without_strings

FILE_LINES, FUNCTION_LINES, ARGUMENTS, COLUMNS = 600, 80, 6, 100
# whose arguments a library has laid down, as FMI has those of its functions
CALLBACKS = {'mechd_door_handle': 'MHD_AccessHandlerCallback of libmicrohttpd',
             'floor_handle': 'the same', 'answer_nobody': 'the same',
             'mechd_key_present': 'gnutls_certificate_retrieve_function2 of GnuTLS',
             'mechp_fmi3_intermediate': 'fmi3IntermediateUpdateCallback of FMI 3.0',
             'take_update': 'the same', 'mechd_binary_update': 'the same'}
# tests/tools/printed.py writes them
PRINTED = ('clients/python/mechd/replies.py',)
CODE = ('.c', '.h', '.cpp', '.py', '.js', '.mjs', '.ts', '.css', '.html', '.sh', '.build')


def is_laid_down(name):
    return name in CALLBACKS or re.match('fmi[23][A-Z]', name)


def functions(code):
    """(line, lines, name, arguments) of each function body; bodies open with { in column 0."""
    lines = without_strings(code).split('\n')
    for end_of_head, line in enumerate(lines):
        if line != '{':
            continue
        close = next((i for i in range(end_of_head, len(lines)) if lines[i].startswith('}')), None)
        # the head begins after the last blank, closing or preprocessor line
        begin = end_of_head
        while begin > 0 and lines[begin - 1].strip() and not re.match(r'[}#]|.*;$',
                                                                     lines[begin - 1]):
            begin -= 1
        head = ' '.join(lines[begin:end_of_head])
        match = re.search(r'(\w+)\s*\((.*)\)[^()]*$', head)
        if close is None or not match:
            continue
        arguments = split_arguments(match.group(2))
        yield begin + 1, close - begin + 1, match.group(1), \
            0 if arguments == ['void'] else len(arguments)


def check_files(tree):
    for path in tree.files(*CODE):
        count = tree.text(path).count('\n')
        if count > FILE_LINES and path not in PRINTED:
            yield '%s: %d lines (at most %d)' % (path, count, FILE_LINES)


def check_functions(tree):
    for path in tree.files('.c', '.h', '.cpp'):
        for line, lines, name, arguments in functions(tree.code(path)):
            if lines > FUNCTION_LINES:
                yield '%s:%d: %s has %d lines (at most %d)' % (path, line, name, lines,
                                                               FUNCTION_LINES)
            if arguments > ARGUMENTS and not is_laid_down(name):
                yield '%s:%d: %s takes %d arguments (at most %d)' % (path, line, name, arguments,
                                                                     ARGUMENTS)


def check_prototypes(tree):
    for path in tree.files('.h'):
        code = re.sub(r'^#.*(\\\n.*)*', '', without_strings(tree.code(path)), flags=re.M)
        for match in re.finditer(r'^[a-z][\w \*]*?\b(\w+)\(([^;{}]*)\)[^;{}()]*;', code, re.M):
            count = len(split_arguments(match.group(2)))
            if count > ARGUMENTS and not is_laid_down(match.group(1)):
                line = code[:match.start()].count('\n') + 1
                yield '%s:%d: %s takes %d arguments (at most %d)' % (path, line, match.group(1),
                                                                     count, ARGUMENTS)


def check_python_functions(tree):
    for path in tree.files('.py'):
        for node in ast.walk(ast.parse(tree.text(path))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = node.end_lineno - node.lineno + 1
                if lines > FUNCTION_LINES:
                    yield '%s:%d: %s has %d lines' % (path, node.lineno, node.name, lines)


def check_columns(tree):
    for path in tree.files('.c', '.h', '.cpp', '.py'):
        for number, line in enumerate(tree.text(path).split('\n'), 1):
            if len(line) > COLUMNS:
                yield '%s:%d: %d columns (at most %d)' % (path, number, len(line), COLUMNS)


CHECKS = {
    'no file is over 600 lines': check_files,
    'no function is over 80 lines or takes over 6 arguments': check_functions,
    'no declared function takes over 6 arguments': check_prototypes,
    'no function of a script is over 80 lines': check_python_functions,
    'no line is over 100 columns': check_columns,
}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
