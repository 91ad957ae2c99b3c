/* Variables of one type are one message: a step with inputs and outputs of one type is three
 * exchanges, and one more to save the state. What is not continuous is set in event mode, where the
 * FMU has that: two more. */
#include "server/engine/fmu_exchange.h"

#include "solver/base/err.h"

#include <stdlib.h>
#include <string.h>

/* --- values ----------------------------------------------------------------------------------- */

/* Whether its values are others; `than` NULL: whatever they are. */
static bool differs(const struct mechd_fmu_channel *x, const double *values, const double *than)
{
    const int32_t at = x->v.offset;
    return than == NULL || memcmp(values + at, than + at, (size_t)x->v.size * sizeof *than) != 0;
}

/* Variables of one type whose values differ from `than`; *values is the sum of their sizes. */
static size_t select_type(const struct mechd_fmu_channels *c, enum mech_causality causality,
                          enum mechd_fmu_type type, const double *values, const double *than,
                          size_t *chosen)
{
    size_t n = 0;
    for (size_t k = 0; k < c->count[causality]; k++) {
        const struct mechd_fmu_channel *const x = &c->at[causality][k];
        if (x->of->type == type && (values == NULL || differs(x, values, than))) {
            chosen[n++] = k;
        }
    }
    return n;
}

/* The head of a question about the chosen variables; returns the number of their values. */
static size_t put_head(struct mechd_fmu_session *s, uint32_t verb, enum mech_causality causality,
                       const size_t *chosen, size_t n)
{
    struct mechd_pipe_message *const m = mechd_hosted_question(s->hosted);
    const struct mechd_fmu_channel *const at = s->channels->at[causality];
    const enum mechd_fmu_type type = at[chosen[0]].of->type;
    size_t count = 0;
    for (size_t k = 0; k < n; k++) {
        count += (size_t)at[chosen[k]].v.size;
    }
    mechd_pipe_begin(m, verb);
    mechd_pipe_put_u32(m, (uint32_t)type);
    mechd_pipe_put_u32(m, (uint32_t)n);
    mechd_pipe_put_u32(m, (uint32_t)mechd_fmu_element(type));
    mechd_pipe_put_u32(m, (uint32_t)count);
    for (size_t k = 0; k < n; k++) {
        mechd_pipe_put_u32(m, at[chosen[k]].of->reference);
    }
    return count;
}

static int set_chosen(struct mechd_fmu_session *s, enum mech_causality causality,
                      const double *values, const size_t *chosen, size_t n)
{
    const struct mechd_fmu_channel *const at = s->channels->at[causality];
    const enum mechd_fmu_type type = at[chosen[0]].of->type;
    const size_t count = put_head(s, MECHD_FMU_SET, causality, chosen, n);
    char *const elements = calloc(count + 1, mechd_fmu_element(type));
    char *to = elements;
    if (elements == NULL) {
        return MECH_NO_MEMORY;
    }
    for (size_t k = 0; k < n; k++) {
        const struct mech_variable *const v = &at[chosen[k]].v;
        mechd_fmu_encode(type, values + v->offset, (size_t)v->size, to);
        to += (size_t)v->size * mechd_fmu_element(type);
    }
    mechd_pipe_put(mechd_hosted_question(s->hosted), elements, (size_t)(to - elements));
    free(elements);
    return mechd_fmu_session_ask(s);
}

static int get_chosen(struct mechd_fmu_session *s, enum mech_causality causality, double *values,
                      const size_t *chosen, size_t n)
{
    const struct mechd_fmu_channel *const at = s->channels->at[causality];
    const enum mechd_fmu_type type = at[chosen[0]].of->type;
    const size_t count = put_head(s, MECHD_FMU_GET, causality, chosen, n);
    MECH_TRY(mechd_fmu_session_ask(s));
    struct mechd_pipe_message *const m = mechd_hosted_answer(s->hosted);
    const unsigned char *from = mechd_pipe_get_bytes(m, count * mechd_fmu_element(type));
    if (from == NULL || !mechd_pipe_whole(m)) {
        return mechd_fmu_session_distrust(s);
    }
    for (size_t k = 0; k < n; k++) {
        const struct mech_variable *const v = &at[chosen[k]].v;
        mechd_fmu_decode(type, from, (size_t)v->size, values + v->offset);
        from += (size_t)v->size * mechd_fmu_element(type);
    }
    return 0;
}

