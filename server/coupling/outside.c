#include "server/coupling/outside.h"

#include "protocol/wire/json.h"
#include "server/call/service.h"
#include "server/coupling/away.h"
#include "server/coupling/keep.h"
#include "server/os/ticks.h"
#include "solver/base/arena.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often a command that sleeps looks around, ns. */
static const uint64_t look = 10 * MECHD_MS;
/* Patience, s: the preset, and the range. */
static const double patience_preset = 5., patience_least = 1e-3, patience_most = 3600.;

static struct mechd_away *away_of(const struct mechd_part *p)
{
    return p->instance->engine.self;
}

/* --- creation --------------------------------------------------------------------------------- */

/* Names of one direction, each once; in the tree. NULL: a fault, or no memory. */
static const char **read_names(struct mechd_reading *r, const json_t *list, const char *path,
                               const char *side, size_t *count)
{
    char place[96];
    snprintf(place, sizeof place, "%.60s/partner/%s", path, side);
    *count = json_array_size(list);
    if (*count > MECHD_OUTSIDE_VALUES) {
        mechd_reading_fault(r, place, "must be a list of at most %d names", MECHD_OUTSIDE_VALUES);
        return NULL;
    }
    r->outside_values += *count;
    if (r->outside_values > MECHD_COUPLING_OUTSIDE) {
        mechd_reading_fault(r, place, "at most %d values of all partners", MECHD_COUPLING_OUTSIDE);
        return NULL;
    }
    struct mech_arena arena;
    struct mech_names known;
    mech_arena_init(&arena, 0);
    const bool room = mech_names_init(&known, &arena, *count) == 0;
    const char **const names = room ? calloc(*count + 1, sizeof *names) : NULL;
    for (size_t k = 0; names != NULL && k < *count; k++) {
        names[k] = json_string_value(json_array_get(list, k));
        const bool twice = names[k] != NULL && mech_names_add(&known, names[k], (int32_t)k) != 0;
        if (names[k] == NULL || !mech_name_valid(names[k]) || twice) {
            char each[128];
            snprintf(each, sizeof each, "%s/%zu", place, k);
            mechd_reading_fault(r, each, twice ? "this name is listed twice" : "a name is needed");
        }
    }
    mech_arena_fini(&arena);
    return names;
}

/* A partner's structs; and small blocks: its lease, maps of names, its side of the scheme. */
static const size_t base = sizeof(struct mechd_outside) + sizeof(struct mechd_away) +
                           sizeof(struct mechd_instance) + sizeof(struct mechd_part) + 2048;

/* Its memory, about, to the account of the caller. */
static void charge(struct mechd_reading *r, struct mechd_instance *i, size_t values)
{
    struct mechd_excess excess;
    i->account = mechd_accounts_find(&r->c->service->host.accounts, r->c->who.name);
    if (i->account == NULL) {
        mechd_reading_fail(r, MECHP_OUT_OF_MEMORY, "no memory for the account");
    } else if (!mechd_instance_charge(i, MECHD_QUOTA_MEMORY, base + values * MECHD_OUTSIDE_BYTES,
                                      r->g->keep.loading ? NULL : &excess)) {
        mechd_fail_quota(r->c, &excess);
    }
}

/* Its instance, in no table, under the coupling's lease. */
static void make_instance(struct mechd_reading *r, struct mechd_part *p,
                          const struct mechd_outside_terms *terms)
{
    struct mechd_away *const a = mechd_away_create(p->name, terms);
    const struct mechd_engine engine = {.ops = &mechd_away_ops, .self = a};
    const struct mechd_lease_wish wish = {.role = MECHD_ROLE_OWNER, .of = MECHD_LEASE_OF_COUPLING};
    struct mechd_holder holder;
    if (a == NULL || mechd_instance_create(&r->c->service->host, &engine, &p->instance) != 0) {
        if (a != NULL) {
            mechd_away_destroy(a);
        }
        mechd_reading_fail(r, MECHP_OUT_OF_MEMORY, "no memory for the partner");
        return;
    }
    mech_text_copy(p->instance->id, sizeof p->instance->id, p->name);
    if (mechd_leases_take(&p->instance->leases, &wish, &p->lease, &holder) != 0) {
        mechd_reading_fail(r, MECHP_OUT_OF_MEMORY, "no memory for the partner");
    }
    mechd_outside_ref(a->outside);
    p->outside = a->outside;
    p->outside->pays = p->instance;
    r->g->outsides++;
    charge(r, p->instance, terms->input_count + terms->output_count);
}

