/* {"key": number}: the shortest requests, which a tree would cost more than their work. What is not
 * written in this one way (escapes in the key, a second member, any other value) is left to the
 * parser, and so are all faults: what is taken here means the same to it. */
#include "protocol/wire/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MOST = 31, DIGITS_MOST = 15 };

/* What is left of the text. */
struct rest {
    const char *at, *end;
};

static void skip_blanks(struct rest *r)
{
    while (r->at < r->end &&
           (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) {
        r->at++;
    }
}

/* The byte, with blanks before and behind. */
static bool take(struct rest *r, char byte)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != byte) {
        return false;
    }
    r->at++;
    skip_blanks(r);
    return true;
}

static bool take_key(struct rest *r, char key[16])
{
    size_t n = 0;
    if (r->at == r->end || *r->at++ != '"') {
        return false;
    }
    for (; r->at < r->end && n < 15 && (unsigned char)((*r->at | 0x20) - 'a') < 26; n++) {
        key[n] = *r->at++;
    }
    key[n] = '\0';
    return r->at < r->end && *r->at++ == '"';
}

/* How many digits there are. */
static int take_digits(struct rest *r)
{
    const char *const from = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        r->at++;
    }
    return (int)(r->at - from);
}

/* One of two bytes, if it is there. */
static bool take_one_of(struct rest *r, char a, char b)
{
    const bool found = r->at < r->end && (*r->at == a || *r->at == b);
    r->at += found;
    return found;
}

/* A number by RFC 8259, 6: no zeros in front, digits on both sides of the point. */
static bool take_number(struct rest *r, struct mechp_json_single *out)
{
    const char *const from = r->at;
    const bool negative = take_one_of(r, '-', '-');
    const char *const first = r->at;
    const int digits = take_digits(r);
    if (digits == 0 || (*first == '0' && digits > 1)) {
        return false;
    }
    const bool point = take_one_of(r, '.', '.');
    if (point && take_digits(r) == 0) {
        return false;
    }
    const bool exponent = take_one_of(r, 'e', 'E');
    if (exponent) {
        (void)take_one_of(r, '+', '-');
        if (take_digits(r) == 0) {
            return false;
        }
    }
    out->is_integer = !negative && !point && !exponent && digits <= DIGITS_MOST;
    if (out->is_integer) {
        int64_t value = 0;
        for (const char *p = first; p < r->at; p++) {
            value = 10 * value + (*p - '0');
        }
        out->value = (double)value;
        return true;
    }
    char text[NUMBER_MOST + 1];
    const size_t size = (size_t)(r->at - from);
    if (size > NUMBER_MOST) {
        return false;
    }
    memcpy(text, from, size);
    text[size] = '\0';
    out->value = strtod(text, NULL);
    return isfinite(out->value);
}

bool mechp_json_single(const char *bytes, size_t size, struct mechp_json_single *out)
{
    struct rest r = {bytes, bytes + size};
    return take(&r, '{') && take_key(&r, out->key) && take(&r, ':') && take_number(&r, out) &&
           take(&r, '}') && r.at == r.end;
}
