/* The guard before the JSON parser: one pass over the bytes that bounds nesting and the memory of
 * the tree, so that a hostile body is refused before it costs one: [{},{},…] grows 79-fold. About
 * 1 ns a byte. What it lets through may still be malformed; the parser says so.
 *
 * What jansson 2.14 takes of the C library (64-bit; mallinfo2 over 300,000 of each): {} in a list
 * 238 bytes, [] 142, a number 46, an empty string 94; a member with a number 112 to 126. Each token
 * counts what makes sums of them no less than that.
 */
#include "protocol/wire/json.h"

#include "solver/base/err.h"
#include "solver/base/text.h"

#include <stdio.h>
#include <string.h>

/* Bytes of the tree for one of: */
enum { TREE_OBJECT = 192, TREE_ARRAY = 96, TREE_ELEMENT = 48, TREE_MEMBER = 80, TREE_STRING = 48 };

const struct mechp_json_limits mechp_json_limits_model = {
    .bytes = (size_t)64 << 20, .tree = (size_t)512 << 20, .depth = 32};
const struct mechp_json_limits mechp_json_limits_request = {
    .bytes = (size_t)1 << 20, .tree = (size_t)12 << 20, .depth = 32};

struct mechp_json_limits mechp_json_limits_of(size_t bytes)
{
    const struct mechp_json_limits *const usual = &mechp_json_limits_model;
    return (struct mechp_json_limits){
        .bytes = bytes, .tree = bytes * (usual->tree / usual->bytes), .depth = usual->depth};
}

/* Line and column of a byte; only faults pay for it. */
static void locate(const char *bytes, size_t at, struct mechp_json_fault *fault)
{
    int line = 1;
    size_t column = 1;
    for (size_t i = 0; i < at; i++) {
        const bool begins = ((unsigned char)bytes[i] & 0xc0) != 0x80; // a character, in UTF-8
        column = bytes[i] == '\n' ? 1 : column + begins;
        line += bytes[i] == '\n';
    }
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

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
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
    // of 19 digits those up to the largest are digits that sort before its own
    static const char largest[] = "9223372036854775807";
    const size_t sign = i > at && bytes[at] == '-';
    const bool beyond =
        digits > sizeof largest - 1 || (digits == sizeof largest - 1 && i - at == digits + sign &&
                                        memcmp(bytes + at + sign, largest, digits) > 0);
    *wide = *wide || (!real && (beyond || minus_zero));
    return i;
}

int mechp_json_guard(const char *bytes, size_t size, const struct mechp_json_limits *limits,
                     struct mechp_json_fault *fault, struct mechp_json_scan *out)
{
    *out = (struct mechp_json_scan){0};
    if (size > limits->bytes) {
        fault->code = MECHP_BODY_TOO_LARGE;
        mech_text_format(fault->text, sizeof fault->text,
                         "%zu bytes of JSON; at most %zu are accepted", size, limits->bytes);
        return MECH_INVALID;
    }
    int depth = 0;
    size_t i = 0;
    while (i < size && is_blank(bytes[i])) {
        i++;
    }
    if (i == size) {
        return refuse(bytes, size, "no value", fault);
    }
    while (i < size) {
        const char c = bytes[i];
        if (c == '"' || c == '-' || (c >= '0' && c <= '9')) {
            const size_t behind = c == '"' ? skip_string(bytes, i, size)
                                           : skip_number(bytes, i, size, &out->wide_integers);
            out->tree += c == '"' ? TREE_STRING + (behind - i) : 0;
            out->longest = behind - i > out->longest ? behind - i : out->longest;
            i = behind;
            continue;
        }
        if (c == '[' || c == '{') {
            depth++;
            out->depth = depth > out->depth ? depth : out->depth;
            if (depth > limits->depth) {
                char reason[64];
                mech_text_format(reason, sizeof reason, "nested deeper than %d levels",
                                 limits->depth);
                return refuse(bytes, i, reason, fault);
            }
        } else if (c == ']' || c == '}') {
            depth--;
        }
        // each value and key follows one of these
        out->tree += c == '{'   ? TREE_OBJECT + TREE_ELEMENT
                     : c == '[' ? TREE_ARRAY + TREE_ELEMENT
                     : c == ',' ? TREE_ELEMENT
                     : c == ':' ? TREE_MEMBER
                                : 0;
        if (out->tree > limits->tree) {
            char reason[80];
            mech_text_format(reason, sizeof reason,
                             "reading these values takes more than %zu MiB of memory",
                             limits->tree >> 20);
            (void)refuse(bytes, i, reason, fault);
            fault->code = MECHP_BODY_TOO_LARGE;
            return MECH_INVALID;
        }
        i++;
    }
    return 0;
}
