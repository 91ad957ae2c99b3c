/* Where the process is, and what it is brought to. */
#include "server/engine/fmu_exchange.h"
#include "server/engine/fmu_follow.h"

#include "solver/base/err.h"
#include "solver/base/text.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void mechd_fmu_end(struct mechd_fmu_instance *f, const char *reason)
{
    mechd_fmu_session_end(&f->session);
    f->place = MECHD_FMU_ENDED;
    mech_text_format(f->ended, sizeof f->ended, "%.180s; reset%s starts it again", reason,
                     f->saves ? " or a snapshot" : "");
}

int mechd_fmu_lost(struct mechd_fmu_instance *f, int rc)
{
    const bool gone = f->session.hosted == NULL;
    const bool stopped = rc == MECHD_HOSTED_STOPPED || (gone && f->session.stopped);
    f->sent_known = false;
    if (rc > 0) {
        mech_text_copy(f->refusal, sizeof f->refusal, f->session.reason);
    }
    if (stopped && f->saves) {
        f->place = gone ? MECHD_FMU_RENEWED : MECHD_FMU_MOVED;
    } else if (gone) {
        mechd_fmu_end(f, f->session.reason);
        if (stopped) {
            // what stops a command undoes others, but not this one
            mech_text_copy(f->refusal, sizeof f->refusal, f->ended);
        }
    } else if (f->place != MECHD_FMU_AT_POINT && !f->saves) {
        char why[MECH_DIAG_TEXT];
        mech_text_format(why, sizeof why, "%.120s, and the FMU cannot restore its state",
                         rc > 0 ? f->session.reason : "no memory");
        mechd_fmu_end(f, why);
        mech_text_copy(f->refusal, sizeof f->refusal, f->ended);
    }
    return rc < 0 ? rc : stopped ? MECH_CANCELLED : MECH_ENGINE_FAILED;
}

int mechd_fmu_send(struct mechd_fmu_instance *f, const struct mechd_fmu_point *p, double time)
{
    const size_t n = f->channels.size[MECH_INPUT], m = f->channels.size[MECH_PARAMETER];
    mechd_fmu_point_inputs(p, &f->channels, time, f->given);
    for (size_t k = 0; k < m && !f->sent_known; k++) {
        // what cannot be tuned is what it was begun with
        f->sent_parameters[k] =
            f->channels.at[MECH_PARAMETER][k].v.tunable ? (double)NAN : p->parameters[k];
    }
    MECH_TRY(mechd_fmu_session_set(&f->session, MECH_PARAMETER, p->parameters, f->sent_parameters));
    MECH_TRY(
        mechd_fmu_session_set(&f->session, MECH_INPUT, f->given, f->sent_known ? f->sent : NULL));
    memcpy(f->sent, f->given, n * sizeof *f->sent);
    memcpy(f->sent_parameters, p->parameters, m * sizeof *f->sent_parameters);
    f->sent_known = true;
    return 0;
}

bool mechd_fmu_pends(struct mechd_fmu_instance *f, const struct mechd_fmu_point *p, double time)
{
    const size_t n = f->channels.size[MECH_INPUT], m = f->channels.size[MECH_PARAMETER];
    mechd_fmu_point_inputs(p, &f->channels, time, f->given);
    return !f->sent_known || memcmp(f->given, f->sent, n * sizeof *f->sent) != 0 ||
           memcmp(p->parameters, f->sent_parameters, m * sizeof *f->sent_parameters) != 0;
}

static int save(struct mechd_fmu_instance *f, struct mechd_fmu_point *p)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    if (!f->saves) {
        return 0;
    }
    MECH_TRY(mechd_fmu_session_save(&f->session, &bytes, &size));
    if (f->state_most > 0 && size > f->state_most) {
        mech_text_format(f->session.reason, sizeof f->session.reason,
                         "the FMU's state has grown to %zu bytes, beyond %zu", size, f->state_most);
        free(bytes);
        return MECHD_HOSTED_REFUSED;
    }
    free(p->state);
    p->state = bytes;
    p->state_size = size;
    return 0;
}

