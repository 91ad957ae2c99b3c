/* Bodies as structs: where a struct has the members of a body's shape, and the writer and the
 * reader that walk them. The keys of a body are in its shape alone (routes/<group>.c); what fills
 * the struct and what writes it name no key. The structs are those of bodies.h. Any thread.
 *
 *   // the shape
 *   {"time", "number", "s", MECHP_IN(trial, time)}
 *   // its operation
 *   const struct mechp_body_trial body = {.name = t->name, .time = t->time};
 *   MECHP_WRITE(trial, &body, &c->text);
 *   // the operation of a request
 *   struct mechp_body_keep_trial in;
 *   MECHP_READ(keep_trial, c->body, &c->diag, &in);
 *
 * What C type holds which types of JSON, and how it says that a member that need not be there is
 * absent:
 *
 *   double                 number, number|null (NAN: null)       NAN
 *   int64_t                integer, integer|null                 INT64_MIN (null)
 *   uint64_t               integer                               MECHP_ABSENT
 *   bool                   boolean                               false
 *   const bool *           boolean                               NULL
 *   const char *           string, @Name, words; |null (NULL)    NULL
 *   struct mechp_numbers   number[]                              at: NULL
 *   struct mechp_written   any: a function writes it             write: NULL
 *   struct mechp_inner     @Name of a shape: its struct          of: NULL
 *   struct mechp_part      any, of bodies that are both read     given: NULL
 *                          and written: a function writes it     written.write: NULL
 *
 * and of requests alone, as parts of the tree that is read:
 *
 *   int                    words: the place among them           MECHP_NO_WORD
 *   const json_t *         any                                   NULL
 *   struct mechp_object    object, {}, @Name of a shape          of: NULL
 *   struct mechp_list      []                                    of: NULL
 *   struct mechp_which     integer|@Name: a number from 1        number: INT64_MIN, name: NULL
 *
 * and of queries alone:
 *
 *   struct mechp_listed    a list: the text of the query, or     text: NULL, array: NULL
 *                          an array where the query is part of
 *                          a message
 *
 * A request that is written (a document that makes something again) has these parts as they were
 * read, or in place of an object the struct of its shape, and in place of a list what a function
 * writes. Words and struct mechp_which are not written.
 *
 * A member of the type "null" needs no place in the struct. */
#pragma once

#include "protocol/wire/row.h"
#include "protocol/wire/text.h"

#include <stddef.h>
#include <stdint.h>

#define MECHP_ABSENT UINT64_MAX
enum { MECHP_NO_WORD = -1, MECHP_ODD_WORD = -2 /* none of the words: a fault */ };

struct mechp_numbers {
    const double *at; /* [count] */
    size_t count;
};

/* A value that a function writes: one JSON value. */
struct mechp_written {
    void (*write)(const void *of, struct mechp_text *w);
    const void *of;
};

/* A struct within another: MECHP_INNER(drift, &d). */
struct mechp_inner {
    const struct mechp_shape *shape;
    const void *of;
};
#define MECHP_INNER(body, at) ((struct mechp_inner){&mechp_body_##body, MECHP_OF(body, at)})

struct mechp_part {
    const json_t *given;          /* of a request: a part of the tree that is read */
    struct mechp_written written; /* of a reply */
};

struct mechp_object {
    const json_t *of;
    struct mechp_inner inner; /* to be written in its place */
};

struct mechp_list {
    const json_t *of;
    struct mechp_written items; /* to be written in its place */
};

/* One of several things, by its number or by its name: one of them at most is given. */
struct mechp_which {
    int64_t number;
    const char *name;
};

/* A list of a query, "a,b": one of them at most is given. */
struct mechp_listed {
    const char *text;
    const json_t *array; /* of a message in place of a text */
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
    MECHP_HOLDS_WRITTEN,
    MECHP_HOLDS_INNER,
    MECHP_HOLDS_PART,
    MECHP_HOLDS_WORD,
    MECHP_HOLDS_TREE,
    MECHP_HOLDS_OBJECT,
    MECHP_HOLDS_LIST,
    MECHP_HOLDS_WHICH,
    MECHP_HOLDS_LISTED
};

