/* Spheres that are dropped into a box of five planes: the document, and what a step of it balances.
 * Radius 0.05 m, density 1000 kg/m³, μ = 0.4 everywhere. pile_create: θ = 1, so that what closes
 * does so without overlapping; 50 sweeps, accepted as they are. */
#pragma once

#include "protocol/bind/bind.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pile {
    struct mech_sim *s;
    int n;
    double h, mass, weight;
    /* of the steps since pile_begin */
    int steps;
    double floor;    /* sum of force of box on spheres over their weight */
    double overlap;  /* m, the largest */
    double contacts; /* sum of their number */
    double momentum; /* what is missing of the balance of a step, over the weight's impulse */
    double *v;       /* [6 n] */
};

/* A model with ' for ", which must be good. */
static inline struct mech_sim *pile_read(char *text)
{
    struct mech_document *document = NULL;
    struct mech_sim *s = NULL;
    struct mech_diag diag;
    json_error_t error;

    for (char *c = text; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    json_t *const value = json_loads(text, 0, &error);

    mech_diag_init(&diag);
    int code = value ? mechp_bind_read(value, "", &diag, &document) : MECH_INVALID;
    code = code ? code : mech_sim_create(document, &diag, &s);
    if (code) {
        fprintf(stderr, "%s\n", diag.count ? diag.entries[0].text : error.text);
        abort();
    }
    mech_diag_fini(&diag);
    json_decref(value);
    return s;
}

static inline void pile_steps(struct pile *p, uint64_t count)
{
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = count};
    struct mech_step_report report;

    if (mech_sim_step(p->s, &r, &report)) {
        fprintf(stderr, "%s\n", report.reason);
        abort();
    }
}

static inline const double *pile_velocities(const struct pile *p)
{
    struct mech_state_view view;

    mech_sim_state(p->s, &view);
    return view.v;
}

#define PILE_RADIUS 0.05
#define PILE_MASS (4. / 3. * 3.14159265358979312 * PILE_RADIUS * PILE_RADIUS * PILE_RADIUS * 1000.)

/* The document of n spheres above a box of this width, m, with ' for "; `settings`: its solver, and
 * what else it says. The caller frees it. */
static inline char *pile_text(int n, double width, const char *settings)
{
    enum { OF_ONE = 400 };
    const double r = PILE_RADIUS, inertia = 0.4 * PILE_MASS * r * r;
    const int per = (int)(width / (2.2 * r));
    char *const text = malloc((size_t)(n + 4) * OF_ONE), *at = text;
    uint32_t seed = 1;

    at += sprintf(at,
                  "{'mechd': 1, 'gravity': [0, 0, -9.81], %s,"
                  "'materials': [{'name': 'm', 'friction': 0.4}], 'nodes': [",
                  settings);
    for (int i = 0; i < n; i++) {
        const int layer = i / (per * per), a = i / per % per, b = i % per;
        double off[2];

        for (int k = 0; k < 2; k++) {
            seed = 1664525u * seed + 1013904223u; /* Numerical Recipes */
            off[k] = ((double)(seed >> 8) / 16777216. - 0.5) * 2e-3;
        }
        at += sprintf(at,
                      "%s{'name': 'n%d', 'type': 'NodeRigidBodyEP', 'referenceCoordinates':"
                      "[%.9g, %.9g, %.9g, 1, 0, 0, 0]}",
                      i ? ", " : "", i, (a + 0.5) * width / per - 0.5 * width + off[0],
                      (b + 0.5) * width / per - 0.5 * width + off[1], 0.08 + 2.3 * r * layer);
    }
    at += sprintf(at, "], 'objects': [{'name': 'box', 'type': 'Ground', 'geometry': ["
                      "{'shape': 'Plane', 'material': 'm'}");
    for (int k = 0; k < 4; k++) {
        const double side = k % 2 ? 0.5 * width : -0.5 * width;

        at += sprintf(at,
                      ", {'shape': 'Plane', 'material': 'm', 'position': [%g, %g, 0], 'normal':"
                      "[%d, %d, 0]}",
                      k < 2 ? side : 0., k < 2 ? 0. : side, k < 2 ? (side < 0. ? 1 : -1) : 0,
                      k < 2 ? 0 : (side < 0. ? 1 : -1));
    }
    at += sprintf(at, "]}");
    for (int i = 0; i < n; i++) {
        at += sprintf(at,
                      ", {'name': 'b%d', 'type': 'RigidBody', 'node': 'n%d', 'physicsMass': %.17g,"
                      "'physicsInertia': [%.17g, %.17g, %.17g, 0, 0, 0], 'geometry': [{'shape':"
                      "'Sphere', 'radius': %g, 'material': 'm'}]}",
                      i, i, PILE_MASS, inertia, inertia, inertia, r);
    }
    sprintf(at, "]}");
    return text;
}

/* `margin` m: how far apart what is looked at may be. */
static inline void pile_create(struct pile *p, int n, double width, double margin)
{
    const double h = 5e-3, mass = PILE_MASS;
    char settings[200];

    snprintf(settings, sizeof settings,
             "'solver': {'integrator': 'MoreauJean', 'theta': 1, 'stepSize': %g,"
             "'vi': {'onFailure': 'accept', 'maxIterations': 50}}, 'contact': {'margin': %g}",
             h, margin);
    char *const text = pile_text(n, width, settings);

    *p = (struct pile){.n = n, .h = h, .mass = mass, .weight = n * mass * 9.81};
    p->s = pile_read(text);
    p->v = calloc(6 * (size_t)n, sizeof *p->v);
    free(text);
}

static inline void pile_destroy(struct pile *p)
{
    mech_sim_destroy(p->s);
    free(p->v);
}

/* Force of the box over the weight in the last step, and the deepest overlap; impulses in out. */
static inline void pile_box(struct pile *p, double out[3])
{
    out[0] = out[1] = out[2] = 0.;
    for (size_t i = 0; i < mech_sim_contacts(p->s); i++) {
        struct mech_contact_view c;

        mech_sim_contact(p->s, i, &c);
        p->overlap = fmax(p->overlap, -c.gap);
        for (int k = 0; k < 3 && strcmp(c.of[0].body, "box") == 0; k++) {
            out[k] += c.impulse[k];
        }
    }
}

/* One step, and what it balances: Σ m Δv = h Σ m g + Σ impulses of the box. */
static inline void pile_step(struct pile *p)
{
    double box[3], change[3] = {0.};

    memcpy(p->v, pile_velocities(p), 6 * (size_t)p->n * sizeof *p->v);
    pile_steps(p, 1);
    const double *const v = pile_velocities(p);

    pile_box(p, box);
    for (int i = 0; i < 6 * p->n; i++) {
        change[i % 6 % 3] += i % 6 < 3 ? p->mass * (v[i] - p->v[i]) : 0.;
    }
    change[2] += p->weight * p->h;
    for (int k = 0; k < 3; k++) {
        p->momentum = fmax(p->momentum, fabs(change[k] - box[k]) / (p->weight * p->h));
    }
    p->floor += box[2] / (p->weight * p->h);
    p->contacts += (double)mech_sim_contacts(p->s);
    p->steps++;
}

static inline void pile_begin(struct pile *p)
{
    p->steps = 0;
    p->floor = p->overlap = p->contacts = p->momentum = 0.;
}
