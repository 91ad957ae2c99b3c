/* A still picture of a model, drawn from its scene. */
#pragma once

#include "solver/sim/mech.h"

/* An SVG image of the bodies in the present state, closed by NUL, which the caller frees: in their
 * plane if there is one, else from above at an angle, z up; each shape as its outline. The same
 * state gives the same bytes. *picture is NULL where nothing is drawn. 0 or MECH_NO_MEMORY. */
int mechd_picture(const struct mech_sim *sim, char **picture);
