/* What programs in couplings say: hello, answers, goodbye. */
#include "server/call/outside_internal.h"

#include "protocol/wire/bodies_coupling.h"
#include "protocol/wire/bodies_messages.h"
#include "protocol/wire/wants.h"
#include "server/instance/instance.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* --- hello ------------------------------------------------------------------------------------ */

/* 1 … 2^52; 0: the system has no random numbers. */
static uint64_t make_lease(void)
{
    uint64_t number;
    return getrandom(&number, sizeof number, 0) == (ssize_t)sizeof number ? (number >> 12) + 1 : 0;
}

static void write_names(char *const *names, size_t count, struct mechp_text *w)
{
    mechp_text_array(w);
    for (size_t k = 0; k < count; k++) {
        mechp_text_string(w, names[k]);
    }
    mechp_text_end(w);
}

/* Its inputs, and its outputs. */
static void write_inputs(const void *outside, struct mechp_text *w)
{
    const struct mechd_outside *const o = outside;
    write_names(o->inputs, o->input_count, w);
}

static void write_outputs(const void *outside, struct mechp_text *w)
{
    const struct mechd_outside *const o = outside;
    write_names(o->outputs, o->output_count, w);
}

/* A commit is asked. */
static bool is_committing(const struct mechd_outside *o)
{
    return o->state == MECHD_OUTSIDE_ASKED && o->asked.kind == MECHP_COMMIT;
}

/* Where the program stands, against the last committed window; m is held. `window` is 0 where it
 * was not given: before its first commit a program has none. 0, or a code. */
static enum mechp_code check_place(const struct mechd_outside *o, bool given, uint64_t window,
                                   char *detail)
{
    const bool commits = is_committing(o);
    // a commit that is asked, or owed: the program may have done it or not
    const uint64_t most = commits ? o->asked.step : o->window;
    const uint64_t least = commits || o->owes ? most - 1 : most;
    if (window >= least && window <= most) {
        return MECHP_OK;
    }
    if (least < most) {
        mech_text_format(
            detail, 256,
            "the commit of window %llu has not been answered: a program that reconnects must "
            "give its last committed window, %llu or %llu",
            (unsigned long long)most, (unsigned long long)least, (unsigned long long)most);
    } else if (given) {
        mech_text_format(detail, 256,
                         "window %llu was committed last, but the program gives window %llu",
                         (unsigned long long)o->window, (unsigned long long)window);
    } else {
        mech_text_format(
            detail, 256,
            "window %llu was committed last: a program that reconnects must give its last "
            "committed window",
            (unsigned long long)o->window);
    }
    return MECHP_TIME_MISMATCH;
}

/* It takes its place, which has been checked; m is held. */
static void take_place(struct mechd_outside *o, uint64_t window)
{
    const bool commits = is_committing(o);
    const uint64_t most = commits ? o->asked.step : o->window;
    o->restarted = (commits || o->owes) && window < most;
    o->owes = o->owes && window < o->window;
    o->tried = false;
    o->stage = o->restarted ? MECHD_OUTSIDE_TRIAL_AGAIN : MECHD_OUTSIDE_QUESTION;
}

static void write_want(const void *outside, struct mechp_text *w)
{
    const struct mechd_outside *const o = outside;
    mechp_text_array(w);
    if (o->gives) {
        mechp_text_string(w, mechp_want_name(MECHP_WANT_JACOBIAN, MECHP_WANTED_PROGRAM));
    }
    mechp_text_end(w);
}

static void write_reply(const struct mechd_outside *o, uint64_t lease, struct mechp_text *w)
{
    const struct mechp_body_program_hello_reply body = {.coupling = o->coupling,
                                                        .participant = o->name,
                                                        .lease = lease,
                                                        .inputs = {write_inputs, o},
                                                        .outputs = {write_outputs, o},
                                                        .input_order = o->order,
                                                        .window = o->window,
                                                        .time = o->time,
                                                        .want = {write_want, o}};
    MECHP_WRITE(program_hello_reply, &body, w);
}

