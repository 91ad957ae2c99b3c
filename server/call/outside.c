#include "server/call/outside_internal.h"

#include "protocol/wire/json.h"
#include "server/os/ticks.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* The connection ends here: its lease is no longer one. */
void mechd_outside_let_go(struct mechd_outside *o)
{
    struct mechd_caller *const caller = o->caller;
    if (o->table != NULL && o->lease != 0) {
        mechd_outside_unlist(&o->table->by[MECHD_OUTSIDE_BY_LEASE], MECHD_OUTSIDE_BY_LEASE, o);
    }
    o->caller = NULL;
    memset(o->missed, 0, sizeof o->missed);
    o->greeted = false;
    o->gives = false;
    o->sent = false;
    o->lease = 0;
    if (caller != NULL) {
        caller->destroy(caller);
    }
}

static bool is_same(const struct mechd_caller *c, const struct mechd_caller *d)
{
    return c == d || (d != NULL && c->same != NULL && c->same == d->same && c->same(c, d));
}

void mechd_outside_dismiss(struct mechd_outside *o, const struct mechd_caller *next)
{
    if (o->caller != NULL && o->greeted && !is_same(o->caller, next)) {
        const struct mechp_frame bye = {.kind = MECHP_BYE, .lease = o->lease};
        (void)o->caller->send(o->caller, &bye, NULL);
    }
    mechd_outside_let_go(o);
}

bool mechd_outside_still(struct mechd_outside *o)
{
    return !o->pass.has_token || o->table == NULL || o->table->tokens == NULL ||
           mechd_tokens_still(o->table->tokens, &o->pass.who, MECHP_SCOPE_STEP, &o->pass.turn);
}

/* --- life ------------------------------------------------------------------------------------- */

/* Copies of names. NULL: no memory. */
static char **copy_names(const char *const *names, size_t count)
{
    char **const out = calloc(count + 1, sizeof *out);
    for (size_t k = 0; out != NULL && k < count; k++) {
        out[k] = strdup(names[k]);
        if (out[k] == NULL) {
            while (k > 0) {
                free(out[--k]);
            }
            free(out);
            return NULL;
        }
    }
    return out;
}

static void free_names(char **names, size_t count)
{
    for (size_t k = 0; names != NULL && k < count; k++) {
        free(names[k]);
    }
    free(names);
}

static void destroy(struct mechd_outside *o)
{
    if (o->caller != NULL) {
        o->caller->destroy(o->caller);
    }
    free_names(o->inputs, o->input_count);
    free_names(o->outputs, o->output_count);
    free(o->question);
    free(o->trial_values);
    free(o->kept_values);
    free(o->answer);
    free(o->slopes);
    pthread_mutex_destroy(&o->m);
    free(o);
}

struct mechd_outside *mechd_outside_create(const char *name,
                                           const struct mechd_outside_terms *terms)
{
    struct mechd_outside *const o = calloc(1, sizeof *o);
    if (o == NULL) {
        return NULL;
    }
    const size_t numbers = terms->input_count * (size_t)(terms->order + 1);
    pthread_mutex_init(&o->m, NULL);
    atomic_init(&o->refs, 1);
    mech_text_copy(o->name, sizeof o->name, name);
    o->rollback = terms->rollback;
    o->order = terms->order;
    o->patience = terms->patience;
    o->inputs = copy_names(terms->inputs, terms->input_count);
    o->input_count = o->inputs != NULL ? terms->input_count : 0;
    o->outputs = copy_names(terms->outputs, terms->output_count);
    o->output_count = o->outputs != NULL ? terms->output_count : 0;
    o->question = calloc(numbers + 1, sizeof *o->question);
    o->trial_values = calloc(numbers + 1, sizeof *o->trial_values);
    o->kept_values = calloc(numbers + 1, sizeof *o->kept_values);
    o->answer = calloc(terms->output_count + 1, sizeof *o->answer);
    if (o->inputs == NULL || o->outputs == NULL || o->question == NULL || o->trial_values == NULL ||
        o->kept_values == NULL || o->answer == NULL) {
        destroy(o);
        return NULL;
    }
    return o;
}

void mechd_outside_ref(struct mechd_outside *o)
{
    atomic_fetch_add(&o->refs, 1);
}

void mechd_outside_unref(struct mechd_outside *o)
{
    if (o != NULL && atomic_fetch_sub(&o->refs, 1) == 1) {
        destroy(o);
    }
}

/* --- questions -------------------------------------------------------------------------------- */

/* What the stage sends, and its values; m is held. */
const struct mechp_frame *mechd_outside_stage(const struct mechd_outside *o, const double **values)
{
    const bool again = o->stage == MECHD_OUTSIDE_TRIAL_AGAIN;
    *values = again ? o->kept_values : o->question;
    return again ? &o->kept : o->stage == MECHD_OUTSIDE_COMMIT_AGAIN ? &o->commit : &o->asked;
}

