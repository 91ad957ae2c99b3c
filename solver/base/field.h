/* Field tables: the members of a struct that is read from a document, listed once.
 *
 * Reading and writing JSON with range checks and pointers, JSON Schema, OpenAPI, snapshots,
 * `mechctl describe`, the page's forms and the FMI variables all walk these tables.
 *
 *   static const struct mech_field fields[] = {
 *       {.name = "stiffness", .kind = MECH_REAL, .offset = offsetof(struct spring, stiffness),
 *        .unit = "N/m", .doc = "stiffness of the spring", .flags = MECH_TUNABLE, MECH_ANY_REAL},
 *   };
 *
 * A member's C type follows from its kind:
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mech_kind {
    MECH_BOOL,    /* bool; if TUNABLE "=expression" of the parameters allowed, true where not 0 */
    MECH_INT,     /* int32_t */
    MECH_REAL,    /* double; "=expression" of the parameters allowed */
    MECH_REALS,   /* double[count]; nested rows when `columns` is set; each element as MECH_REAL */
    MECH_VECTOR,  /* struct mech_vector, of any length; each element as MECH_REAL */
    MECH_MATRIX,  /* struct mech_mat (solver/linalg/mat.h), any of the four written forms */
    MECH_STRING,  /* const char * */
    MECH_CHOICE,  /* int32_t, index into `choices`; a name in the document */
    MECH_REF,     /* struct mech_ref, one item of category `target` by name */
    MECH_REFS,    /* struct mech_refs; `count` of them, 0: any number */
    MECH_VALUES,  /* struct mech_values; numbers, "=expressions" of parameters and t,
                     or functions of time by points where no other locals are */
    MECH_FORMULA, /* struct mech_formula; "=expression" of parameters and local variables */
    MECH_STRUCT,  /* the struct that `table` describes */
    MECH_STRUCTS, /* struct mech_structs; a list of structs that `table` describes */
    MECH_SHARED,  /* struct mech_shared, followed by the struct that `table` describes: given in
                     place, or by name from the document's list of such structs */
    MECH_ITEMS,   /* struct mech_items (solver/items/item.h); a list of items of `target` */
    MECH_VARIANT, /* struct mech_item without name; one item of `target`, nested */
    MECH_PARAMETERS, /* struct mech_parameters; an object of names and numbers */
};

enum mech_field_flags {
    MECH_REQUIRED = 1u << 0,  /* must be present */
    MECH_ABOVE_MIN = 1u << 1, /* min itself is not allowed */
    MECH_BELOW_MAX = 1u << 2, /* max itself is not allowed */
    MECH_TUNABLE = 1u << 3,   /* may change while an instance lives */
    MECH_NAMELESS = 1u << 4,  /* ITEMS: their names may be left out */
};

struct mech_vector {
    double *x; /* [n] */
    size_t n;
};

struct mech_ref {
    const char *name; /* as written; NULL: absent */
    int32_t index;    /* position in its category's list once resolved, -1 before */
};

struct mech_refs {
    struct mech_ref *refs; /* [n] */
    size_t n;
};

/* A struct given in place, or the name of one in the document's list. */
struct mech_shared {
    const char *name; /* as written; NULL: the struct after this one applies */
    int32_t index;    /* in the list once resolved, -1 before and without a name */
};

struct mech_point_series;

/* Numbers that may depend on time: text[i] is NULL for a plain number or a function by points. */
struct mech_values {
    double *number;    /* [n] value, or the start value of an expression */
    const char **text; /* [n] expression without its "=", or NULL; NULL as a whole: none */
    struct mech_point_series *series; /* [n] (solver/items/series.h), without points where there is
                                   none; NULL as a whole: none */
    size_t n;
};

/* A formula in local variables (such as u, v), with its partial derivatives if they were given. */
struct mech_formula {
    const char *text;       /* expression without its "=", or NULL: absent */
    const char *partial[4]; /* derivative by the i-th local variable, or NULL: not given */
};

struct mech_structs {
    void *at; /* [n] structs of table->size bytes */
    size_t n;
};

struct mech_parameter {
    const char *name;
    double value;
};

struct mech_parameters {
    struct mech_parameter *at; /* [n] in the document's order */
    size_t n;
};

struct mech_table;

struct mech_field {
    const char *name; /* the document's key */
    enum mech_kind kind;
    size_t offset;              /* of the member in its struct */
    uint32_t flags;             /* enum mech_field_flags */
    uint32_t count;             /* REALS, REFS, VALUES: how many (0: any number, REALS excepted) */
    uint32_t columns;           /* REALS: row length of a fixed matrix, 0: a flat list */
    int32_t target;             /* REF, REFS, ITEMS, VARIANT: enum mech_category */
    const char *unit;           /* SI, "" when dimensionless, NULL when it has none */
    double preset;              /* default of BOOL, INT, REAL, CHOICE */
    const double *presets;      /* default of REALS, VALUES [count], or NULL: zeros */
    double min, max;            /* allowed range of each number */
    const char *const *choices; /* CHOICE: names, closed by NULL */
    const char *const *locals;  /* FORMULA: names of its local variables, closed by NULL; the first
                                   four may bring partial derivatives. VALUES: the same, where
                                   there are others than t */
    const struct mech_table *table; /* STRUCT, STRUCTS, SHARED */
    const char *doc;                /* one sentence for people */
};

/* Ranges, written once: {…, MECH_ANY_REAL}. */
#define MECH_ANY_REAL .min = -HUGE_VAL, .max = HUGE_VAL
#define MECH_NOT_NEGATIVE .min = 0., .max = HUGE_VAL

struct mech_table {
    const char *name; /* type name for schemas */
    const char *doc;
    size_t size; /* of the struct */
    const struct mech_field *fields;
    size_t count;
};

#define MECH_FIELDS(array) .fields = array, .count = sizeof array / sizeof *array

/* The field of that name, or NULL. */
const struct mech_field *mech_table_find(const struct mech_table *table, const char *name);

/* False when the table gives the field no range: 0 to 0 allows everything. */
bool mech_field_has_range(const struct mech_field *f);

/* True when a number is finite and in the field's range. */
bool mech_field_admits(const struct mech_field *f, double value);

/* Write the defaults of a table into a zeroed struct (VECTOR, MATRIX, REFS, … stay empty; VALUES
 * of fixed count point at nothing until they are read). Any thread. */
void mech_table_defaults(const struct mech_table *table, void *at);