/* What its answers have besides outputs. */
static bool read_want(const json_t *want, struct mech_diag *diag)
{
    bool found = false;
    for (size_t k = 0; k < json_array_size(want); k++) {
        char path[MECHP_WANT_PATH];
        found |= mechp_want_read(want, k, MECHP_WANTED_PROGRAM, path, diag) == MECHP_WANT_JACOBIAN;
    }
    return found;
}

static size_t slope_count(const struct mechd_outside *o)
{
    return o->output_count * o->input_count * (size_t)(o->order + 1);
}

/* Room for its Jacobians, charged to the coupling's account; m is held. */
static enum mechp_code make_room(struct mechd_outside *o, const struct mechd_outside_hello *h)
{
    const size_t count = slope_count(o);
    struct mechd_excess excess;
    if (count > MECHD_OUTSIDE_SLOPES) {
        mech_diag_add(h->diag, "/want", "a Jacobian has at most %d values", MECHD_OUTSIDE_SLOPES);
        return MECHP_INVALID_REQUEST;
    }
    if (o->slopes != NULL) {
        return MECHP_OK;
    }
    if (o->pays != NULL &&
        !mechd_instance_charge(o->pays, MECHD_QUOTA_MEMORY, count * sizeof(double), &excess)) {
        (void)mechd_excess_tell(&excess, h->detail, 256);
        return MECHP_QUOTA_EXCEEDED;
    }
    o->slopes = calloc(count + 1, sizeof *o->slopes);
    if (o->slopes == NULL && o->pays != NULL) {
        mechd_instance_refund(o->pays, MECHD_QUOTA_MEMORY, count * sizeof(double));
    }
    return o->slopes != NULL ? MECHP_OK : MECHP_OUT_OF_MEMORY;
}

enum mechp_code mechd_outside_hello(struct mechd_outsides *t, struct mechd_outside_hello *h)
{
    struct mechp_body_program_hello_request in;
    mechp_shape_only(h->body, "", &mechp_body_program_hello_request, h->diag);
    MECHP_READ(program_hello_request, h->body, h->diag, &in);
    const char *const coupling = in.coupling != NULL ? in.coupling : "";
    const char *const name = in.participant != NULL ? in.participant : "";
    const int64_t order = in.input_order > 0 ? in.input_order : 0;
    const bool given = in.window >= 0;
    const int64_t window = given ? in.window : 0;
    const bool gives = read_want(in.want.of, h->diag);
    if (!mech_diag_clean(h->diag)) {
        return MECHP_INVALID_REQUEST;
    }
    struct mechd_outside *const o = mechd_outside_named(t, coupling, name);
    h->lease = make_lease();
    if (o == NULL || h->lease == 0) {
        mech_text_format(h->detail, 256, "the coupling %.64s has no partner %.64s", coupling, name);
        mechd_outside_unref(o);
        return o == NULL ? MECHP_NOT_FOUND : MECHP_INTERNAL;
    }
    enum mechp_code code = MECHP_INVALID_REQUEST;
    pthread_mutex_lock(&o->m);
    if (mechd_stop_reason(&t->stop) != MECHD_STOP_NONE) {
        mech_text_format(h->detail, 256, "the server is shutting down");
        code = MECHP_DRAINING;
    } else if (o->table == NULL) {
        mech_text_format(h->detail, 256, "the coupling %.64s has been deleted", coupling);
        code = MECHP_NOT_FOUND;
    } else if (order != o->order) {
        mech_diag_add(h->diag, "/inputOrder", "inputs of this coupling have order %d",
                      (int)o->order);
    } else {
        code = check_place(o, given, (uint64_t)window, h->detail);
        code = code == MECHP_OK && gives ? make_room(o, h) : code;
    }
    if (code == MECHP_OK) {
        take_place(o, (uint64_t)window);
        // the connection before it, if there is one, is over
        mechd_outside_dismiss(o, h->caller);
        o->caller = h->caller;
        o->pass = h->pass;
        o->lease = h->lease;
        o->gives = gives;
        mechd_outside_list(&t->by[MECHD_OUTSIDE_BY_LEASE], MECHD_OUTSIDE_BY_LEASE, o, h->lease);
        write_reply(o, h->lease, h->reply);
        h->outside = o;
    }
    pthread_mutex_unlock(&o->m);
    if (code != MECHP_OK) {
        mechd_outside_unref(o);
    }
    return code;
}

