/* State in and out: views, and snapshots.
 *
 * A snapshot is a header and the state block, as far as it is in use. The header says what must
 * agree for the block to make sense: format, byte order, layout; and what decides the last bits:
 * the BLAS and its kernel. A reader checks all of it, and the checksum, before it touches anything.
 * Format 3 had no `rest` and no `size` among the counters, and no angles with their turns in z: its
 * blocks are taken, with the size of the last step and angles within half a turn. What a header
 * says of this program and its libraries is gathered once, when the simulation is made.
 *
 * Beside the bytes, save and restore within one process: the block behind its layout. Memory that
 * never left the process is trusted, so that neither a checksum nor a search for values that are
 * not finite is needed, and both ways are one memcpy each.
 *
 * Cost (bench-lti, chain of 50 and of 5,000 masses, 2.8 and 240 KB): save + restore 92 ns and
 * 4.6 µs; write + read 0.45 and 35 µs, of which two checksums are 0.2 and 19 µs. */
#include "solver/base/err.h"
#include "solver/base/hash.h"
#include "solver/base/text.h"
#include "solver/linalg/blas.h"
#include "solver/model/touch.h"
#include "solver/sim/compare.h"
#include "solver/sim/internal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { FORMAT = 4, WITHOUT_SIZE = 3, BYTE_ORDER_MARK = 0x01020304 };

struct header {
    char magic[8];
    uint32_t format, order;
    uint64_t layout, size; /* of the block, bytes */
    char version[32];      /* of this program */
    char blas[96];         /* name and kernel */
    uint64_t checksum;     /* of the header up to here, and the block */
};

/* The header of a saved block. */
struct saved {
    uint64_t layout, size;
};

void mech_sim_state(const struct mech_sim *s, struct mech_state_view *out)
{
    *out = (struct mech_state_view){.time = s->now.at->time,
                                    .q = s->now.q,
                                    .v = s->now.v,
                                    .vdot = s->now.vdot,
                                    .a = s->now.a,
                                    .lambda = s->now.lambda,
                                    .impulse = s->now.impulse,
                                    .x = s->now.x,
                                    .z = s->now.z};
}

/* Coordinates of rotations where they belong, |e| = 1 and |ρ| ≤ π, as at the start; those that are
 * there keep their bits. In to [q], with v as scratch; false when there is no rotation. */
static bool settle(const struct mech_sim *s, const double *q, double *v, double *to)
{
    const size_t n = (size_t)s->sizes.q;

    memset(v, 0, (size_t)s->sizes.v * sizeof(double));
    mech_model_move(s->model, q, v, to);
    for (size_t i = 0; i < n; i++) {
        if (fabs(to[i] - q[i]) <= 1e-6 * fmax(1., fabs(q[i]))) {
            to[i] = q[i];
        }
    }
    return mech_sim_all_finite(to, n);
}

/* The present state with these parts, in s->point. MECH_NOT_FINITE. */
static int compose(struct mech_sim *s, const struct mech_state_view *in)
{
    struct mech_state *const p = &s->point;
    mech_state_copy(&s->now, p);
    const struct {
        const double *from;
        double *to;
        int32_t n;
        const char *what;
    } parts[] = {{in->q, p->q, s->sizes.q, "q"},
                 {in->v, p->v, s->sizes.v, "v"},
                 {in->x, p->x, s->sizes.x, "x"},
                 {in->z, p->z, s->sizes.z, "z"}};
    struct mech_unshown why = {.what = "time"};

    if (isinf(in->time)) {
        return mech_sim_refuse(s, &why);
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].from && !mech_sim_all_finite(parts[i].from, (size_t)parts[i].n)) {
            mech_text_format(why.what, sizeof why.what, "%s", parts[i].what);
            return mech_sim_refuse(s, &why);
        }
    }
    if (in->q && !settle(s, in->q, p->v, p->q)) {
        mech_text_format(why.what, sizeof why.what, "a coordinate of a rotation");
        return mech_sim_refuse(s, &why);
    }
    memcpy(p->v, in->v ? in->v : s->now.v, (size_t)s->sizes.v * sizeof(double));
    for (size_t i = 2; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].from) {
            memcpy(parts[i].to, parts[i].from, (size_t)parts[i].n * sizeof(double));
        }
    }
    if (in->q || in->v) {
        p->at->size = 0.;
    }
    if (!isnan(in->time)) {
        p->at->time = in->time;
        p->at->rest = 0.;
    }
    mech_model_forget_sides(s->model, p);
    mech_model_keep(s->model, p);
    (void)mech_state_touch(p, 0);
    p->at->changed = MECH_CHANGED_ALL;
    return 0;
}

