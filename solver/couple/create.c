/* Checks of a setup, and its topology: turns, links, unknowns. */
#include "solver/couple/internal.h"

#include "solver/base/err.h"
#include "solver/base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes the reason, returns the code. */
__attribute__((format(printf, 3, 4))) static int refuse(int code, char *reason, const char *format,
                                                        ...)
{
    va_list list;
    va_start(list, format);
    mech_text_format_list(reason, MECH_COUPLE_REASON, format, list);
    va_end(list);
    return code;
}

static bool not_negative(double x)
{
    return x >= 0. && isfinite(x);
}

static int check_options(const struct mech_couple_options *o, const struct mech_scheme_type *type,
                         char *reason)
{
    if (o->hold < 0 || o->hold > MECH_COUPLE_HOLD_MOST) {
        return refuse(MECH_INVALID, reason, "hold is not 0 to 3");
    }
    if (o->waveform < 0 || o->waveform > 3) {
        return refuse(MECH_INVALID, reason, "the degree of the waveform is not 0 to 3");
    }
    if (type->iterates &&
        (!not_negative(o->relative_tolerance) || !not_negative(o->absolute_tolerance) ||
         !(o->absolute_tolerance > 0.) || o->max_iterations < 1)) {
        return refuse(MECH_INVALID, reason,
                      "%s needs an absolute tolerance above 0 and at least one iteration",
                      type->name);
    }
    if (type->iterates && !type->matrix && !(o->relaxation > 0. && o->relaxation <= 2.)) {
        return refuse(MECH_INVALID, reason, "the relaxation is not in (0, 2]");
    }
    if (o->reuse < 0 || !(o->filter >= 0. && o->filter < 1.)) {
        return refuse(MECH_INVALID, reason, "reuse is below 0, or the filter is not in [0, 1)");
    }
    if (type->matrix && o->waveform > 0) {
        return refuse(MECH_UNSUPPORTED, reason,
                      "%s iterates on the ends of windows, not on waveforms", type->name);
    }
    const bool adaptive = o->adaptive_relative != 0. || o->adaptive_absolute != 0.;
    if (adaptive && (!not_negative(o->adaptive_relative) || !not_negative(o->adaptive_absolute) ||
                     !(o->minimum > 0.) || !(o->maximum >= o->minimum) || !isfinite(o->maximum))) {
        return refuse(MECH_INVALID, reason,
                      "error control needs tolerances of at least 0, and 0 < minimum <= maximum");
    }
    return 0;
}

static int check_participants(const struct mech_couple_setup *s,
                              const struct mech_scheme_type *type, char *reason)
{
    const bool again =
        type->iterates || s->options.adaptive_relative != 0. || s->options.adaptive_absolute != 0.;
    if (s->participant_count < 1 || s->connection_count < 0 || s->bond_count < 0) {
        return refuse(MECH_INVALID, reason, "there are no participants");
    }
    for (int32_t p = 0; p < s->participant_count; p++) {
        const struct mech_couple_participant *const a = s->participants + p;
        if (a->inputs < 0 || a->outputs < 0 || a->samples < 0 ||
            a->inputs > MECH_COUPLE_UNKNOWNS_MOST || a->outputs > MECH_COUPLE_UNKNOWNS_MOST ||
            (int64_t)a->inputs * a->outputs > 100 * (int64_t)MECH_COUPLE_UNKNOWNS_MOST) {
            return refuse(MECH_INVALID, reason, "%.60s: sizes below 0 or too large", a->name);
        }
        if ((int64_t)a->samples * a->outputs > MECH_COUPLE_UNKNOWNS_MOST) {
            return refuse(MECH_INVALID, reason,
                          "%.60s: a waveform of %d outputs at %d substeps; at most %d values",
                          a->name, (int)a->outputs, (int)a->samples, MECH_COUPLE_UNKNOWNS_MOST);
        }
        if (again && (a->abilities & MECH_COUPLE_ROLLBACK) == 0) {
            return refuse(MECH_UNSUPPORTED, reason,
                          "%.60s: %s repeats windows, and this participant cannot roll back",
                          a->name, type->iterates ? type->name : "error control");
        }
    }
    return 0;
}

static bool is_input(const struct mech_couple_setup *s, int32_t p, int32_t input)
{
    return p >= 0 && p < s->participant_count && input >= 0 && input < s->participants[p].inputs;
}

static bool is_output(const struct mech_couple_setup *s, int32_t p, int32_t output)
{
    return p >= 0 && p < s->participant_count && output >= 0 && output < s->participants[p].outputs;
}

