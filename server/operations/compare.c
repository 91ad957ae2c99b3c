/* POST …/snapshots/{sid}/compare: what differs between two snapshots of an instance, by name. */
#include "solver/sim/compare.h"
#include "protocol/wire/bodies.h"
#include "protocol/wire/json.h"
#include "server/call/call.h"
#include "server/instance/lives.h"
#include "server/instance/snapshots.h"

#include <math.h>
#include <string.h>

enum { PRESET = 100 }; /* items of each kind */

/* A value of a difference: a joint's as a word, null for an input that is not set. */
static void write_value(const struct mech_difference *d, double value, struct mechp_text *w)
{
    if (d->kind == MECH_DIFFERS_JOINT) {
        mechp_text_string(w, mech_activity_names[(int)value]);
    } else if (isnan(value)) {
        mechp_text_null(w);
    } else {
        mechp_text_number(w, value);
    }
}

static void write_from(const void *of, struct mechp_text *w)
{
    const struct mech_difference *const d = of;
    write_value(d, d->values[0], w);
}

static void write_to(const void *of, struct mechp_text *w)
{
    const struct mech_difference *const d = of;
    write_value(d, d->values[1], w);
}

static void write_difference(const struct mech_difference *d, struct mechp_text *w)
{
    const struct mechp_body_difference body = {
        .kind = mech_difference_names[d->kind],
        .name = d->name,
        .index = d->index,
        .from = {write_from, d},
        .to = {write_to, d},
        // of numbers near the largest double it may be none
        .difference = d->kind == MECH_DIFFERS_JOINT ? (double)NAN : d->values[1] - d->values[0]};
    MECHP_WRITE(difference, &body, w);
}

/* What has been found, the first `most` of each kind shown. */
struct shown {
    const struct mech_comparison *found;
    size_t most;
};

static void write_counts(const void *of, struct mechp_text *w)
{
    const struct mech_comparison *const found = of;
    mechp_text_object(w);
    for (int k = 0; k < MECH_DIFFERS_KINDS; k++) {
        mechp_text_key(w, mech_difference_names[k]);
        mechp_text_unsigned(w, found->counts[k]);
    }
    mechp_text_end(w);
}

static void write_items(const void *of, struct mechp_text *w)
{
    const struct shown *const s = of;
    const struct mech_difference *at = s->found->items;
    mechp_text_array(w);
    for (int k = 0; k < MECH_DIFFERS_KINDS; k++) {
        for (size_t n = 0; n < s->found->counts[k] && n < s->most; n++) {
            write_difference(&at[n], w);
        }
        at += s->found->counts[k];
    }
    mechp_text_end(w);
}

static void write_comparison(const char *const ids[2], const struct mech_comparison *found,
                             size_t most, struct mechp_text *w)
{
    const struct shown shown = {found, most};
    const struct mechp_body_compared_times times = {found->times[0], found->times[1]};
    const struct mechp_body_compared_steps steps = {found->steps[0], found->steps[1]};
    const struct mechp_body_comparison body = {.from = ids[0],
                                               .to = ids[1],
                                               .identical = found->identical,
                                               .time = MECHP_INNER(compared_times, &times),
                                               .step = MECHP_INNER(compared_steps, &steps),
                                               .counts = {write_counts, found},
                                               .items = {write_items, &shown}};
    MECHP_WRITE(comparison, &body, w);
}

/* A tolerance, 0 if it is not given. */
static double tolerance_of(struct mechd_call *c, const char *path, double given)
{
    if (given < 0.) {
        mech_diag_add(&c->diag, path, "must not be negative");
    }
    return isnan(given) ? 0. : given;
}

static enum mechd_progress run_compare(struct mechd_call *c)
{
    struct mechd_instance *const i = c->job.instance;
    struct mechp_body_compare_request in;
    MECHP_READ(compare_request, c->body, &c->diag, &in);
    const char *const ids[2] = {mechd_call_value(c, "sid"), in.to};
    struct mech_snapshot_bytes of[2];
    const struct mech_closeness close = {
        .absolute = tolerance_of(c, "/absoluteTolerance", in.absolute),
        .relative = tolerance_of(c, "/relativeTolerance", in.relative)};
    const int64_t most = in.most >= 0 ? in.most : PRESET;
    if (ids[1] == NULL) {
        mech_diag_add(&c->diag, "/to", "the id of the other snapshot is needed");
    }
    if (mechd_call_faulty(c)) {
        return MECHD_DONE;
    }
    for (int k = 0; k < 2; k++) {
        const struct mechd_snapshot *const s = mechd_snapshots_find(i, ids[k]);
        if (s == NULL) {
            char before[MECHD_LIVES_WORDS];
            return mechd_fail(c, MECHP_NOT_FOUND, "there is no snapshot %.64s%s", ids[k],
                              mechd_lives_tell(i, MECHD_COUNTED_PART, ids[k], before));
        }
        of[k] = (struct mech_snapshot_bytes){s->bytes, s->size};
    }
    struct mech_comparison found;
    const int outcome = mech_sim_compare(i->sim, of, &close, &found);
    if (outcome == 0) {
        write_comparison(ids, &found, (size_t)most, &c->text);
    } else {
        mechd_fail_outcome(c, outcome);
    }
    mech_comparison_fini(&found);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_COMPARE = {.run = run_compare};
