/* A co-simulation partner: drives one input, reads all outputs, step by step.
 *
 *   mechc-example URL INSTANCE INPUT H STEPS [OUTPUT ...]
 *
 * Each communication step is tried first with the force of the last one, then with the force for
 * its end, and the second try is committed. Prints time and outputs with all their digits. With
 * MECHC_FOLLOW set, the printed values come from the stream instead, as for another client. With
 * MECHC_LANE set, the frames take the server's lane. With MECHC_PUSH set, all forces go ahead
 * through the forces socket, each with the time from which it holds, and the steps carry none. */
#include "clients/c/mechc.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64 };

static void print(double time, const double *values, size_t count)
{
    printf("%.17g", time);
    for (size_t i = 0; i < count; i++) {
        printf(" %.17g", values[i]);
    }
    putchar('\n');
}

/* One step: a trial, a better trial, the commit. */
static int advance(struct mechc_partner *p, struct mechc_exchange *x, double force)
{
    int result = mechc_partner_trial(p, x);
    if (result == MECHC_OK) {
        x->inputs = &force;
        x->iteration = 1;
        result = mechc_partner_trial(p, x);
    }
    return result == MECHC_OK ? mechc_partner_commit(p, &(struct mechc_exchange){0}) : result;
}

static double force_at(long k)
{
    return 20. * sin(0.3 * (double)k);
}

/* All forces but the first, stamped just before their steps begin; then one that holds at once:
 * once it is seen as the input's value, those before it have arrived too. */
static int push(struct mechc *c, struct mechc_partner *p, char **argv, double size)
{
    const long steps = strtol(argv[5], NULL, 10);
    const double first = 0.5;
    int result = MECHC_OK;
    for (long k = 1; k < steps && result == MECHC_OK; k++) {
        const double force = force_at(k);
        result = mechc_partner_push(p, ((double)k - 1e-4) * size, &force, 1);
    }
    if (result == MECHC_OK) {
        result = mechc_partner_push(p, 0., &first, 1);
    }
    double seen = 0.;
    for (int tries = 0; result == MECHC_OK && seen != first; tries++) {
        size_t count = 0;
        result =
            tries < 100000 ? mechc_input(c, argv[2], argv[3], &seen, 1, &count) : MECHC_TIMEOUT;
    }
    return result;
}

/* The frames up to a time. */
static int follow(struct mechc_stream *s, double until)
{
    struct mechc_sample sample = {.time = -1.};
    while (sample.time < until) {
        const int result = mechc_stream_next(s, 10., &sample);
        if (result != MECHC_OK) {
            return result;
        }
        print(sample.time, sample.values, sample.count);
    }
    return MECHC_OK;
}

static int drive(struct mechc *c, char **argv, int count)
{
    const char *const input = argv[3];
    const struct mechc_hello hello = {.inputs = &input,
                                      .input_count = 1,
                                      .outputs = (const char *const *)argv + 6,
                                      .output_count = (size_t)count};
    const long steps = strtol(argv[5], NULL, 10);
    double values[MOST], last = 0.;
    struct mechc_exchange x = {.size = strtod(argv[4], NULL), .outputs = values};
    x.output_capacity = MOST;
    struct mechc_stream *stream = NULL;
    struct mechc_partner *p = NULL;
    int result = getenv("MECHC_FOLLOW") ? mechc_stream_open(c, argv[2], &stream) : MECHC_OK;
    if (result == MECHC_OK) {
        result = getenv("MECHC_LANE") ? mechc_partner_open_lane(c, argv[2], &hello, &p)
                                      : mechc_partner_open(c, argv[2], &hello, &p);
    }
    const bool pushed = getenv("MECHC_PUSH");
    if (result == MECHC_OK && pushed) {
        result = push(c, p, argv, x.size);
    }
    for (long k = 0; k < steps && result == MECHC_OK; k++) {
        const double force = force_at(k);
        x.inputs = &last;
        x.input_count = pushed ? 0 : 1;
        x.iteration = 0;
        result = pushed ? mechc_partner_step(p, &x) : advance(p, &x, force);
        if (result == MECHC_OK && !stream) {
            print(x.time, values, x.output_count < MOST ? x.output_count : MOST);
        }
        last = force;
    }
    if (result == MECHC_OK && stream) {
        result = follow(stream, x.time);
    }
    mechc_partner_close(p);
    mechc_stream_close(stream);
    return result;
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fputs("usage: mechc-example URL INSTANCE INPUT H STEPS [OUTPUT ...]\n", stderr);
        return 2;
    }
    struct mechc *c;
    int result = mechc_open(argv[1], &c);
    if (result == MECHC_OK) {
        result = drive(c, argv, argc - 6);
    }
    if (result != MECHC_OK) {
        fprintf(stderr, "mechc-example: %s\n", mechc_last_error(c)->text);
    }
    mechc_close(c);
    return result == MECHC_OK ? 0 : 1;
}
