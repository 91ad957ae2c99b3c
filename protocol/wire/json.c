/* Guarded parse (jansson behind the scan of json_guard.c) and the members of request objects. */
#include "protocol/wire/json.h"

#include "solver/base/err.h"
#include "solver/base/guess.h"
#include "solver/base/odd.h"
#include "solver/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Requests of jansson that found no memory. It does not always say so: a string that finds none is
 * an "invalid token" to it. */
static _Thread_local unsigned refused;

static void *take(size_t size)
{
    void *const block = malloc(size);
    refused += block == NULL;
    return block;
}

void mechp_json_watch_memory(void)
{
    json_set_alloc_funcs(take, free);
}

/* True if there is memory for a string or number of this many bytes and its copy. jansson (2.14)
 * gathers them in a buffer that doubles, and goes on with what it has where that cannot grow. */
static bool has_room(size_t longest)
{
    enum { SHORT = 4096 };
    void *const room = longest > SHORT ? malloc(4 * longest) : NULL;
    const bool has = room != NULL || longest <= SHORT;
    free(room);
    return has;
}

/* A text that is no UTF-8 at all. */
static int refuse_wide(const char *what, struct mechp_json_fault *fault)
{
    mech_text_format(fault->text, sizeof fault->text,
                     "the text is %s, and JSON is UTF-8: save it as UTF-8", what);
    return MECH_INVALID;
}

/* What may come yet of an escape in a string: its letter, or so many digits behind u. */
enum { DIGITS = 4, LETTER = DIGITS + 1 };

static bool continues_escape(unsigned char c, int left)
{
    return c != '\0' &&
           strchr(left == LETTER ? "\"\\/bfnrtu" : "0123456789abcdefABCDEF", c) != NULL;
}

/* A character that is not seen is named, if it is within the first bytes, up to the fault, or the
 * next one in a string: JSON is ASCII beside its texts and in their escapes. */
static void name_odd(const char *bytes, size_t size, size_t end, struct mechp_json_fault *fault)
{
    char text[sizeof fault->text];
    bool inside = false;
    int escape = 0;
    size_t length = 1;
    for (size_t k = 0; k < size && (k < end || (inside && k == end)); k += length) {
        const unsigned char c = (unsigned char)bytes[k];
        const bool coded = mech_text_code(bytes + k, size - k, &length) >= 0;
        const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        const bool plain = inside && escape == 0 ? c >= ' ' && coded
                                                 : c <= '~' && (c >= ' ' || (blank && !inside));
        if (!plain) {
            struct mech_odd odd;
            mech_text_name(bytes, size, k, &odd);
            fault->line = odd.line;
            fault->column = odd.column;
            fault->byte = k;
            snprintf(fault->text, sizeof fault->text, "line %d, column %d: %s %s", odd.line,
                     odd.column, odd.text,
                     !coded || !inside ? "is not allowed here"
                     : escape > 0      ? "is not allowed after a backslash"
                                       : "must be written as an escape in a string");
            return;
        }
        if (escape > 0 && !continues_escape(c, escape)) {
            break;
        }
        inside = inside != (c == '"' && escape == 0);
        escape = escape == LETTER      ? (c == 'u' ? DIGITS : 0)
                 : escape > 0          ? escape - 1
                 : inside && c == '\\' ? LETTER
                                       : 0;
    }
    snprintf(text, sizeof text, "%s", fault->text);
    mech_text_show(fault->text, sizeof fault->text, text);
}

bool mechp_json_begins(const char *bytes, size_t size)
{
    struct mech_odd odd;
    size_t length = 0, k = mech_text_mark(bytes, size);
    if (mech_text_wide(bytes, size) != NULL) {
        return true;
    }
    while (k < size &&
           (bytes[k] == ' ' || bytes[k] == '\t' || bytes[k] == '\r' || bytes[k] == '\n')) {
        k++;
    }
    return k > 0 || (size > 0 && (bytes[0] == '{' || (mech_text_code(bytes, size, &length) > '~' &&
                                                      mech_text_odd(bytes, length, &odd))));
}

int mechp_json_parse(const char *bytes, size_t size, const struct mechp_json_limits *limits,
                     struct mechp_json_fault *fault, json_t **out)
{
    *out = NULL;
    *fault = (struct mechp_json_fault){.code = MECHP_MALFORMED_JSON};
    struct mechp_json_scan scan;
    const size_t mark = mech_text_mark(bytes, size);
    const char *const wide = mech_text_wide(bytes, size);
    bytes += mark;
    size -= mark;
    if (wide != NULL) {
        return refuse_wide(wide, fault);
    }
    const int guarded = mechp_json_guard(
        bytes, size, limits == NULL ? &mechp_json_limits_model : limits, fault, &scan);
    if (guarded != 0) {
        if (fault->code == MECHP_MALFORMED_JSON) {
            name_odd(bytes, size, fault->byte, fault);
        }
        return guarded;
    }
    if (!has_room(scan.longest)) {
        fault->code = MECHP_OUT_OF_MEMORY;
        mech_text_format(fault->text, sizeof fault->text, "no memory for %zu bytes of JSON", size);
        return MECH_INVALID;
    }
    // integers beyond 64 bits and the sign of -0 are kept by reading all numbers as real
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY |
                         (scan.wide_integers ? JSON_DECODE_INT_AS_REAL : 0);
    json_error_t error;
    const unsigned before = refused;
    *out = json_loadb(bytes, size, flags, &error);
    if (refused != before) {
        json_decref(*out);
        *out = NULL;
        fault->code = MECHP_OUT_OF_MEMORY;
        mech_text_format(fault->text, sizeof fault->text, "no memory for %zu bytes of JSON", size);
        return MECH_INVALID;
    }
    if (*out != NULL) {
        return 0;
    }
    fault->line = error.line;
    fault->column = error.column;
    fault->byte = error.position < 0 ? 0 : (size_t)error.position;
    const enum json_error_code code = json_error_code(&error);
    if (code == json_error_out_of_memory) {
        fault->code = MECHP_OUT_OF_MEMORY;
    }
    const bool null = code == json_error_null_character || code == json_error_null_byte_in_key;
    snprintf(fault->text, sizeof fault->text, "line %d, column %d: %s", fault->line, fault->column,
             null ? "a string must not contain \\u0000 here" : error.text);
    // what is no UTF-8 has not been taken in, all else has
    name_odd(bytes, size, fault->byte + (code == json_error_invalid_utf8), fault);
    return MECH_INVALID;
}

