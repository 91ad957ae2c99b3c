/* Sweeps in the store: the beginning before it is acknowledged, rows and the end once all lanes are
 * over. Rows go in chunks, each a transaction's part, so that others that wait for the disk are not
 * held up by a large table; until its end is there, a sweep of the store was interrupted. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_records.h"
#include "protocol/wire/json.h"
#include "server/call/service.h"
#include "server/instance/entry.h"
#include "server/os/log.h"
#include "server/sweep/sweep.h"
#include "solver/base/text.h"

#include <stdlib.h>
#include <string.h>

/* bytes of rows in one record */
enum { CHUNK = 1 << 20 };

/* A record of a sweep, with room for what it points to. */
struct note {
    struct mechd_record r; /* first */
    struct mechd_sweep *sweep;
    struct mechd_ticket *ticket; /* or NULL */
    char room[];
};

static bool is_stale(const struct mechd_record *r)
{
    return atomic_load(&((const struct note *)r)->sweep->lost);
}

static void has_failed(struct mechd_record *r)
{
    atomic_store(&((struct note *)r)->sweep->lost, true);
}

/* The sweep is over, and the next process has so many bytes of its rows. */
static void close_sweep(struct mechd_sweep *s, bool kept, uint64_t bytes)
{
    const uint64_t held = s->held[MECHD_QUOTA_STORED];
    mechd_sweep_give(s, MECHD_QUOTA_STORED, held > bytes ? held - bytes : 0);
    atomic_store(&s->kept, kept);
    atomic_store(&s->over_all, true);
}

static void is_done(struct mechd_record *r)
{
    struct note *const n = (struct note *)r;
    const bool good = r->outcome == 0;
    if (r->kind == MECHD_RECORD_SWEEP && !good) {
        (void)mechd_sweep_remove(n->sweep->service->sweeps, n->sweep);
    } else if (r->kind == MECHD_RECORD_SWEEP_END) {
        close_sweep(n->sweep, good, good ? r->sweep.rows * n->sweep->width * sizeof(double) : 0);
    }
    if (n->ticket != NULL) {
        mechd_ticket_settle(n->ticket, r->outcome);
    }
    mechd_sweep_unref(n->sweep);
    free(n);
}

/* NULL: no memory. It has a reference. */
static struct note *note_of(struct mechd_sweep *s, enum mechd_record_kind kind, size_t room)
{
    struct note *const n = malloc(sizeof *n + room);
    if (n != NULL) {
        n->r = (struct mechd_record){.kind = kind, .number = s->id, .done = is_done};
        if (kind != MECHD_RECORD_DELETE_SWEEP) {
            n->r.stale = is_stale;
            n->r.failed = has_failed;
        }
        n->sweep = s;
        n->ticket = NULL;
        atomic_fetch_add(&s->refs, 1);
    }
    return n;
}

/* To the store with its ticket, or NULL, and the receipt that goes with that. */
static void post(struct note *n, struct mechd_ticket *t)
{
    struct mechd_sweep *const s = n->sweep;
    const struct mechd_stored_receipt *const receipt = t != NULL ? t->receipt : NULL;
    if (receipt != NULL) {
        const size_t scope = strlen(receipt->scope) + 1, location = strlen(receipt->location) + 1;
        const size_t etag = strlen(receipt->etag) + 1;
        struct note *const glued =
            note_of(s, MECHD_RECORD_RECEIPT, scope + location + etag + receipt->size);
        if (glued != NULL) {
            char *room = glued->room;
            glued->r.receipt = *receipt;
            glued->r.receipt.scope = mechd_entry_append(&room, receipt->scope, scope);
            glued->r.receipt.location = mechd_entry_append(&room, receipt->location, location);
            glued->r.receipt.etag = mechd_entry_append(&room, receipt->etag, etag);
            glued->r.receipt.bytes = mechd_entry_append(&room, receipt->bytes, receipt->size);
            glued->r.glued = true;
            n->r.next = &glued->r;
        }
    }
    n->ticket = t;
    if (t != NULL) {
        mechd_ticket_take(t);
    }
    mechd_store_post(s->service->host.store, &n->r);
}

/* --- to the store ----------------------------------------------------------------------------- */

static void write_parameters(const void *of, struct mechp_text *w)
{
    mechd_sweep_write_parameters(of, w);
}

static void write_outputs(const void *of, struct mechp_text *w)
{
    const struct mechd_sweep_plan *const p = &((const struct mechd_sweep *)of)->plan;
    mechp_text_array(w);
    for (size_t k = 0; k < p->output_count; k++) {
        const struct mechd_sweep_output *const o = &p->outputs[k];
        const struct mechp_body_stored_output body = {o->name, o->size, o->scalar};
        MECHP_WRITE(stored_output, &body, w);
    }
    mechp_text_end(w);
}

