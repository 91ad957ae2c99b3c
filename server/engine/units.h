/* Units of variables, compared by what they are in base units where that is known: of a hosted FMU
 * by its description, of anything else by its name. Where it is not known for both of them the
 * names are compared, in which products have a space, a dot or a star ("N m", "N.m").
 *
 *     const struct mechd_unit a = mechd_unit_of(&left, &v[0], v[0].unit), b = mechd_unit_of(…);
 *     if (mechd_units_match(&a, &b, &factor, &offset) == MECHD_UNITS_SCALED) { … }
 *
 * Of a variable that is a difference (relativeQuantity) the offset of its unit does not count: a
 * difference of 10 degC is one of 10 K. It does not match a variable whose unit has an offset that
 * counts, whatever the two units are.
 *
 * Values alone; any thread. Source: FMI 3.0.2, section 2.4.3; FMI 2.0.5, section 2.2.2. */
#pragma once

#include "server/engine/engine.h"

struct mechd_unit {
    const char *text;      /* "": the variable has none */
    bool known;            /* what follows */
    int exponents[8];      /* of kg, m, s, A, K, mol, cd, rad */
    double factor, offset; /* value in base units = factor · value + offset; offset: 0 of a … */
    bool relative;         /* … difference */
};

/* The unit of this text, which outlives it, of a variable of the engine: its own, or a part of it.
 */
struct mechd_unit mechd_unit_of(const struct mechd_engine *e, const struct mech_variable *v,
                                const char *text);

enum mechd_units {
    MECHD_UNITS_SAME,    /* or one of them is none */
    MECHD_UNITS_SCALED,  /* of one kind, with another factor or offset */
    MECHD_UNITS_APART,   /* of one kind: one is a difference, the other one has an offset */
    MECHD_UNITS_OTHER,   /* of two kinds */
    MECHD_UNITS_UNKNOWN, /* only the name of one of them is known, and the names differ */
};

/* value in `to` = *factor · value in `from` + *offset; 1 and 0 unless SCALED. */
enum mechd_units mechd_units_match(const struct mechd_unit *from, const struct mechd_unit *to,
                                   double *factor, double *offset);

/* Whether it is that of a displacement (a length or an angle) or of a velocity; NONE: of neither,
 * or it is not known. */
enum mech_kinematic mechd_unit_kinematic(const struct mechd_unit *u);
