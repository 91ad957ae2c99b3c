/* Documents of many bodies that stand or fall, with ' for "; the caller frees them. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* In [0, 1), from a state that may be any number but goes on. */
static inline double crowd_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

/* Cubes of that half width and mass on each other, `clear` apart, the first at height z, turned by
 * `turn` about x; all of it moved by `far` along each axis. */
static inline char *crowd_cubes(int count, const double cube[2], const double place[4],
                                const char *rest)
{
    const double a = cube[0], m = cube[1], z = place[0], clear = place[1], turn = place[2];
    const double far = place[3];
    const double J = 2. / 3. * m * a * a;
    char *const text = malloc(2000 + 500 * (size_t)count), *at = text;

    at += sprintf(at, "{'mechd': 1, 'gravity': [0, 0, -9.81], %s, 'nodes': [", rest);
    for (int i = 0; i < count; i++) {
        at += sprintf(at,
                      "%s{'name': 'n%d', 'type': 'NodeRigidBodyEP', 'referenceCoordinates':"
                      "[%g, %g, %.17g, %.17g, %.17g, 0, 0]}",
                      i ? ", " : "", i, far, far, far + z + i * (2. * a + clear), cos(0.5 * turn),
                      sin(0.5 * turn));
    }
    at += sprintf(at,
                  "], 'objects': [{'name': 'g', 'type': 'Ground', 'geometry': [{'shape':"
                  "'Plane', 'material': 'm', 'position': [%g, %g, %g]}]}",
                  far, far, far);
    for (int i = 0; i < count; i++) {
        at += sprintf(at,
                      ", {'name': 'b%d', 'type': 'RigidBody', 'node': 'n%d', 'physicsMass': %.17g,"
                      "'physicsInertia': [%.17g, %.17g, %.17g, 0, 0, 0], 'geometry': [{'shape':"
                      "'Box', 'size': [%.17g, %.17g, %.17g], 'material': 'm'}]}",
                      i, i, m, J, J, J, 2. * a, 2. * a, 2. * a);
    }
    sprintf(at, "]}");
    return text;
}

/* What follows the nodes of a document of `count` boxes of 0.2 m and 8 kg, and a floor; the first
 * box is a slab of 20 × 20 × 0.2 m if it has a mass. */
static inline void crowd_boxes(char *at, int count, double slab)
{
    at += sprintf(at, "], 'objects': [{'name': 'g', 'type': 'Ground', 'geometry': [{'shape':"
                      "'Plane', 'material': 'm'}]}");
    if (slab > 0.) {
        at += sprintf(at,
                      ", {'name': 'b0', 'type': 'RigidBody', 'node': 'n0', 'physicsMass': %g,"
                      "'physicsInertia': [%g, %g, %g, 0, 0, 0], 'geometry': [{'shape': 'Box',"
                      "'size': [20, 20, 0.2], 'material': 'm'}]}",
                      slab, slab * 400.04 / 12., slab * 400.04 / 12., slab * 800. / 12.);
    }
    for (int i = slab > 0. ? 1 : 0; i < count; i++) {
        at += sprintf(at,
                      ", {'name': 'b%d', 'type': 'RigidBody', 'node': 'n%d', 'physicsMass': 8,"
                      "'physicsInertia': [0.0533, 0.0533, 0.0533, 0, 0, 0], 'geometry': [{'shape':"
                      "'Box', 'size': [0.2, 0.2, 0.2], 'material': 'm'}]}",
                      i, i);
    }
    sprintf(at, "]}");
}

/* rows × columns boxes of 0.2 m and 8 kg, every other row moved by half a box */
static inline char *crowd_wall(int rows, int columns)
{
    const int count = rows * columns;
    char *const text = malloc(2000 + 400 * (size_t)count), *at = text;

    at += sprintf(at, "{'mechd': 1, 'gravity': [0, 0, -9.81], 'solver': {'integrator':"
                      "'MoreauJean', 'stepSize': 0.005}, 'materials': [{'name': 'm', 'friction':"
                      "0.5}], 'nodes': [");
    for (int i = 0; i < count; i++) {
        at += sprintf(at,
                      "%s{'name': 'n%d', 'type': 'NodeRigidBodyEP', 'referenceCoordinates':"
                      "[%.17g, 0, %.17g, 1, 0, 0, 0]}",
                      i ? ", " : "", i, 0.21 * (i % columns) + 0.1 * (i / columns % 2),
                      0.1 + 0.2 * (i / columns));
    }
    crowd_boxes(at, count, 0.);
    return text;
}

/* Boxes of 0.2 m and 8 kg: a tower or wall of so many rows and columns, the last of them spinning
 * about the vertical, rad/s, and some beside it that fall at this speed; all on a slab of that
 * mass if it has one. Friction 0.5 and the seed 7 where they are 0. */
struct crowd {
    int rows, columns;
    double spin;
    int falling;
    double speed, slab, friction;
    uint64_t seed;
};