int mech_sim_set_state(struct mech_sim *s, const struct mech_state_view *in)
{
    struct mech_unshown why;

    MECH_TRY(compose(s, in));
    if (mech_sim_state_fits(s, &s->point, MECH_SHOWS_NOW, &why)) {
        return mech_sim_refuse(s, &why);
    }
    mech_state_copy(&s->point, &s->now);
    s->has_trial = false;
    return 0;
}

/* The rates of s->next in the place of those of s->now, or zeros, into s->point. */
static int compose_rates(struct mech_sim *s, bool found)
{
    struct mech_state *const p = &s->point;
    const size_t n = (size_t)s->sizes.v * sizeof(double);
    const size_t rows = (size_t)s->sizes.lambda * sizeof(double);
    struct mech_unshown ignored;

    mech_state_copy(&s->now, p);
    memset(p->vdot, 0, n);
    memset(p->a, 0, n);
    memset(p->lambda, 0, rows);
    if (found) {
        memcpy(p->vdot, s->next.vdot, n);
        memcpy(p->a, s->next.a, n);
        memcpy(p->lambda, s->next.lambda, rows);
    }
    return mech_sim_state_fits(s, p, MECH_SHOWS_NOW, &ignored);
}

int mech_sim_show_rates(struct mech_sim *s)
{
    struct mech_step_result result = {.iterations = 0};

    (void)compose_rates(s, false);
    mech_state_copy(&s->point, &s->next);
    s->next.extra = s->next.wrench = NULL;
    s->next.signals = NULL;
    const int code = s->type->start(s->stepper, &s->next, &result);

    if (code < 0) {
        return code;
    }
    if ((code == 0 && compose_rates(s, true) == 0) || compose_rates(s, false) == 0) {
        mech_state_copy(&s->point, &s->now);
    }
    return 0;
}

/* --- snapshots -------------------------------------------------------------------------------- */

static uint64_t hash_text(const char *text, uint64_t seed)
{
    return mech_hash(text ? text : "", text ? strlen(text) + 1 : 1, seed);
}

/* Numbers in z that blocks of that format lack, *of: which. */
static int32_t late_in(const struct mech_sim *s, uint32_t format, const bool **of)
{
    const int32_t late = mech_model_late(s->model, of);

    return format == WITHOUT_SIZE ? late : 0;
}

/* Without the rows that are left out: those are a matter of the state. */
static uint64_t hash_layout(const struct mech_sim *s, uint32_t format)
{
    struct mech_state_sizes sizes = s->sizes;
    const bool *late;

    sizes.z -= late_in(s, format, &late);
    uint64_t h = mech_hash(&sizes, sizeof sizes, format);

    h = hash_text(s->type->name, h);
    for (int c = 0; c <= MECH_SENSOR; c++) {
        const struct mech_items *const items =
            mech_document_items(s->document, (enum mech_category)c);

        for (size_t i = 0; i < items->n; i++) {
            h = hash_text(items->at[i].type->name, h);
            h = hash_text(items->at[i].name, h);
        }
    }
    for (int c = 0; c < MECH_INDEPENDENT; c++) {
        for (size_t i = 0; i < mech_sim_variable_count(s, (enum mech_causality)c); i++) {
            struct mech_variable v;

            mech_sim_variable(s, (enum mech_causality)c, i, &v);
            h = hash_text(v.name, h);
            h = mech_hash(&v.size, sizeof v.size, h);
        }
    }
    return h;
}

/* That, and which rows a state leaves out, if any. */
static uint64_t hash_rows(const struct mech_sim *s, const struct mech_state *state, uint64_t h)
{
    bool *const flags = (void *)s->joint_scratch;
    bool some = false;

    for (int32_t r = 0; r < s->sizes.lambda; r++) {
        flags[r] = mech_sim_row_repeats(s, state, r);
        some = some || flags[r];
    }
    return some ? mech_hash(flags, (size_t)s->sizes.lambda * sizeof *flags, h) : h;
}