void mechd_outside_read(struct mechd_reading *r, struct mechd_part *p, const json_t *partner,
                        const char *path)
{
    struct mechd_outside_terms terms = {0};
    struct mechp_body_coupling_partner in;
    const size_t before = r->diag->total;
    char place[80];
    snprintf(place, sizeof place, "%.60s/partner", path);
    mechp_shape_only(partner, place, &mechp_body_coupling_partner, r->diag);
    MECHP_READ_IN(coupling_partner, (&(const struct mechp_json_in){partner, place, r->diag}), &in);
    const char **const inputs = read_names(r, in.inputs.of, path, "inputs", &terms.input_count);
    const char **const outputs = read_names(r, in.outputs.of, path, "outputs", &terms.output_count);
    terms.rollback = in.rollback == NULL || *in.rollback;
    terms.patience = isnan(in.patience) ? patience_preset : in.patience;
    char range[80];
    mech_text_format(range, sizeof range, "must be from %g to %g s", patience_least, patience_most);
    mechd_reading_must(r, terms.patience >= patience_least && terms.patience <= patience_most,
                       place, "patience", range);
    // of the whole request: a fault in it is found where it is read
    terms.order = r->in.hold == 1 || r->in.hold == 2 ? (int32_t)r->in.hold : 0;
    terms.inputs = inputs;
    terms.outputs = outputs;
    const bool clean = r->diag->total == before;
    if (inputs != NULL && outputs != NULL && clean) {
        make_instance(r, p, &terms);
    } else if (clean) {
        mechd_reading_fail(r, MECHP_OUT_OF_MEMORY, "no memory for the partner");
    }
    free(inputs);
    free(outputs);
}

void mechd_outsides_open(struct mechd_coupling *g, const char *id)
{
    for (int32_t n = 0; n < g->count; n++) {
        if (g->parts[n].outside != NULL) {
            mechd_outside_add(g->service->outsides, g->parts[n].outside, id);
        }
    }
}

void mechd_outsides_end(struct mechd_coupling *g)
{
    for (int32_t n = 0; n < g->count; n++) {
        if (g->parts[n].outside != NULL) {
            mechd_outside_remove(g->service->outsides, g->parts[n].outside);
        }
    }
}

void mechd_outsides_align(struct mechd_coupling *g)
{
    double time = 0.;
    for (int32_t n = g->count; n-- > 0;) {
        const struct mechd_part *const p = &g->parts[n];
        time = p->outside == NULL ? mechd_engine_time(&p->instance->engine) : time;
    }
    for (int32_t n = 0; n < g->count && !g->opened; n++) {
        if (g->parts[n].outside != NULL) {
            away_of(&g->parts[n])->time = time;
            mechd_outside_set_time(g->parts[n].outside, time);
        }
    }
}

/* --- tasks ------------------------------------------------------------------------------------ */

/* The inputs, value by value, then their derivatives; what nothing drives is 0. */
static uint32_t compose(struct mechd_part *p, const struct mech_couple_task *task, double *values)
{
    const struct mechd_outside *const o = p->outside;
    struct mechd_away *const a = away_of(p);
    const size_t n = o->input_count;
    const int32_t order = task->action == MECH_COUPLE_TRIAL ? o->order : 0;
    memset(values, 0, n * (size_t)(order + 1) * sizeof *values);
    double factorial = 1.;
    for (int32_t r = 0; r <= order && r <= task->order; r++) {
        factorial *= r > 1 ? r : 1.;
        for (int32_t i = 0; i < p->in_count; i++) {
            values[(size_t)r * n + (size_t)p->in[i].index] =
                factorial * task->polynomial[(size_t)r * (size_t)p->in_count + (size_t)i];
        }
    }
    memcpy(a->inputs, values, n * sizeof *values);
    return (uint32_t)(n * (size_t)(order + 1));
}

/* Its programs commit what is on the disk. */
static bool confirms(const struct mechd_coupling *g)
{
    return g->outsides > 0 && g->keep.mode == MECHD_DURABLE_EVERY_STEP;
}

static struct mechp_frame question_of(const struct mech_couple_task *task)
{
    static const uint8_t kinds[] = {[MECH_COUPLE_OUTPUTS] = MECHP_OUTPUTS,
                                    [MECH_COUPLE_TRIAL] = MECHP_TRIAL,
                                    [MECH_COUPLE_COMMIT] = MECHP_COMMIT};
    return (struct mechp_frame){.kind = kinds[task->action],
                                .step = task->window + 1,
                                .iteration = (uint32_t)task->iteration,
                                .time = task->time,
                                .size = task->action == MECH_COUPLE_OUTPUTS ? 0. : task->size};
}

