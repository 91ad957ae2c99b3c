/* The importer's intermediate update (FMI 3.0.2, section 4.2.2): a step that is done in pieces of
 * one internal step each. Behind each of them the importer is called, which reads and sets
 * variables that it has named before, and may ask for an early return. A piece that fails undoes
 * all of the step. */
#include "clients/fmu/engine.h"

#include "solver/base/times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum mechp_fmi3_status mechfmu_watch(struct mechfmu *m, mechp_fmi3_intermediate *update,
                                     const uint32_t vr[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct mechp_fmi_variable *const v = mechp_fmi_layout_find(&m->layout, vr[i]);

        if (!v || !mechp_fmi_has_update(v)) {
            return mechfmu_say(m, MECHP_FMI3_ERROR, "variable %u has no intermediate update",
                               (unsigned)vr[i]);
        }
    }
    /* an importer without variables does not take part in it */
    if (!update || n == 0) {
        return MECHP_FMI3_OK;
    }
    m->watched = malloc(n * sizeof *m->watched);
    if (!m->watched) {
        return mechfmu_say(m, MECHP_FMI3_ERROR, "no memory for the intermediate update");
    }
    memcpy(m->watched, vr, n * sizeof *m->watched);
    m->watched_count = n;
    m->update = update;
    return MECHP_FMI3_OK;
}

static bool is_watched(const struct mechfmu *m, uint32_t reference)
{
    for (size_t i = 0; i < m->watched_count; i++) {
        if (m->watched[i] == reference) {
            return true;
        }
    }
    return false;
}

bool mechfmu_may_use(const struct mechfmu *m, const uint32_t vr[], size_t n)
{
    for (size_t i = 0; m->state == MECHP_FMI3_INTERMEDIATE && i < n; i++) {
        if (!is_watched(m, vr[i])) {
            mechfmu_say(m, MECHP_FMI3_ERROR,
                        "variable %u is not among those of the intermediate update",
                        (unsigned)vr[i]);
            return false;
        }
    }
    return true;
}

/* Call the importer; *end: where the step ends, which it may bring nearer. */
static void call_update(struct mechfmu *m, bool over, double *end)
{
    const double now = mechfmu_time(m);
    const bool may_return = m->early_return && !over;
    double wanted_time = now;
    bool wanted = false;

    m->state = MECHP_FMI3_INTERMEDIATE;
    m->update(m->log.environment, now, !over, true, true, may_return, &wanted, &wanted_time);
    if (m->state == MECHP_FMI3_INTERMEDIATE) {
        m->state = MECHP_FMI3_STEP_MODE;
    }
    if (wanted && may_return) {
        *end = fmax(now, fmin(*end, wanted_time));
    }
}

/* Whether the time that has been reached is before `end`, by pieces of that size. */
static bool is_before(const struct mechfmu *m, double end, double piece)
{
    return mech_time_before(mechfmu_time(m), end, mechfmu_scale(m, end, piece));
}

/* All pieces; *early: it has ended before start + size. */
static enum mechp_fmi3_status step_pieces(struct mechfmu *m, double size, bool *early)
{
    const double start = mechfmu_time(m), whole = start + size;
    double piece, end = whole;
    const double n = mech_time_steps((struct mech_time_part){m->start, start, whole},
                                     mechfmu_engine_step_size(m), 0., &piece);
    uint64_t events = 0;

    for (double k = 1.; is_before(m, end, piece); k++) {
        const double to = k < n ? fmin(start + k * piece, end) : end;
        const enum mechp_fmi3_status status = mechfmu_engine_step(m, to - mechfmu_time(m), early);

        if (status != MECHP_FMI3_OK) {
            return status;
        }
        const bool happened = m->events > 0;
        events += m->events;
        m->events = events;
        if (*early) {
            return MECHP_FMI3_OK;
        }
        call_update(m, !is_before(m, whole, piece), &end);
        if (happened && m->event_mode && m->early_return) {
            end = fmin(end, mechfmu_time(m));
        }
    }
    *early = is_before(m, whole, piece);
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status mechfmu_step_updating(struct mechfmu *m, double size, bool *early)
{
    void *before = NULL;
    enum mechp_fmi3_status status = mechfmu_save(m, &before);

    if (status != MECHP_FMI3_OK) {
        return status;
    }
    status = step_pieces(m, size, early);
    if (status != MECHP_FMI3_OK) {
        *early = false;
        (void)mechfmu_restore(m, before);
        m->events = 0;
    }
    mechfmu_forget(&before);
    return status;
}
