/* Reading JSON from outside, guarded: bytes, nesting and the size of the tree are bounded by one
 * linear scan before jansson builds a tree; duplicate keys, NUL, bad UTF-8, NaN and numbers beyond
 * double are refused, each with line, column and byte.
 *
 *   struct mechp_json_fault fault;  json_t *root;
 *   if (mechp_json_parse(body, size, NULL, &fault, &root) != 0) { … fault.code, fault.text … }
 *   double h = 0.;
 *   if (mechp_json_number(root, "size", diag, &h)) { … was there and is a number … }
 *   mechp_json_only(root, "", (const char *const[]){"size", "until", NULL}, diag);
 *
 * Any thread; the tree belongs to the caller (json_decref).
 */
#pragma once

#include "protocol/wire/codes.h"
#include "protocol/wire/text.h"
#include "solver/base/diag.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mechp_json_limits {
    size_t bytes; /* largest text */
    size_t tree;  /* largest memory of the tree, bytes, as estimated by mechp_json_guard */
    int depth;    /* deepest nesting of arrays and objects */
};

/* 64 MiB, a tree of 512 MiB, depth 32. */
extern const struct mechp_json_limits mechp_json_limits_model;
/* The same for other models: a tree of eight times their size. */
struct mechp_json_limits mechp_json_limits_of(size_t bytes);
/* 1 MiB, a tree of 12 MiB, depth 32: everything but models. */
extern const struct mechp_json_limits mechp_json_limits_request;

struct mechp_json_fault {
    enum mechp_code code; /* MALFORMED_JSON, BODY_TOO_LARGE, OUT_OF_MEMORY */
    int line, column;     /* from 1; 0 when the fault has no place */
    size_t byte;          /* from 0 */
    char text[256];       /* "line 3, column 7: …" */
};

/* `limits` NULL: mechp_json_limits_model. The root may be any JSON value. 0; MECH_INVALID (fault
 * gives the reason, *out is NULL). */
int mechp_json_parse(const char *bytes, size_t size, const struct mechp_json_limits *limits,
                     struct mechp_json_fault *fault, json_t **out);
/* Whether a message that is either a frame or JSON is the latter: it begins with {, a blank or a
 * mark of UTF-8; or it is UTF-16 or begins with what is not seen, and is refused as JSON. */
bool mechp_json_begins(const char *bytes, size_t size);
/* From now on the parser can distinguish lack of memory from malformed text. Once per process,
 * before anything is parsed. */
void mechp_json_watch_memory(void);

/* Results of the guard's scan. */
struct mechp_json_scan {
    size_t tree; /* upper limit of the tree's bytes, without the allocator's own */
    int depth;
    bool wide_integers; /* an integer beyond 64 bits, or -0: read all as real */
    size_t longest;     /* bytes of the longest string or number */
};

/* The guard alone: 0, or MECH_INVALID with the fault. It guarantees bounds, not well-formedness. */
int mechp_json_guard(const char *bytes, size_t size, const struct mechp_json_limits *limits,
                     struct mechp_json_fault *fault, struct mechp_json_scan *out);

/* --- members of an object -------------------------------------------------------------------- */

/* Each returns true when the key is there and well-formed; absent: false; malformed: false and a
 * fault at "/key" in `d`. Integers may be written 2 or 2.0. Numbers are finite. An `object` of
 * another type has no members. */
bool mechp_json_number(const json_t *object, const char *key, struct mech_diag *d, double *out);
bool mechp_json_integer(const json_t *object, const char *key, struct mech_diag *d, int64_t least,
                        int64_t most, int64_t *out);

/* The same of an object that is itself part of a body: faults are at "<base>/key". */
struct mechp_json_in {
    const json_t *object;
    const char *base; /* "" for the body */
    struct mech_diag *diag;
};
bool mechp_json_number_in(const struct mechp_json_in *in, const char *key, double *out);
bool mechp_json_integer_in(const struct mechp_json_in *in, const char *key, int64_t least,
                           int64_t most, int64_t *out);
bool mechp_json_bool_in(const struct mechp_json_in *in, const char *key, bool *out);
bool mechp_json_string_in(const struct mechp_json_in *in, const char *key, const char **out);
bool mechp_json_object_in(const struct mechp_json_in *in, const char *key, const json_t **out);
bool mechp_json_array_in(const struct mechp_json_in *in, const char *key, const json_t **out);

/* An array of finite numbers (or one number) into out [most]; *count of them. `path` for faults.
 * False: it is neither, or has more than `most`. */
bool mechp_json_numbers(const json_t *value, const char *path, struct mech_diag *d, size_t most,
                        double *out, size_t *count);

/* A fault at "<base>/<key>" for each key that is not in `allowed` (closed by NULL), with a hint. */
void mechp_json_only(const json_t *object, const char *base, const char *const *allowed,
                     struct mech_diag *d);

/* An object of one member that is a number, {"key": 1.5}, read without a tree. */
struct mechp_json_single {
    char key[16];
    double value;    /* as a tree would have it; finite */
    bool is_integer; /* digits alone, 15 at most */
};

/* True if all of the text is such an object: a key of letters, a number of 31 bytes at most. If
 * false, the text may be any other JSON, or invalid. */
bool mechp_json_single(const char *bytes, size_t size, struct mechp_json_single *out);

/* A member of an object as it was written, byte for byte, from well-formed text; its length, or
 * NULL where there is none. */
const char *mechp_json_member_text(const char *bytes, size_t size, const char *key, size_t *length);

/* A tree as text: a value. Numbers have the digits that give the same double. */
void mechp_json_write(const json_t *value, struct mechp_text *w);

/* Value of any number in a tree (integer or real). */
static inline double mechp_json_value(const json_t *value)
{
    return json_number_value(value);
}