static void ask(struct mechd_part *p, const struct mech_couple_task *task)
{
    struct mechp_frame frame = question_of(task);
    if (task->action != MECH_COUPLE_COMMIT) {
        frame.count = compose(p, task, p->numbers);
    }
    mechd_outside_ask(p->outside, &frame, p->numbers);
    p->asked = true;
}

void mechd_outsides_ask(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    const bool ends = g->outsides > 0 && mechd_coupling_ends(k) != MECHP_OK;
    for (int32_t n = 0; n < k->batch.count && g->outsides > 0; n++) {
        const struct mech_couple_task *const task = &k->batch.tasks[n];
        struct mechd_part *const p = &g->parts[task->participant];
        const bool may = (task->action == MECH_COUPLE_COMMIT && !confirms(g)) ||
                         (task->action == MECH_COUPLE_OUTPUTS && !ends) ||
                         (task->action == MECH_COUPLE_TRIAL && !ends && p->outside != NULL &&
                          p->outside->rollback);
        if (p->outside != NULL && may) {
            ask(p, task);
        }
    }
}

void mechd_outsides_drop(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    for (int32_t n = 0; n < g->count; n++) {
        struct mechd_part *const p = &g->parts[n];
        if (p->asked) {
            p->asked = false;
            mechd_outside_abandon(p->outside);
        }
    }
}

/* ∂outputs/∂w, where w adds w_i Σ shape[k] τ^k to input i, from those by the values of the
 * question, which are derivatives: k! shape[k]. */
static void take_slopes(const struct mechd_part *p, struct mech_couple_task *task,
                        const double *slopes)
{
    const struct mechd_outside *const o = p->outside;
    const size_t n = o->input_count, row = n * (size_t)(o->order + 1);
    for (int32_t k = 0; k < p->out_count; k++) {
        for (int32_t i = 0; i < p->in_count; i++) {
            const double *const at =
                slopes + (size_t)p->out[k].index * row + (size_t)p->in[i].index;
            double sum = 0., factorial = 1.;
            for (int32_t r = 0; r <= o->order && r <= task->order; r++) {
                factorial *= r > 1 ? r : 1.;
                sum += factorial * task->shape[r] * at[(size_t)r * n];
            }
            task->jacobian[k * p->in_count + i] = sum;
        }
    }
}

void mechd_outsides_give(struct mechd_coupling *g)
{
    for (int32_t n = 0; n < g->count && g->outsides > 0; n++) {
        if (g->parts[n].outside != NULL) {
            mech_couple_set_jacobian(g->couple, n, mechd_outside_gives(g->parts[n].outside));
        }
    }
}

/* The answer is there. */
static void take(struct mechd_part *p, struct mech_couple_task *task)
{
    struct mechd_away *const a = away_of(p);
    for (int32_t i = 0; i < p->out_count && task->action != MECH_COUPLE_COMMIT; i++) {
        task->outputs[i] = p->outputs[p->out[i].index];
    }
    if (task->action == MECH_COUPLE_TRIAL) {
        memcpy(a->tried, p->outputs, p->outside->output_count * sizeof *a->tried);
    } else if (task->action == MECH_COUPLE_OUTPUTS) {
        memcpy(a->outputs, p->outputs, p->outside->output_count * sizeof *a->outputs);
    } else {
        // those of its trial: what it returns with the commit is the same, or owed
        memcpy(a->outputs, a->tried, p->outside->output_count * sizeof *a->outputs);
        a->time = task->time + task->size;
        a->windows++;
        mechd_instance_stepped(p->instance, 0);
    }
}

void mechd_outsides_name_ahead(struct mechd_coupling_command *k)
{
    const struct mechd_coupling *const g = k->coupling;
    for (int32_t n = 0; n < g->count; n++) {
        const struct mechd_part *const p = &g->parts[n];
        if (p->outside != NULL && mechd_outside_ahead(p->outside)) {
            mech_text_append(k->detail, sizeof k->detail,
                             "; %s has stepped this window and cannot roll back", p->name);
        }
    }
}

/* The command fails by this partner. */
static void blame(struct mechd_coupling_command *k, enum mechp_code code, const char *name,
                  const char *fault)
{
    if (k->code == MECHP_OK) {
        k->code = code;
        mech_text_format(k->detail, sizeof k->detail, "participant %s: %s", name, fault);
    }
}