/* What does not change. */
static void describe(const struct mechd_sweep *s, struct mechp_text *w)
{
    const struct mechp_body_stored_sweep body = {.name = s->name,
                                                 .points = s->plan.points,
                                                 .parameters.items = {write_parameters, s},
                                                 .outputs.items = {write_outputs, s}};
    MECHP_WRITE(stored_sweep, &body, w);
}

int mechd_sweep_keep(struct mechd_sweep *s, struct mechd_ticket *t)
{
    struct mechp_text text;
    if (!s->stored) {
        return 0;
    }
    mechp_text_init(&text, NULL, 0);
    describe(s, &text);
    struct note *const n = text.failed ? NULL : note_of(s, MECHD_RECORD_SWEEP, text.length + 1);
    if (n != NULL) {
        char *room = n->room;
        n->r.sweep.token = s->account->name;
        n->r.sweep.state = "running";
        n->r.sweep.description = mechd_entry_append(&room, text.bytes, text.length);
        mechd_entry_append(&room, "", 1);
        post(n, t);
    }
    mechp_text_fini(&text);
    return n != NULL ? 0 : MECH_NO_MEMORY;
}

/* Rows of the points that are over, in their order. False: no memory. */
static bool post_rows(struct mechd_sweep *s, uint64_t *count)
{
    const struct mechd_sweep_plan *const p = &s->plan;
    const size_t row = s->width * sizeof(double);
    const size_t most = row < CHUNK ? CHUNK / row * row : row;
    struct note *n = NULL;
    *count = 0;
    for (uint32_t k = 0; k < p->points; k++) {
        for (uint64_t at = 0; atomic_load(&s->over[k]) && at < s->row_counts[k]; at++) {
            if (n == NULL && (n = note_of(s, MECHD_RECORD_SWEEP_ROWS, most)) == NULL) {
                return false;
            }
            n->r.first = n->r.size == 0 ? *count : n->r.first;
            n->r.bytes = n->room;
            memcpy(n->room + n->r.size, s->rows + (k * p->capacity + at) * s->width, row);
            n->r.size += row;
            ++*count;
            if (n->r.size == most) {
                post(n, NULL);
                n = NULL;
            }
        }
    }
    if (n != NULL) {
        post(n, NULL);
    }
    return true;
}

void mechd_sweep_keep_end(struct mechd_sweep *s)
{
    struct mechp_text errors;
    struct note *n = NULL;
    uint64_t rows = 0;
    if (!s->stored || mechd_sweep_asked(s) != MECHD_STOP_NONE) {
        close_sweep(s, false, 0);
        return;
    }
    mechp_text_init(&errors, NULL, 0);
    mechd_sweep_write_errors(s, &errors);
    if (!errors.failed && post_rows(s, &rows)) {
        n = note_of(s, MECHD_RECORD_SWEEP_END, errors.length + 1);
    }
    if (n != NULL) {
        char *room = n->room;
        const uint32_t done = atomic_load(&s->done);
        n->r.sweep = (struct mechd_stored_sweep){
            .state = done == s->plan.points ? "finished" : "interrupted",
            .done = done,
            .failed = atomic_load(&s->failed),
            .rows = rows,
            .errors = mechd_entry_append(&room, errors.bytes, errors.length)};
        mechd_entry_append(&room, "", 1);
        post(n, NULL);
    } else {
        mechd_log(MECHD_WARNING, "sweep", "sweep=w-%llu reason=\"no memory to store its rows\"",
                  (unsigned long long)s->id);
        close_sweep(s, false, 0);
    }
    mechp_text_fini(&errors);
}

void mechd_sweep_forget(struct mechd_sweep *s, struct mechd_ticket *t)
{
    struct note *const n = note_of(s, MECHD_RECORD_DELETE_SWEEP, 0);
    if (n != NULL) {
        post(n, t);
    } else {
        mechd_ticket_refuse(t, MECH_NO_MEMORY);
    }
}

/* --- from the store --------------------------------------------------------------------------- */

static enum mechp_code code_of(const char *text)
{
    const struct mechp_code_info *info = NULL;
    for (int k = 0; text != NULL && (info = mechp_code_at(k)) != NULL; k++) {
        if (strcmp(info->text, text) == 0) {
            return info->code;
        }
    }
    return MECHP_INTERNAL;
}

