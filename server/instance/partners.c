/* Leases and layouts of binary partners. */
#include "server/instance/partners.h"

#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_messages.h"
#include "server/instance/host.h"
#include "server/instance/partner_wants.h"
#include "server/os/ticks.h"
#include "solver/base/hash.h"
#include "solver/base/times.h"
#include "solver/sim/analysis.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_room(struct mechd_partner_room *room)
{
    free(room->changes);
    free(room->derivatives);
}

/* Room for the inputs of one frame. 0 or MECH_NO_MEMORY. */
static int make_room_for_inputs(const struct mechd_partner *p, struct mechd_partner_room *room)
{
    room->changes = calloc(p->input_count + 1, sizeof *room->changes);
    room->derivatives = calloc(p->input_size * (size_t)p->order + 1, sizeof *room->derivatives);
    return room->changes != NULL && room->derivatives != NULL ? 0 : MECH_NO_MEMORY;
}

static void drop_pending(struct mechd_partner *p)
{
    for (int k = 0; k < p->pending_count; k++) {
        free(p->pending[k].values);
    }
    p->pending_count = 0;
}

static void destroy(struct mechd_partner *p)
{
    drop_pending(p);
    free(p->inputs);
    free(p->outputs);
    free(p->packed);
    free(p->matrix);
    free_room(&p->step);
    free_room(&p->set);
    free(p);
}

void mechd_partners_destroy(struct mechd_instance *i)
{
    for (struct mechd_partner *p = i->partners; p != NULL;) {
        struct mechd_partner *const next = p->next;
        destroy(p);
        p = next;
    }
}

/* One direction of the exchange. */
struct side {
    const char *key;     /* in the hello */
    const json_t *names; /* the list there; NULL: all */
    enum mech_causality causality;
    int32_t *index; /* [count] of the variables */
    size_t count;
    size_t size; /* values */
};

/* Indices of the variables named in the list. */
static int read_names(const struct mechd_instance *i, struct mech_diag *diag, struct side *s)
{
    const char *key = s->key;
    const json_t *const names = s->names;
    const bool given = names != NULL;
    const size_t all = mechd_engine_variable_count(&i->engine, s->causality);
    const size_t n = given ? json_array_size(names) : all;
    if (n > all) {
        char path[32];
        snprintf(path, sizeof path, "/%s", key);
        mech_diag_add(diag, path, "the instance has %zu %s", all, key);
        return MECH_INVALID;
    }
    int32_t *index = calloc(n + 1, sizeof *index);
    if (index == NULL) {
        return MECH_NO_MEMORY;
    }
    s->index = index;
    s->count = n;
    s->size = 0;
    for (size_t k = 0; k < n; k++) {
        const char *name = given ? json_string_value(json_array_get(names, k)) : NULL;
        index[k] =
            given ? (name != NULL ? mechd_engine_variable_find(&i->engine, s->causality, name) : -1)
                  : (int32_t)k;
        if (index[k] < 0) {
            char path[64];
            snprintf(path, sizeof path, "/%s/%zu", key, k);
            mechd_engine_lacks(&i->engine, s->causality, name, path, diag);
            continue;
        }
        struct mech_variable v;
        mechd_engine_variable(&i->engine, s->causality, (size_t)index[k], &v);
        s->size += (size_t)v.size;
    }
    return 0;
}

static void remove_partner(struct mechd_instance *i, struct mechd_partner *p)
{
    struct mechd_partner **at = &i->partners;
    while (*at != p) {
        at = &(*at)->next;
    }
    *at = p->next;
    destroy(p);
}

void mechd_partners_prune(struct mechd_instance *i)
{
    for (struct mechd_partner *p = i->partners, *next = NULL; p != NULL; p = next) {
        next = p->next;
        if (!mechd_leases_lasts(&i->leases, p->lease)) {
            remove_partner(i, p);
        }
    }
}

/* Make room: the longest silent partner goes if nothing else ends its lease and it has been silent
 * for long. False: all are active. */