enum mechd_task_progress mechd_outside_perform(struct mechd_part *p,
                                               struct mechd_coupling_command *k,
                                               struct mech_couple_task *task)
{
    enum mechp_code code = MECHP_OK;
    char fault[MECHD_OUTSIDE_FAULT];
    if (task->action == MECH_COUPLE_DISCARD) {
        return MECHD_TASK_DONE; // the next trial takes the place of this one
    }
    if (task->action == MECH_COUPLE_COMMIT && confirms(p->coupling)) {
        const struct mechp_frame frame = question_of(task);
        mechd_outside_hold(p->outside, &frame);
        take(p, task);
        return MECHD_TASK_DONE;
    }
    if (!p->asked && task->action != MECH_COUPLE_COMMIT && mechd_coupling_ends(k) != MECHP_OK) {
        // it cannot be taken back from a program that does not roll back
        task->code = MECH_CANCELLED;
        mech_text_format(task->reason, sizeof task->reason,
                         "the step ended before its request was sent to the program");
        return MECHD_TASK_DONE;
    }
    if (!p->asked) {
        ask(p, task);
    }
    const enum mechd_outside_state state =
        mechd_outside_poll(p->outside, mechd_now(), p->outputs, &code, fault);
    if (state == MECHD_OUTSIDE_ASKED && mechd_coupling_ends(k) == MECHP_OK) {
        k->sleeps = true;
        return MECHD_TASK_GOES_ON;
    }
    p->asked = false;
    const bool wants =
        state == MECHD_OUTSIDE_ANSWERED && task->action == MECH_COUPLE_TRIAL && task->want_jacobian;
    const double *const slopes = wants ? mechd_outside_slopes(p->outside) : NULL;
    if (slopes != NULL) {
        take_slopes(p, task, slopes);
    } else if (wants) {
        // the next window goes by differences
        task->code = MECH_CANCELLED;
        mech_text_format(task->reason, sizeof task->reason,
                         "it has reconnected without offering its Jacobian");
        blame(k, MECHP_PARTNER_FAULT, p->name, task->reason);
        return MECHD_TASK_DONE;
    }
    if (state == MECHD_OUTSIDE_ANSWERED || task->action == MECH_COUPLE_COMMIT) {
        // a commit is done, or owed: then this window is the last of the command
        take(p, task);
        if (state == MECHD_OUTSIDE_ASKED) {
            mechd_outside_abandon(p->outside);
        } else if (state == MECHD_OUTSIDE_FAULTY) {
            blame(k, MECHP_COMMIT_OWED, p->name, fault);
        }
        return MECHD_TASK_DONE;
    }
    task->code = MECH_CANCELLED;
    if (state == MECHD_OUTSIDE_ASKED) {
        mechd_outside_abandon(p->outside);
        mech_text_format(task->reason, sizeof task->reason,
                         "the step ended while the answer of the program was awaited");
    } else {
        mech_text_format(task->reason, sizeof task->reason, "%s", fault);
        blame(k, code, p->name, fault);
    }
    return MECHD_TASK_DONE;
}

/* --- commits that wait for the disk ----------------------------------------------------------- */

static void wake(struct mechd_coupling *g);

/* On the store's thread, or at once. */
static void is_stored(struct mechd_ticket *t)
{
    struct mechd_coupling *const g =
        (struct mechd_coupling *)((char *)t - offsetof(struct mechd_coupling, keep.ticket));
    atomic_store(&g->keep.on_disk, t->outcome == 0 ? 1 : -1);
    wake(g);
}

void mechd_outsides_store(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    if (!confirms(g)) {
        return;
    }
    g->keep.ticket = (struct mechd_ticket){.answer = is_stored};
    atomic_store(&g->keep.on_disk, 0);
    k->confirms = MECHD_CONFIRMS_STORING;
    mechd_keep_post(g, MECHD_RECORD_COUPLING_STATE, &g->keep.ticket);
    if (!mechd_ticket_wait(&g->keep.ticket, NULL, NULL)) {
        atomic_store(&g->keep.on_disk, 1);
    }
}

/* The window was not stored. */
static void undo_window(struct mechd_coupling_command *k)
{
    (void)mechd_keep_repair(k->coupling);
    k->done--;
    mechd_coupling_refuse(k, MECHP_STORAGE_FAILED, "the window could not be stored");
}

