/* Units of variables, compared by what they are in base units where that is known: of a hosted FMU
 * by its description, of anything else by its name. Where it is not known for both of them the
 * names are compared, in which products have a space, a dot or a star ("N m", "N.m").
 *
 *     const struct mechd_unit a = mechd_unit_of(&left, v[0].unit), b = mechd_unit_of(&right, …);
 *     if (mechd_units_match(&a, &b, &factor, &offset) == MECHD_UNITS_SCALED) { … }
 *
 * Values alone; any thread. Source: FMI 3.0.2, section 2.4.3; FMI 2.0.5, section 2.2.2. */
#pragma once

#include "server/engine/engine.h"

struct mechd_unit {
    const char *text;      /* "": the variable has none */
    bool known;            /* what follows */
    int exponents[8];      /* of kg, m, s, A, K, mol, cd, rad */
    double factor, offset; /* value in base units = factor · value + offset */
};

/* The unit that a variable of the engine has under this name, which outlives it. */
struct mechd_unit mechd_unit_of(const struct mechd_engine *e, const char *text);

enum mechd_units {
    MECHD_UNITS_SAME,   /* or one of them is none */
    MECHD_UNITS_SCALED, /* of one kind, with another factor or offset */
    MECHD_UNITS_OTHER   /* of two kinds, or only their names are known, which differ */
};

/* value in `to` = *factor · value in `from` + *offset; 1 and 0 unless SCALED. */
enum mechd_units mechd_units_match(const struct mechd_unit *from, const struct mechd_unit *to,
                                   double *factor, double *offset);

/* Whether it is that of a displacement (a length or an angle) or of a velocity; NONE: of neither,
 * or it is not known. */
enum mech_kinematic mechd_unit_kinematic(const struct mechd_unit *u);
