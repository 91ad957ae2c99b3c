/* Runs in the store: how far they are and what they recorded goes into the transaction that holds
 * the state; a run that the store has as running when a process begins was interrupted. */
#include "protocol/wire/bodies_records.h"
#include "server/instance/entry.h"
#include "server/instance/host.h"
#include "server/instance/runs.h"
#include "server/os/ticks.h"
#include "solver/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- to the store ----------------------------------------------------------------------------- */

static void write_outputs(const void *of, struct mechp_text *w)
{
    const struct mechd_run *const r = of;
    const struct mechd_instance *const i = r->job.instance;
    mechp_text_array(w);
    for (size_t k = 0; k < i->channel_count; k++) {
        if (r->settings.chosen[k]) {
            mechp_text_string(w, i->channels[k].name);
        }
    }
    mechp_text_end(w);
}

static void describe(const struct mechd_run *r, const struct mechd_run_shown *s,
                     struct mechp_text *w)
{
    const struct mechp_body_stored_run body = {
        .pace = r->settings.pace,
        .period = r->settings.period,
        .start = r->time,
        .until = r->settings.until,
        .every = r->settings.every,
        .inputs = r->settings.inputs,
        .hash = r->settings.hash,
        .outputs.items = {r->settings.chosen != NULL ? write_outputs : NULL, r},
        .warning = s->warning[0] != '\0' ? s->warning : NULL,
    };
    MECHP_WRITE(stored_run, &body, w);
}

static struct mechd_entry *run_entry(struct mechd_run *r)
{
    struct mechd_run_shown s;
    struct mechp_text description;
    mechp_text_init(&description, NULL, 0);
    mechd_run_peek(r, &s);
    describe(r, &s, &description);
    // with the state goes its time, not how far a period in progress is
    if (s.state == MECHD_RUN_RUNNING) {
        s.time = mechd_engine_time(&r->job.instance->engine);
    }
    struct mechd_entry *const x =
        description.failed
            ? NULL
            : mechd_entry_create(r->job.instance, MECHD_RECORD_RUN,
                                 description.length + 1 + mechd_entry_text_room(s.reason));
    if (x != NULL) {
        char *room = x->room;
        x->r.number = r->id;
        x->r.run = (struct mechd_stored_run){.state = mechd_run_state_names[s.state],
                                             .time = s.time,
                                             .elapsed = 1e-9 * (double)s.elapsed,
                                             .periods = s.periods,
                                             .overruns = s.overruns,
                                             .rows = r->record.count,
                                             .recorded = s.kept};
        x->r.run.description = mechd_entry_append(&room, description.bytes, description.length);
        mechd_entry_append(&room, "", 1);
        x->r.run.reason = mechd_entry_append(&room, s.reason, mechd_entry_text_room(s.reason));
    }
    mechp_text_fini(&description);
    return x;
}

/* The rows since the last record; NULL: there are none, or no memory: *good is false. */
static struct mechd_entry *rows_entry(struct mechd_run *r, bool *good)
{
    struct mechd_recording *const record = &r->record;
    uint64_t first = 0;
    uint64_t count = 0;
    const double *const rows = mechd_recording_take(record, &first, &count);
    if (rows == NULL) {
        return NULL;
    }
    const size_t size = (size_t)count * record->width * sizeof *rows;
    struct mechd_entry *const x = mechd_entry_create(r->job.instance, MECHD_RECORD_RESULTS, size);
    *good = x != NULL;
    if (x != NULL) {
        char *room = x->room;
        x->r.number = r->id;
        x->r.first = first;
        x->r.time = rows[0];
        x->r.bytes = mechd_entry_append(&room, rows, size);
        x->r.size = size;
        x->run = r;
        atomic_fetch_add(&r->refs, 1);
        atomic_fetch_add(&record->on_way, size);
    }
    return x;
}

bool mechd_run_entries(struct mechd_instance *i, struct mechd_entry **first,
                       struct mechd_entry **last)
{
    for (struct mechd_run *r = i->run; r != NULL; r = r->older) {
        if (!r->unsaved) {
            continue;
        }
        struct mechd_entry *const x = run_entry(r);
        if (x == NULL) {
            return false;
        }
        mechd_entry_chain(first, last, x);
        bool good = true;
        struct mechd_entry *const rows = rows_entry(r, &good);
        if (!good) {
            return false;
        }
        if (rows != NULL) {
            mechd_entry_chain(first, last, rows);
        }
        r->unsaved = false;
    }
    return true;
}

int mechd_run_unstore(struct mechd_instance *i, const struct mechd_run *r, bool rows_alone,
                      struct mechd_ticket *t)
{
    if (mechd_run_key(i) == 0) {
        return 0;
    }
    struct mechd_entry *const x = mechd_entry_create(
        i, rows_alone ? MECHD_RECORD_DELETE_RESULTS : MECHD_RECORD_DELETE_RUN, 0);
    if (x == NULL) {
        return MECH_NO_MEMORY;
    }
    x->r.number = r->id;
    mechd_entry_post(x, t);
    return 0;
}

/* --- from the store --------------------------------------------------------------------------- */

