/* The structs of what a server says about itself, as those of bodies.h. */
#pragma once

#include "protocol/wire/body.h"

struct mechp_body_about_libraries {
    const char *blas, *jansson, *libmicrohttpd, *zeromq;
};

struct mechp_body_about_limits {
    int64_t instances, queue, body, model;
};

struct mechp_body_about_enabled {
    struct mechp_written engines, durability; /* @ lists */
    bool fmus;
    int64_t workers;
};

struct mechp_body_about_endpoints {
    const char *http, *control, *stream, *forces, *lane;
};

struct mechp_body_about_who {
    const char *name, *scope;
};

/* --- their shapes --- */

extern const struct mechp_shape mechp_body_about_enabled;
extern const struct mechp_shape mechp_body_about_endpoints;
extern const struct mechp_shape mechp_body_about_libraries;
extern const struct mechp_shape mechp_body_about_limits;
extern const struct mechp_shape mechp_body_about_who;
