/* Attributes of an element of a model description, read by type; and what reading one has in hand.
 * The first fault is kept, ends the parser, and makes all that follows return it. */
#pragma once

#include "server/engine/fmu_description.h"
#include "server/engine/xml.h"

#include <stdbool.h>

/* What a type of TypeDefinitions gives to variables that do not say it themselves. */
struct mechd_fmu_declared {
    const char *name, *unit;
    enum mechd_fmu_quantity quantity;
    double minimum, maximum, nominal;
};

/* Outputs whose dependencies are texts until all variables are known. */
struct mechd_fmu_unknown {
    uint32_t key; /* 2.0: index from 1; 3.0: value reference */
    int line;
    const char *dependencies; /* NULL: not said */
};

struct mechd_fmu_reading {
    struct mechd_fmu_description *d;
    struct mech_diag *diag;
    XML_Parser parser;
    int outcome; /* 0 so far */
    int open
        [MECHD_XML_DEPTH_MOST]; /* [depth] elements that are, as fmu_description.c numbers them */
    size_t depth;
    struct mech_arena_list variables, units, declared, unknowns;
    struct mechd_fmu_dimension dimensions[MECHD_DESCRIPTION_DIMENSIONS_MOST];
    size_t dimension_count; /* of the variable that is open */
    bool has_cosim, has_variables;
};

/* Keep a fault at the line of the parser, or at `line` > 0. Returns the outcome. */
int mechd_fmu_refuse(struct mechd_fmu_reading *r, int outcome, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Zeroed place for one more item of this size, or NULL: the fault is kept. */
void *mechd_fmu_list_add(struct mechd_fmu_reading *r, struct mech_arena_list *list, size_t size);

/* The attribute as it is written, or NULL. `attributes` as expat has them. */
const char *mechd_fmu_attribute(const char **attributes, const char *name);

/* A copy of the attribute; without one `otherwise`, or a fault if that is NULL. */
int mechd_fmu_read_text(struct mechd_fmu_reading *r, const char **attributes, const char *name,
                        const char *otherwise, const char **out);
/* Without the attribute, *out stays as it is. */
int mechd_fmu_read_number(struct mechd_fmu_reading *r, const char **attributes, const char *name,
                          double *out);
/* `need`: it must be there; without it *out stays as it is. */
int mechd_fmu_read_natural(struct mechd_fmu_reading *r, const char **attributes, const char *name,
                           bool need, uint32_t *out);
/* Sets `bit` of *out if the attribute is true. */
int mechd_fmu_read_bit(struct mechd_fmu_reading *r, const char **attributes, const char *name,
                       unsigned bit, unsigned *out);
/* The place of the attribute among words [NULL at the end]. */
int mechd_fmu_read_word(struct mechd_fmu_reading *r, const char **attributes, const char *name,
                        const char *const *words, unsigned *out);

/* The next number of a list with blanks between; *at moves on. 1: a number, 0: the list is over,
 * -1: not a number. */
int mechd_fmu_next_number(const char **at, double *out);