/* The outputs of the description; false: one of them is not there, or no memory. */
static bool read_outputs(const struct mechd_instance *i, const json_t *names,
                         struct mechd_run_settings *s)
{
    if (names == NULL) {
        return true;
    }
    s->chosen = calloc(i->channel_count + 1, sizeof *s->chosen);
    size_t found = 0;
    for (size_t n = 0; s->chosen != NULL && n < json_array_size(names); n++) {
        const char *const name = json_string_value(json_array_get(names, n));
        for (size_t k = 0; name != NULL && k < i->channel_count; k++) {
            if (strcmp(i->channels[k].name, name) == 0) {
                s->chosen[k] = true;
                found++;
            }
        }
    }
    return s->chosen != NULL && found == json_array_size(names);
}

static enum mechd_run_state read_state(const char *name)
{
    for (int k = 0; k < MECHD_RUN_STATES; k++) {
        if (k != MECHD_RUN_RUNNING && strcmp(mechd_run_state_names[k], name) == 0) {
            return (enum mechd_run_state)k;
        }
    }
    return MECHD_RUN_INTERRUPTED;
}

/* How far it was. */
static void restore(struct mechd_run *r, const struct mechd_stored_run *stored)
{
    r->state = read_state(stored->state);
    r->periods = stored->periods;
    r->overruns = stored->overruns;
    r->record.width = mechd_recording_width(r->job.instance, &r->settings);
    r->record.count = stored->rows;
    r->record.base = r->record.chunk = r->record.posted = stored->rows;
    r->record.dropped = !stored->recorded;
    atomic_init(&r->record.safe, stored->rows);
    mechd_run_account(r);
    mechd_run_show(r);
    r->shown.time = stored->time;
    r->shown.elapsed = mechd_ns(stored->elapsed);
    mech_text_format(r->shown.reason, sizeof r->shown.reason, "%s",
                     stored->reason[0] != '\0'           ? stored->reason
                     : r->state == MECHD_RUN_INTERRUPTED ? "mechd ended before the run was finished"
                                                         : "");
}

/* One that makes no sense is left out: the instance itself is sound. */
static int take_run(void *context, const struct mechd_stored_run *stored)
{
    struct mechd_instance *const i = context;
    json_t *const description = json_loads(stored->description, 0, NULL);
    struct mechp_body_stored_run in;
    struct mech_diag diag = {0};
    char warning[MECHD_RUN_WARNING];
    MECHP_READ(stored_run, description, &diag, &in);
    mech_text_copy(warning, sizeof warning, in.warning != NULL ? in.warning : "");
    struct mechd_run_settings s = {.pace = in.pace,
                                   .period = in.period,
                                   .until = in.until,
                                   .every = in.every != MECHP_ABSENT ? in.every : 0,
                                   .inputs = in.inputs,
                                   .hash = in.hash};
    const bool good = mech_diag_clean(&diag) && read_outputs(i, in.outputs.of, &s) &&
                      !isnan(in.start) && s.period > 0.;
    mech_diag_fini(&diag);
    json_decref(description);
    i->runs = stored->number;
    struct mechd_run *const r = good ? mechd_run_create(i, stored->number, &s) : NULL;
    if (r == NULL) {
        free(s.chosen);
        return 0;
    }
    r->time = in.start;
    restore(r, stored);
    mech_text_copy(r->shown.warning, sizeof r->shown.warning, warning); // the store has it
    return 0;
}

int mechd_runs_load(struct mechd_instance *i)
{
    return mechd_store_runs(i->host->store, mechd_run_key(i), take_run, i);
}

/* Look for one run among those of the store. */
struct search {
    uint64_t number, periods;
    bool found, runs; /* it is there; by the store it is in progress */
};

static int compare_run(void *context, const struct mechd_stored_run *stored)
{
    struct search *const search = context;
    if (stored->number == search->number) {
        search->found = true;
        search->runs = strcmp(stored->state, mechd_run_state_names[MECHD_RUN_RUNNING]) == 0;
        search->periods = stored->periods;
    }
    return 0;
}

/* One run. False: the store does not have it, nor is it retained. */
static bool undo(struct mechd_instance *i, struct mechd_run *r)
{
    struct search search = {.number = r->id};
    const int outcome = mechd_store_runs(i->host->store, mechd_run_key(i), compare_run, &search);
    const bool is_new = outcome == 0 && !search.found;
    if (is_new && i->face_key == 0) {
        return false;
    }
    // an end that was stored before all this is as it was, and one that was not is stored again
    const bool ended = (search.runs || is_new) && r->state != MECHD_RUN_RUNNING;
    if (r->unsaved || ended || r->record.count != atomic_load(&r->record.safe)) {
        mechd_recording_undo(&r->record);
        mechd_run_account(r);
        r->periods = search.periods;
        r->unsaved = r->unsaved || ended;
        i->durable.due = i->durable.due || ended;
        mechd_run_show(r);
        pthread_mutex_lock(&r->p);
        r->shown.time = mechd_engine_time(&i->engine);
        pthread_mutex_unlock(&r->p);
    }
    return true;
}

void mechd_runs_undo(struct mechd_instance *i)
{
    struct mechd_run *const newest = i->run;
    if (newest == NULL || newest->record.key == 0) {
        return;
    }
    if (!undo(i, newest)) {
        mechd_run_forget(i, newest);
    }
    for (struct mechd_run *r = newest->older; i->face_key != 0 && r != NULL; r = r->older) {
        undo(i, r);
    }
}
