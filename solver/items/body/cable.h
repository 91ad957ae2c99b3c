/* Strains of a cable in the plane with cubic shape functions, and what they do to its 8
 * coordinates. See ancf_cable_2d.c. */
#pragma once

#include <stdbool.h>

enum { MECH_CABLE_COORDINATES = 8 };

/* One measure at one point: its value, gradient and second derivative by the coordinates. */
struct mech_cable_strain {
    double value, gradient[MECH_CABLE_COORDINATES];
    double second[MECH_CABLE_COORDINATES][MECH_CABLE_COORDINATES];
};

/* Shape functions of a cable of length L at x: values and first and second derivatives. Any may be
 * NULL. */
void mech_cable_shape(double L, double x, double S[4], double S1[4], double S2[4]);

/* ε = |r'| − 1; and κ = (r' × r'')/|r'|², 1/m. `second` is left alone unless wanted. */
void mech_cable_axial(const double q[MECH_CABLE_COORDINATES], const double S1[4], bool want_second,
                      struct mech_cable_strain *out);
void mech_cable_bending(const double q[MECH_CABLE_COORDINATES], const double S1[4],
                        const double S2[4], bool want_second, struct mech_cable_strain *out);