static bool make_room(struct mechd_instance *i)
{
    int count = 0;
    struct mechd_partner *oldest = NULL;
    mechd_partners_prune(i);
    for (struct mechd_partner *p = i->partners; p != NULL; p = p->next) {
        count++;
        oldest = !p->clocked && (oldest == NULL || p->used < oldest->used) ? p : oldest;
    }
    if (count < MECHD_PARTNERS_MOST) {
        return true;
    }
    if (oldest == NULL || mechd_now() - oldest->used < mechd_lease_ns) {
        return false;
    }
    mechd_partner_bye(i, oldest);
    return true;
}

/* What the hello says of its lease. */
static void read_wish(const struct mechd_hello *h, const struct mechp_body_hello_request *in,
                      struct mech_diag *diag, struct mechd_lease_wish *w)
{
    *w = (struct mechd_lease_wish){.role = MECHD_ROLE_PARTNER, .name = h->pass->who.name};
    if (in->role != NULL) {
        w->role = mechd_role_find(in->role);
        w->seconds = mechd_lease_preset;
        if (w->role < 0) {
            mech_diag_add(diag, "/role", "must be owner, co-driver, observer or partner");
        }
    }
    if (w->role == MECHD_ROLE_PARTNER) {
        w->seconds = 0.;
    }
    if (!isnan(in->seconds)) {
        w->seconds = in->seconds;
        if (w->role == MECHD_ROLE_PARTNER || !(w->seconds >= mechd_lease_least) ||
            w->seconds > mechd_lease_most) {
            mech_diag_add(diag, "/seconds", "needs a role, and must be from %g to %g",
                          mechd_lease_least, mechd_lease_most);
        }
    }
    if (in->name != NULL) {
        w->name = in->name;
        if (!mech_name_valid(w->name)) {
            mech_diag_add(diag, "/name",
                          "a name must have 1 to 64 characters of A-Z a-z 0-9 . _ -");
        }
    }
    if (h->lease != 0 && in->role != NULL) {
        mech_diag_add(diag, "/role", "the frame already carries a lease, which has a role");
    }
}

/* Inputs, outputs and room for them. 0, MECH_INVALID or MECH_NO_MEMORY. */
static int read_layout(const struct mechd_instance *i, const struct mechp_body_hello_request *hello,
                       struct mech_diag *diag, struct mechd_partner *p)
{
    struct side in = {.key = "inputs", .names = hello->inputs.of, .causality = MECH_INPUT};
    struct side out = {
        .key = "outputs", .names = hello->outputs.of, .causality = MECH_OUTPUT_VARIABLE};
    int outcome = read_names(i, diag, &in);
    if (outcome == 0) {
        outcome = read_names(i, diag, &out);
    }
    p->inputs = in.index;
    p->input_count = in.count;
    p->input_size = in.size;
    p->outputs = out.index;
    p->output_count = out.count;
    p->output_size = out.size;
    p->packed = calloc(i->output_size + 1, sizeof *p->packed);
    if (outcome == 0 && (p->want & MECHP_WANTS(JACOBIAN)) != 0) {
        p->matrix =
            calloc(p->output_size * mechd_engine_input_size(&i->engine) + 1, sizeof *p->matrix);
        outcome = p->matrix != NULL ? 0 : MECH_NO_MEMORY;
    }
    if (outcome == 0 && p->packed == NULL) {
        outcome = MECH_NO_MEMORY;
    }
    if (outcome == 0) {
        outcome = make_room_for_inputs(p, &p->step);
    }
    if (outcome == 0) {
        outcome = make_room_for_inputs(p, &p->set);
    }
    return outcome == 0 && !mech_diag_clean(diag) ? MECH_INVALID : outcome;
}

static const char *input_name(const struct mechd_instance *i, const struct mechd_partner *p,
                              size_t k)
{
    struct mech_variable v;
    mechd_engine_variable(&i->engine, MECH_INPUT, (size_t)p->inputs[k], &v);
    return v.name;
}

/* A new lease for the partner, or the one of the frame; a co-driver's channels are its inputs. 0 or
 * an outcome of mechd_partner_hello. */