static int check_connections(const struct mech_couple_setup *s, char *reason)
{
    for (int32_t k = 0; k < s->connection_count; k++) {
        const struct mech_couple_connection *const a = s->connections + k;
        if (!is_output(s, a->from, a->output) || !is_input(s, a->to, a->input)) {
            return refuse(MECH_INVALID, reason, "connection %d: no such output or input", (int)k);
        }
        if (!isfinite(a->factor) || !isfinite(a->offset)) {
            return refuse(MECH_INVALID, reason, "connection %d: factor or offset is not finite",
                          (int)k);
        }
    }
    return 0;
}

static int check_bonds(const struct mech_couple_setup *s, const struct mech_scheme_type *type,
                       char *reason)
{
    if (s->bond_count > 0 && !type->bonds) {
        return refuse(MECH_UNSUPPORTED, reason, "%s does not support bonds", type->name);
    }
    if (type->bonds && s->options.hold != 0) {
        return refuse(MECH_UNSUPPORTED, reason, "%s holds efforts over a window: hold must be 0",
                      type->name);
    }
    for (int32_t k = 0; k < s->bond_count; k++) {
        const struct mech_couple_bond *const b = s->bonds + k;
        for (int32_t i = 0; i < 2; i++) {
            if (!is_output(s, b->participant[i], b->flow[i]) ||
                !is_input(s, b->participant[i], b->effort[i])) {
                return refuse(MECH_INVALID, reason, "bond %.60s: no such effort or flow", b->name);
            }
        }
        if ((type->laws & 1u << b->law) == 0) {
            return refuse(MECH_UNSUPPORTED, reason, "bond %.60s: its law is not one of %s", b->name,
                          type->name);
        }
        if (!not_negative(b->stiffness) || !not_negative(b->damping) || !isfinite(b->rest) ||
            !isfinite(b->gap)) {
            return refuse(MECH_INVALID, reason, "bond %.60s: a number is not finite or below 0",
                          b->name);
        }
        if (b->law == MECH_COUPLE_LINE &&
            !(b->delay > 0. && isfinite(b->delay) && b->impedance > 0. && isfinite(b->impedance))) {
            return refuse(MECH_INVALID, reason, "bond %.60s: delay and impedance must be positive",
                          b->name);
        }
    }
    return 0;
}

/* turn[p], as ordered, or as listed with those that cannot roll back behind the others. */
static int set_turns(struct mech_couple *c, const struct mech_couple_setup *s, char *reason)
{
    const int32_t count = c->side_count;
    int32_t turn = 0;
    for (int32_t p = 0; p < count; p++) {
        c->sides[p].turn = -1;
    }
    for (int32_t i = 0; s->options.order && i < count; i++) {
        const int32_t p = s->options.order[i];
        if (p < 0 || p >= count || c->sides[p].turn >= 0) {
            return refuse(MECH_INVALID, reason,
                          "order does not name each participant exactly once");
        }
        const bool can = (s->participants[p].abilities & MECH_COUPLE_ROLLBACK) != 0;
        const int32_t before = i > 0 ? s->options.order[i - 1] : p;
        if (can && (s->participants[before].abilities & MECH_COUPLE_ROLLBACK) == 0) {
            return refuse(MECH_INVALID, reason,
                          "%.60s cannot roll back, so it must be at the end of the order",
                          s->participants[before].name);
        }
        c->sides[p].turn = turn++;
    }
    for (int32_t pass = 0; !s->options.order && pass < 2; pass++) {
        for (int32_t p = 0; p < count; p++) {
            const bool can = (s->participants[p].abilities & MECH_COUPLE_ROLLBACK) != 0;
            if (can == (pass == 0)) {
                c->sides[p].turn = turn++;
            }
        }
    }
    for (int32_t p = 0; p < count; p++) {
        const bool can = (s->participants[p].abilities & MECH_COUPLE_ROLLBACK) != 0;
        c->sides[p].group = c->in_turn ? c->sides[p].turn : !can;
    }
    c->groups = c->in_turn ? count : 2;
    return 0;
}

static void push_link(struct mech_couple *c, int32_t to, struct couple_link link)
{
    struct couple_side *const s = c->sides + to;
    if (s->links) {
        s->links[s->link_count] = link;
    }
    s->link_count++;
}

/* Twice: to count, and to fill. */
static void link_all(struct mech_couple *c)
{
    for (int32_t p = 0; p < c->side_count; p++) {
        c->sides[p].link_count = 0;
    }
    for (int32_t k = 0; k < c->connection_count; k++) {
        const struct mech_couple_connection *const a = c->connections + k;
        push_link(c, a->to, (struct couple_link){a->input, a->from, a->output, a->factor});
    }
    for (int32_t e = 0; e < c->effort_count; e++) {
        const struct mech_couple_bond *const b = c->bonds + c->efforts[e].bond;
        for (int32_t i = 0; i < 2; i++) {
            if (c->efforts[e].end < 0 || c->efforts[e].end == i) {
                push_link(c, b->participant[i],
                          (struct couple_link){b->effort[i], -1, e, i == 0 ? -1. : 1.});
            }
        }
    }
}

