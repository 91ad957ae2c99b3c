/* A program that takes a partner's place of a coupling: an instance of another daemon stands behind
 * it, so that a coupling spans two daemons.
 *
 *   mechc-half URL COUPLING PARTICIPANT OTHER-URL INSTANCE [WINDOW]
 *
 * Inputs and outputs of the place are those of the instance, by name. WINDOW: where it stands after
 * a start in the middle. With MECHC_LANE set, both connections take the servers' lanes; MECHC_ORDER
 * is the hold of the coupling. Ends with the coupling, and prints the windows that it committed. */
#include "clients/c/mechc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct half {
    struct mechc *c; /* of the other daemon */
    const char *id;
    struct mechc_partner *instance;
    size_t values, outputs;
};

enum {
    REFUSED = 422,       /* HTTP's status of a trial that the solver has given up and undone */
    NOT_CONVERGED = 2002 /* of the table of errors: the window is given up here too */
};

static int exchange(struct half *h, int (*call)(struct mechc_partner *, struct mechc_exchange *),
                    struct mechc_exchange x, double *y)
{
    x.outputs = y;
    x.output_capacity = y ? h->outputs : 0;
    const int result = call(h->instance, &x);
    if (result != MECHC_OK) {
        fprintf(stderr, "mechc-half: %s\n", mechc_last_error(h->c)->text);
    }
    return result == MECHC_OK ? 0 : -result;
}

static int outputs(void *self, const struct mechc_window *w, double *y)
{
    struct half *const h = self;
    const struct mechc_exchange x = {.inputs = w->inputs, .input_count = h->values};
    const int result = exchange(h, mechc_partner_inputs, x, NULL);
    return result == 0 ? exchange(h, mechc_partner_outputs, (struct mechc_exchange){0}, y) : result;
}

static int trial(void *self, const struct mechc_window *w, double *y)
{
    struct half *const h = self;
    const struct mechc_exchange x = {
        .size = w->size, .inputs = w->inputs, .input_count = h->values, .iteration = w->iteration};
    const int result = exchange(h, mechc_partner_trial, x, y);
    return result != 0 && mechc_last_error(h->c)->status == REFUSED ? NOT_CONVERGED : result;
}

static int commit(void *self)
{
    return exchange(self, mechc_partner_commit, (struct mechc_exchange){0}, NULL);
}

/* A value of the place is one number: an output that is a vector has no place for the rest. */
static int check_channels(const struct half *h)
{
    size_t count;
    const struct mechc_channel *const channels = mechc_partner_layout(h->instance, &count);
    for (size_t k = 0; k < count; k++) {
        if (channels[k].count != 1) {
            fprintf(stderr, "mechc-half: output %s has %u values, not one\n", channels[k].name,
                    (unsigned)channels[k].count);
            return MECHC_FAILED;
        }
    }
    return MECHC_OK;
}

/* Serve the place until the coupling ends. */
static int serve(struct mechc *c, const struct mechc_place *place, struct half *h)
{
    struct mechc_participant *p = NULL;
    struct mechc_hello hello = {.input_order = place->input_order};
    int result = mechc_participate(c, place, &p);
    if (result == MECHC_OK) {
        hello.inputs = mechc_participant_inputs(p, &hello.input_count);
        hello.outputs = mechc_participant_outputs(p, &hello.output_count);
        h->values = hello.input_count * (size_t)(hello.input_order + 1);
        h->outputs = hello.output_count;
        if ((getenv("MECHC_LANE") ? mechc_partner_open_lane : mechc_partner_open)(
                h->c, h->id, &hello, &h->instance) != MECHC_OK) {
            fprintf(stderr, "mechc-half: %s\n", mechc_last_error(h->c)->text);
            result = MECHC_FAILED;
        }
    }
    if (result == MECHC_OK) {
        result = check_channels(h);
    }
    if (result == MECHC_OK) {
        const struct mechc_program program = {
            .self = h, .outputs = outputs, .trial = trial, .commit = commit};
        result = mechc_serve(p, &program, 0);
    }
    if (p) {
        printf("%llu\n", (unsigned long long)mechc_participant_window(p, NULL));
    }
    if (result != MECHC_OK && mechc_last_error(c)->text[0] != '\0') {
        fprintf(stderr, "mechc-half: %s\n", mechc_last_error(c)->text);
    }
    mechc_partner_close(h->instance);
    mechc_participant_close(p);
    return result;
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fputs("usage: mechc-half URL COUPLING PARTICIPANT OTHER-URL INSTANCE [WINDOW]\n", stderr);
        return 2;
    }
    const char *const order = getenv("MECHC_ORDER");
    const struct mechc_place place = {.coupling = argv[2],
                                      .participant = argv[3],
                                      .door = getenv("MECHC_LANE") ? MECHC_LANE : MECHC_CONTROL,
                                      .input_order = order ? (int)strtol(order, NULL, 10) : 0,
                                      .window = argc > 6 ? strtoull(argv[6], NULL, 10) : 0,
                                      .returns = 30.};
    struct half h = {.id = argv[5]};
    struct mechc *c = NULL;
    int result = mechc_open(argv[1], &c);
    if (result != MECHC_OK) {
        fprintf(stderr, "mechc-half: %s: %s\n", argv[1], mechc_last_error(c)->text);
    } else if ((result = mechc_open(argv[4], &h.c)) != MECHC_OK) {
        fprintf(stderr, "mechc-half: %s: %s\n", argv[4], mechc_last_error(h.c)->text);
    } else {
        result = serve(c, &place, &h);
    }
    mechc_close(h.c);
    mechc_close(c);
    return result == MECHC_OK ? 0 : 1;
}
