/* Stability of a coupling about its present state: each instance is linearized, and solver/couple
 * computes the map of a window. */
#include "server/coupling/coupling.h"

#include "protocol/wire/bodies_coupling.h"
#include "server/instance/effort.h"
#include "server/os/ticks.h"
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/couple/stability.h"
#include "solver/sim/analysis.h"

#include <math.h>
#include <stdlib.h>

struct work {
    struct mechd_coupling_command *k;
    struct mech_couple_linear *parts; /* [count] */
    double **blocks;                  /* [count] their matrices */
};

static bool ends(void *context)
{
    return mechd_coupling_ends(context) != MECHP_OK;
}

static void refuse(struct mechd_coupling_command *k, int outcome, const char *who,
                   const char *reason)
{
    char detail[sizeof k->detail];
    mech_text_format(detail, sizeof detail, "%s%.64s%s%.110s", who[0] != '\0' ? "participant " : "",
                     who, who[0] != '\0' ? ": " : "",
                     reason[0] != '\0' ? reason : mech_err_text(outcome));
    mechd_coupling_refuse(k, mechp_code_of_outcome(outcome), detail);
}

/* Column of a force input's component among those of B; −1: it is a parameter. */
static int32_t column_of(const struct mechd_part *p, const struct mechd_coupling_port *port)
{
    int32_t column = 0;
    for (int32_t i = 0; i <= port->index; i++) {
        struct mech_variable v;
        mechd_engine_variable(&p->instance->engine, MECH_INPUT, (size_t)i, &v);
        if (mechd_engine_input_is_parameter(&p->instance->engine, i)) {
            column = i == port->index ? -1 : column;
        } else {
            column += i == port->index ? port->component : v.size;
        }
    }
    return column;
}

/* The rows and columns that the coupling has, in front of all matrices in *block. */
static const char *pick(const struct mechd_part *p, const struct mech_linearization *l,
                        struct mech_couple_linear *out)
{
    const size_t n = (size_t)l->states, m = (size_t)p->in_count;
    double *const B = l->D + (size_t)l->outputs * (size_t)l->inputs;
    double *const C = B + n * m, *const D = C + (size_t)p->out_count * n;
    for (int32_t i = 0; i < p->in_count; i++) {
        const int32_t column = column_of(p, &p->in[i]);
        if (column < 0) {
            return "stability is not computed for inputs that are parameters";
        }
        for (size_t r = 0; r < n; r++) {
            B[r * m + (size_t)i] = l->B[r * (size_t)l->inputs + (size_t)column];
        }
        for (int32_t o = 0; o < p->out_count; o++) {
            struct mech_variable v;
            mechd_engine_variable(&p->instance->engine, MECH_OUTPUT_VARIABLE,
                                  (size_t)p->out[o].index, &v);
            const size_t row = (size_t)v.offset + (size_t)p->out[o].component;
            D[(size_t)o * m + (size_t)i] = l->D[row * (size_t)l->inputs + (size_t)column];
        }
    }
    for (int32_t o = 0; o < p->out_count; o++) {
        struct mech_variable v;
        mechd_engine_variable(&p->instance->engine, MECH_OUTPUT_VARIABLE, (size_t)p->out[o].index,
                              &v);
        const size_t row = (size_t)v.offset + (size_t)p->out[o].component;
        for (size_t j = 0; j < n; j++) {
            C[(size_t)o * n + j] = l->C[row * n + j];
        }
    }
    *out = (struct mech_couple_linear){l->states, l->A, B, C, D};
    return NULL;
}