/* An input that nothing drives, −1: there is none; `driven` [inputs] is scratch. */
static int32_t undriven(const struct couple_side *s, double *driven)
{
    for (int32_t i = 0; i < s->is.inputs; i++) {
        driven[i] = 0.;
    }
    for (int32_t l = 0; l < s->link_count; l++) {
        driven[s->links[l].input] = 1.;
    }
    for (int32_t i = 0; i < s->is.inputs; i++) {
        if (driven[i] == 0.) {
            return i;
        }
    }
    return -1;
}

static void number_unknowns(struct mech_couple *c)
{
    for (int32_t k = 0; k < c->connection_count; k++) {
        const struct mech_couple_connection *const a = c->connections + k;
        struct couple_side *const from = c->sides + a->from;
        const bool loops = (from->is.abilities & MECH_COUPLE_FEEDTHROUGH) != 0 &&
                           (c->sides[a->to].is.abilities & MECH_COUPLE_FEEDTHROUGH) != 0;
        from->read = true;
        c->sides[a->to].offset[a->input] += a->offset;
        if (!(c->in_turn && from->turn < c->sides[a->to].turn) && from->number[a->output] < 0) {
            from->number[a->output] = from->unknowns++;
        }
        if (loops && from->start_number[a->output] < 0) {
            from->start_number[a->output] = from->start_unknowns++;
        }
    }
}

static int size_unknowns(struct mech_couple *c, char *reason)
{
    int64_t most = c->effort_count, start_most = 0;
    for (int32_t p = 0; p < c->side_count; p++) {
        struct couple_side *const s = c->sides + p;
        const int32_t samples = s->is.samples > 1 ? s->is.samples : 1;
        s->sampled = s->summed || (c->options.waveform > 0 && s->read);
        s->made = (struct mech_track){
            .outputs = s->is.outputs, .most = samples, .wanted = c->options.waveform};
        s->guess = s->made;
        most += (int64_t)s->unknowns * (c->options.waveform > 0 ? samples : 1);
        start_most += s->start_unknowns;
    }
    if (most > (c->type->matrix ? MECH_COUPLE_NEWTON_MOST : MECH_COUPLE_UNKNOWNS_MOST) ||
        start_most > MECH_COUPLE_UNKNOWNS_MOST) {
        return refuse(MECH_UNSUPPORTED, reason, "%lld unknowns are too many", (long long)most);
    }
    c->most = (int32_t)most;
    c->start_most = (int32_t)start_most;
    return 0;
}

static int32_t *numbers(struct mech_couple *c, int32_t count)
{
    int32_t *const number = mech_arena_alloc(&c->arena, (size_t)count, sizeof *number);
    for (int32_t i = 0; number && i < count; i++) {
        number[i] = -1;
    }
    return number;
}

static int copy_sides(struct mech_couple *c, const struct mech_couple_setup *s)
{
    const size_t count = (size_t)s->participant_count;
    c->sides = mech_arena_alloc(&c->arena, count, sizeof *c->sides);
    c->tasks = mech_arena_alloc(&c->arena, count, sizeof *c->tasks);
    c->views = mech_arena_alloc(&c->arena, count, sizeof *c->views);
    if (!c->sides || !c->tasks || !c->views) {
        return MECH_NO_MEMORY;
    }
    c->side_count = s->participant_count;
    for (int32_t p = 0; p < c->side_count; p++) {
        struct couple_side *const side = c->sides + p;
        side->is = s->participants[p];
        side->is.name = mech_arena_strdup(&c->arena, s->participants[p].name);
        side->offset = mech_arena_alloc(&c->arena, (size_t)side->is.inputs, sizeof *side->offset);
        side->moments = mech_arena_alloc(&c->arena, MECH_COUPLE_NODES * (size_t)side->is.inputs,
                                         sizeof *side->moments);
        side->number = numbers(c, side->is.outputs);
        side->start_number = numbers(c, side->is.outputs);
        c->views[p] = (struct mech_couple_view){.couple = c, .side = p};
        if (!side->is.name || !side->offset || !side->moments || !side->number ||
            !side->start_number) {
            return MECH_NO_MEMORY;
        }
    }
    return 0;
}

