/* One pass. What a browser would resolve or cut off before it sends (dot segments, fragments) comes
 * from something else, and is refused as well. */
#include "server/http/target.h"

#include <stdbool.h>
#include <string.h>

_Static_assert(MECHD_ARGUMENTS_MOST == 64, "mechd_target_bound tells it");

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* "." or ".." up to the next slash, the query or the end, a dot also as %2e. */
static bool is_dots(const char *segment)
{
    int dots = 0;
    while (*segment == '.' ||
           (segment[0] == '%' && segment[1] == '2' && (segment[2] | 0x20) == 'e')) {
        segment += *segment == '.' ? 1 : 3;
        dots++;
    }
    return (dots == 1 || dots == 2) && (*segment == '\0' || *segment == '/' || *segment == '?');
}

const char *mechd_target_bound(char *target)
{
    char *const query = strchr(target, '?');
    int count = 1;
    for (const char *p = query; p != NULL && *p != '\0'; p++) {
        count += *p == '&';
    }
    if (count <= MECHD_ARGUMENTS_MOST) {
        return NULL;
    }
    query[1] = '\0';
    return "a query has at most 64 arguments";
}

const char *mechd_target_fault(const char *target)
{
    bool in_path = true;
    if (target[0] != '/') {
        return "the target of a request begins with /";
    }
    for (const char *p = target; *p != '\0'; p++) {
        if (*p <= ' ' || *p > '~') {
            return "the target of a request is visible ASCII; escape everything else";
        }
        if (*p == '#') {
            return "a target has no fragment";
        }
        if (*p == '%' && (!is_hex(p[1]) || !is_hex(p[2]))) {
            return "a percent escape has two hexadecimal digits";
        }
        if (*p == '%' && p[1] == '0' && p[2] == '0') {
            return "a target holds no NUL";
        }
        in_path = in_path && *p != '?';
        if (in_path && *p == '/' && is_dots(p + 1)) {
            return "a path has no segment . or ..";
        }
    }
    return NULL;
}
