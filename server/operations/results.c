/* GET and DELETE …/runs/{rid}/results: recorded rows in every form, a part by time, some of the
 * outputs. What is long is made and sent piece by piece, without the instance's owner. */
#include "server/instance/runs.h"

#include "protocol/wire/json.h"
#include "server/call/query.h"
#include "server/call/rows.h"
#include "server/call/shapes.h"
#include "solver/base/words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WHOLE = 1 << 18,        /* bytes of float64 up to which an answer stands as a whole */
    MESSAGE_MOST = 1 << 24, /* and at most through a door that has no pieces */
    PIECE = 1 << 16         /* bytes of text made at a time */
};

struct results {
    struct mechd_run_reading reading;
    struct mechd_column *columns; /* [rows.count] that are wanted */
    size_t *offsets;              /* [rows.count] where each begins in a recorded row */
    bool *wanted;                 /* [channels] those that are asked for */
    bool hash, inputs;            /* the state's, and the inputs, too */
    double *picked;               /* [rows.width] of one row; NULL: the row as it is */
    struct mechd_rows rows;
    uint64_t at, end; /* rows that are still to come */
};

static void free_results(struct mechd_call *c)
{
    struct results *const x = c->work;
    if (x->reading.run != NULL) {
        mechd_run_reading_fini(&x->reading);
    }
    free(x->columns);
    free(x->offsets);
    free(x->picked);
    free(x->wanted);
    free(x);
}

/* --- the request ------------------------------------------------------------------------------ */

/* The recorded output that was probably meant. */
static const char *recorded_hint(struct mech_guess *g, const struct mechd_instance *i,
                                 const struct mechd_run *run)
{
    for (size_t k = 0; k < i->channel_count && k < MECH_GUESS_MOST; k++) {
        if (run->settings.chosen == NULL || run->settings.chosen[k]) {
            mech_guess_try(g, i->channels[k].name);
        }
    }
    return mech_guess_hint(g);
}

/* The recorded outputs of the list (NULL: all); each of its names is one. False: no memory. */
static bool read_names(struct mechd_call *c, struct results *x, const struct mechd_run *run,
                       const char *list)
{
    const struct mechd_instance *const i = c->job.instance;
    char *const copy = list != NULL ? strdup(list) : NULL;
    x->wanted = calloc(i->channel_count + 1, sizeof *x->wanted);
    if (x->wanted == NULL || (list != NULL && copy == NULL)) {
        free(copy);
        return false;
    }
    char *at = copy;
    const char *why = "expected names of outputs, with commas between";
    char *name = NULL;
    int code = 1, count = 0;
    while (list != NULL && (code = mech_item_next(&at, &name, &why)) > 0) {
        size_t k = 0;
        while (k < i->channel_count && strcmp(i->channels[k].name, name) != 0) {
            k++;
        }
        if (k < i->channel_count && (run->settings.chosen == NULL || run->settings.chosen[k])) {
            x->wanted[k] = true;
        } else if (run->settings.hash && strcmp(name, mechd_rows_hash().name) == 0) {
            x->hash = true;
        } else {
            mech_diag_add(&c->diag, "/outputs", "%.64s has not been recorded%s", name,
                          recorded_hint(&(struct mech_guess){.text = name}, i, run));
        }
        count++;
    }
    if (code < 0 || (list != NULL && count == 0)) {
        mech_diag_add(&c->diag, "/outputs", "%s", why);
    }
    for (size_t k = 0; list == NULL && k < i->channel_count; k++) {
        x->wanted[k] = true;
    }
    x->hash = x->hash || (list == NULL && run->settings.hash);
    x->inputs = list == NULL && run->settings.inputs;
    free(copy);
    return true;
}

/* The columns that are wanted, time first. False: no memory. */
static bool choose(struct results *x, const struct mechd_run *run, bool all)
{
    const struct mechd_instance *const i = run->job.instance;
    const bool *const chosen = run->settings.chosen;
    const size_t inputs =
        run->settings.inputs ? mechd_engine_variable_count(&i->engine, MECH_INPUT) : 0;
    x->columns = calloc(i->channel_count + inputs + 2, sizeof *x->columns);
    x->offsets = calloc(i->channel_count + inputs + 2, sizeof *x->offsets);
    x->picked = all ? NULL : calloc(run->record.width, sizeof *x->picked);
    if (x->columns == NULL || x->offsets == NULL || (!all && x->picked == NULL)) {
        return false;
    }
    x->columns[0] = (struct mechd_column){"time", 1, true, NULL};
    x->rows.columns = x->columns;
    x->rows.count = 1;
    size_t at = 1;
    for (size_t k = 0; k < i->channel_count; k++) {
        const struct mech_variable *const v = &i->channels[k];
        if (chosen != NULL && !chosen[k]) {
            continue;
        }
        if (x->wanted[k]) {
            x->offsets[x->rows.count] = at;
            x->columns[x->rows.count++] = mechd_rows_output(v);
        }
        at += (size_t)v->size;
    }
    for (size_t k = 0; k < inputs; k++) {
        struct mech_variable v;
        mechd_engine_variable(&i->engine, MECH_INPUT, k, &v);
        if (x->inputs) {
            x->offsets[x->rows.count] = at;
            x->columns[x->rows.count++] = mechd_rows_input(&v);
        }
        at += (size_t)v.size;
    }
    if (x->hash) {
        x->offsets[x->rows.count] = at;
        x->columns[x->rows.count++] = mechd_rows_hash();
    }
    return true;
}

/* --- the answer ------------------------------------------------------------------------------- */