/* --- members --------------------------------------------------------------------------------- */

/* The member, if it is there; null counts as a value. */
static const json_t *member(const struct mechp_json_in *in, const char *key)
{
    return json_is_object(in->object) ? json_object_get(in->object, key) : NULL;
}

/* Returns false. */
static bool fault_at(const struct mechp_json_in *in, const char *key, const char *text)
{
    struct mech_path path = {.length = 0};
    snprintf(path.text, sizeof path.text, "%s", in->base);
    path.length = strlen(path.text);
    (void)mech_path_push(&path, key);
    mech_diag_add(in->diag, path.text, "%s", text);
    return false;
}

bool mechp_json_number_in(const struct mechp_json_in *in, const char *key, double *out)
{
    const json_t *const value = member(in, key);
    if (value == NULL) {
        return false;
    }
    if (!json_is_number(value) || !isfinite(json_number_value(value))) {
        return fault_at(in, key, "must be a number");
    }
    *out = json_number_value(value);
    return true;
}

bool mechp_json_integer_in(const struct mechp_json_in *in, const char *key, int64_t least,
                           int64_t most, int64_t *out)
{
    const json_t *const value = member(in, key);
    if (value == NULL) {
        return false;
    }
    // 2.0 is an integer; reals beyond 2^53 are not known to be
    const double real = json_is_real(value) ? json_real_value(value) : 0.;
    if (!json_is_number(value) || floor(real) != real || fabs(real) > 0x1p53) {
        return fault_at(in, key, "must be an integer");
    }
    const int64_t number = json_is_real(value) ? (int64_t)real : json_integer_value(value);
    if (number < least || number > most) {
        char text[80];
        mech_text_format(text, sizeof text, "must be between %lld and %lld", (long long)least,
                         (long long)most);
        return fault_at(in, key, text);
    }
    *out = number;
    return true;
}

bool mechp_json_bool_in(const struct mechp_json_in *in, const char *key, bool *out)
{
    const json_t *const value = member(in, key);
    if (value != NULL && !json_is_boolean(value)) {
        return fault_at(in, key, "must be true or false");
    }
    *out = value != NULL ? json_is_true(value) : *out;
    return value != NULL;
}

bool mechp_json_string_in(const struct mechp_json_in *in, const char *key, const char **out)
{
    const json_t *const value = member(in, key);
    if (value != NULL && !json_is_string(value)) {
        return fault_at(in, key, "must be a string");
    }
    *out = value != NULL ? json_string_value(value) : *out;
    return value != NULL;
}

bool mechp_json_object_in(const struct mechp_json_in *in, const char *key, const json_t **out)
{
    const json_t *const value = member(in, key);
    if (value != NULL && !json_is_object(value)) {
        return fault_at(in, key, "must be an object");
    }
    *out = value != NULL ? value : *out;
    return value != NULL;
}

bool mechp_json_array_in(const struct mechp_json_in *in, const char *key, const json_t **out)
{
    const json_t *const value = member(in, key);
    if (value != NULL && !json_is_array(value)) {
        return fault_at(in, key, "must be an array");
    }
    *out = value != NULL ? value : *out;
    return value != NULL;
}

bool mechp_json_number(const json_t *object, const char *key, struct mech_diag *d, double *out)
{
    return mechp_json_number_in(&(struct mechp_json_in){object, "", d}, key, out);
}

bool mechp_json_integer(const json_t *object, const char *key, struct mech_diag *d, int64_t least,
                        int64_t most, int64_t *out)
{
    return mechp_json_integer_in(&(struct mechp_json_in){object, "", d}, key, least, most, out);
}

bool mechp_json_numbers(const json_t *value, const char *path, struct mech_diag *d, size_t most,
                        double *out, size_t *count)
{
    const bool array = json_is_array(value);
    const size_t n = array ? json_array_size(value) : 1;
    *count = 0;
    if (n > most) {
        mech_diag_add(d, path, "has %zu numbers; at most %zu are accepted", n, most);
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
        const char *const meant = mech_diag_full(d) ? NULL : mech_closest(key, allowed);
        if (meant != NULL) {
            mech_diag_add(d, path.text, "unknown key '%.64s', did you mean '%s'?", key, meant);
        } else {
            mech_diag_add(d, path.text, "unknown key '%.64s'", key);
        }
    }
}
