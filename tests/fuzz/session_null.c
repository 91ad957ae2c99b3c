/* Whether an answer has null only where its row does (protocol/wire/row.h: the language of types),
 * and numbers that are written in bytes are finite.
 *
 * What is described elsewhere (schemas of models, any object) is looked through for a null beside
 * numbers, which is how a writer shows what is not finite. */
#include "tests/fuzz/session_part.h"

#include "protocol/wire/row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TYPE = 200 };

/* A null beside numbers, or an array of nothing else. */
static bool has_gap(json_t *tree)
{
    size_t k = 0, numbers = 0, nulls = 0;
    const char *key = NULL;
    json_t *value = NULL;
    json_array_foreach(tree, k, value)
    {
        numbers += json_is_number(value);
        nulls += json_is_null(value);
        if (has_gap(value)) {
            return true;
        }
    }
    if (nulls > 0 && (numbers > 0 || nulls == json_array_size(tree))) {
        return true;
    }
    json_object_foreach(tree, key, value)
    {
        if (has_gap(value)) {
            return true;
        }
    }
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* The next of the types between "|". False: there is none. */
static bool next_type(const char **rest, char one[TYPE])
{
    const size_t n = strcspn(*rest, "|");
    if (n == 0) {
        return false;
    }
    (void)snprintf(one, TYPE, "%.*s", (int)n, *rest);
    *rest += n + ((*rest)[n] == '|');
    return true;
}

static bool promised(json_t *value, const char *types);

static bool members_promised(json_t *object, const struct mechp_shape *shape)
{
    for (const struct mechp_member *m = shape->members; m->name != NULL; m++) {
        json_t *const value = json_object_get(object, m->name);
        if (value != NULL && !promised(value, m->type)) {
            return false;
        }
    }
    return true;
}

/* What is no null, of one of the types: an array, an object, or something without parts. */
static bool kept_by(json_t *value, const char *type)
{
    char inner[TYPE];
    const char *key = NULL;
    json_t *part = NULL;
    size_t k = 0;
    const bool list = ends_with(type, "[]"), map = ends_with(type, "{}");
    const struct mechp_shape *const shape = type[0] == '@' ? mechp_shape_named(type) : NULL;
    (void)snprintf(inner, sizeof inner, "%.*s", (int)strlen(type) - 2, type);
    if (list && json_is_array(value)) {
        json_array_foreach(value, k, part)
        {
            if (!promised(part, inner)) {
                return false;
            }
        }
        return true;
    }
    if (map && json_is_object(value)) {
        json_object_foreach(value, key, part)
        {
            if (!promised(part, inner)) {
                return false;
            }
        }
        return true;
    }
    if (!list && !map && shape != NULL && json_is_object(value)) {
        return members_promised(value, shape);
    }
    return strcmp(type, "any") == 0 || !has_gap(value);
}

/* Whether one of the types fits the kind of value. */
static bool fits(const json_t *value, const char *type)
{
    return ends_with(type, "[]") ? json_is_array(value)
           : ends_with(type, "{}")
               ? json_is_object(value)
               : !json_is_array(value) || type[0] == '@' || strcmp(type, "any") == 0;
}

static bool promised(json_t *value, const char *types)
{
    char one[TYPE];
    const char *rest = types;
    bool known = false;
    while (next_type(&rest, one)) {
        if (strcmp(one, "any") == 0 || (json_is_null(value) && strcmp(one, "null") == 0)) {
            return true;
        }
        if (!json_is_null(value) && fits(value, one)) {
            known = true;
            if (kept_by(value, one)) {
                return true;
            }
        }
    }
    return !json_is_null(value) && !known;
}

/* Whether null is in a reply only where the route's row has it. */
static bool row_promised(const char *method, const char *path, json_t *reply)
{
    char plain[SESSION_PATH];
    struct mechp_match m;
    (void)snprintf(plain, sizeof plain, "%.*s", (int)strcspn(path, "?"), path);
    if (mechp_route_match(method, plain, &m) != 0 || m.route->row->reply == NULL) {
        return !has_gap(reply);
    }
    return promised(reply, m.route->row->reply);
}

/* Doubles in bytes, each of them finite. */
static bool bytes_finite(const char *at, size_t size)
{
    double value;
    for (size_t k = 0; k + sizeof value <= size; k += sizeof value) {
        memcpy(&value, at + k, sizeof value);
        if (!isfinite(value)) {
            return false;
        }
    }
    return size % sizeof value == 0;
}

/* An array of NumPy: behind ten bytes a head, whose length is in the last two of them. */
static bool array_finite(const struct session_reply *r)
{
    const size_t head =
        r->size < 10
            ? r->size
            : 10 + ((size_t)(unsigned char)r->text[8] | (size_t)(unsigned char)r->text[9] << 8);
    return head < 10 || head > r->size || bytes_finite(r->text + head, r->size - head);
}

const char *session_wrong(const char *method, const char *path, const struct session_reply *r)
{
    static const char key[] = "?format=";
    const char *const at = r->status < 300 ? strstr(path, key) : NULL;
    const char *const form = at != NULL ? at + sizeof key - 1 : "json";
    if (r->text == NULL || r->size == 0) {
        return NULL;
    }
    if (strcmp(form, "f64") == 0 || strcmp(form, "npy") == 0) {
        const bool good = form[0] == 'f' ? bytes_finite(r->text, r->size) : array_finite(r);
        return good ? NULL : "a reply with a number that is not finite";
    }
    if (strcmp(form, "json") != 0 || (r->text[0] != '{' && r->text[0] != '[')) {
        return NULL;
    }
    json_t *const tree =
        json_loadb(r->text, r->size, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
    const bool good = tree != NULL && (r->status >= 300 || row_promised(method, path, tree));
    json_decref(tree);
    return good ? NULL : "a reply that is not JSON, or has null for a number";
}