/* One participant's matrices into a fresh block. 0, or an outcome with its reason; negative. */
static int linearize(const struct mechd_part *p, struct mech_linearization *l, double **block,
                     struct mech_couple_linear *out, char *reason)
{
    MECH_TRY(mech_sim_linearize_init(p->instance->sim, l, reason));
    const size_t n = (size_t)l->states, m = (size_t)l->inputs, outputs = (size_t)l->outputs;
    const size_t in = (size_t)p->in_count, kept = (size_t)p->out_count;
    if (l->states > MECH_COUPLE_STABILITY_MOST) {
        mech_text_format(reason, 160, "%d states: stability is computed up to %d", (int)l->states,
                         MECH_COUPLE_STABILITY_MOST);
        return MECH_UNSUPPORTED;
    }
    *block = calloc((n + outputs) * (n + m) + n * in + kept * (n + in) + 1, sizeof **block);
    if (*block == NULL) {
        return MECH_NO_MEMORY;
    }
    l->A = *block;
    l->B = l->A + n * n;
    l->C = l->B + n * m;
    l->D = l->C + outputs * n;
    MECH_TRY(mech_sim_linearize(p->instance->sim, l, reason));
    const char *const why = pick(p, l, out);
    if (why != NULL) {
        mech_text_format(reason, 160, "%s", why);
    }
    return why != NULL ? MECH_UNSUPPORTED : 0;
}

/* False: refused. */
static bool linearize_all(struct work *w)
{
    const struct mechd_coupling *const g = w->k->coupling;
    int outcome = w->parts != NULL && w->blocks != NULL ? 0 : MECH_NO_MEMORY;
    char reason[160] = "";
    const char *who = "";
    for (int32_t n = 0; n < g->count && outcome == 0; n++) {
        const struct mechd_part *const p = &g->parts[n];
        who = p->name;
        if (p->instance->sim == NULL) {
            mech_text_format(reason, sizeof reason, "it has no model that can be linearized");
            outcome = MECH_UNSUPPORTED;
            break;
        }
        struct mech_linearization l = {.states = 0};
        struct mechd_effort effort = {.start = mechd_now(),
                                      .kind = MECHD_EFFORT_ANALYSIS,
                                      .asks = mechd_call_asks,
                                      .of = w->k->call};
        mechd_effort_begin(p->instance, &effort);
        outcome = linearize(p, &l, &w->blocks[n], &w->parts[n], reason);
        mechd_effort_end(p->instance);
        mech_linearize_fini(&l);
    }
    if (outcome != 0) {
        refuse(w->k, outcome, who, reason);
    }
    return outcome == 0;
}

static void write(const struct mech_couple_stability *s, double size, struct mechp_text *w)
{
    const bool found = s->end == MECH_COUPLE_END_FOUND;
    const struct mechp_body_coupling_stability body = {
        .size = size,
        .spectral_radius = s->radius,
        .stable = s->stable,
        .largest_stable = s->largest,
        .recommended = found ? 0.5 * s->largest : (double)NAN,
        .least = s->least,
        .most = s->most,
        .reason = s->end == MECH_COUPLE_END_UNTOLD
                      ? "the spectral radius of shorter windows differs from 1 by less than the "
                        "rounding error"
                      : NULL};
    MECHP_WRITE(coupling_stability, &body, w);
}

/* Steps beyond it are warned of. What sizes its windows by their error keeps to it by itself. */
static void remember(struct mechd_coupling *g, const struct mech_couple_stability *s)
{
    const bool known = !g->adapts && s->end != MECH_COUPLE_END_UNTOLD;
    g->stable_most = known ? s->largest : (double)INFINITY;
    g->stable_window = mech_couple_windows(g->couple);
}

void mechd_coupling_stability(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    struct work w = {.k = k,
                     .parts = calloc((size_t)g->count, sizeof *w.parts),
                     .blocks = calloc((size_t)g->count, sizeof *w.blocks)};
    if (linearize_all(&w)) {
        struct mech_interrupt ask = {.wanted = ends, .context = k};
        struct mech_couple_stability s;
        char reason[MECH_COUPLE_REASON];
        const int outcome = mech_couple_stability(g->couple, w.parts, k->size, &ask, reason, &s);
        if (outcome != 0) {
            refuse(k, outcome, "", reason);
        } else {
            remember(g, &s);
            write(&s, k->size, &k->call->text);
        }
    }
    for (int32_t n = 0; n < g->count && w.blocks != NULL; n++) {
        free(w.blocks[n]);
    }
    free(w.blocks);
    free(w.parts);
}