static int copy_bonds(struct mech_couple *c, const struct mech_couple_setup *s)
{
    const size_t count = (size_t)s->bond_count;
    c->bonds = mech_arena_alloc(&c->arena, count, sizeof *c->bonds);
    c->efforts = mech_arena_alloc(&c->arena, 2 * count, sizeof *c->efforts);
    if (!c->bonds || !c->efforts) {
        return MECH_NO_MEMORY;
    }
    c->bond_count = s->bond_count;
    for (int32_t k = 0; k < c->bond_count; k++) {
        struct mech_couple_bond *const b = c->bonds + k;
        *b = s->bonds[k];
        b->name = mech_arena_strdup(&c->arena, b->name);
        if (!b->name) {
            return MECH_NO_MEMORY;
        }
        const bool line = b->law == MECH_COUPLE_LINE;
        for (int32_t i = 0; i < (line ? 2 : 1); i++) {
            c->efforts[c->effort_count++] = (struct couple_effort){.bond = k, .end = line ? i : -1};
        }
        for (int32_t i = 0; i < 2; i++) {
            struct couple_side *const side = c->sides + b->participant[i];
            side->summed = side->summed || b->kind == MECH_COUPLE_VELOCITY;
        }
    }
    return 0;
}

static int copy(struct mech_couple *c, const struct mech_couple_setup *s)
{
    MECH_TRY(copy_sides(c, s));
    MECH_TRY(copy_bonds(c, s));
    const size_t count = (size_t)s->connection_count;
    const size_t bonds = (size_t)s->bond_count;
    c->connections = mech_arena_alloc(&c->arena, count, sizeof *c->connections);
    c->flows = mech_arena_alloc(&c->arena, count + bonds, sizeof *c->flows);
    c->bonds_before = mech_arena_alloc(&c->arena, bonds, sizeof *c->bonds_before);
    if (!c->connections || !c->flows || !c->bonds_before) {
        return MECH_NO_MEMORY;
    }
    if (count > 0) {
        memcpy(c->connections, s->connections, count * sizeof *c->connections);
    }
    c->connection_count = s->connection_count;
    link_all(c);
    for (int32_t p = 0; p < c->side_count; p++) {
        struct couple_side *const side = c->sides + p;
        side->links = mech_arena_alloc(&c->arena, (size_t)side->link_count, sizeof *side->links);
        if (!side->links) {
            return MECH_NO_MEMORY;
        }
    }
    link_all(c);
    return 0;
}

static int build(struct mech_couple *c, const struct mech_couple_setup *s, char *reason)
{
    const enum mech_scheme_turns turns = c->type->turns;
    c->options = s->options;
    c->options.scheme = c->type->name;
    c->in_turn =
        turns == MECH_SCHEME_IN_TURN || (turns == MECH_SCHEME_AS_ORDERED && s->options.order);
    c->adaptive = s->options.adaptive_relative > 0. || s->options.adaptive_absolute > 0.;
    c->options.order = NULL;
    MECH_TRY(copy(c, s));
    MECH_TRY(set_turns(c, s, reason));
    for (int32_t p = 0; p < c->side_count; p++) {
        struct couple_side *const side = c->sides + p;
        const int32_t input = undriven(side, side->offset);
        if (input >= 0) {
            return refuse(MECH_INVALID, reason, "%.60s: nothing drives its input %d", side->is.name,
                          (int)input);
        }
        memset(side->offset, 0, (size_t)side->is.inputs * sizeof *side->offset);
    }
    number_unknowns(c);
    MECH_TRY(size_unknowns(c, reason));
    c->self = mech_arena_alloc(&c->arena, c->type->size, 1);
    c->start_self = mech_arena_alloc(&c->arena, mech_scheme_iqn_ils.size, 1);
    if (!c->self || !c->start_self) {
        return MECH_NO_MEMORY;
    }
    struct mech_room room = {.base = NULL};
    couple_lay(c, &room);
    c->bytes_size = room.used;
    c->bytes = calloc(1, room.used);
    if (!c->bytes) {
        return MECH_NO_MEMORY;
    }
    couple_lay(c, &(struct mech_room){.base = c->bytes});
    return 0;
}

int mech_couple_create(const struct mech_couple_setup *setup, char *reason,
                       struct mech_couple **out)
{
    *out = NULL;
    reason[0] = '\0';
    const struct mech_scheme_type *const type = mech_scheme_find(setup->options.scheme);
    if (!type) {
        return refuse(MECH_NOT_FOUND, reason, "there is no scheme %.60s", setup->options.scheme);
    }
    MECH_TRY(check_options(&setup->options, type, reason));
    MECH_TRY(check_participants(setup, type, reason));
    MECH_TRY(check_connections(setup, reason));
    MECH_TRY(check_bonds(setup, type, reason));
    struct mech_couple *const c = calloc(1, sizeof *c);
    if (!c) {
        return MECH_NO_MEMORY;
    }
    mech_arena_init(&c->arena, 0);
    c->type = type;
    const int code = build(c, setup, reason);
    if (code != 0) {
        mech_couple_destroy(c);
        return code;
    }
    *out = c;
    return 0;
}