void mech_sim_snapshot_init(struct mech_sim *s)
{
    const char *const name = mech_blas_name();
    const size_t length = strlen(name);

    s->layout = hash_layout(s, FORMAT);
    memset(s->blas, 0, sizeof s->blas);
    memcpy(s->blas, name, length < sizeof s->blas ? length : sizeof s->blas - 1);
}

size_t mech_sim_snapshot_size(const struct mech_sim *s)
{
    return sizeof(struct header) + s->now.size;
}

static uint64_t checksum(const struct header *h, const void *block, size_t size)
{
    return mech_hash(block, size, mech_hash(h, offsetof(struct header, checksum), h->format));
}

/* Of a state of the simulation. */
static struct header make_header(const struct mech_sim *s, const struct mech_state *state)
{
    struct header h;

    memset(&h, 0, sizeof h);
    memcpy(h.magic, "MCHDSNAP", sizeof h.magic);
    h.format = FORMAT;
    h.order = BYTE_ORDER_MARK;
    h.layout = hash_rows(s, state, s->layout);
    h.size = mech_state_used(state);
    static_assert(sizeof MECHD_VERSION <= sizeof h.version, "the version fits");
    static_assert(sizeof s->blas == sizeof h.blas, "the name fits");
    memcpy(h.version, MECHD_VERSION, sizeof MECHD_VERSION);
    memcpy(h.blas, s->blas, sizeof h.blas);
    return h;
}

static size_t write_bytes(const struct mech_sim *s, const struct mech_state *state, void *bytes)
{
    struct header h = make_header(s, state);

    h.checksum = checksum(&h, state->block, h.size);
    memcpy(bytes, &h, sizeof h);
    memcpy((char *)bytes + sizeof h, state->block, h.size);
    return sizeof h + h.size;
}

size_t mech_sim_snapshot_write(const struct mech_sim *s, void *bytes)
{
    return write_bytes(s, &s->now, bytes);
}

size_t mech_sim_trial_write(const struct mech_sim *s, void *bytes)
{
    assert(s->has_trial);
    return write_bytes(s, &s->next, bytes);
}

/* Contacts ascend, belong to the model and are finite. */
static bool contacts_sound(const struct mech_sim *s, const struct mech_state *p)
{
    const size_t count = p->at->touched, size = sizeof *p->touched;

    if (count > (size_t)s->sizes.contact) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct mech_touched *const t = &p->touched[i];

        if ((i > 0 && t->id <= t[-1].id) || !mech_model_touch_known(s->model, t->id) ||
            !mech_sim_all_finite(t->p, (size - offsetof(struct mech_touched, p)) / sizeof *t->p)) {
            return false;
        }
    }
    return true;
}

/* A block of ours has finite numbers everywhere (the counters are not numbers). */
static bool block_sound(const struct mech_sim *s, const struct mech_state *p)
{
    const size_t numbers = (size_t)((double *)(void *)p->touched - p->q);

    return isfinite(p->at->time) && isfinite(p->at->last_step) && isfinite(p->at->rest) &&
           isfinite(p->at->size) && p->at->changed <= MECH_CHANGED_ALL &&
           mech_sim_all_finite(p->q, numbers) && contacts_sound(s, p) &&
           /* the ground stays at rest */
           p->q[s->sizes.q] == 0. && p->v[s->sizes.v] == 0.;
}

/* The model of a state, unless it is already compiled. On a fault nothing changes. */
static int take_model(struct mech_sim *s, const struct mech_state *state)
{
    struct mech_diag diag;

    if (!s->astray && mech_sim_same_parameters(s, state, &s->now) && mech_sim_rows_suit(s, state)) {
        return 0;
    }
    mech_diag_init(&diag);
    /* which rows the model lets go is compared with the state: it is the document's first */
    int code = s->astray ? mech_sim_rebuild(s, state->parameter, &diag) : 0;
    code = code == 0 ? mech_sim_model_of(s, state, &diag) : code;
    mech_diag_fini(&diag);
    if (code) {
        (void)mech_sim_model_back(s);
    } else {
        s->astray = false;
    }
    return code > 0 ? MECH_MISMATCH : code;
}

/* Whether s->point, with the model of its parameters, can be shown: fields may have been changed
 * since it was taken. If not, the model of the present parameters is restored. */