static int read_outputs(struct mechd_fmu_instance *f, struct mechd_fmu_point *p)
{
    MECH_TRY(mechd_fmu_session_get(&f->session, MECH_OUTPUT_VARIABLE, p->outputs));
    for (size_t k = 0; k < f->channels.size[MECH_OUTPUT_VARIABLE]; k++) {
        if (!isfinite(p->outputs[k])) {
            mech_text_format(f->session.reason, sizeof f->session.reason,
                             "an output of the FMU is infinite or not a number");
            return MECHD_HOSTED_REFUSED;
        }
    }
    return 0;
}

/* An FMU that has none where it is, as one that does not know them before its first step, goes on
 * without. */
static int read_rates(struct mechd_fmu_instance *f, struct mechd_fmu_point *p)
{
    const size_t n = f->channels.size[MECH_OUTPUT_VARIABLE];
    const bool asks = f->package->description.derivative_order > 0 && p->steps > 0;
    const int rc = asks ? mechd_fmu_session_rates(&f->session, p->rates) : MECHD_HOSTED_REFUSED;
    for (size_t k = 0; k < n && rc == MECHD_HOSTED_REFUSED; k++) {
        p->rates[k] = NAN;
    }
    return rc == MECHD_HOSTED_REFUSED ? 0 : rc;
}

/* False: there is no place. */
static bool take_place(struct mechd_fmu_instance *f)
{
    struct mechd_fmu_places *const p = f->places;
    int taken = p != NULL ? atomic_load(&p->taken) : 0;
    while (p != NULL && taken < p->most && !f->placed) {
        f->placed = atomic_compare_exchange_weak(&p->taken, &taken, taken + 1);
    }
    return p == NULL || f->placed;
}

void mechd_fmu_leave_place(struct mechd_fmu_instance *f)
{
    if (f->placed) {
        atomic_fetch_sub(&f->places->taken, 1);
    }
    f->placed = false;
}

int mechd_fmu_begin_at(struct mechd_fmu_instance *f, struct mechd_fmu_session *session,
                       const struct mechd_fmu_point *p)
{
    f->full = !take_place(f);
    if (f->full) {
        session->stopped = false;
        mech_text_format(
            session->reason, sizeof session->reason,
            "%d FMUs are running, as many as the limit of descriptors (ulimit -n) allows",
            f->places->most);
        return MECHD_HOSTED_FULL;
    }
    mechd_fmu_point_inputs(&f->first, &f->channels, f->first.time, f->given);
    MECH_TRY(mechd_fmu_session_begin(session, f->given, f->first.parameters));
    const int rc = p->state != NULL && p != &f->first
                       ? mechd_fmu_session_restore(session, p->state, p->state_size)
                       : 0;
    if (rc != 0) {
        mechd_fmu_session_end(session);
    }
    return rc;
}

void mechd_fmu_holds(struct mechd_fmu_instance *f, const double *held)
{
    memcpy(f->sent, held, mechd_fmu_point_held(&f->channels) * sizeof *f->sent);
    f->sent_known = true;
}

void mechd_fmu_drop_trial(struct mechd_fmu_instance *f)
{
    f->place = f->place == MECHD_FMU_AT_TRIAL ? MECHD_FMU_MOVED : f->place;
}

int mechd_fmu_settle(struct mechd_fmu_instance *f)
{
    int rc = 0;
    assert(f->place != MECHD_FMU_AT_TRIAL);
    if (f->place == MECHD_FMU_ENDED) {
        mech_text_copy(f->refusal, sizeof f->refusal, f->ended);
        return MECH_ENGINE_FAILED;
    }
    if (f->place == MECHD_FMU_RENEWED) {
        rc = mechd_fmu_begin_at(f, &f->session, &f->now);
    } else if (f->place == MECHD_FMU_MOVED) {
        rc = mechd_fmu_session_restore(&f->session, f->now.state, f->now.state_size);
    } else {
        return 0;
    }
    if (rc == 0) {
        mechd_fmu_holds(f, f->now.held);
    }
    f->place = rc == 0 ? MECHD_FMU_AT_POINT : f->place;
    return rc == 0 ? 0 : mechd_fmu_lost(f, rc);
}