/* Sets (`set`) or gets all values, type by type. */
static int exchange(struct mechd_fmu_session *s, enum mech_causality causality, const double *set,
                    const double *than, double *get)
{
    size_t *const chosen = calloc(s->channels->count[causality] + 1, sizeof *chosen);
    int rc = chosen == NULL ? MECH_NO_MEMORY : s->hosted == NULL ? MECHD_HOSTED_GONE : 0;
    for (int type = 0; rc == 0 && type < MECHD_FMU_TYPES; type++) {
        const size_t n =
            select_type(s->channels, causality, (enum mechd_fmu_type)type, set, than, chosen);
        if (n > 0) {
            rc = set != NULL ? set_chosen(s, causality, set, chosen, n)
                             : get_chosen(s, causality, get, chosen, n);
        }
    }
    free(chosen);
    return rc;
}

/* Whether values that are set are not continuous, of an FMU with event mode. */
static bool makes_event(const struct mechd_fmu_session *s, enum mech_causality causality,
                        const double *values, const double *than)
{
    bool found = false;
    for (size_t k = 0; !found && k < s->channels->count[causality]; k++) {
        const struct mechd_fmu_channel *const x = &s->channels->at[causality][k];
        found = x->of->variability != MECHD_FMU_CONTINUOUS && differs(x, values, than);
    }
    return found && (s->options.can & MECHD_FMU_EVENTS) != 0;
}

int mechd_fmu_session_set(struct mechd_fmu_session *s, enum mech_causality causality,
                          const double *values, const double *than)
{
    if (!makes_event(s, causality, values, than)) {
        return exchange(s, causality, values, than, NULL);
    }
    MECH_TRY(mechd_fmu_session_ask_verb(s, MECHD_FMU_EVENT));
    const int rc = exchange(s, causality, values, than, NULL);
    if (s->hosted == NULL) {
        return rc;
    }
    // also where a value was refused: steps are made in step mode
    char reason[sizeof s->reason];
    mech_text_copy(reason, sizeof reason, s->reason);
    const int over = mechd_fmu_session_ask_verb(s, MECHD_FMU_RESUME);
    if (rc == 0 || over == MECHD_HOSTED_GONE) {
        return over;
    }
    mech_text_copy(s->reason, sizeof s->reason, reason);
    return rc;
}

int mechd_fmu_session_get(struct mechd_fmu_session *s, enum mech_causality causality,
                          double *values)
{
    return exchange(s, causality, NULL, NULL, values);
}

int mechd_fmu_session_set_start(struct mechd_fmu_session *s, enum mech_causality causality,
                                const double *values)
{
    double *const own = calloc(s->channels->size[causality] + 1, sizeof *own);
    if (own == NULL) {
        return MECH_NO_MEMORY;
    }
    mechd_fmu_channels_start(s->channels, causality, own);
    const int rc = exchange(s, causality, values, own, NULL);
    free(own);
    return rc;
}

/* --- derivatives ------------------------------------------------------------------------------ */

/* Those that have slopes (and, `direction`: are in it); returns how many, and their numbers. */
static size_t select_slopes(const struct mechd_fmu_session *s, enum mech_causality causality,
                            const double *direction, size_t *chosen, size_t *count)
{
    size_t n = 0;
    *count = 0;
    for (size_t k = 0; k < s->channels->count[causality]; k++) {
        const struct mechd_fmu_channel *const x = &s->channels->at[causality][k];
        bool taken = mechd_fmu_channel_has_slopes(x) && direction == NULL;
        for (int32_t j = 0; direction != NULL && j < x->v.size; j++) {
            taken = taken || direction[x->v.offset + j] != 0.;
        }
        if (taken) {
            chosen[n++] = k;
            *count += (size_t)x->v.size;
        }
    }
    return n;
}

static void put_references(struct mechd_fmu_session *s, enum mech_causality causality,
                           const size_t *chosen, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        mechd_pipe_put_u32(mechd_hosted_question(s->hosted),
                           s->channels->at[causality][chosen[k]].of->reference);
    }
}

/* Asks. The answer has values of the chosen ones, which go to their places. */
static int ask_slopes(struct mechd_fmu_session *s, enum mech_causality causality,
                      const size_t *chosen, size_t n, double *out)
{
    MECH_TRY(mechd_fmu_session_ask(s));
    struct mechd_pipe_message *const answer = mechd_hosted_answer(s->hosted);
    for (size_t k = 0; k < n; k++) {
        const struct mech_variable *const v = &s->channels->at[causality][chosen[k]].v;
        mechd_pipe_get_f64(answer, out + v->offset, (size_t)v->size);
    }
    return mechd_pipe_whole(answer) ? 0 : mechd_fmu_session_distrust(s);
}

