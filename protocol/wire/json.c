/* Guarded parse (jansson behind the scan of json_guard.c) and the members of request objects. */
#include "protocol/wire/json.h"

#include "solver/base/err.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mechp_json_parse(const char *bytes, size_t size, const struct mechp_json_limits *limits,
                     struct mechp_json_fault *fault, json_t **out)
{
    *out = NULL;
    *fault = (struct mechp_json_fault){.code = MECHP_MALFORMED_JSON};
    struct mechp_json_scan scan;
    MECH_TRY(mechp_json_guard(bytes, size, limits == NULL ? &mechp_json_limits_model : limits,
                              fault, &scan));
    // integers beyond 64 bits and the sign of -0 are kept by reading all numbers as real
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY |
                         (scan.wide_integers ? JSON_DECODE_INT_AS_REAL : 0);
    json_error_t error;
    *out = json_loadb(bytes, size, flags, &error);
    if (*out != NULL) {
        return 0;
    }
    fault->line = error.line;
    fault->column = error.column;
    fault->byte = error.position < 0 ? 0 : (size_t)error.position;
    if (json_error_code(&error) == json_error_out_of_memory) {
        fault->code = MECHP_OUT_OF_MEMORY;
    }
    snprintf(fault->text, sizeof fault->text, "line %d, column %d: %s", fault->line, fault->column,
             error.text);
    return MECH_INVALID;
}

/* --- members --------------------------------------------------------------------------------- */

/* The member, if it is there; null counts as a value. */
static const json_t *member(const json_t *object, const char *key)
{
    return json_is_object(object) ? json_object_get(object, key) : NULL;
}

static void fault_at(struct mech_diag *d, const char *key, const char *text)
{
    struct mech_path path = {.length = 0};
    (void)mech_path_push(&path, key);
    mech_diag_add(d, path.text, "%s", text);
}

bool mechp_json_number(const json_t *object, const char *key, struct mech_diag *d, double *out)
{
    const json_t *const value = member(object, key);
    if (value == NULL) {
        return false;
    }
    if (!json_is_number(value) || !isfinite(json_number_value(value))) {
        fault_at(d, key, "must be a number");
        return false;
    }
    *out = json_number_value(value);
    return true;
}

bool mechp_json_integer(const json_t *object, const char *key, struct mech_diag *d, int64_t least,
                        int64_t most, int64_t *out)
{
    const json_t *const value = member(object, key);
    if (value == NULL) {
        return false;
    }
    // 2.0 is an integer; reals beyond 2^53 are not known to be
    const double real = json_is_real(value) ? json_real_value(value) : 0.;
    if (!json_is_number(value) || floor(real) != real || fabs(real) > 0x1p53) {
        fault_at(d, key, "must be an integer");
        return false;
    }
    const int64_t number = json_is_real(value) ? (int64_t)real : json_integer_value(value);
    if (number < least || number > most) {
        char text[80];
        snprintf(text, sizeof text, "must be between %lld and %lld", (long long)least,
                 (long long)most);
        fault_at(d, key, text);
        return false;
    }
    *out = number;
    return true;
}

bool mechp_json_bool(const json_t *object, const char *key, struct mech_diag *d, bool *out)
{
    const json_t *const value = member(object, key);
    if (value == NULL) {
        return false;
    }
    if (!json_is_boolean(value)) {
        fault_at(d, key, "must be true or false");
        return false;
    }
    *out = json_is_true(value);
    return true;
}

bool mechp_json_string(const json_t *object, const char *key, struct mech_diag *d, const char **out)
{
    const json_t *const value = member(object, key);
    if (value == NULL) {
        return false;
    }
    if (!json_is_string(value)) {
        fault_at(d, key, "must be a string");
        return false;
    }
    *out = json_string_value(value);
    return true;
}

bool mechp_json_object(const json_t *object, const char *key, struct mech_diag *d,
                       const json_t **out)
{
    const json_t *const value = member(object, key);
    if (value == NULL) {
        return false;
    }
    if (!json_is_object(value)) {
        fault_at(d, key, "must be an object");
        return false;
    }
    *out = value;
    return true;
}

bool mechp_json_array(const json_t *object, const char *key, struct mech_diag *d,
                      const json_t **out)
{
    const json_t *const value = member(object, key);
    if (value == NULL) {
        return false;
    }
    if (!json_is_array(value)) {
        fault_at(d, key, "must be an array");
        return false;
    }
    *out = value;
    return true;
}

bool mechp_json_numbers(const json_t *value, const char *path, struct mech_diag *d, size_t most,
                        double *out, size_t *count)
{
    const bool array = json_is_array(value);
    const size_t n = array ? json_array_size(value) : 1;
    *count = 0;
    if (n > most) {
        mech_diag_add(d, path, "has %zu numbers, at most %zu fit", n, most);
        return false;
    }
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        const json_t *const element = array ? json_array_get(value, i) : value;
        if (json_is_number(element) && isfinite(json_number_value(element))) {
            out[i] = json_number_value(element);
            continue;
        }
        // an element at its own place, and each that is bad
        char place[MECH_DIAG_PATH];
        snprintf(place, sizeof place, array ? "%s/%zu" : "%s", path, i);
        mech_diag_add(d, place, "must be a number");
        good = false;
    }
    *count = good ? n : 0;
    return good;
}

void mechp_json_only(const json_t *object, const char *base, const char *const *allowed,
                     struct mech_diag *d)
{
    if (!json_is_object(object)) {
        return;
    }
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        const char *const *name = allowed;
        while (*name != NULL && strcmp(*name, key) != 0) {
            name++;
        }
        if (*name != NULL) {
            continue;
        }
        struct mech_path path = {.length = 0};
        snprintf(path.text, sizeof path.text, "%s", base);
        path.length = strlen(path.text);
        (void)mech_path_push(&path, key);
        const char *const meant = mechp_closest(key, allowed);
        if (meant != NULL) {
            mech_diag_add(d, path.text, "unknown key '%.64s', did you mean '%s'?", key, meant);
        } else {
            mech_diag_add(d, path.text, "unknown key '%.64s'", key);
        }
    }
}

/* --- what was meant -------------------------------------------------------------------------- */

enum { DISTANCE_MAX = 64, DISTANCE_FAR = 99 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

int mechp_distance(const char *a, const char *b)
{
    // three rows of the optimal-string-alignment table
    int rows[3][DISTANCE_MAX + 1];
    const size_t na = strnlen(a, DISTANCE_MAX + 1);
    const size_t nb = strnlen(b, DISTANCE_MAX + 1);
    if (na > DISTANCE_MAX || nb > DISTANCE_MAX) {
        return DISTANCE_FAR;
    }
    for (size_t j = 0; j <= nb; j++) {
        rows[0][j] = (int)j;
    }
    for (size_t i = 1; i <= na; i++) {
        int *const row = rows[i % 3];
        const int *const above = rows[(i + 2) % 3];
        const int *const above2 = rows[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            const int same = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = least(above[j - 1] + same, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = least(row[j], above2[j - 2] + 1);
            }
        }
    }
    return rows[na % 3][nb];
}

const char *mechp_closest(const char *text, const char *const *names)
{
    const char *best = NULL;
    int best_distance = DISTANCE_FAR;
    for (; *names != NULL; names++) {
        const int distance = mechp_distance(text, *names);
        if (distance < best_distance) {
            best_distance = distance;
            best = *names;
        }
    }
    const size_t length = strnlen(text, DISTANCE_MAX);
    return best != NULL && best_distance * 3 <= (int)(length > 3 ? length : 3) ? best : NULL;
}