static int take_lease(struct mechd_instance *i, const struct mechd_hello *h,
                      struct mechd_lease_wish *w, struct mechd_partner *p,
                      struct mechd_holder *holder)
{
    if (h->lease != 0) {
        p->lease = h->lease;
        p->clocked = true;
        p->borrowed = true;
        *holder = (struct mechd_holder){.role = -1};
        return mechd_leases_lasts(&i->leases, h->lease) ? 0 : MECH_MISMATCH;
    }
    const char *channels[MECHD_CHANNELS_MOST] = {NULL};
    if (w->role == MECHD_ROLE_CO_DRIVER) {
        w->channels = channels;
        w->channel_count = p->input_count < MECHD_CHANNELS_MOST ? p->input_count : 0;
        for (size_t k = 0; k < w->channel_count; k++) {
            channels[k] = input_name(i, p, k);
        }
    }
    p->clocked = w->seconds > 0.;
    const int outcome = mechd_leases_take(&i->leases, w, &p->lease, holder);
    w->channels = NULL, w->channel_count = 0; // of this function
    if (outcome == 0) {
        mechd_count(&i->host->counters.leases, 1);
        mechd_reaper_meet(&i->host->reaper, atomic_load(&i->leases.due));
    }
    return outcome == MECH_INVALID ? MECH_MISMATCH : outcome;
}

/* By lease, or NULL; records the activity. */
static struct mechd_partner *find(struct mechd_instance *i, uint64_t lease)
{
    for (struct mechd_partner *p = i->partners; p != NULL; p = p->next) {
        if (p->lease == lease) {
            p->used = mechd_now();
            return p;
        }
    }
    return NULL;
}

int mechd_partner_hello(struct mechd_instance *i, const struct mechd_hello *hello,
                        struct mech_diag *diag, struct mechd_holder *holder,
                        struct mechd_partner **out)
{
    struct mechp_body_hello_request in;
    struct mechd_lease_wish wish;
    mechp_shape_only(hello->body, "", &mechp_body_hello_request, diag);
    MECHP_READ(hello_request, hello->body, diag, &in);
    read_wish(hello, &in, diag, &wish);
    const unsigned want = mechd_partner_read_want(i, in.want.of, diag);
    const bool early = in.early_return && mechd_partner_may_return(i, want, diag);
    if (!mech_diag_clean(diag)) {
        return MECH_INVALID;
    }
    if (!make_room(i)) {
        return MECH_UNSUPPORTED;
    }
    struct mechd_partner *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return MECH_NO_MEMORY;
    }
    p->order = in.input_order > 0 ? (int32_t)in.input_order : 0;
    p->want = want;
    p->early = early;
    int outcome = read_layout(i, &in, diag, p);
    if (outcome == 0 && wish.role == MECHD_ROLE_CO_DRIVER &&
        (p->input_count == 0 || p->input_count >= MECHD_CHANNELS_MOST)) {
        mech_diag_add(diag, "/inputs", "a co-driver names the inputs that it sets, at most %d",
                      MECHD_CHANNELS_MOST);
        outcome = MECH_INVALID;
    }
    if (outcome == 0) {
        outcome = take_lease(i, hello, &wish, p, holder);
    }
    if (outcome != 0) {
        destroy(p);
        return outcome;
    }

    // a second hello with the same lease: another layout
    struct mechd_partner *const before = find(i, p->lease);
    if (before != NULL) {
        p->clocked = before->clocked;
        p->borrowed = before->borrowed;
        remove_partner(i, before);
    }
    p->used = mechd_now();
    p->pass = *hello->pass;
    p->next = i->partners;
    i->partners = p;
    *out = p;
    return 0;
}

static bool may_set(struct mechd_instance *i, const struct mechd_partner *p,
                    struct mechd_holder *holder)
{
    for (size_t k = 0; atomic_load(&i->leases.drivers) > 0 && k < p->input_count; k++) {
        if (!mechd_leases_may_set(&i->leases, p->lease, input_name(i, p, k), holder)) {
            return false;
        }
    }
    return true;
}

bool mechd_partner_still(struct mechd_instance *i, struct mechd_partner *p)
{
    return !p->pass.has_token ||
           mechd_tokens_still(&i->host->tokens, &p->pass.who, MECHP_SCOPE_STEP, &p->pass.turn);
}

