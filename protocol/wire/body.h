/* Bodies as structs: where a struct has the members of a body's shape, and the writer that walks
 * them. The keys of a body are in its shape alone (routes/<group>.c); what fills the struct and
 * what writes it name no key. The structs are those of bodies.h. Any thread.
 *
 *   // the shape
 *   {"time", "number", "s", MECHP_IN(trial, time)}
 *   // its operation
 *   const struct mechp_body_trial body = {.name = t->name, .time = t->time};
 *   MECHP_WRITE(trial, &body, &c->text);
 *
 * What C type holds which types of JSON, and how it says that a member that need not be there is
 * absent:
 *
 *   double                 number, number|null (NAN: null)       NAN
 *   int64_t                integer                               INT64_MIN
 *   uint64_t               integer                               MECHP_ABSENT
 *   bool                   boolean                               false
 *   const bool *           boolean                               NULL
 *   const char *           string, @Name, words; |null (NULL)    NULL
 *   struct mechp_numbers   number[]                              at: NULL
 *   struct mechp_written   any: a function writes it             write: NULL
 *
 * A member of the type "null" needs no place in the struct. */
#pragma once

#include "protocol/wire/row.h"
#include "protocol/wire/text.h"

#include <stddef.h>
#include <stdint.h>

#define MECHP_ABSENT UINT64_MAX

struct mechp_numbers {
    const double *at; /* [count] */
    size_t count;
};

/* A value that a function writes: one JSON value. */
struct mechp_written {
    void (*write)(const void *of, struct mechp_text *w);
    const void *of;
};

enum mechp_holds {
    MECHP_HOLDS_NOTHING, /* the struct has no such member */
    MECHP_HOLDS_DOUBLE,
    MECHP_HOLDS_INTEGER,
    MECHP_HOLDS_UNSIGNED,
    MECHP_HOLDS_BOOL,
    MECHP_HOLDS_FLAG,
    MECHP_HOLDS_TEXT,
    MECHP_HOLDS_NUMBERS,
    MECHP_HOLDS_WRITTEN
};

/* The place of a required member, and of one that may be absent, in the struct of a body. */
#define MECHP_IN(body, member) (MECHP_MAY(body, member) | 1u)
#define MECHP_MAY(body, member)                                                                    \
    ((unsigned)offsetof(struct mechp_body_##body, member) << 8 |                                   \
     (unsigned)_Generic(((const struct mechp_body_##body *)NULL)->member,                          \
         double: MECHP_HOLDS_DOUBLE,                                                               \
         int64_t: MECHP_HOLDS_INTEGER,                                                             \
         uint64_t: MECHP_HOLDS_UNSIGNED,                                                           \
         bool: MECHP_HOLDS_BOOL,                                                                   \
         const bool *: MECHP_HOLDS_FLAG,                                                           \
         const char *: MECHP_HOLDS_TEXT,                                                           \
         struct mechp_numbers: MECHP_HOLDS_NUMBERS,                                                \
         struct mechp_written: MECHP_HOLDS_WRITTEN)                                                \
         << 1)

/* What of the struct holds a member, and where. */
enum mechp_holds mechp_member_holds(const struct mechp_member *m);
size_t mechp_member_offset(const struct mechp_member *m);

/* The struct as an object, member by member in the order of the shape. */
void mechp_body_write(const struct mechp_shape *shape, const void *body, struct mechp_text *w);
/* The same within an object. */
void mechp_body_members(const struct mechp_shape *shape, const void *body, struct mechp_text *w);

/* The same with a struct of the type that belongs to the shape. */
#define MECHP_WRITE(body, at, w) mechp_body_write(&mechp_body_##body, MECHP_OF(body, at), w)
#define MECHP_WRITE_MEMBERS(body, at, w)                                                           \
    mechp_body_members(&mechp_body_##body, MECHP_OF(body, at), w)
#define MECHP_OF(body, at) (1 ? (at) : (const struct mechp_body_##body *)NULL)