/* The first stage of a question; m is held. */
enum mechd_outside_stage mechd_outside_first(const struct mechd_outside *o)
{
    return o->restarted ? MECHD_OUTSIDE_TRIAL_AGAIN
           : o->owes    ? MECHD_OUTSIDE_COMMIT_AGAIN
                        : MECHD_OUTSIDE_QUESTION;
}

/* Send what is asked, if that has not been done; m is held. */
void mechd_outside_send(struct mechd_outside *o)
{
    if (o->state != MECHD_OUTSIDE_ASKED || o->sent || o->caller == NULL || !o->greeted) {
        return;
    }
    if (!mechd_outside_still(o)) {
        mechd_outside_dismiss(o, NULL);
        return;
    }
    const double *values;
    struct mechp_frame frame = *mechd_outside_stage(o, &values);
    frame.lease = o->lease;
    o->sent = o->caller->send(o->caller, &frame, values);
    o->tried = o->tried || (o->sent && frame.kind == MECHP_TRIAL);
    if (!o->sent) {
        mechd_outside_let_go(o);
    }
}

void mechd_outside_blame(struct mechd_outside *o, enum mechp_code code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    mech_text_format_list(o->fault, sizeof o->fault, format, list);
    va_end(list);
    o->state = MECHD_OUTSIDE_FAULTY;
    o->code = code;
}

void mechd_outside_set_time(struct mechd_outside *o, double time)
{
    pthread_mutex_lock(&o->m);
    o->time = time;
    pthread_mutex_unlock(&o->m);
}

/* A commit is asked, of the last trial; m is held. */
static void begin_commit(struct mechd_outside *o)
{
    o->commit = o->asked;
    o->kept = o->trial;
    memcpy(o->kept_values, o->trial_values, o->trial.count * sizeof *o->kept_values);
    // a program that has said hello since its trial has lost it
    o->restarted = !o->tried;
}

/* A question; m is held. */
static void ask(struct mechd_outside *o, const struct mechp_frame *frame, const double *values)
{
    const size_t size = frame->count * sizeof *values;
    o->asked = *frame;
    o->asked.sequence = ++o->sequence;
    o->state = MECHD_OUTSIDE_ASKED;
    o->sent = false;
    o->due = mechd_now() + mechd_ns(o->patience);
    if (frame->count > 0) {
        memcpy(o->question, values, size);
    }
    if (frame->kind == MECHP_COMMIT) {
        begin_commit(o);
    }
    // what is in front of an owed commit has been sent: it would be stepped a second time
    o->restarted = o->restarted && (o->rollback || !o->tried);
    o->stage = mechd_outside_first(o);
    if (frame->kind != MECHP_COMMIT && !o->rollback && o->tried && !o->owes) {
        mechd_outside_blame(o, MECHP_PARTNER_FAULT,
                            "it has stepped a window that was not committed, and cannot roll back");
    } else if (frame->kind != MECHP_COMMIT && o->blamed[0] != '\0') {
        mechd_outside_blame(o, MECHP_PARTNER_FAULT, "%.150s", o->blamed);
        o->blamed[0] = '\0';
    } else if (frame->kind == MECHP_TRIAL) {
        o->trial = o->asked;
        memcpy(o->trial_values, o->question, size);
    }
    mechd_outside_send(o);
}

void mechd_outside_ask(struct mechd_outside *o, const struct mechp_frame *frame,
                       const double *values)
{
    pthread_mutex_lock(&o->m);
    ask(o, frame, values);
    pthread_mutex_unlock(&o->m);
}

/* The answer is not awaited any more, and may still come; m is held. */
void mechd_outside_miss(struct mechd_outside *o)
{
    const double *values;
    if (o->state == MECHD_OUTSIDE_ASKED && o->sent) {
        o->missed[o->misses++ % MECHD_OUTSIDE_MISSED] = mechd_outside_stage(o, &values)->sequence;
    }
}

/* The window is done, whether the program has answered or owes it; m is held. */
static void note_commit(struct mechd_outside *o, bool answered)
{
    if (o->asked.kind == MECHP_COMMIT) {
        o->window = o->asked.step;
        o->time = o->kept.time + o->kept.size;
        o->owes = !answered;
        // while it owes the commit, a trial that has been sent is not sent again
        o->tried = o->tried && !answered;
    }
}

void mechd_outside_hold(struct mechd_outside *o, const struct mechp_frame *frame)
{
    pthread_mutex_lock(&o->m);
    o->asked = *frame;
    o->asked.sequence = ++o->sequence;
    begin_commit(o);
    note_commit(o, false);
    o->held = true;
    pthread_mutex_unlock(&o->m);
}

void mechd_outside_confirm(struct mechd_outside *o)
{
    pthread_mutex_lock(&o->m);
    const struct mechp_frame frame = o->commit;
    const double none = 0.;
    // at once: a program that says hello in between may be at the window before
    o->held = o->owes = false;
    ask(o, &frame, &none);
    pthread_mutex_unlock(&o->m);
}

