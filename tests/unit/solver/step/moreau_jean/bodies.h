/* A Moreau–Jean stepper of bodies at the start of a step, for tests of its parts.
 *
 *     struct bodies b;
 *     bodies_open(&b, "{'mechd': 1, 'nodes': …}", 0.01);
 *     …
 *     bodies_close(&b);
 */
#pragma once

#include "solver/base/err.h"
#include "solver/step/moreau_jean/bodies.h"
#include "solver/step/moreau_jean/ops.h"
#include "tests/unit/compiled.h"

struct bodies {
    struct compiled c;
    struct mech_moreau_bodies *s;
    struct mech_step_result result;
};

/* the head of a model, its nodes NodePoint of mass points with a sphere of 0.1 m above a plane that
 * is z = 0, and its end */
#define BODIES_NODE(name, at, v)                                                                   \
    "{'name': '" name "', 'type': 'NodePoint', 'referenceCoordinates': " at                        \
    ", 'initialVelocities': " v "}"
#define BODIES_BALL(name, node, mass, material)                                                    \
    "{'name': '" name "', 'type': 'MassPoint', 'node': '" node "', 'physicsMass': " mass           \
    ", 'geometry': [{'shape': 'Sphere', 'radius': 0.1, 'material': " material "}]}"
#define BODIES_PLANE(material)                                                                     \
    "{'name': 'plane', 'type': 'Ground', 'geometry': [{'shape': 'Plane', 'material': " material    \
    "}]}"
#define BODIES_MODEL(gravity, recovery, nodes, objects)                                            \
    "{'mechd': 1, 'gravity': " gravity ", 'contact': {'recoverySpeed': " recovery                  \
    "}, 'nodes': [" nodes "], 'objects': [" objects                                                \
    "], 'solver': {'integrator': 'MoreauJean', 'stepSize': 0.01}}"

/* the state is that of the start, a step of size h is to come */
static inline void bodies_open(struct bodies *b, const char *text, double h)
{
    *b = (struct bodies){.s = NULL};
    compiled_open(&b->c, text);
    void *made = NULL;
    CU_ASSERT_EQUAL_FATAL(mech_moreau_jean_bodies.create(b->c.model, &b->result, &made), 0);
    struct mech_moreau_bodies *const s = made;

    b->s = s;
    CU_ASSERT_EQUAL_FATAL(mech_moreau_jean_bodies.start(s, &b->c.state, &b->result), 0);
    memcpy(s->q0, b->c.state.q, ((size_t)s->nq + 1) * sizeof *s->q0);
    memcpy(s->v0, b->c.state.v, ((size_t)s->nv + 1) * sizeof *s->v0);
    const double end = h * s->theta;

    mech_saddle_form(&s->saddle, (const double[3]){1., end, end * end});
    s->h = h;
}

static inline void bodies_close(struct bodies *b)
{
    mech_moreau_jean_bodies.destroy(b->s);
    compiled_close(&b->c);
}
