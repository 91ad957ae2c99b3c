/* The structs of bodies that viewers draw, as those of bodies.h. */
#pragma once

#include "protocol/wire/body.h"

/* Also read, to be drawn: numbers and lists are parts. */
struct mechp_body_scene_body {
    const char *name, *type;
    struct mechp_part position, rotation, reference;
    struct mechp_part line; /* list of points */
    bool fixed;
    struct mechp_part color;
    struct mechp_part graphics; /* list of scene_graphic */
};

struct mechp_body_scene_graphic {
    const char *shape;
    struct mechp_part center, size;
    double radius;
    struct mechp_part color, normal;
    struct mechp_part points, triangles; /* lists of rows */
};

struct mechp_body_scene_system {
    const char *name, *type;
    struct mechp_numbers coordinates;
};

/* --- their shapes --- */

extern const struct mechp_shape mechp_body_scene_body;
extern const struct mechp_shape mechp_body_scene_graphic;
extern const struct mechp_shape mechp_body_scene_system;