/* The coupling that waits is woken; m is held, and is released. */
static void wake_and_unlock(struct mechd_outside *o)
{
    void *const of = o->of;
    void (*const wake)(void *) = o->wake;
    if (of != NULL) {
        // under m, so that `of` still lives: remove takes it away under m
        wake(of);
    }
    pthread_mutex_unlock(&o->m);
}

void mechd_outside_greeted(struct mechd_outside *o, uint64_t lease)
{
    pthread_mutex_lock(&o->m);
    if (o->lease == lease) {
        o->greeted = true;
        mechd_outside_send(o);
    }
    wake_and_unlock(o);
}

bool mechd_outside_withdraw(struct mechd_outsides *t, uint64_t lease)
{
    struct mechd_outside *const o = lease != 0 ? mechd_outside_leased(t, lease) : NULL;
    if (o == NULL) {
        return false;
    }
    pthread_mutex_lock(&o->m);
    if (o->lease == lease) {
        mechd_outside_let_go(o);
    }
    wake_and_unlock(o);
    mechd_outside_unref(o);
    return true;
}

/* --- answers ---------------------------------------------------------------------------------- */

/* A fault beside the question, which it does not fail; m is held. */
static void remember(struct mechd_outside *o, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void remember(struct mechd_outside *o, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    mech_text_format_list(o->blamed, sizeof o->blamed, format, list);
    va_end(list);
}

/* What is wrong with the values of an answer, into text; false: nothing. m is held. */
static bool is_wrong(const struct mechd_outside *o, const struct mechp_frame *f,
                     const double *values, char *text)
{
    const bool sloped = f->kind == MECHP_TRIAL && o->gives;
    const size_t slopes = sloped ? slope_count(o) : 0;
    if (f->count != o->output_count + slopes) {
        mech_text_format(text, MECHD_OUTSIDE_FAULT,
                         "an answer of %u values; its outputs have %zu%s", f->count,
                         o->output_count + slopes, sloped ? " with their Jacobian" : "");
        return true;
    }
    for (size_t k = 0; k < o->output_count; k++) {
        if (!isfinite(values[k])) {
            mech_text_format(text, MECHD_OUTSIDE_FAULT, "output %.64s is not a finite number",
                             o->outputs[k]);
            return true;
        }
    }
    for (size_t k = 0; k < slopes; k++) {
        if (!isfinite(values[o->output_count + k])) {
            mech_text_format(text, MECHD_OUTSIDE_FAULT,
                             "the Jacobian of output %.64s is not finite",
                             o->outputs[k / (slopes / o->output_count)]);
            return true;
        }
    }
    return false;
}

/* An answer to what the stage has sent; m is held. */
static void judge(struct mechd_outside *o, const struct mechp_frame *f, const double *values)
{
    char text[MECHD_OUTSIDE_FAULT];
    const bool wrong = is_wrong(o, f, values, text);
    if (f->kind == MECHP_COMMIT && wrong) {
        remember(o, "%s", text); // it has committed, whatever it says of that
    } else if (wrong) {
        mechd_outside_blame(o, MECHP_PARTNER_FAULT, "%s", text);
        return;
    }
    if (o->stage != MECHD_OUTSIDE_QUESTION) {
        o->owes = o->owes && o->stage == MECHD_OUTSIDE_TRIAL_AGAIN;
        o->tried = o->tried && o->stage == MECHD_OUTSIDE_TRIAL_AGAIN;
        o->restarted = false;
        o->stage = mechd_outside_first(o);
        o->sent = false;
        mechd_outside_send(o);
        return;
    }
    o->sloped = !wrong && f->count > o->output_count;
    if (!wrong) {
        memcpy(o->answer, values, o->output_count * sizeof *values);
    }
    if (o->sloped) {
        memcpy(o->slopes, values + o->output_count, slope_count(o) * sizeof *values);
    }
    o->state = MECHD_OUTSIDE_ANSWERED;
}

/* True if the frame answers that question. */
static bool answers(const struct mechp_frame *frame, const struct mechp_frame *question)
{
    return frame->kind == question->kind && frame->sequence == question->sequence &&
           frame->step == question->step && frame->iteration == question->iteration;
}

/* True for the answer to a question that was missed; once. */
static bool is_late(struct mechd_outside *o, uint64_t sequence)
{
    for (int k = 0; k < MECHD_OUTSIDE_MISSED; k++) {
        if (o->missed[k] == sequence && sequence != 0) {
            o->missed[k] = 0;
            return true;
        }
    }
    return false;
}

/* It says that it has failed, and perhaps why; m is held. */
static void hear_error(struct mechd_outside *o, const struct mechd_outside_answer *a)
{
    char text[MECHD_OUTSIDE_FAULT];
    (void)mechd_outside_quote(a->text, a->text_size, text, sizeof text);
    mechd_outside_blame(o, MECHP_PARTNER_FAULT, "it has failed with status %d%s%s",
                        (int)a->frame->status, text[0] != '\0' ? ": " : "", text);
}

/* A frame of its connection; m is held. */
static void hear(struct mechd_outside *o, const struct mechd_outside_answer *a)
{
    const struct mechp_frame *const frame = a->frame;
    const double *unused;
    const bool asked = o->state == MECHD_OUTSIDE_ASKED && o->sent;
    if (frame->kind == MECHP_BYE) {
        mechd_outside_let_go(o);
    } else if (asked && answers(frame, mechd_outside_stage(o, &unused))) {
        judge(o, frame, a->values);
    } else if (is_late(o, frame->sequence)) {
        if (o->owes && frame->kind == MECHP_COMMIT && frame->sequence == o->commit.sequence) {
            o->owes = o->tried = false;
        }
        const enum mechd_outside_stage next = mechd_outside_first(o);
        if (asked && o->stage != MECHD_OUTSIDE_QUESTION && o->stage != next) {
            o->stage = next;
            o->sent = false;
            mechd_outside_send(o);
        }
    } else if (asked && frame->kind == MECHP_ERROR) {
        hear_error(o, a);
    } else if (asked && o->asked.kind != MECHP_COMMIT) {
        mechd_outside_miss(o);
        mechd_outside_blame(o, MECHP_PARTNER_FAULT,
                            "an answer of kind %s to window %llu, trial %u, was not asked for",
                            mechp_frame_kind_name(frame->kind), (unsigned long long)frame->step,
                            frame->iteration);
    } else {
        remember(o, "an answer of kind %s to window %llu, trial %u, was not asked for",
                 mechp_frame_kind_name(frame->kind), (unsigned long long)frame->step,
                 frame->iteration);
    }
}

bool mechd_outside_take(struct mechd_outsides *t, const struct mechd_outside_answer *answer)
{
    const struct mechp_frame *const frame = answer->frame;
    if (frame->lease == 0) {
        return false;
    }
    struct mechd_outside *const o = mechd_outside_leased(t, frame->lease);
    if (o == NULL) {
        return false;
    }
    pthread_mutex_lock(&o->m);
    if (o->lease != frame->lease) {
        // its connection has ended meanwhile
        pthread_mutex_unlock(&o->m);
        mechd_outside_unref(o);
        return false;
    }
    const bool still = mechd_outside_still(o);
    if (still) {
        hear(o, answer);
    } else {
        mechd_outside_let_go(o);
    }
    wake_and_unlock(o);
    mechd_outside_unref(o);
    return still;
}

void mechd_outside_write(const void *outside, struct mechp_text *w)
{
    struct mechd_outside *const o = (struct mechd_outside *)(uintptr_t)outside;
    pthread_mutex_lock(&o->m);
    const bool connected = o->caller != NULL && !o->caller->gone(o->caller);
    const uint64_t window = o->window;
    pthread_mutex_unlock(&o->m);
    const struct mechp_body_coupling_program body = {.inputs = {write_inputs, o},
                                                     .outputs = {write_outputs, o},
                                                     .rollback = o->rollback,
                                                     .patience = o->patience,
                                                     .connected = connected,
                                                     .window = window};
    MECHP_WRITE(coupling_program, &body, w);
}