struct mechd_partner *mechd_partner_begin(struct mechd_instance *i, uint64_t lease,
                                          enum mechd_act act, bool sets,
                                          struct mechd_holder *holder)
{
    struct mechd_partner *const p = find(i, lease);
    *holder = (struct mechd_holder){.role = -1};
    if (p == NULL || mechd_leases_begin(&i->leases, lease, act, holder) != 0) {
        return NULL;
    }
    if (sets && act != MECHD_ACT_READ && !may_set(i, p, holder)) {
        mechd_leases_end(&i->leases, lease);
        return NULL;
    }
    return p;
}

void mechd_partner_bye(struct mechd_instance *i, struct mechd_partner *p)
{
    if (!p->borrowed) {
        (void)mechd_leases_drop(&i->leases, p->lease);
    }
    remove_partner(i, p);
}

/* Names with their places in the frame's values. */
static void write_side(const struct mechd_instance *i, const struct side *s, struct mechp_text *w)
{
    int64_t offset = 0;
    mechp_text_array(w);
    for (size_t k = 0; k < s->count; k++) {
        struct mech_variable v;
        mechd_engine_variable(&i->engine, s->causality, (size_t)s->index[k], &v);
        const struct mechp_body_stream_part body = {v.name, offset, v.size};
        MECHP_WRITE(stream_part, &body, w);
        offset += v.size;
    }
    mechp_text_end(w);
}

/* The parties of a hello. */
struct parties {
    const struct mechd_instance *instance;
    const struct mechd_partner *partner;
};

/* Outputs as the layout of replies, inputs as that of requests. */
static void write_layout(const void *parties, struct mechp_text *w)
{
    const struct parties *const at = parties;
    const struct mechd_partner *const p = at->partner;
    const struct side side = {
        .causality = MECH_OUTPUT_VARIABLE, .index = p->outputs, .count = p->output_count};
    write_side(at->instance, &side, w);
}

static void write_input_layout(const void *parties, struct mechp_text *w)
{
    const struct parties *const at = parties;
    const struct mechd_partner *const p = at->partner;
    const struct side side = {.causality = MECH_INPUT, .index = p->inputs, .count = p->input_count};
    write_side(at->instance, &side, w);
}

void mechd_partner_write(struct mechd_instance *i, const struct mechd_partner *p,
                         struct mechp_text *w)
{
    const struct parties at = {i, p};
    const struct mechp_body_hello_instance instance = {.instance = i->number};
    const struct mechp_body_hello_layout layout = {
        .layout = {write_layout, &at},
        .input_layout = {write_input_layout, &at},
        .input_order = p->order,
        .want_layout = {p->want != 0 ? mechd_partner_write_want : NULL, p}};
    char hash[24];
    mechp_text_object(w);
    MECHP_WRITE_MEMBERS(hello_instance, &instance, w);
    if (!mechd_leases_write_one(&i->leases, p->lease, w)) {
        // it has ended meanwhile
        MECHP_WRITE_MEMBERS(hello_lease, &(const struct mechp_body_hello_lease){p->lease}, w);
    }
    const size_t start = w->length;
    MECHP_WRITE_MEMBERS(hello_layout, &layout, w);
    snprintf(hash, sizeof hash, "%016" PRIx64,
             w->failed ? 0 : mech_hash(w->bytes + start, w->length - start, 0));
    MECHP_WRITE_MEMBERS(hello_hash, &(const struct mechp_body_hello_hash){hash}, w);
    mechp_text_end(w);
}

