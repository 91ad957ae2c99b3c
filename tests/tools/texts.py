"""Texts that users see (reasons, warnings, titles, details) are written by the functions of
solver/base/text.h, which end what does not fit with "…"; snprintf cuts without a sign."""
import re
import sys
from tree import report, split_arguments

# what such a text is written to; elsewhere it is known by two words that follow each other
NAMES = {'blamed', 'detail', 'ended', 'fault', 'message', 'reason', 'refusal', 'title', 'told',
         'warning', 'what', 'why'}
ROOMS = ('solver/', 'protocol/', 'server/', 'clients/c/', 'clients/cli/')
# what programs read
FORMATS = ('HTTP/1.1 ', '%%%%MatrixMarket ', "{'descr': ", '<svg ', 'PRAGMA ')
# vsnprintf, of which the format is not seen: lines of metrics and of the log, and the messages of
# FMUs, whose formats are their own
LISTS = ('server/daemon/metrics.c', 'server/os/log.c', 'server/engine/fmu_binary.c')


def calls(code):
    """(line, function, [arguments]) of each call of snprintf and vsnprintf."""
    for match in re.finditer(r'(?<!\w)(v?snprintf)\s*\(', code):
        depth, at, quoted = 1, match.end(), False
        while depth and at < len(code):
            c = code[at]
            if quoted:
                at += c == '\\'
                quoted = c != '"'
            else:
                quoted = c == '"'
                depth += (c == '(') - (c == ')')
            at += 1
        yield (code[:match.start()].count('\n') + 1, match.group(1),
               [a.strip() for a in split_arguments(code[match.end():at - 1])])


def name_of(target):
    """The last name in what is written to: reason in s->report->reason + n."""
    names = re.findall(r'[A-Za-z_]\w*', re.sub(r'\[[^]]*\]|[+].*', '', target))
    return names[-1] if names else ''


def is_prose(format):
    said = ''.join(re.findall(r'"((?:\\.|[^"\\])*)"', format))
    return not said.startswith(FORMATS) and \
        re.search(r'[A-Za-z]{2,} [a-z]{2,}', re.sub(r'%[-+ #0]*[\d.*]*[a-zA-Z]+', '%', said))


def check_cut(tree):
    for path in tree.files('.c', '.h', '.cpp'):
        if not path.startswith(ROOMS) or path == 'solver/base/text.c':
            continue
        for line, function, arguments in calls(tree.code(path)):
            if function == 'vsnprintf' and path not in LISTS or len(arguments) > 2 and (
                    name_of(arguments[0]) in NAMES or is_prose(arguments[2])):
                yield '%s:%d: %s cuts a text for users without a sign: use mech_text_format' % (
                    path, line, function)


CHECKS = {'no text for users is cut without a sign': check_cut}

if __name__ == '__main__':
    sys.exit(report(CHECKS))
