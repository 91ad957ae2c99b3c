/* One pass. What a browser would resolve or cut off before it sends (dot segments, fragments) comes
 * from something else, and is refused as well. */
#include "server/http/target.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

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
    return "a query must have at most 64 arguments";
}

/* Faults of what is not decoded yet, dots among the segments of the path only. */
static const char *fault_of(const char *target, size_t path)
{
    bool in_path = true;
    for (const char *p = target; *p != '\0'; p++) {
        if (*p <= ' ' || *p > '~') {
            return "the target of a request must be visible ASCII; escape everything else";
        }
        if (*p == '#') {
            return "the target of a request must not have a fragment (#)";
        }
        if (*p == '%' && (!is_hex(p[1]) || !is_hex(p[2]))) {
            return "a percent escape must have two hexadecimal digits";
        }
        if (*p == '%' && p[1] == '0' && p[2] == '0') {
            return "the target of a request must not contain NUL";
        }
        in_path = in_path && *p != '?';
        if (in_path && p >= target + path && *p == '/' && is_dots(p + 1)) {
            return "a path must not have a segment . or ..";
        }
    }
    return NULL;
}

/* Letters, digits and what names, numbers and ports are written with; no user, no escapes. */
static bool is_authority(const char *text, size_t length)
{
    for (size_t k = 0; k < length; k++) {
        const char c = text[k];
        const bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (!letter && (c < '0' || c > '9') && (c == '\0' || strchr(".-_:[]", c) == NULL)) {
            return false;
        }
    }
    return length > 0 && length <= MECHD_AUTHORITY_MOST && text[0] != ':';
}

struct mechd_target mechd_target_read(const char *target, bool is_tls)
{
    static const char http[] = "http://", https[] = "https://";
    struct mechd_target t = {.form = MECHD_TARGET_PATH};
    if (strcmp(target, "*") == 0) {
        t.form = MECHD_TARGET_SERVER;
        return t;
    }
    if (target[0] != '/') {
        const bool secure = strncasecmp(target, https, sizeof https - 1) == 0;
        if (!secure && strncasecmp(target, http, sizeof http - 1) != 0) {
            t.fault = "the target of a request must begin with /, http:// or https://";
            return t;
        }
        t.form = MECHD_TARGET_ADDRESS;
        t.host = (secure ? sizeof https : sizeof http) - 1;
        t.length = strcspn(target + t.host, "/?#");
        t.path = t.host + t.length;
        if (!is_authority(target + t.host, t.length)) {
            t.fault =
                "an address must have a host and optionally a port, but no user and no password";
        } else if (secure && !is_tls) {
            t.fault = "https is available only on addresses given as https://";
        }
    }
    t.fault = t.fault != NULL ? t.fault : fault_of(target, t.path);
    return t;
}

void mechd_target_method(struct mechd_target *t, const char *target, const char *method)
{
    const bool asks = strcmp(method, "OPTIONS") == 0;
    if (asks && t->form == MECHD_TARGET_ADDRESS && target[t->path] == '\0') {
        t->form = MECHD_TARGET_SERVER;
    } else if (!asks && t->form == MECHD_TARGET_SERVER && t->fault == NULL) {
        t->fault = "* is a target of OPTIONS only";
    }
}
