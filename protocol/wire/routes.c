/* Routes: linear search over some forty templates, segment by segment; about 1 µs, no
 * allocation. */
#include "protocol/wire/routes.h"

#include <string.h>

#define MECHP_ROUTE(symbol, method, path, operation, summary)                                      \
    {MECHP_ROUTE_##symbol, method, path, operation, summary},
static const struct mechp_route routes[] = {
#include "protocol/wire/routes.def"
};
#undef MECHP_ROUTE

const struct mechp_route *mechp_route_at(int i)
{
    return i >= 0 && i < MECHP_ROUTES ? &routes[i] : NULL;
}

const struct mechp_route *mechp_route_of_operation(const char *operation)
{
    for (int i = 0; operation[0] != '\0' && i < MECHP_ROUTES; i++) {
        if (strcmp(routes[i].operation, operation) == 0) {
            return &routes[i];
        }
    }
    return NULL;
}

/* Value of a hexadecimal digit, or -1. */
static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char low = (char)(c | 0x20);
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

bool mechp_percent_decode(const char *text, size_t length, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '%') {
            const int high = i + 2 < length ? hex_digit(text[i + 1]) : -1;
            const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
            if (low < 0) {
                return false;
            }
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (c == '\0' || used + 1 >= size) {
            return false;
        }
        out[used++] = c;
    }
    out[used] = '\0';
    return true;
}

/* True when the path has the template's shape; parameters take any non-empty segment. */
static bool shape_matches(const char *template, const char *path)
{
    while (*template != '\0' && *path != '\0') {
        if (*template == '{') {
            const size_t segment = strcspn(path, "/");
            if (segment == 0) {
                return false;
            }
            path += segment;
            template += strcspn(template, "}") + 1;
        } else if (*template == *path) {
            template ++;
            path++;
        } else {
            return false;
        }
    }
    return *template == *path;
}

/* Fill in the parameters of a path that has the template's shape. False: a broken escape. */
static bool take_parameters(const char *template, const char *path, struct mechp_match *out)
{
    while (*template != '\0') {
        if (*template != '{') {
            template ++;
            path++;
            continue;
        }
        const size_t name = strcspn(template, "}") - 1;
        const size_t segment = strcspn(path, "/");
        if (out->count >= MECHP_MATCH_PARAMETERS) {
            return false;
        }
        struct mechp_match_parameter *const p = &out->parameters[out->count++];
        if (name >= sizeof p->name) {
            return false;
        }
        memcpy(p->name, template + 1, name);
        p->name[name] = '\0';
        if (!mechp_percent_decode(path, segment, p->value, sizeof p->value)) {
            return false;
        }
        template += name + 2;
        path += segment;
    }
    return true;
}

/* Add one method to the Allow list; GET brings HEAD. */
static void add_allow(struct mechp_match *out, const char *method)
{
    const char *const names[] = {method, strcmp(method, "GET") == 0 ? "HEAD" : NULL};
    for (int i = 0; i < 2 && names[i] != NULL; i++) {
        const size_t used = strlen(out->allow);
        const size_t length = strlen(names[i]);
        if (used + length + 3 > sizeof out->allow) {
            return;
        }
        memcpy(out->allow + used, used > 0 ? ", " : "", used > 0 ? 2 : 0);
        memcpy(out->allow + used + (used > 0 ? 2 : 0), names[i], length + 1);
    }
}

int mechp_route_match(const char *method, const char *path, struct mechp_match *out)
{
    out->route = NULL;
    out->count = 0;
    out->allow[0] = '\0';
    const char *const wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    for (int i = 0; i < MECHP_ROUTES; i++) {
        if (!shape_matches(routes[i].path, path)) {
            continue;
        }
        if (strcmp(routes[i].method, wanted) != 0) {
            add_allow(out, routes[i].method);
            continue;
        }
        out->route = &routes[i];
        return take_parameters(routes[i].path, path, out) ? 0 : MECHP_MALFORMED_REQUEST;
    }
    return out->allow[0] != '\0' ? MECHP_METHOD_NOT_ALLOWED : MECHP_ROUTE_NOT_FOUND;
}

const char *mechp_match_value(const struct mechp_match *m, const char *name)
{
    for (int i = 0; i < m->count; i++) {
        if (strcmp(m->parameters[i].name, name) == 0) {
            return m->parameters[i].value;
        }
    }
    return NULL;
}
