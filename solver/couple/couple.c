/* Life cycle of a coupling: memory, start, saving, report. */
#include "solver/couple/internal.h"

#include "solver/base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void lay_side(const struct mech_couple *c, struct couple_side *s, struct mech_room *room)
{
    const size_t outputs = (size_t)s->is.outputs, inputs = (size_t)s->is.inputs;
    const size_t slopes = c->type->matrix ? outputs * inputs : 0;
    s->now = mech_room_reals(room, outputs);
    s->past = mech_room_reals(room, MECH_COUPLE_HOLD_MOST * outputs);
    s->end = mech_room_reals(room, outputs);
    s->got = mech_room_reals(room, outputs);
    s->other = mech_room_reals(room, outputs);
    s->ahead = mech_room_reals(room, outputs);
    s->sum = mech_room_reals(room, outputs);
    s->nodes = mech_room_reals(room, MECH_COUPLE_HOLD_MOST * outputs);
    s->next_nodes = mech_room_reals(room, MECH_COUPLE_HOLD_MOST * outputs);
    s->polynomial = mech_room_reals(room, MECH_COUPLE_NODES * inputs);
    s->jacobian = mech_room_reals(room, slopes);
    s->slopes = mech_room_reals(room, slopes);
    s->sum_slopes = mech_room_reals(room, slopes);
    s->kept = mech_room_ints(room, 1);
    if (s->sampled) {
        mech_track_lay(&s->made, room);
        mech_track_lay(&s->guess, room);
    }
}

void couple_lay(struct mech_couple *c, struct mech_room *room)
{
    const size_t n = (size_t)c->most, bonds = (size_t)c->bond_count;
    c->clock = mech_room_reals(room, CLOCK_COUNT);
    for (int32_t p = 0; p < c->side_count; p++) {
        lay_side(c, c->sides + p, room);
    }
    const size_t longest = (size_t)(c->most > c->start_most ? c->most : c->start_most);
    c->z = mech_room_reals(room, longest);
    c->z_next = mech_room_reals(room, longest);
    c->r = mech_room_reals(room, longest);
    c->scale = mech_room_reals(room, longest);
    c->matrix = mech_room_reals(room, c->type->matrix ? n * n : 0);
    c->effort = mech_room_reals(room, (size_t)c->effort_count);
    c->bond_numbers = mech_room_reals(room, bonds * COUPLE_BOND_NUMBERS);
    const bool lines = (c->type->laws & 1u << MECH_COUPLE_LINE) != 0;
    c->waves = mech_room_reals(room, lines ? bonds * COUPLE_WAVES_MOST * COUPLE_WAVE : 0);
    struct mech_scheme_space space = {.n = c->most,
                                      .max_iterations = c->options.max_iterations,
                                      .relaxation = c->options.relaxation,
                                      .reuse = c->options.reuse,
                                      .filter = c->options.filter};
    if (c->type->lay) {
        c->type->lay(c->self, &space, room);
    }
    // loops at the start: as many differences as unknowns, none of them kept
    space = (struct mech_scheme_space){
        .n = c->start_most, .max_iterations = c->start_most, .relaxation = 1.};
    mech_scheme_iqn_ils.lay(c->start_self, &space, room);
}

void mech_couple_destroy(struct mech_couple *c)
{
    if (c) {
        free(c->bytes);
        mech_arena_fini(&c->arena);
        free(c);
    }
}

int mech_couple_start(struct mech_couple *c, double time)
{
    if (!isfinite(time) || (c->phase != COUPLE_NEW && c->phase != COUPLE_IDLE)) {
        return MECH_INVALID;
    }
    memset(c->bytes, 0, c->bytes_size);
    couple_lay(c, &(struct mech_room){.base = c->bytes});
    c->clock[CLOCK_TIME] = time;
    c->report = (struct mech_couple_report){.participant = -1, .time = time};
    c->phase = COUPLE_STARTING;
    c->after = COUPLE_NEW;
    c->size = 0.;
    c->group = -1;
    c->iteration = 0;
    c->handed = 0;
    c->abandoned = false;
    c->matrix_same = false;
    mech_scheme_iqn_ils.begin(c->start_self);
    return 0;
}

int mech_couple_begin(struct mech_couple *c, double size)
{
    if (c->phase != COUPLE_IDLE || !(size > 0.) || !isfinite(size)) {
        return MECH_INVALID;
    }
    c->asked = size;
    c->size = size;
    if (c->adaptive) {
        const double next = c->clock[CLOCK_NEXT];
        c->size = fmin(c->size, c->options.maximum);
        c->size = next > 0. ? fmin(c->size, next) : c->size;
    }
    c->report = (struct mech_couple_report){.participant = -1, .time = c->clock[CLOCK_TIME]};
    c->after = COUPLE_IDLE;
    c->handed = 0;
    c->whole = c->size;
    if (couple_rehearses(c)) {
        couple_rehearse(c);
    } else {
        couple_open(c);
    }
    return 0;
}

void mech_couple_set_jacobian(struct mech_couple *c, int32_t participant, bool fills)
{
    static const uint32_t jacobian = MECH_COUPLE_JACOBIAN;
    uint32_t *const abilities = &c->sides[participant].is.abilities;
    *abilities = fills ? *abilities | jacobian : *abilities & ~jacobian;
}

const struct mech_couple_report *mech_couple_report(const struct mech_couple *c)
{
    return &c->report;
}

double mech_couple_time(const struct mech_couple *c)
{
    return c->clock[CLOCK_TIME];
}

uint64_t mech_couple_windows(const struct mech_couple *c)
{
    return (uint64_t)c->clock[CLOCK_WINDOWS];
}