/* The next program that has not answered; false: it is awaited. */
static bool confirm_one(struct mechd_coupling_command *k, struct mechd_part *p)
{
    enum mechp_code code = MECHP_OK;
    char fault[MECHD_OUTSIDE_FAULT];
    const enum mechd_outside_state state =
        p->asked ? mechd_outside_poll(p->outside, mechd_now(), p->outputs, &code, fault)
                 : MECHD_OUTSIDE_IDLE;
    if (state == MECHD_OUTSIDE_ASKED && mechd_coupling_ends(k) == MECHP_OK) {
        return false;
    }
    p->asked = false;
    if (state == MECHD_OUTSIDE_ASKED) {
        mechd_outside_abandon(p->outside);
    } else if (state == MECHD_OUTSIDE_FAULTY) {
        blame(k, MECHP_COMMIT_OWED, p->name, fault);
    }
    return true;
}

void mechd_outsides_confirm(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    if (k->confirms == MECHD_CONFIRMS_STORING) {
        const int on_disk = atomic_load(&g->keep.on_disk);
        k->sleeps = on_disk == 0;
        k->confirms = on_disk < 0 ? MECHD_CONFIRMS_NOTHING : k->confirms;
        if (on_disk < 0) {
            undo_window(k);
        }
        if (on_disk <= 0) {
            return;
        }
        for (int32_t n = 0; n < g->count; n++) {
            g->parts[n].asked = g->parts[n].outside != NULL;
            if (g->parts[n].asked) {
                mechd_outside_confirm(g->parts[n].outside);
            }
        }
        k->confirms = MECHD_CONFIRMS_COMMITS;
        k->confirmed = 0;
    }
    while (k->confirmed < g->count && confirm_one(k, &g->parts[k->confirmed])) {
        k->confirmed++;
    }
    k->sleeps = k->confirmed < g->count;
    k->confirms = k->sleeps ? k->confirms : MECHD_CONFIRMS_NOTHING;
}

/* --- sleep ------------------------------------------------------------------------------------ */

static void run_nap(struct mechd_task *task)
{
    struct mechd_coupling *const g =
        (struct mechd_coupling *)((char *)task - offsetof(struct mechd_coupling, nap_task));
    // it alone is at work: the head sleeps
    g->head->task.run(&g->head->task);
}

/* Its first waker goes on with it, and the timer is not armed any more. */
static void wake(struct mechd_coupling *g)
{
    pthread_mutex_lock(&g->nap_m);
    const bool naps = g->naps;
    const bool armed = naps && mechd_clock_cancel(&g->service->host.clock, &g->nap_timer);
    g->naps = false;
    pthread_mutex_unlock(&g->nap_m);
    if (armed) {
        mechd_coupling_unref(g);
    }
    if (naps) {
        mechd_pool_push(&g->service->host.pool, &g->nap_task);
    }
}

static void fire(struct mechd_timer *timer)
{
    struct mechd_coupling *const g =
        (struct mechd_coupling *)((char *)timer - offsetof(struct mechd_coupling, nap_timer));
    wake(g);
    mechd_coupling_unref(g);
}

static void answered(void *coupling)
{
    wake(coupling);
}

void mechd_nap_init(struct mechd_coupling *g)
{
    g->nap_timer.fire = fire;
    g->nap_task.run = run_nap;
    for (int32_t n = 0; n < g->count; n++) {
        struct mechd_outside *const o = g->parts[n].outside;
        if (o != NULL) {
            o->wake = answered;
            o->of = g;
        }
    }
}

/* True if its answer has come before it could wake. */
static bool is_there(struct mechd_outside *o)
{
    pthread_mutex_lock(&o->m);
    const bool there = o->state == MECHD_OUTSIDE_ANSWERED || o->state == MECHD_OUTSIDE_FAULTY;
    pthread_mutex_unlock(&o->m);
    return there;
}

bool mechd_nap(struct mechd_coupling *g)
{
    // others of the batch may have answered: the command goes on with the one that it awaits
    const struct mechd_coupling_command *const k = g->head;
    const bool stores = k->confirms == MECHD_CONFIRMS_STORING;
    struct mechd_outside *const awaited = stores ? NULL
                                          : k->confirms == MECHD_CONFIRMS_COMMITS
                                              ? g->parts[k->confirmed].outside
                                              : g->parts[k->batch.tasks[k->at].participant].outside;
    mechd_coupling_ref(g); // the timer's
    mechd_coupling_ref(g); // of this thread: once it is woken, the command may end
    pthread_mutex_lock(&g->nap_m);
    const bool naps = mechd_clock_arm(&g->service->host.clock, &g->nap_timer, mechd_now() + look);
    g->naps = naps;
    pthread_mutex_unlock(&g->nap_m);
    if (!naps) {
        mechd_coupling_unref(g);
    } else if (stores ? atomic_load(&g->keep.on_disk) != 0 : is_there(awaited)) {
        wake(g);
    }
    mechd_coupling_unref(g);
    return naps;
}
