/* What has been read of a coupling becomes the coupling of the solver. */
#include "server/coupling/outside.h"

#include "server/call/service.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct mechd_part *p)
{
    const struct mechd_engine *const e = &p->instance->engine;
    size_t numbers = 0;
    for (size_t k = 0; k < mechd_engine_variable_count(e, MECH_INPUT); k++) {
        struct mech_variable v;
        mechd_engine_variable(e, MECH_INPUT, k, &v);
        numbers += 3 * (size_t)v.size;
    }
    p->numbers = calloc(numbers + 1, sizeof *p->numbers);
    p->outputs = calloc(mechd_engine_output_size(e) + 1, sizeof *p->outputs);
    p->moments = calloc(MECH_FLOW_MOMENTS * numbers / 3 + 1, sizeof *p->moments);
    return p->numbers != NULL && p->outputs != NULL && p->moments != NULL;
}

static uint32_t abilities_of(const struct mechd_part *p)
{
    // outputs of an FMU follow its inputs with the next step
    return p->outside == NULL && p->instance->engine.ops->apart ? MECH_COUPLE_ROLLBACK
           : p->outside == NULL   ? MECH_COUPLE_ROLLBACK | MECH_COUPLE_FEEDTHROUGH
           : p->outside->rollback ? MECH_COUPLE_ROLLBACK
                                  : 0u;
}

/* The coupling of the solver. */
static void make_couple(struct mechd_reading *r)
{
    struct mechd_coupling *const g = r->g;
    struct mech_couple_participant *const parts = calloc((size_t)g->count + 1, sizeof *parts);
    struct mech_couple_connection *const links = calloc((size_t)r->count + 1, sizeof *links);
    // pieces that only follow a cubic hold report nothing
    const bool sampled = r->options.hold < 3 || r->options.waveform > 0;
    char reason[MECH_COUPLE_REASON] = "";
    int code = parts != NULL && links != NULL && mechd_make_ports(r) ? 0 : MECH_NO_MEMORY;
    for (int32_t n = 0; n < g->count && code == 0; n++) {
        struct mechd_part *const p = &g->parts[n];
        uint32_t exact = 0;
        if (g->in_pieces && !mechd_pieces_prepare(p, g->step_size)) {
            mech_text_format(reason, sizeof reason,
                             "participant %.60s: a window has more than %d internal steps", p->name,
                             MECHD_COUPLING_PIECES);
            code = MECH_UNSUPPORTED;
            break;
        }
        if (g->in_pieces && !mechd_pieces_room(p)) {
            code = MECH_NO_MEMORY;
            break;
        }
        if (r->options.hold == 0 && p->outside == NULL) {
            p->jacobian = mechd_part_jacobian_room(p, g->step_size);
            exact = p->jacobian != NULL ? MECH_COUPLE_JACOBIAN : 0;
        }
        parts[n] = (struct mech_couple_participant){.name = p->name,
                                                    .inputs = p->in_count,
                                                    .outputs = p->out_count,
                                                    .samples = sampled ? p->pieces : 0,
                                                    .abilities = abilities_of(p) | exact};
    }
    for (int32_t k = 0; k < r->count && code == 0; k++) {
        const struct mechd_connection *const l = &r->links[k];
        const struct mechd_part *const from = &g->parts[l->from.part];
        const struct mechd_part *const to = &g->parts[l->to.part];
        links[k] = (struct mech_couple_connection){
            l->from.part, mechd_port_place(from->out, from->out_count, &l->from),
            l->to.part,   mechd_port_place(to->in, to->in_count, &l->to),
            l->factor,    l->offset};
    }
    for (int32_t k = 0; k < 2 * r->bond_count && code == 0; k++) {
        const struct mechd_connection *const l = &r->bond_links[k];
        const struct mechd_part *const p = &g->parts[l->from.part];
        r->bonds[k / 2].flow[k % 2] = mechd_port_place(p->out, p->out_count, &l->from);
        r->bonds[k / 2].effort[k % 2] = mechd_port_place(p->in, p->in_count, &l->to);
    }
    const struct mech_couple_setup setup = {.participants = parts,
                                            .participant_count = g->count,
                                            .connections = links,
                                            .connection_count = r->count,
                                            .bonds = r->bonds,
                                            .bond_count = r->bond_count,
                                            .options = r->options};
    code = code != 0 ? code : mech_couple_create(&setup, reason, &g->couple);
    free(parts);
    free(links);
    if (code < 0) {
        mechd_reading_fail(r, mechp_code_of_outcome(code), mech_err_text(code));
    } else if (code != 0) {
        mechd_reading_fault(r, "/scheme", "%s", reason[0] != '\0' ? reason : mech_err_text(code));
    }
}