static int check_shown(struct mech_sim *s)
{
    struct mech_unshown why;

    if (mech_sim_outputs_fit(s, &s->point, MECH_SHOWS_NOW, &why) == 0) {
        return 0;
    }
    if (!mech_sim_same_parameters(s, &s->point, &s->now) || !mech_sim_rows_suit(s, &s->now)) {
        (void)mech_sim_model_back(s);
    }
    return mech_sim_refuse(s, &why);
}

/* Changed fields stay changed, for any restored state: what a scheme keeps of the rates in the
 * state is of the fields before. */
static void keep_edits(struct mech_sim *s, uint32_t edits)
{
    if (s->now.at->edits != edits) {
        s->now.at->changed |= MECH_CHANGED_RATES;
    }
    s->now.at->edits = edits > s->now.at->edits ? edits : s->now.at->edits;
}

/* Bytes that a block of that format lacks behind `lacking` of its counters. */
static const size_t lacking = offsetof(struct mech_state_counters, rest);

static size_t lacks_counters(uint32_t format)
{
    return format == WITHOUT_SIZE ? sizeof(struct mech_state_counters) - lacking : 0;
}

static size_t lacks(const struct mech_sim *s, uint32_t format)
{
    const bool *late;

    return lacks_counters(format) + (size_t)late_in(s, format, &late) * sizeof(double);
}

static bool header_sound(const struct mech_sim *s, const struct header *h, size_t size)
{
    const struct header mine = make_header(s, &s->now);
    const size_t fixed = (size_t)((char *)s->point.touched - (char *)s->point.block);

    if (memcmp(h->magic, mine.magic, sizeof h->magic) != 0 || h->order != mine.order ||
        (h->format != FORMAT && h->format != WITHOUT_SIZE)) {
        return false;
    }
    const size_t gap = lacks(s, h->format);

    return h->size == size - sizeof *h && h->size >= fixed - gap && h->size + gap <= s->point.size;
}

/* Of the block that has been unpacked into s->point. */
static bool layout_sound(const struct mech_sim *s, const struct header *h)
{
    const uint64_t layout = h->format == FORMAT ? s->layout : hash_layout(s, h->format);

    return h->layout == hash_rows(s, &s->point, layout);
}

/* z with the numbers that the format lacks, which are 0. Returns where z ends in `from`. */
static const char *unpack_z(struct mech_sim *s, uint32_t format, const char *from)
{
    const bool *late;
    const int32_t missing = late_in(s, format, &late);

    for (int32_t k = 0; k < s->sizes.z; k++) {
        s->point.z[k] = 0.;
        if (missing == 0 || !late[k]) {
            memcpy(&s->point.z[k], from, sizeof(double));
            from += sizeof(double);
        }
    }
    return from;
}

/* The block of a snapshot into s->point, in the present format. */
static void unpack(struct mech_sim *s, const struct header *h, const char *bytes)
{
    char *const block = (char *)s->point.block;
    const size_t gap = lacks_counters(h->format), used = h->size + lacks(s, h->format);
    const size_t z = (size_t)((char *)s->point.z - block);
    const size_t behind = z + (size_t)s->sizes.z * sizeof(double);

    memcpy(block, bytes, lacking);
    memset(block + lacking, 0, gap);
    memcpy(block + lacking + gap, bytes + lacking, z - gap - lacking);
    memcpy(block + behind, unpack_z(s, h->format, bytes + z - gap), used - behind);
    /* contacts that are not there are 0 */
    memset(block + used, 0, s->point.size - used);
    if (gap) {
        s->point.at->size = s->point.at->last_step;
        if (s->type->renew) {
            s->type->renew(s->model, &s->point);
        }
    }
}

/* Checked, into s->point, with its header. MECH_MISMATCH. */
static int open_bytes(struct mech_sim *s, const void *bytes, size_t size, struct header *h)
{
    if (size < sizeof *h || size > mech_sim_snapshot_size(s)) {
        return MECH_MISMATCH;
    }
    memcpy(h, bytes, sizeof *h);
    if (!header_sound(s, h, size) ||
        h->checksum != checksum(h, (const char *)bytes + sizeof *h, h->size)) {
        return MECH_MISMATCH;
    }
    unpack(s, h, (const char *)bytes + sizeof *h);
    return layout_sound(s, h) && block_sound(s, &s->point) &&
                   h->size + lacks(s, h->format) == mech_state_used(&s->point)
               ? 0
               : MECH_MISMATCH;
}

