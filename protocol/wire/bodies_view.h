/* The structs of bodies that viewers draw, as those of bodies.h. */
#pragma once

#include "protocol/wire/body.h"

struct mechp_body_scene_body {
    const char *name, *type;
    struct mechp_numbers position, rotation, reference;
    struct mechp_written line; /* @ list of points */
    bool fixed;
    struct mechp_numbers color;
    struct mechp_written graphics; /* @ list of scene_graphic */
};

struct mechp_body_scene_graphic {
    const char *shape;
    struct mechp_numbers center, size;
    double radius;
    struct mechp_numbers color, normal;
    struct mechp_written points, triangles; /* @ lists of rows */
};

struct mechp_body_scene_system {
    const char *name, *type;
    struct mechp_numbers coordinates;
};

/* --- their shapes --- */

extern const struct mechp_shape mechp_body_scene_body;
extern const struct mechp_shape mechp_body_scene_graphic;
extern const struct mechp_shape mechp_body_scene_system;