int mechd_partner_inputs(const struct mechd_instance *i, const struct mechd_partner *p,
                         const double *values, uint32_t count,
                         const struct mechd_partner_room *room)
{
    const size_t n = p->input_size;
    const size_t order = (size_t)p->order;
    if (count != n * (order + 1)) {
        return MECH_MISMATCH;
    }

    // a frame has all values, then all first derivatives; a change has its own derivatives together
    size_t at = 0;
    double *derivatives = room->derivatives;
    for (size_t k = 0; k < p->input_count; k++) {
        struct mech_variable v;
        mechd_engine_variable(&i->engine, MECH_INPUT, (size_t)p->inputs[k], &v);
        const size_t size = (size_t)v.size;
        room->changes[k] = (struct mech_input_change){.index = p->inputs[k],
                                                      .order = p->order,
                                                      .values = values + at,
                                                      .derivatives = derivatives};
        for (size_t d = 0; d < order; d++) {
            memcpy(derivatives, values + (d + 1) * n + at, size * sizeof *values);
            derivatives += size;
        }
        at += size;
    }
    return 0;
}

int mechd_partner_set(struct mechd_instance *i, const struct mechd_partner *p, const double *values,
                      uint32_t count)
{
    MECH_TRY(mechd_partner_inputs(i, p, values, count, &p->set));
    struct mech_diag ignored;
    mech_diag_init(&ignored);
    const int outcome =
        mechd_engine_set_inputs(&i->engine, p->set.changes, p->input_count, &ignored);
    mech_diag_fini(&ignored);
    return outcome;
}

int mechd_partner_keep(struct mechd_partner *p, double time, const double *values, uint32_t count)
{
    if (count != p->input_size * (size_t)(p->order + 1)) {
        return MECH_MISMATCH;
    }
    if (p->pending_count == MECHD_PENDING_MOST) {
        return MECH_UNSUPPORTED;
    }
    double *copy = calloc(count + 1u, sizeof *copy);
    if (copy == NULL) {
        return MECH_NO_MEMORY;
    }
    if (count > 0) {
        memcpy(copy, values, count * sizeof *copy);
    }

    // behind everything that holds from the same time or earlier
    int at = p->pending_count;
    while (at > 0 && p->pending[at - 1].time > time) {
        p->pending[at] = p->pending[at - 1];
        at--;
    }
    p->pending[at] = (struct mechd_pending){.time = time, .values = copy};
    p->pending_count++;
    return 0;
}

void mechd_partners_due(struct mechd_instance *i)
{
    const double now = mechd_engine_time(&i->engine);
    const double scale = mechd_engine_scale(&i->engine, now, i->step_size);
    for (struct mechd_partner *p = i->partners; p != NULL; p = p->next) {
        const uint32_t count = (uint32_t)(p->input_size * (size_t)(p->order + 1));
        if (p->pending_count > 0 && (!mechd_partner_still(i, p) ||
                                     (p->clocked && !mechd_leases_lasts(&i->leases, p->lease)))) {
            drop_pending(p);
        }
        for (int k = 0; k < p->pending_count && !mech_time_before(now, p->pending[k].time, scale);
             k++) {
            if (!p->pending[k].used) {
                // finite and of the right size: checked when it came; the outputs may refuse it
                if (mechd_partner_set(i, p, p->pending[k].values, count) != 0) {
                    mechd_count(&i->host->counters.forces_refused, 1);
                }
                p->pending[k].used = true;
            }
        }
    }
}

void mechd_partners_rewind(struct mechd_instance *i)
{
    for (struct mechd_partner *p = i->partners; p != NULL; p = p->next) {
        drop_pending(p);
    }
}

void mechd_partners_used(struct mechd_instance *i, bool forget)
{
    for (struct mechd_partner *p = i->partners; p != NULL; p = p->next) {
        int used = 0;
        while (used < p->pending_count && p->pending[used].used) {
            p->pending[used].used = false;
            used++;
        }
        if (!forget) {
            continue;
        }
        for (int k = 0; k < used; k++) {
            free(p->pending[k].values);
        }
        p->pending_count -= used;
        memmove(p->pending, p->pending + used, (size_t)p->pending_count * sizeof *p->pending);
    }
}

double mechd_partners_next(const struct mechd_instance *i)
{
    double next = INFINITY;
    for (const struct mechd_partner *p = i->partners; p != NULL; p = p->next) {
        for (int k = 0; k < p->pending_count; k++) {
            if (!p->pending[k].used && p->pending[k].time < next) {
                next = p->pending[k].time;
            }
        }
    }
    return next;
}