static void read_errors(struct mechd_sweep *s, const char *text)
{
    json_t *const errors = json_loads(text, 0, NULL);
    struct mech_diag diag = {0};
    for (size_t k = 0; k < json_array_size(errors) && k < MECHD_SWEEP_ERRORS; k++) {
        struct mechd_sweep_error *const e = &s->errors[s->error_count++];
        struct mechp_body_sweep_error in;
        MECHP_READ(sweep_error, json_array_get(errors, k), &diag, &in);
        e->point = in.point != MECHP_ABSENT ? (uint32_t)in.point : 0;
        e->code = code_of(in.code);
        mech_text_format(e->reason, sizeof e->reason, "%s", in.message != NULL ? in.message : "");
    }
    mech_diag_fini(&diag);
    json_decref(errors);
}

/* The plan, as far as it is kept. False: it makes no sense, or no memory. */
static bool read_plan(struct mechd_sweep_plan *p, const struct mechp_body_stored_sweep *in,
                      struct mech_diag *diag)
{
    const json_t *const parameters = in->parameters.of;
    const json_t *const outputs = in->outputs.of;
    const int64_t points = in->points;
    p->places = json_array_size(parameters);
    p->output_count = json_array_size(outputs);
    p->points = (uint32_t)points;
    p->names = calloc(p->places + 1, sizeof *p->names);
    p->outputs = calloc(p->output_count + 1, sizeof *p->outputs);
    bool good = p->names != NULL && p->outputs != NULL && points > 0 &&
                points <= MECHD_SWEEP_POINTS && p->places <= MECHD_SWEEP_PARAMETERS;
    for (size_t k = 0; good && k < p->places; k++) {
        const char *const name = json_string_value(json_array_get(parameters, k));
        good = name != NULL;
        snprintf(p->names[k], sizeof p->names[k], "%s", good ? name : "");
    }
    for (size_t k = 0; good && k < p->output_count; k++) {
        struct mechd_sweep_output *const o = &p->outputs[k];
        struct mechp_body_stored_output from;
        MECHP_READ(stored_output, json_array_get(outputs, k), diag, &from);
        good = from.name != NULL && from.size > 0 &&
               from.size <= MECHD_SWEEP_BYTES / (int64_t)sizeof(double);
        o->size = good ? (int32_t)from.size : 0;
        o->scalar = from.scalar;
        snprintf(o->name, sizeof o->name, "%s", good ? from.name : "");
    }
    return good;
}

/* How far it was; what it holds of the disk counts, whatever the limits are now. */
static void restore(struct mechd_sweep *s, const struct mechd_stored_sweep *stored)
{
    atomic_init(&s->done, stored->done);
    atomic_init(&s->failed, stored->failed);
    atomic_init(&s->over_all, true);
    atomic_init(&s->kept, true);
    s->stored = true;
    s->stored_rows = stored->rows;
    s->held[MECHD_QUOTA_STORED] = stored->rows * s->width * sizeof(double);
    (void)mechd_account_take(s->account, MECHD_QUOTA_STORED, s->held[MECHD_QUOTA_STORED], NULL);
    read_errors(s, stored->errors);
}

/* One that makes no sense is named and left where it is. */
static int take_sweep(void *context, const struct mechd_stored_sweep *stored)
{
    struct mechd_service *const d = context;
    struct mechd_sweeps *const t = d->sweeps;
    struct mechd_account *const account = mechd_accounts_find(&d->host.accounts, stored->token);
    struct mechd_sweep *const s = calloc(1, sizeof *s);
    if (account == NULL || s == NULL) {
        free(s);
        return MECH_NO_MEMORY;
    }
    json_t *const description = json_loads(stored->description, 0, NULL);
    struct mechp_body_stored_sweep in;
    struct mech_diag diag = {0};
    MECHP_READ(stored_sweep, description, &diag, &in);
    pthread_mutex_init(&s->m, NULL);
    atomic_init(&s->refs, 1);
    s->service = d;
    s->account = account;
    s->id = stored->number;
    s->name = strdup(in.name != NULL ? in.name : "");
    const bool good = s->name != NULL && t->count < MECHD_SWEEPS_MOST &&
                      read_plan(&s->plan, &in, &diag) && mechd_sweep_columns(s) == 0;
    mech_diag_fini(&diag);
    json_decref(description);
    if (!good) {
        mechd_log(MECHD_ERROR, "recovery", "sweep=w-%llu reason=\"its record cannot be read\"",
                  (unsigned long long)stored->number);
        mechd_sweep_unref(s);
        return 0;
    }
    restore(s, stored);
    s->next = t->newest;
    t->newest = s;
    t->count++;
    return 0;
}

int mechd_sweeps_load(struct mechd_service *d)
{
    return mechd_store_sweeps(d->host.store, &d->sweeps->serial, take_sweep, d);
}
