/* The guard before the JSON parser: one pass over the bytes that bounds nesting and the number of
 * values, so that a hostile body is refused before it costs a tree (a node takes up to 64 bytes).
 * About 1 ns a byte. What it lets through may still be malformed; the parser says so.
 */
#include "protocol/wire/json.h"

#include "solver/base/err.h"

#include <stdio.h>

const struct mechp_json_limits mechp_json_limits_model = {
    .bytes = (size_t)64 << 20, .nodes = 8000000, .depth = 32};
const struct mechp_json_limits mechp_json_limits_request = {
    .bytes = (size_t)1 << 20, .nodes = 200000, .depth = 32};

struct mechp_json_limits mechp_json_limits_of(size_t bytes)
{
    const struct mechp_json_limits *const usual = &mechp_json_limits_model;
    return (struct mechp_json_limits){
        .bytes = bytes, .nodes = bytes * usual->nodes / usual->bytes, .depth = usual->depth};
}

/* Line and column of a byte; only faults pay for it. */
static void locate(const char *bytes, size_t at, struct mechp_json_fault *fault)
{
    int line = 1;
    size_t start = 0;
    for (size_t i = 0; i < at; i++) {
        if (bytes[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    const size_t column = at - start + 1;
    fault->line = line;
    fault->column = column < 1000000000 ? (int)column : 1000000000;
    fault->byte = at;
}

static int refuse(const char *bytes, size_t at, const char *reason, struct mechp_json_fault *fault)
{
    fault->code = MECHP_MALFORMED_JSON;
    locate(bytes, at, fault);
    snprintf(fault->text, sizeof fault->text, "line %d, column %d: %s", fault->line, fault->column,
             reason);
    return MECH_INVALID;
}

/* Index behind the string that opens at `at`, or `size`. */
static size_t skip_string(const char *bytes, size_t at, size_t size)
{
    size_t i = at + 1;
    while (i < size && bytes[i] != '"') {
        i += bytes[i] == '\\' ? 2 : 1;
    }
    return i < size ? i + 1 : size;
}

/* Index behind the number at `at`; sees integers that a 64-bit integer would not give back. */
static size_t skip_number(const char *bytes, size_t at, size_t size, bool *wide)
{
    size_t i = at;
    size_t digits = 0;
    bool real = false;
    for (; i < size; i++) {
        const char c = bytes[i];
        if (c >= '0' && c <= '9') {
            digits++;
        } else if (c == '.' || c == 'e' || c == 'E') {
            real = true;
        } else if (c != '-' && c != '+') {
            break;
        }
    }
    const bool minus_zero = i - at == 2 && bytes[at] == '-' && bytes[at + 1] == '0';
    *wide = *wide || (!real && (digits > 18 || minus_zero));
    return i;
}

int mechp_json_guard(const char *bytes, size_t size, const struct mechp_json_limits *limits,
                     struct mechp_json_fault *fault, struct mechp_json_scan *out)
{
    *out = (struct mechp_json_scan){0};
    if (size > limits->bytes) {
        fault->code = MECHP_BODY_TOO_LARGE;
        snprintf(fault->text, sizeof fault->text, "%zu bytes of JSON; at most %zu are taken", size,
                 limits->bytes);
        return MECH_INVALID;
    }
    int depth = 0;
    size_t i = 0;
    while (i < size) {
        const char c = bytes[i];
        if (c == '"') {
            i = skip_string(bytes, i, size);
            continue;
        }
        if (c == '-' || (c >= '0' && c <= '9')) {
            i = skip_number(bytes, i, size, &out->wide_integers);
            continue;
        }
        if (c == '[' || c == '{') {
            depth++;
            out->depth = depth > out->depth ? depth : out->depth;
            if (depth > limits->depth) {
                char reason[64];
                snprintf(reason, sizeof reason, "nested deeper than %d levels", limits->depth);
                return refuse(bytes, i, reason, fault);
            }
        } else if (c == ']' || c == '}') {
            depth--;
        }
        // each value and key stands behind one of these
        if (c == '[' || c == '{' || c == ',' || c == ':') {
            out->nodes++;
            if (out->nodes > limits->nodes) {
                char reason[64];
                snprintf(reason, sizeof reason, "more than %zu values", limits->nodes);
                (void)refuse(bytes, i, reason, fault);
                fault->code = MECHP_BODY_TOO_LARGE;
                return MECH_INVALID;
            }
        }
        i++;
    }
    return 0;
}