/* The chosen variables of a causality. */
struct slopes {
    enum mech_causality of;
    size_t *chosen, n, count; /* count: their numbers */
};

/* From inputs to outputs; `back`, from outputs to inputs. */
static int derive(struct mechd_fmu_session *s, bool back, const double *seed, size_t *scratch,
                  double *out)
{
    struct slopes y = {.of = MECH_OUTPUT_VARIABLE, .chosen = scratch};
    struct slopes u = {.of = MECH_INPUT,
                       .chosen = scratch + s->channels->count[MECH_OUTPUT_VARIABLE]};
    struct slopes *const from = back ? &y : &u, *const to = back ? &u : &y;
    from->n = select_slopes(s, from->of, seed, from->chosen, &from->count);
    to->n = select_slopes(s, to->of, NULL, to->chosen, &to->count);
    memset(out, 0, s->channels->size[to->of] * sizeof *out);
    if (from->n == 0 || to->n == 0) {
        return 0;
    }
    struct mechd_pipe_message *const question = mechd_hosted_question(s->hosted);
    const size_t head[] = {y.n, y.count, u.n, u.count};
    mechd_pipe_begin(question, back ? MECHD_FMU_ADJOIN : MECHD_FMU_DERIVE);
    for (size_t k = 0; k < sizeof head / sizeof *head; k++) {
        mechd_pipe_put_u32(question, (uint32_t)head[k]);
    }
    put_references(s, y.of, y.chosen, y.n);
    put_references(s, u.of, u.chosen, u.n);
    for (size_t k = 0; k < from->n; k++) {
        const struct mech_variable *const v = &s->channels->at[from->of][from->chosen[k]].v;
        mechd_pipe_put_f64(question, seed + v->offset, (size_t)v->size);
    }
    return ask_slopes(s, to->of, to->chosen, to->n, out);
}

/* outputs: scratch [of them] */
static int ask_rates(struct mechd_fmu_session *s, size_t *outputs, double *out)
{
    size_t count = 0;
    const size_t n = select_slopes(s, MECH_OUTPUT_VARIABLE, NULL, outputs, &count);
    memset(out, 0, s->channels->size[MECH_OUTPUT_VARIABLE] * sizeof *out);
    if (n == 0) {
        return 0;
    }
    if (s->hosted == NULL) {
        return MECHD_HOSTED_GONE;
    }
    mechd_pipe_begin(mechd_hosted_question(s->hosted), MECHD_FMU_RATES);
    mechd_pipe_put_u32(mechd_hosted_question(s->hosted), (uint32_t)n);
    mechd_pipe_put_u32(mechd_hosted_question(s->hosted), (uint32_t)count);
    put_references(s, MECH_OUTPUT_VARIABLE, outputs, n);
    return ask_slopes(s, MECH_OUTPUT_VARIABLE, outputs, n, out);
}

int mechd_fmu_session_rates(struct mechd_fmu_session *s, double *out)
{
    size_t *const outputs = calloc(s->channels->count[MECH_OUTPUT_VARIABLE] + 1, sizeof *outputs);
    const int rc = outputs != NULL ? ask_rates(s, outputs, out) : MECH_NO_MEMORY;
    free(outputs);
    return rc;
}

static int derive_chosen(struct mechd_fmu_session *s, bool back, const double *seed, double *out)
{
    const size_t *const count = s->channels->count;
    size_t *const chosen =
        calloc(count[MECH_OUTPUT_VARIABLE] + count[MECH_INPUT] + 1, sizeof *chosen);
    int rc = chosen == NULL ? MECH_NO_MEMORY : s->hosted == NULL ? MECHD_HOSTED_GONE : 0;
    rc = rc == 0 ? derive(s, back, seed, chosen, out) : rc;
    free(chosen);
    return rc;
}

int mechd_fmu_session_derive(struct mechd_fmu_session *s, const double *direction, double *out)
{
    return derive_chosen(s, false, direction, out);
}

int mechd_fmu_session_adjoin(struct mechd_fmu_session *s, const double *seed, double *out)
{
    return derive_chosen(s, true, seed, out);
}