int mechd_fmu_receive(struct mechd_fmu_instance *f, struct mechd_fmu_point *p)
{
    MECH_TRY(read_outputs(f, p));
    MECH_TRY(read_rates(f, p));
    MECH_TRY(save(f, p));
    memcpy(p->held, f->sent, mechd_fmu_point_held(&f->channels) * sizeof *p->held);
    return 0;
}

/* --- inputs ----------------------------------------------------------------------------------- */

static bool takes_signal(const struct mechd_fmu_instance *f, const struct mechd_fmu_channel *c,
                         const struct mech_input_signal *g, const char *path,
                         struct mech_diag *diag)
{
    const char *const why = mechd_fmu_unfollowed(&f->session, c, g->tau != NULL);
    bool good = true;
    if (why != NULL) {
        mech_diag_add(diag, path,
                      "this input of an FMU takes only values that are constant over the step: %s",
                      why);
        return false;
    }
    if (g->tau == NULL && g->n > MECHD_FMU_ROWS_MOST) {
        mech_diag_add(diag, path, "an FMU takes polynomials with at most %d coefficients",
                      (int)MECHD_FMU_ROWS_MOST);
        return false;
    }
    for (size_t k = 0; good && k < (size_t)g->n * (size_t)c->v.size; k++) {
        // what a polynomial comes to within the step is not known here
        good = good && (g->tau != NULL ? mechd_fmu_channel_takes(c, g->values[k], path, diag)
                                       : isfinite(g->values[k]));
    }
    if (!good && g->tau == NULL) {
        mech_diag_add(diag, path, "must be finite");
    }
    return good;
}

static bool takes(const struct mechd_fmu_instance *f, const struct mech_input_change *in,
                  struct mech_diag *diag)
{
    const struct mechd_fmu_channel *const c = &f->channels.at[MECH_INPUT][in->index];
    const bool real = c->of->type == MECHD_FMU_FLOAT64 || c->of->type == MECHD_FMU_FLOAT32;
    struct mech_path path = {.length = 0};
    (void)mech_path_push(&path, "inputs");
    (void)mech_path_push(&path, c->v.name);
    if (in->order > 0 && !real) {
        mech_diag_add(diag, path.text,
                      "this input of an FMU takes only values that are constant over the step");
        return false;
    }
    if (in->signal != NULL) {
        return takes_signal(f, c, in->signal, path.text, diag);
    }
    for (int32_t j = 0; in->values != NULL && j < c->v.size; j++) {
        if (!mechd_fmu_channel_takes(c, in->values[j], path.text, diag)) {
            return false;
        }
    }
    for (int32_t j = 0; j < in->order * c->v.size; j++) {
        if (!isfinite(in->derivatives[j])) {
            mech_diag_add(diag, path.text, "must be finite");
            return false;
        }
    }
    return true;
}

int mechd_fmu_put_inputs(const struct mechd_fmu_instance *f, const struct mech_input_change *inputs,
                         size_t count, struct mechd_fmu_point *p, struct mech_diag *diag)
{
    const size_t n = f->channels.size[MECH_INPUT];
    for (size_t k = 0; k < count; k++) {
        if (!takes(f, &inputs[k], diag)) {
            return MECH_INVALID;
        }
    }
    for (size_t k = 0; k < count; k++) {
        const struct mech_input_change *const in = &inputs[k];
        const struct mech_variable *const v = &f->channels.at[MECH_INPUT][in->index].v;
        for (int32_t j = 0; in->signal == NULL && j < v->size; j++) {
            double *const u = p->inputs + v->offset + j;
            const double *const own = f->first.inputs + v->offset + j;
            u[MECHD_FMU_VALUE * n] = in->values != NULL ? in->values[j] : own[0];
            u[MECHD_FMU_RATE * n] = in->order > 0 ? in->derivatives[j] : 0.;
            u[MECHD_FMU_SECOND * n] = in->order > 1 ? in->derivatives[v->size + j] : 0.;
            u[MECHD_FMU_SINCE * n] = p->time;
        }
    }
    return 0;
}