/* The values that are wanted of a row. */
static const double *pick(struct results *x, const double *row)
{
    double *at = x->picked;
    if (at == NULL) {
        return row;
    }
    for (size_t k = 0; k < x->rows.count; k++) {
        const size_t n = (size_t)x->columns[k].size;
        memcpy(at, row + x->offsets[k], n * sizeof *at);
        at += n;
    }
    return x->picked;
}

/* Some more rows into the call's text, or the end. */
static enum mechd_piece produce(struct mechd_call *c)
{
    struct results *const x = c->work;
    if (x->at > x->end) {
        return MECHD_PIECE_LAST;
    }
    const size_t most = c->text.length + PIECE;
    for (; x->at < x->end && c->text.length < most; x->at++) {
        const double *const row = mechd_run_reading_row(&x->reading, x->at);
        if (row == NULL) {
            return MECHD_PIECE_FAILED;
        }
        mechd_rows_add(&x->rows, pick(x, row));
    }
    if (x->at == x->end) {
        x->at++;
        mechd_rows_end(&x->rows);
    }
    return c->text.failed ? MECHD_PIECE_FAILED : MECHD_PIECE_MORE;
}

/* The part of the rows by time and number; of a part the rest begins at `next`. */
static void cut(struct results *x, double from, double to, uint64_t limit)
{
    x->at = mechd_run_reading_find(&x->reading, from, false);
    x->end = mechd_run_reading_find(&x->reading, to, true);
    x->end = x->end < x->at ? x->at : x->end;
    x->rows.paged = true;
    x->rows.next = NAN;
    if (x->end - x->at > limit) {
        x->end = x->at + limit;
        const double *const row = mechd_run_reading_row(&x->reading, x->end);
        x->rows.next = row != NULL ? row[0] : (double)NAN;
    }
}

/* As a whole, or piece by piece when it is long. */
static enum mechd_progress answer(struct mechd_call *c, struct results *x)
{
    const uint64_t count = x->end - x->at;
    if (!mechd_form_begin(c, x->rows.form)) {
        return MECHD_DONE;
    }
    mechd_rows_begin(&x->rows, count);
    const double bytes = (double)count * (double)x->rows.width * (double)sizeof(double);
    if (bytes > MESSAGE_MOST && c->door != MECHD_DOOR_HTTP) {
        return mechd_fail(c, MECHP_LIMIT_REACHED,
                          "%.3g bytes of rows; a message holds %d: request parts by from, to, "
                          "limit",
                          bytes, MESSAGE_MOST);
    }
    if (bytes > WHOLE && c->door == MECHD_DOOR_HTTP) {
        c->produce = produce;
        return MECHD_DONE;
    }
    enum mechd_piece piece = MECHD_PIECE_MORE;
    while (piece == MECHD_PIECE_MORE) {
        piece = produce(c);
    }
    if (piece == MECHD_PIECE_FAILED && !c->text.failed) {
        return mechd_fail(c, MECHP_INTERNAL, "the rows cannot be read");
    }
    return MECHD_DONE;
}

static enum mechd_progress run_results(struct mechd_call *c)
{
    struct mechd_run *const run = mechd_call_run(c);
    const int form = run != NULL ? mechd_form(c, mechd_forms_of_rows) : -1;
    if (form < 0) {
        return MECHD_DONE;
    }
    struct mechp_query_results asked;
    MECHD_ASK(results, c, &asked);
    const char *const list = asked.outputs;
    const double from = isnan(asked.from) ? -INFINITY : asked.from;
    const double to = isnan(asked.to) ? INFINITY : asked.to;
    struct results *const x = calloc(1, sizeof *x);
    c->work = x;
    c->work_free = x != NULL ? free_results : NULL;
    if (x == NULL || !read_names(c, x, run, list)) {
        return mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the results");
    }
    if (mechd_call_faulty(c)) {
        return MECHD_DONE;
    }
    if (run->settings.every == 0) {
        return mechd_fail(c, MECHP_NOT_FOUND, "the run was started without record");
    }
    if (run->record.dropped) {
        return mechd_fail(c, MECHP_NOT_FOUND, "its results have been deleted");
    }
    x->rows.form = (enum mechd_form)form;
    x->rows.gaps = run->settings.inputs;
    x->rows.text = &c->text;
    if (!choose(x, run, list == NULL) || mechd_run_reading_begin(&x->reading, run) != 0) {
        return mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the results");
    }
    cut(x, from, to, asked.limit);
    return answer(c, x);
}

const struct mechd_operation mechd_operation_RESULTS = {.run = run_results};
const struct mechd_operation mechd_operation_COUPLING_RESULTS = {.run = run_results};

static enum mechd_progress run_delete(struct mechd_call *c)
{
    struct mechd_instance *const i = c->job.instance;
    struct mechd_run *const run = mechd_call_run(c);
    if (run == NULL) {
        return MECHD_DONE;
    }
    if (run->state == MECHD_RUN_RUNNING) {
        return mechd_fail(c, MECHP_RUN_IN_PROGRESS, "the run is still recording; stop it first");
    }
    if (run->settings.every == 0 || run->record.dropped) {
        return mechd_fail(c, MECHP_NOT_FOUND, "the run has no results");
    }
    c->status = 204;
    (void)mechd_run_unstore(i, run, true, mechd_call_ticket(c));
    run->record.dropped = true;
    mechd_recording_trim(&run->record, true);
    mechd_run_account(run);
    mechd_run_show(run);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_DELETE_RESULTS = {.run = run_delete};
const struct mechd_operation mechd_operation_DELETE_COUPLING_RESULTS = {.run = run_delete};