enum mechd_outside_state mechd_outside_poll(struct mechd_outside *o, uint64_t now, double *out,
                                            enum mechp_code *code, char *fault)
{
    pthread_mutex_lock(&o->m);
    if (o->caller != NULL && o->caller->gone(o->caller)) {
        mechd_outside_let_go(o);
    }
    mechd_outside_send(o);
    if (o->state == MECHD_OUTSIDE_ASKED && now >= o->due) {
        mechd_outside_miss(o);
        mechd_outside_blame(o, MECHP_PARTNER_TIMEOUT, "%s within %g s",
                            o->caller == NULL ? "it is not connected, and has not reconnected"
                                              : "no answer",
                            o->patience);
    }
    const enum mechd_outside_state state = o->state;
    if (state == MECHD_OUTSIDE_ANSWERED) {
        memcpy(out, o->answer, o->output_count * sizeof *out);
    } else if (state == MECHD_OUTSIDE_FAULTY) {
        *code = o->code;
        memcpy(fault, o->fault, sizeof o->fault);
    }
    if (state == MECHD_OUTSIDE_ANSWERED || state == MECHD_OUTSIDE_FAULTY) {
        note_commit(o, state == MECHD_OUTSIDE_ANSWERED);
        o->state = MECHD_OUTSIDE_IDLE;
    }
    pthread_mutex_unlock(&o->m);
    return state;
}

uint64_t mechd_outside_due(struct mechd_outside *o)
{
    pthread_mutex_lock(&o->m);
    const uint64_t due = o->due;
    pthread_mutex_unlock(&o->m);
    return due;
}

bool mechd_outside_gives(struct mechd_outside *o)
{
    pthread_mutex_lock(&o->m);
    const bool gives = o->gives;
    pthread_mutex_unlock(&o->m);
    return gives;
}

const double *mechd_outside_slopes(struct mechd_outside *o)
{
    pthread_mutex_lock(&o->m);
    const double *const slopes = o->sloped ? o->slopes : NULL;
    pthread_mutex_unlock(&o->m);
    return slopes;
}

bool mechd_outside_ahead(struct mechd_outside *o)
{
    pthread_mutex_lock(&o->m);
    const bool ahead = !o->rollback && o->tried && !o->owes;
    pthread_mutex_unlock(&o->m);
    return ahead;
}

void mechd_outside_abandon(struct mechd_outside *o)
{
    pthread_mutex_lock(&o->m);
    mechd_outside_miss(o);
    note_commit(o, false);
    o->state = MECHD_OUTSIDE_IDLE;
    pthread_mutex_unlock(&o->m);
}

/* --- its place in the store ------------------------------------------------------------------- */

void mechd_outside_save(struct mechd_outside *o, struct mechd_outside_place *out, double *values)
{
    pthread_mutex_lock(&o->m);
    *out = (struct mechd_outside_place){.window = o->window,
                                        .sequence = o->sequence,
                                        .owes = o->owes,
                                        .commit_sequence = o->commit.sequence,
                                        .commit_step = o->commit.step,
                                        .commit_iteration = o->commit.iteration,
                                        .kept_sequence = o->kept.sequence,
                                        .kept_step = o->kept.step,
                                        .kept_iteration = o->kept.iteration,
                                        .kept_count = o->kept.count,
                                        .time = o->time,
                                        .commit_time = o->commit.time,
                                        .commit_size = o->commit.size,
                                        .kept_time = o->kept.time,
                                        .kept_size = o->kept.size};
    memcpy(values, o->kept_values,
           o->input_count * (size_t)(o->order + 1) * sizeof *o->kept_values);
    pthread_mutex_unlock(&o->m);
}

void mechd_outside_restore(struct mechd_outside *o, const struct mechd_outside_place *place,
                           const double *values)
{
    const size_t most = o->input_count * (size_t)(o->order + 1);
    pthread_mutex_lock(&o->m);
    if (o->window != place->window && !o->held) {
        mechd_outside_dismiss(o, NULL);
    }
    o->held = false;
    o->window = place->window;
    o->time = place->time;
    o->sequence = place->sequence > o->sequence ? place->sequence : o->sequence;
    // a program that was sent a trial since then has answered the commit that was owed
    o->owes = place->owes != 0 && !o->tried;
    o->restarted = false;
    o->state = MECHD_OUTSIDE_IDLE;
    o->commit = (struct mechp_frame){.kind = MECHP_COMMIT,
                                     .sequence = place->commit_sequence,
                                     .step = place->commit_step,
                                     .iteration = (uint32_t)place->commit_iteration,
                                     .time = place->commit_time,
                                     .size = place->commit_size};
    o->kept =
        (struct mechp_frame){.kind = MECHP_TRIAL,
                             .sequence = place->kept_sequence,
                             .step = place->kept_step,
                             .iteration = (uint32_t)place->kept_iteration,
                             .count = place->kept_count <= most ? (uint32_t)place->kept_count : 0,
                             .time = place->kept_time,
                             .size = place->kept_size};
    memcpy(o->kept_values, values, most * sizeof *values);
    pthread_mutex_unlock(&o->m);
}