const double *mech_couple_outputs(const struct mech_couple *c, int32_t participant)
{
    return c->sides[participant].now;
}

double mech_couple_residual(const struct mech_couple *c, int32_t connection)
{
    const struct mech_couple_connection *const k = c->connections + connection;
    const struct couple_side *const s = c->sides + k->from;
    return s->number[k->output] < 0 ? 0. : fabs(s->got[k->output] - s->end[k->output]);
}

size_t mech_couple_saved_size(const struct mech_couple *c)
{
    return c->bytes_size;
}

void mech_couple_save(const struct mech_couple *c, void *bytes)
{
    memcpy(bytes, c->bytes, c->bytes_size);
}

/* Windows that are counted, of which doubles have each. */
static const double windows_most = 9007199254740992.;

/* The time is one, the one that windows of the same size have led to, and what counts is a whole
 * number. */
static bool accepts_clock(const struct mech_couple *c, const struct mech_room_copy *copy)
{
    bool good = true;
    for (int32_t k = CLOCK_TIME; good && k <= CLOCK_SIZE; k++) {
        good = isfinite(mech_room_copy_real(copy, c->clock, k));
    }
    const double windows = mech_room_copy_real(copy, c->clock, CLOCK_WINDOWS);
    const double known = mech_room_copy_real(copy, c->clock, CLOCK_KNOWN);
    const double same = mech_room_copy_real(copy, c->clock, CLOCK_SAME);
    const double size = mech_room_copy_real(copy, c->clock, CLOCK_SIZE);
    const double end = mech_room_copy_real(copy, c->clock, CLOCK_BASE) + same * size;
    good = good && same >= 0. && same == floor(same) &&
           (same > 0. ? end == mech_room_copy_real(copy, c->clock, CLOCK_TIME) : size == 0.);
    return good && windows >= 0. && windows < windows_most && windows == floor(windows) &&
           known >= 0. && known <= c->options.hold && known == floor(known);
}

static bool finite(const struct mech_room_copy *copy, const double *at, int32_t count)
{
    bool good = true;
    for (int32_t k = 0; good && k < count; k++) {
        good = isfinite(mech_room_copy_real(copy, at, k));
    }
    return good;
}

/* The earlier ends that are known are before the present, none after the one before it (windows
 * round: of two that are next to each other beside a longer one both come to the same time, where
 * no window ends well); a size that error control proposes is one of its sizes. */
static bool accepts_past(const struct mech_couple *c, const struct mech_room_copy *copy)
{
    const int32_t known = (int32_t)mech_room_copy_real(copy, c->clock, CLOCK_KNOWN);
    const double next = mech_room_copy_real(copy, c->clock, CLOCK_NEXT);
    double before = 0.;
    bool good =
        !c->adaptive || next == 0. || (next >= c->options.minimum && next <= c->options.maximum);
    for (int32_t k = 0; good && k < known; k++) {
        const double ago = mech_room_copy_real(copy, c->clock, CLOCK_PAST + k);
        good = isfinite(ago) && ago > 0. && ago >= before;
        before = ago;
    }
    return good;
}

/* What the next window reads of a participant: outputs of the present and of the earlier ends, and
 * slopes that hold. */
static bool accepts_side(const struct mech_couple *c, const struct couple_side *s,
                         const struct mech_room_copy *copy)
{
    const int32_t outputs = s->is.outputs, slopes = outputs * s->is.inputs;
    const int32_t known = (int32_t)mech_room_copy_real(copy, c->clock, CLOCK_KNOWN);
    const bool kept = c->type->matrix && mech_room_copy_int(copy, s->kept, 0) != 0;
    return finite(copy, s->now, outputs) && finite(copy, s->past, known * outputs) &&
           (!kept || (finite(copy, s->slopes, slopes) &&
                      (!s->summed || finite(copy, s->sum_slopes, slopes))));
}

static bool accepts_track(const struct mech_track *t, const struct mech_room_copy *copy)
{
    const int32_t last = mech_room_copy_int(copy, t->held, 0);
    const int32_t degree = mech_room_copy_int(copy, t->held, 1);
    return last >= 0 && last <= t->most && degree >= 0 && degree <= t->wanted;
}

/* What is a count or a place among numbers is one, and what the next window reads is finite: bytes
 * may come from outside. */
static bool accepts(const struct mech_couple *c, const struct mech_room_copy *copy)
{
    bool good = accepts_clock(c, copy) && accepts_past(c, copy) &&
                finite(copy, c->effort, c->effort_count) && couple_bonds_accept(c, copy) &&
                mech_scheme_iqn_ils.accepts(c->start_self, copy) &&
                (!c->type->accepts || c->type->accepts(c->self, copy));
    for (int32_t p = 0; good && p < c->side_count; p++) {
        const struct couple_side *const s = c->sides + p;
        good = accepts_side(c, s, copy) &&
               (!s->sampled || (accepts_track(&s->made, copy) && accepts_track(&s->guess, copy)));
    }
    return good;
}

int mech_couple_restore(struct mech_couple *c, const void *bytes, size_t size)
{
    if (c->phase != COUPLE_NEW && c->phase != COUPLE_IDLE) {
        return MECH_INVALID;
    }
    const struct mech_room_copy copy = {.room = c->bytes, .bytes = bytes};
    if (size != c->bytes_size || !accepts(c, &copy)) {
        return MECH_MISMATCH;
    }
    memcpy(c->bytes, bytes, size);
    c->phase = COUPLE_IDLE;
    // the factor is computed again from the slopes, which are saved
    c->matrix_same = false;
    couple_flow_begin(c);
    return 0;
}
