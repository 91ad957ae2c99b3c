/* Contact shapes of bodies as graphics for a viewer. owner: one request. */
#pragma once

#include "protocol/wire/text.h"
#include "solver/items/document.h"
#include "solver/items/shape/shape.h"

/* One graphic of a body's own, as an object of the open array. */
void mechd_scene_graphic(const struct mech_graphic *g, struct mechp_text *w);

/* The same of a shape whose place is p, R (by rows) in the body's frame: a sphere, a box along the
 * axes and a cylinder as such, a capsule as a cylinder and two spheres, a plane by its normal, and
 * all else by triangles. */
void mechd_scene_shape(const struct mech_shape *shape, const double p[3], const double R[9],
                       const double color[4], struct mechp_text *w);
