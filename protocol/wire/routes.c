/* Routes: linear search over the templates of the method, of which all but a few are dropped by
 * their last two bytes, and over the others where none fits; about 0.2 µs, no allocation. */
#include "protocol/wire/routes.h"

#include "protocol/wire/row.h"
#include "solver/base/guess.h"

#include <stdio.h>
#include <string.h>

#define MECHP_ROUTE(symbol, method, path, operation, summary)                                      \
    {MECHP_ROUTE_##symbol, method, path, operation, summary, #symbol, &mechp_row_##symbol},
static const struct mechp_route routes[] = {
#include "protocol/wire/routes.def"
};
#undef MECHP_ROUTE

/* Ends of the templates, in a few cache lines: length, the method's second letter (of which only
 * GET and DELETE share one), and the last two bytes ("/" has one). */
struct ending {
    unsigned char length;
    char method, before, last;
};
#define MECHP_ROUTE(symbol, method, path, operation, summary)                                      \
    {sizeof path - 1, (method)[1], (path)[sizeof path < 3 ? 0 : sizeof path - 3],                  \
     (path)[sizeof path - 2]},
static const struct ending endings[] = {
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
        // most differ in the first letter
        if (routes[i].operation[0] == operation[0] && strcmp(routes[i].operation, operation) == 0) {
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

/* True when a path with these last two bytes may have the template's shape. */
static bool end_matches(struct ending template, char before, char last)
{
    return template.last == '}' || (template.last == last && template.before == before);
}

/* True when the path has the template's shape; parameters take any non-empty segment. From the end,
 * because most templates begin alike. */
static bool shape_matches(const char *template, size_t length, const char *path, size_t size)
{
    while (length > 0 && size > 0) {
        if (template[length - 1] == '}') {
            if (path[size - 1] == '/') {
                return false;
            }
            while (size > 0 && path[size - 1] != '/') {
                size--;
            }
            while (template[--length] != '{') {
            }
        } else if (template[length - 1] == path[size - 1]) {
            length--;
            size--;
        } else {
            return false;
        }
    }
    return length == 0 && size == 0;
}

/* True for visible ASCII and blanks without a slash: an escape hides nothing else. */
static bool is_plain(const char *value)
{
    for (const char *p = value; *p != '\0'; p++) {
        if (*p < ' ' || *p > '~' || *p == '/') {
            return false;
        }
    }
    return true;
}

/* Fill in the parameters of a path that has the template's shape. False: a broken escape, or one
 * that hides something. */
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
        if (!mechp_percent_decode(path, segment, p->value, sizeof p->value) ||
            !is_plain(p->value)) {
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

/* The next template from `i` on that has the path's shape, of this method or (same: false) of the
 * others; MECHP_ROUTES: none. */
static int next_match(int i, const char *method, bool same, const char *path, size_t size)
{
    const char last = size > 0 ? path[size - 1] : '\0';
    const char before = size > 1 ? path[size - 2] : last;
    for (; i < MECHP_ROUTES; i++) {
        const struct ending e = endings[i];
        if ((!same || e.method == method[1]) && end_matches(e, before, last) &&
            (strcmp(routes[i].method, method) == 0) == same &&
            shape_matches(routes[i].path, e.length, path, size)) {
            break;
        }
    }
    return i;
}

int mechp_route_match(const char *method, const char *path, struct mechp_match *out)
{
    out->route = NULL;
    out->count = 0;
    out->allow[0] = '\0';
    const char *const wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    const size_t size = strlen(path);
    const int found = *wanted != '\0' ? next_match(0, wanted, true, path, size) : MECHP_ROUTES;
    if (found < MECHP_ROUTES) {
        out->route = &routes[found];
        return take_parameters(out->route->path, path, out) ? 0 : MECHP_MALFORMED_REQUEST;
    }
    // the methods that this path takes
    for (int i = 0; (i = next_match(i, wanted, false, path, size)) < MECHP_ROUTES; i++) {
        add_allow(out, routes[i].method);
    }
    return out->allow[0] != '\0' ? MECHP_METHOD_NOT_ALLOWED : MECHP_ROUTE_NOT_FOUND;
}

void mechp_route_methods(struct mechp_match *out)
{
    *out = (struct mechp_match){.route = NULL};
    for (int i = 0; i < MECHP_ROUTES; i++) {
        int before = 0;
        while (strcmp(routes[before].method, routes[i].method) != 0) {
            before++;
        }
        if (before == i) {
            add_allow(out, routes[i].method);
        }
    }
}

/* The next word of a path behind a slash, without empty ones; its length, 0 at the end. */
static size_t next_word(const char **at)
{
    *at += strspn(*at, "/");
    return strcspn(*at, "/");
}

/* True for a word that some template has: it is not misspelled. */
static bool is_word(const char *word)
{
    for (int i = 0; i < MECHP_ROUTES; i++) {
        const char *at = routes[i].path;
        for (size_t n = next_word(&at); n > 0; n = next_word(&at)) {
            if (strlen(word) == n && memcmp(at, word, n) == 0) {
                return true;
            }
            at += n;
        }
    }
    return false;
}

/* True for the same word in either case. */
static bool same_word(const char *a, const char *b)
{
    static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (; *a != '\0' && *b != '\0'; a++, b++) {
        const char low[2] = {strchr(upper, *a) ? (char)(*a | 0x20) : *a,
                             strchr(upper, *b) ? (char)(*b | 0x20) : *b};
        if (low[0] != low[1]) {
            return false;
        }
    }
    return *a == *b;
}

/* Edits from the words of a path to those of a template, whose parameters take any word, and all of
 * them either case; negative: it has not as many, or one of them is another word, or too far away
 * to be meant. */
static int edits(const char *template, const char *path)
{
    char word[2][80];
    int sum = 0;
    size_t n[2];
    while ((n[0] = next_word(&template)) > 0 && (n[1] = next_word(&path)) > 0) {
        snprintf(word[0], sizeof word[0], "%.*s", (int)n[0], template);
        snprintf(word[1], sizeof word[1], "%.*s", (int)n[1], path);
        const bool same = word[0][0] == '{' || same_word(word[0], word[1]);
        const int apart = same ? 0 : mech_distance(word[1], word[0]);
        if (3 * apart > (int)n[1] || (apart > 0 && is_word(word[1]))) {
            return -1;
        }
        sum += apart;
        template += n[0];
        path += n[1];
    }
    return n[0] == 0 && next_word(&path) == 0 ? sum : -1;
}

/* The path by the words of a template, with its own where that has parameters. */
static void write_path(const char *template, const char *path, char *out, size_t size)
{
    size_t used = 0, n[2];
    while ((n[0] = next_word(&template)) > 0 && (n[1] = next_word(&path)) > 0) {
        const bool own = *template == '{';
        const int written =
            snprintf(out + used, size - used, "/%.*s", (int)n[own], own ? path : template);
        used += written > 0 && (size_t)written < size - used ? (size_t)written : 0;
        template += n[0];
        path += n[1];
    }
}

bool mechp_route_closest(const char *method, const char *path, char *out, size_t size)
{
    static const char base[] = "/v1";
    const char *const wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    char whole[MECHP_MATCH_PATH + sizeof base];
    int best = -1, least = 0;
    const size_t length = strlen(path);
    if (length > 1 && path[length - 1] == '/' && path[length - 2] == '/') {
        return false;
    }
    // without the base of all routes it is most likely that which is missing, or else too much
    const bool based = strncmp(path, base, sizeof base - 1) == 0 && path[sizeof base - 1] == '/';
    for (int with = 0; with < 2 + based && best < 0; with++) {
        if (snprintf(whole, sizeof whole, "%s%s", with == 1 ? base : "",
                     with == 2 ? path + sizeof base - 1 : path) >= (int)sizeof whole) {
            return false;
        }
        for (int i = 0; i < MECHP_ROUTES; i++) {
            const int sum = edits(routes[i].path, whole);
            const bool better =
                best < 0 || sum < least || (sum == least && strcmp(routes[i].method, wanted) == 0);
            if (sum >= 0 && sum <= 3 && better) {
                best = i;
                least = sum;
            }
        }
        if (best >= 0 && least == 0) {
            write_path(routes[best].path, whole, out, size);
        } else if (best >= 0) {
            snprintf(out, size, "%s", routes[best].path);
        }
    }
    return best >= 0;
}

/* True if the path has the words of the template, but for parameters that are empty. */
static bool lacks(const char *template, const char *path)
{
    bool empty = false;
    while (*template == '/' && *path == '/') {
        const size_t n = strcspn(++template, "/"), own = strcspn(++path, "/");
        const bool free = *template == '{';
        if (!free && (n != own || memcmp(template, path, n) != 0)) {
            return false;
        }
        empty = empty || own == 0;
        template += n;
        path += own;
    }
    return empty && *template == '\0' && *path == '\0';
}

const char *mechp_route_lacking(const char *method, const char *path)
{
    const char *const wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    for (int i = 0; i < MECHP_ROUTES; i++) {
        if (strcmp(routes[i].method, wanted) == 0 && lacks(routes[i].path, path)) {
            return routes[i].path;
        }
    }
    return NULL;
}

const char *mechp_operation_closest(const char *name)
{
    struct mech_guess g = {.text = name};
    for (int i = 0; i < MECHP_ROUTES; i++) {
        if (routes[i].operation[0] != '\0') {
            mech_guess_try(&g, routes[i].operation);
        }
    }
    return mech_guess_result(&g);
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