/* Bytes of the names of its connections and bonds. */
static size_t names_size(const struct mechd_coupling *g)
{
    size_t size = (size_t)g->bond_count * sizeof *g->bonds;
    for (int32_t k = 0; k < g->connection_count; k++) {
        size += sizeof *g->connections + strlen(g->connections[k]) + 1;
    }
    return size;
}

/* The states that it holds, to the accounts of its instances: where windows are in pieces, one of
 * each; and its own, its document and names, to the first one's. */
static void charge(struct mechd_coupling *g, struct mechd_call *c)
{
    for (int32_t n = 0; n < g->count; n++) {
        struct mechd_part *const p = &g->parts[n];
        const size_t start =
            p->start != NULL ? mechd_engine_snapshot_size(&p->instance->engine) : 0;
        const size_t own = mech_couple_saved_size(g->couple) + g->document_size + names_size(g);
        const size_t bytes = start + (n == 0 ? own : 0);
        struct mechd_excess excess;
        if (!mechd_instance_charge(p->instance, MECHD_QUOTA_MEMORY, bytes,
                                   g->keep.loading ? NULL : &excess)) {
            mechd_fail_quota(c, &excess);
            return;
        }
        p->charged = bytes;
    }
}

void mechd_reading_free(struct mechd_reading *r)
{
    if (r != NULL) {
        json_decref(r->owned);
        free(r->links);
        free(r->bonds);
        free(r->bond_links);
        free(r->bond_names);
        free(r->turns);
        free(r);
    }
}

/* Whether mean velocities of bonds are needed, which are displacements by the internal steps. */
static bool sums_steps(const struct mechd_reading *r)
{
    bool sums = false;
    for (int32_t k = 0; k < r->bond_count; k++) {
        sums = sums || r->bonds[k].kind == MECH_COUPLE_VELOCITY;
    }
    return sums && r->g->outsides == 0;
}

/* The coupling of the solver, of what has been read without a fault. */
static void join(struct mechd_reading *r)
{
    struct mechd_coupling *const g = r->g;
    bool room = true;
    for (int32_t n = 0; n < g->count; n++) {
        room = room && make_room(&g->parts[n]);
    }
    if (!room) {
        mechd_reading_fail(r, MECHP_OUT_OF_MEMORY, mech_err_text(MECH_NO_MEMORY));
        return;
    }
    mech_text_copy(g->scheme, sizeof g->scheme, r->options.scheme);
    g->in_pieces = r->options.hold > 2 || r->options.waveform > 0 || sums_steps(r);
    g->adapts = r->options.adaptive_relative != 0. || r->options.adaptive_absolute != 0.;
    g->varies = r->options.hold > 0 || r->options.waveform > 0;
    g->bonds = r->bond_names;
    g->bond_count = r->bond_count;
    r->bond_names = NULL;
    make_couple(r);
}

bool mechd_coupling_connect(struct mechd_coupling *g, struct mechd_call *c)
{
    struct mechd_reading *const r = g->reading;
    if (mechd_document_make(r)) {
        join(r);
    } else {
        mechd_fail_outcome(c, MECH_NO_MEMORY);
    }
    if (g->couple != NULL) {
        charge(g, c);
    }
    mechd_reading_free(r);
    g->reading = NULL;
    return !mechd_call_faulty(c) && c->code == MECHP_OK;
}

void mechd_coupling_connect_alone(struct mechd_coupling *g)
{
    if (mechd_reading_good(g->reading)) {
        join(g->reading);
    }
}