int mech_sim_snapshot_open(struct mech_sim *s, const void *bytes, size_t size)
{
    struct header h;

    return open_bytes(s, bytes, size, &h);
}

/* Read; same_fields: the document is that of the snapshot, whatever has been counted of it. */
static int read_bytes(struct mech_sim *s, const struct mech_snapshot_bytes *in, bool same_fields,
                      bool *reproducible)
{
    const struct header mine = make_header(s, &s->now);
    struct header h;

    MECH_TRY(open_bytes(s, in->bytes, in->size, &h));
    if (same_fields) {
        s->point.at->edits = s->now.at->edits;
    }
    MECH_TRY(take_model(s, &s->point));
    if (h.format == WITHOUT_SIZE) {
        mech_model_keep(s->model, &s->point);
    }
    MECH_TRY(check_shown(s));
    const uint32_t edits = s->now.at->edits;
    mech_state_copy(&s->point, &s->now);
    keep_edits(s, edits);
    s->has_trial = false;
    if (reproducible) {
        *reproducible = memcmp(h.blas, mine.blas, sizeof h.blas) == 0 &&
                        memcmp(h.version, mine.version, sizeof h.version) == 0 &&
                        s->now.at->edits == s->point.at->edits;
    }
    return 0;
}

int mech_sim_snapshot_read(struct mech_sim *s, const void *bytes, size_t size, bool *reproducible)
{
    return read_bytes(s, &(struct mech_snapshot_bytes){bytes, size}, false, reproducible);
}

int mech_sim_snapshot_adopt(struct mech_sim *s, const void *bytes, size_t size, bool *reproducible)
{
    return read_bytes(s, &(struct mech_snapshot_bytes){bytes, size}, true, reproducible);
}

double mech_sim_snapshot_time(const void *bytes, size_t size)
{
    struct mech_state_counters at = {.time = NAN};

    if (size >= sizeof(struct header) + sizeof at) {
        memcpy(&at, (const char *)bytes + sizeof(struct header), sizeof at);
    }
    return at.time;
}

bool mech_sim_snapshot_has_fields(const struct mech_sim *s, const void *bytes)
{
    struct mech_state_counters at;

    memcpy(&at, (const char *)bytes + sizeof(struct header), sizeof at);
    return at.edits == s->now.at->edits;
}

uint64_t mech_sim_state_hash(const struct mech_sim *s)
{
    const size_t head = sizeof *s->now.at, used = mech_state_used(&s->now);
    struct mech_state_counters counters = *s->now.at;

    /* how often fields have been changed, no step reads */
    counters.edits = 0;
    return mech_hash((const char *)s->now.block + head, used - head,
                     mech_hash(&counters, head, FORMAT));
}

/* --- within the process ----------------------------------------------------------------------- */

size_t mech_sim_saved_size(const struct mech_sim *s)
{
    return sizeof(struct saved) + s->now.size;
}

void mech_sim_save(const struct mech_sim *s, void *memory)
{
    const struct saved head = {s->layout, s->now.size};

    memcpy(memory, &head, sizeof head);
    memcpy((char *)memory + sizeof head, s->now.block, s->now.size);
}

int mech_sim_restore(struct mech_sim *s, const void *memory)
{
    const char *const block = (const char *)memory + sizeof(struct saved);
    const size_t at = (size_t)(s->now.parameter - s->now.block) * sizeof(double);
    const size_t open = (size_t)(s->now.open - s->now.block) * sizeof(double);
    struct saved head;

    memcpy(&head, memory, sizeof head);
    if (head.layout != s->layout || head.size != s->now.size) {
        return MECH_MISMATCH;
    }
    /* `memory` may have any alignment: a block is aligned first */
    if (s->astray ||
        memcmp(block + at, s->now.parameter, (size_t)s->sizes.parameter * sizeof(double)) != 0 ||
        memcmp(block + open, s->now.open, (size_t)s->sizes.lambda * sizeof(double)) != 0) {
        memcpy(s->point.block, block, s->point.size);
        MECH_TRY(take_model(s, &s->point));
    }
    const uint32_t edits = s->now.at->edits;
    memcpy(s->now.block, block, s->now.size);
    keep_edits(s, edits);
    s->has_trial = false;
    s->shows = MECH_SHOWS_NONE;
    return 0;
}
