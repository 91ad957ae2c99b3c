/* POST …/snapshots/{sid}/compare: what differs between two snapshots of an instance, by name. */
#include "solver/sim/compare.h"
#include "protocol/wire/json.h"
#include "server/call/call.h"
#include "server/instance/lives.h"
#include "server/instance/snapshots.h"

#include <math.h>
#include <string.h>

enum { PRESET = 100, MOST = 10000 };

static void write_pair(struct mechd_call *c, const char *key, double from, double to)
{
    mechp_text_key(&c->text, key);
    mechp_text_object(&c->text);
    mechp_text_key(&c->text, "from");
    mechp_text_number(&c->text, from);
    mechp_text_key(&c->text, "to");
    mechp_text_number(&c->text, to);
    mechp_text_end(&c->text);
}

/* A value of a difference: a joint's as a word, null for an input that is not set. */
static void write_value(struct mechd_call *c, const struct mech_difference *d, int which)
{
    mechp_text_key(&c->text, which == 0 ? "from" : "to");
    if (d->kind == MECH_DIFFERS_JOINT) {
        mechp_text_string(&c->text, mech_activity_names[(int)d->values[which]]);
    } else if (isnan(d->values[which])) {
        mechp_text_null(&c->text);
    } else {
        mechp_text_number(&c->text, d->values[which]);
    }
}

static void write_difference(struct mechd_call *c, const struct mech_difference *d)
{
    const double by = d->values[1] - d->values[0];
    mechp_text_object(&c->text);
    mechp_text_key(&c->text, "kind");
    mechp_text_string(&c->text, mech_difference_names[d->kind]);
    mechp_text_key(&c->text, "name");
    if (d->name != NULL) {
        mechp_text_string(&c->text, d->name);
    } else {
        mechp_text_null(&c->text);
    }
    mechp_text_key(&c->text, "index");
    mechp_text_integer(&c->text, d->index);
    write_value(c, d, 0);
    write_value(c, d, 1);
    mechp_text_key(&c->text, "difference");
    // of numbers near the largest double it may be none
    if (d->kind == MECH_DIFFERS_JOINT || !isfinite(by)) {
        mechp_text_null(&c->text);
    } else {
        mechp_text_number(&c->text, by);
    }
    mechp_text_end(&c->text);
}

/* Those of one kind, the first `most`; returns where the next kind begins. */
static const struct mech_difference *
write_kind(struct mechd_call *c, const struct mech_difference *from, size_t count, size_t most)
{
    for (size_t k = 0; k < count && k < most; k++) {
        write_difference(c, &from[k]);
    }
    return from + count;
}

static void write_comparison(struct mechd_call *c, const struct mech_comparison *found, size_t most)
{
    mechp_text_key(&c->text, "identical");
    mechp_text_bool(&c->text, found->identical);
    write_pair(c, "time", found->times[0], found->times[1]);
    write_pair(c, "step", (double)found->steps[0], (double)found->steps[1]);
    mechp_text_key(&c->text, "counts");
    mechp_text_object(&c->text);
    for (int k = 0; k < MECH_DIFFERS_KINDS; k++) {
        mechp_text_key(&c->text, mech_difference_names[k]);
        mechp_text_unsigned(&c->text, found->counts[k]);
    }
    mechp_text_end(&c->text);
    mechp_text_key(&c->text, "items");
    mechp_text_array(&c->text);
    const struct mech_difference *next = found->items;
    for (int k = 0; k < MECH_DIFFERS_KINDS; k++) {
        next = write_kind(c, next, found->counts[k], most);
    }
    mechp_text_end(&c->text);
}

/* A tolerance of the body. */
static void read_tolerance(struct mechd_call *c, const char *key, double *out)
{
    if (mechp_json_number(c->body, key, &c->diag, out) && *out < 0.) {
        mech_diag_add(&c->diag, key[0] == 'a' ? "/absoluteTolerance" : "/relativeTolerance",
                      "must not be negative");
    }
}

static enum mechd_progress run_compare(struct mechd_call *c)
{
    struct mechd_instance *const i = c->job.instance;
    const char *const ids[2] = {mechd_call_value(c, "sid"),
                                json_string_value(json_object_get(c->body, "to"))};
    struct mech_snapshot_bytes of[2];
    struct mech_closeness close = {0., 0.};
    int64_t most = PRESET;
    read_tolerance(c, "absoluteTolerance", &close.absolute);
    read_tolerance(c, "relativeTolerance", &close.relative);
    mechp_json_integer(c->body, "most", &c->diag, 0, MOST, &most);
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
        mechp_text_object(&c->text);
        mechp_text_key(&c->text, "from");
        mechp_text_string(&c->text, ids[0]);
        mechp_text_key(&c->text, "to");
        mechp_text_string(&c->text, ids[1]);
        write_comparison(c, &found, (size_t)most);
        mechp_text_end(&c->text);
    } else {
        mechd_fail_outcome(c, outcome);
    }
    mech_comparison_fini(&found);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_COMPARE = {.run = run_compare};