/* The place of a required member, and of one that may be absent, in the struct of a body. */
#define MECHP_IN(body, member) (MECHP_MAY(body, member) | 1u)
#define MECHP_MAY(body, member) MECHP_PLACE(struct mechp_body_##body, member)
#define MECHP_PLACE(type, member)                                                                  \
    ((unsigned)offsetof(type, member) << 8 |                                                       \
     (unsigned)_Generic(((const type *)NULL)->member,                                              \
         double: MECHP_HOLDS_DOUBLE,                                                               \
         int64_t: MECHP_HOLDS_INTEGER,                                                             \
         uint64_t: MECHP_HOLDS_UNSIGNED,                                                           \
         bool: MECHP_HOLDS_BOOL,                                                                   \
         const bool *: MECHP_HOLDS_FLAG,                                                           \
         const char *: MECHP_HOLDS_TEXT,                                                           \
         struct mechp_numbers: MECHP_HOLDS_NUMBERS,                                                \
         struct mechp_written: MECHP_HOLDS_WRITTEN,                                                \
         struct mechp_inner: MECHP_HOLDS_INNER,                                                    \
         struct mechp_part: MECHP_HOLDS_PART,                                                      \
         int: MECHP_HOLDS_WORD,                                                                    \
         const json_t *: MECHP_HOLDS_TREE,                                                         \
         struct mechp_object: MECHP_HOLDS_OBJECT,                                                  \
         struct mechp_list: MECHP_HOLDS_LIST,                                                      \
         struct mechp_which: MECHP_HOLDS_WHICH,                                                    \
         struct mechp_listed: MECHP_HOLDS_LISTED)                                                  \
         << 1)

/* What a place holds, and where in its struct it is. */
static inline enum mechp_holds mechp_place_holds(unsigned place)
{
    return (enum mechp_holds)(place >> 1 & 127);
}
static inline size_t mechp_place_offset(unsigned place)
{
    return place >> 8;
}
/* The same of a member. */
enum mechp_holds mechp_member_holds(const struct mechp_member *m);
size_t mechp_member_offset(const struct mechp_member *m);
/* The value of the table above for a member that is absent, also in the struct of a query; nothing
 * where the struct has no such member. */
void mechp_put_absent(enum mechp_holds holds, void *at);

/* The struct as an object, member by member in the order of the shape. */
void mechp_body_write(const struct mechp_shape *shape, const void *body, struct mechp_text *w);
/* The same within an object. */
void mechp_body_members(const struct mechp_shape *shape, const void *body, struct mechp_text *w);

/* The members of an object into the struct of their shape. What is not there is absent, required or
 * not; so is null where the type has it, and a value of another type or beyond its range, which is
 * a fault at its place. Texts and parts of the tree are the object's; there is no `inner`, and no
 * `items`. */
void mechp_body_read(const struct mechp_shape *shape, const struct mechp_json_in *in, void *body);

/* The same of an object that is read elsewhere, where its faults are found. */
void mechp_body_peek(const struct mechp_shape *shape, const json_t *object, void *body);

/* The same with a struct of the type that belongs to the shape. */
#define MECHP_WRITE(body, at, w) mechp_body_write(&mechp_body_##body, MECHP_OF(body, at), w)
#define MECHP_WRITE_MEMBERS(body, at, w)                                                           \
    mechp_body_members(&mechp_body_##body, MECHP_OF(body, at), w)
#define MECHP_OF(body, at) (1 ? (at) : (const struct mechp_body_##body *)NULL)
#define MECHP_READ(body, object, diag, to)                                                         \
    MECHP_READ_IN(body, (&(const struct mechp_json_in){(object), "", (diag)}), to)
#define MECHP_PEEK(body, object, to)                                                               \
    mechp_body_peek(&mechp_body_##body, (object), 1 ? (to) : (struct mechp_body_##body *)NULL)
#define MECHP_READ_IN(body, in, to)                                                                \
    mechp_body_read(&mechp_body_##body, in, 1 ? (to) : (struct mechp_body_##body *)NULL)
