/* Inside body_contacts: the loops over contacts, compiled for one lane and for four (AVX2). Not for
 * other modules. */
#pragma once

#include "solver/vi/body_contacts_layout.h"

#include <stdalign.h>

/* Contacts of one width, slot after slot. */
struct mech_contact_span {
    double *data, *l;
    const double *limit; /* body_contacts_layout.h */
    const int32_t *pair;
    int32_t count; /* groups, or single contacts */
};

/* Sums of squares by lanes: natural map, the same of g l (body_contacts.h), c, l. */
struct mech_contact_sums {
    alignas(32) double map[MECH_LANES];
    alignas(32) double c[MECH_LANES];
    alignas(32) double l[MECH_LANES];
    alignas(32) double own[MECH_LANES]; /* largest square of what one misses over what it may */
    ptrdiff_t given;                    /* from l to where it is as it came */
    double change, least;               /* squares of what it may: mech_contact_own */
};

/* One visit to each contact of a span. */
typedef void mech_contact_sweep(const struct mech_contact_span *span, double *lines);
/* Adds what the residual consists of; coulomb: 1 with De Saxcé's term, 0 without. */
typedef void mech_contact_look(const struct mech_contact_span *span, const double *lines,
                               double coulomb, struct mech_contact_sums *sums);

struct mech_contact_loops {
    mech_contact_sweep *round, *block_coulomb, *block_associated;
    mech_contact_look *look_round, *look_block;
};

extern const struct mech_contact_loops mech_contact_singles;
extern const struct mech_contact_loops mech_contact_groups; /* two lanes at a time */
extern const struct mech_contact_loops mech_contact_four;   /* with AVX2, where there is */
/* The same bits with AVX2, or NULL where there is none. */
const struct mech_contact_loops *mech_contact_groups_avx2(void);

void mech_contact_sweep_odd(const struct mech_contact_run *run, enum mech_friction friction,
                            double *lines);
/* Σ (start − l) (l − before) of a run's multipliers, couples over an arm, as impulses. */
double mech_contact_back_odd(const struct mech_contact_run *run, const double *start,
                             const double *before);
void mech_contact_look_odd(const struct mech_contact_run *run, enum mech_friction friction,
                           const double *lines, struct mech_contact_sums *sums);
