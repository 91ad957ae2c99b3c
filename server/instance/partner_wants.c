/* The values of a partner's frames: outputs, derivatives, energy, events, jacobian. */
#include "server/instance/partner_wants.h"

#include "protocol/wire/bodies.h"
#include "server/engine/fmu_engine.h"
#include "solver/sim/analysis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* numbers of a jacobian, as over HTTP */
static const size_t jacobian_most = 1 << 20;

/* Why a hosted FMU has none of these, or NULL. */
static const char *lacks(const struct mechd_instance *i, int want)
{
    static const char none[] = "an instance of an FMU does not provide this";
    switch (want) {
    case MECHP_WANT_EVENTS:
        return mechd_engine_blind(&i->engine, false);
    case MECHP_WANT_DERIVATIVES:
        return mechd_engine_unrated(&i->engine);
    case MECHP_WANT_ENERGY:
        return mechd_engine_knows_energy(&i->engine) ? NULL : none;
    default:
        return i->engine.ops->derive != NULL ? NULL : none;
    }
}

unsigned mechd_partner_read_want(const struct mechd_instance *i, const json_t *list,
                                 struct mech_diag *diag)
{
    unsigned want = 0;
    for (size_t k = 0; k < json_array_size(list); k++) {
        char path[MECHP_WANT_PATH];
        const int one = mechp_want_read(list, k, MECHP_WANTED_FRAME, path, diag);
        if (one < 0) {
            continue;
        }
        const char *const none = lacks(i, one);
        if (none != NULL) {
            mech_diag_add(diag, path, "%s", none);
        } else if (one == MECHP_WANT_JACOBIAN &&
                   i->output_size * mechd_engine_input_size(&i->engine) > jacobian_most) {
            mech_diag_add(diag, path, "the Jacobian of this instance has more than %zu numbers",
                          jacobian_most);
        } else {
            want |= 1u << one;
        }
    }
    return want;
}

bool mechd_partner_may_return(const struct mechd_instance *i, unsigned want, struct mech_diag *diag)
{
    const char *const blind = mechd_engine_blind(&i->engine, true);
    if (blind != NULL) {
        mech_diag_add(diag, "/earlyReturn", "%s", blind);
        return false;
    }
    if ((want & MECHP_WANTS(JACOBIAN)) != 0) {
        mech_diag_add(diag, "/earlyReturn",
                      "cannot be combined with the Jacobian: it is that of the whole step, which "
                      "may end early");
        return false;
    }
    return true;
}

void mechd_partner_watch(struct mechd_partner *p, struct mech_step_request *step)
{
    if (p->early || (p->want & MECHP_WANTS(EVENTS)) != 0) {
        p->log = (struct mech_event_log){.at = &p->first, .room = 1};
        step->events = &p->log;
        step->early_return = p->early;
    }
}

/* What replies to steps and trials alone have. */
static const unsigned of_steps = MECHP_WANTS(EVENTS) | MECHP_WANTS(JACOBIAN);

/* Values of one of them. */
static size_t want_size(const struct mechd_partner *p, int want)
{
    return want == MECHP_WANT_ENERGY     ? 1
           : want == MECHP_WANT_EVENTS   ? 2
           : want == MECHP_WANT_JACOBIAN ? p->output_size * p->input_size
                                         : p->output_size;
}

void mechd_partner_write_want(const void *partner, struct mechp_text *w)
{
    const struct mechd_partner *const p = partner;
    int64_t offset = (int64_t)p->output_size;
    mechp_text_array(w);
    for (int k = 0; p->want >> k != 0; k++) {
        if ((p->want >> k & 1u) != 0) {
            const int64_t count = (int64_t)want_size(p, k);
            const struct mechp_body_stream_part body = {mechp_want_name(k, MECHP_WANTED_FRAME),
                                                        offset, count};
            MECHP_WRITE(stream_part, &body, w);
            offset += count;
        }
    }
    mechp_text_end(w);
}

size_t mechd_partner_reply_size(const struct mechd_partner *p, bool steps)
{
    size_t size = p->output_size;
    const unsigned want = p->want & (steps ? ~0u : ~of_steps);
    for (int k = 0; want >> k != 0; k++) {
        size += (want >> k & 1u) != 0 ? want_size(p, k) : 0;
    }
    return size;
}

void mechd_partner_pick(const struct mechd_instance *i, const struct mechd_partner *p,
                        const double *packed, double *out)
{
    for (size_t k = 0; k < p->output_count; k++) {
        const struct mech_variable *v = &i->channels[p->outputs[k]];
        memcpy(out, packed + v->offset, (size_t)v->size * sizeof *out);
        out += v->size;
    }
}

/* Columns of the partner's inputs, from those of all inputs. */
static void pick_jacobian(const struct mechd_instance *i, const struct mechd_partner *p,
                          double *out)
{
    const size_t columns = mechd_engine_input_size(&i->engine);
    for (size_t row = 0; row < p->output_size; row++) {
        for (size_t n = 0; n < p->input_count; n++) {
            struct mech_variable column;
            mechd_engine_variable(&i->engine, MECH_INPUT, (size_t)p->inputs[n], &column);
            memcpy(out, p->matrix + row * columns + column.offset,
                   (size_t)column.size * sizeof *out);
            out += column.size;
        }
    }
}

void mechd_partner_wanted(struct mechd_instance *i, const struct mechd_partner *p, bool trial,
                          bool steps, double *out)
{
    char reason[160];
    if ((p->want & MECHP_WANTS(DERIVATIVES)) != 0) {
        if (mechd_engine_output_rates(&i->engine, trial, p->packed, reason) != 0) {
            for (size_t k = 0; k < i->output_size; k++) {
                p->packed[k] = (double)NAN;
            }
        }
        mechd_partner_pick(i, p, p->packed, out);
        out += p->output_size;
    }
    if ((p->want & MECHP_WANTS(ENERGY)) != 0) {
        *out++ = mechd_engine_energy(&i->engine, trial);
    }
    if ((p->want & MECHP_WANTS(EVENTS)) != 0 && steps) {
        *out++ = (double)p->log.total;
        *out++ = p->log.total > 0 ? p->first.time : (double)NAN;
    }
    if ((p->want & MECHP_WANTS(JACOBIAN)) != 0 && steps) {
        pick_jacobian(i, p, out);
    }
}