/* What falls is turned at random, in layers of nine above the floor. */
static inline char *crowd_text(struct crowd of)
{
    const int standing = of.rows * of.columns, slabs = of.slab > 0. ? 1 : 0;
    const double floor = slabs ? 0.2 : 0.;
    char *const text = malloc(2000 + 600 * (size_t)(standing + of.falling)), *at = text;
    uint64_t seed = of.seed ? of.seed : 7;

    at += sprintf(at,
                  "{'mechd': 1, 'gravity': [0, 0, -9.81], 'solver': {'integrator':"
                  "'MoreauJean', 'stepSize': 0.005}, 'materials': [{'name': 'm', 'friction':"
                  "%g}], 'nodes': [",
                  of.friction > 0. ? of.friction : 0.5);
    if (slabs) {
        at += sprintf(at, "{'name': 'n0', 'type': 'NodeRigidBodyEP', 'referenceCoordinates':"
                          "[0, 0, 0.1, 1, 0, 0, 0]}, ");
    }
    for (int i = 0; i < standing; i++) {
        const int row = i / of.columns, column = i % of.columns;

        at += sprintf(at,
                      "%s{'name': 'n%d', 'type': 'NodeRigidBodyEP', 'referenceCoordinates':"
                      "[%.17g, -5, %.17g, 1, 0, 0, 0], 'initialVelocities': [0, 0, 0, 0, 0, 0,"
                      "%.17g]}",
                      i ? ", " : "", slabs + i,
                      0.21 * column + (of.columns > 1 ? 0.1 * (row % 2) : 0.),
                      floor + 0.1 + 0.2 * row, i == standing - 1 ? 0.5 * of.spin : 0.);
    }
    for (int i = 0; i < of.falling; i++) {
        const double along = 0.05 * crowd_random(&seed);
        const double beside = 0.05 * crowd_random(&seed);
        double q[4], size = 0.;

        for (int k = 0; k < 4; k++) {
            q[k] = crowd_random(&seed) - 0.5;
            size += q[k] * q[k];
        }
        size = sqrt(size);
        at += sprintf(at,
                      "%s{'name': 'n%d', 'type': 'NodeRigidBodyEP', 'referenceCoordinates':"
                      "[%.17g, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g], 'initialVelocities':"
                      "[0, 0, %g, 0, 0, 0, 0]}",
                      standing + i ? ", " : "", slabs + standing + i, 0.3 * (i % 3) + along,
                      0.3 * (i / 3 % 3) + beside, floor + (standing ? 0.13 : 0.3) + 0.3 * (i / 9),
                      q[0] / size, q[1] / size, q[2] / size, q[3] / size, -of.speed);
    }
    crowd_boxes(at, slabs + standing + of.falling, of.slab);
    return text;
}

/* Boxes of any sizes, masses and turns above each other, let go over a floor, with any friction
 * and restitution, at default settings. */
static inline char *crowd_above(int boxes, uint64_t seed, const char *law)
{
    const double mu = 0.1 + 0.8 * crowd_random(&seed);
    const double e = seed % 2 ? 0. : 0.5 * crowd_random(&seed);
    const size_t room = 2000 + 700 * (size_t)boxes;
    char *const text = malloc(2 * room), *const objects = malloc(room);
    char *at = text, *object = objects;

    at += sprintf(at,
                  "{'mechd': 1, 'gravity': [0, 0, -9.81], 'contact': {'friction': '%s'}, 'solver':"
                  "{'integrator': 'MoreauJean', 'stepSize': 0.005}, 'materials': [{'name': 'm',"
                  "'friction': %.17g, 'restitution': %.17g}], 'nodes': [",
                  law, mu, e);
    *object = '\0';
    for (int i = 0; i < boxes; i++) {
        const double a = 0.04 + 0.1 * crowd_random(&seed), m = pow(10., crowd_random(&seed) - 0.5);
        const double size[] = {a * (0.5 + crowd_random(&seed)), a * (0.5 + crowd_random(&seed)), a};
        const double x = crowd_random(&seed) - 0.5, y = crowd_random(&seed) - 0.5;
        const double z = crowd_random(&seed) - 0.5, w = 1. / sqrt(1. + x * x + y * y + z * z);
        /* a statement each: the order of arguments is the compiler's */
        const double beside = 0.04 * crowd_random(&seed), along = 0.04 * crowd_random(&seed);

        at += sprintf(at,
                      "%s{'name': 'n%d', 'type': 'NodeRigidBodyEP', 'referenceCoordinates':"
                      "[%.17g, %.17g, %g, %.17g, %.17g, %.17g, %.17g]}",
                      i ? ", " : "", i, along, beside, 0.12 + 0.18 * i, w, x * w, y * w, z * w);
        object +=
            sprintf(object,
                    ", {'name': 'b%d', 'type': 'RigidBody', 'node': 'n%d', 'physicsMass': %.17g,"
                    "'physicsInertia': [%.17g, %.17g, %.17g, 0, 0, 0], 'geometry': [{'shape':"
                    "'Box', 'size': [%.17g, %.17g, %.17g], 'material': 'm'}]}",
                    i, i, m, m / 12. * (size[1] * size[1] + size[2] * size[2]),
                    m / 12. * (size[0] * size[0] + size[2] * size[2]),
                    m / 12. * (size[0] * size[0] + size[1] * size[1]), size[0], size[1], size[2]);
    }
    sprintf(at,
            "], 'objects': [{'name': 'g', 'type': 'Ground', 'geometry': [{'shape': 'Plane',"
            "'material': 'm'}]}%s]}",
            objects);
    free(objects);
    return text;
}
