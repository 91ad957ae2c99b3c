/* Steps and events. An FMU of 3.0 that has event mode is made with it: a step is cut where the FMU
 * returns early or where it has foreseen an event, the event is handled, and the rest of the step
 * follows, unless the step may end early. Without it, and in 2.0, events are the FMU's own within
 * DoStep. Source: FMI 3.0.2, sections 2.3.5 and 4.2; FMI 2.0.5, sections 4.2.2 to 4.2.4. */
#include "server/engine/fmu_binary.h"
#include "solver/base/err.h"
#include "solver/base/times.h"

#include <math.h>
#include <string.h>

enum {
    UPDATES_MOST = 1000, /* of discrete states in one event */
    STILL_MOST = 1000    /* parts of a step, one after the other, in which no time passes */
};

int mechd_binary_enter_event(struct mechd_binary *b)
{
    MECHD_BINARY_NEED(b, b->three.EnterEventMode, "fmi3EnterEventMode");
    return mechd_binary_judge(b, (int)b->three.EnterEventMode(b->component), "fmi3EnterEventMode");
}

static int update(struct mechd_binary *b)
{
    bool again = true;
    MECHD_BINARY_NEED(b, b->three.UpdateDiscreteStates, "fmi3UpdateDiscreteStates");
    for (int k = 0; again && k < UPDATES_MOST; k++) {
        bool ends = false, nominals = false, values = false, foreseen = false;
        double next = NAN;
        again = false;
        const int status = (int)b->three.UpdateDiscreteStates(b->component, &again, &ends,
                                                              &nominals, &values, &foreseen, &next);
        MECH_TRY(mechd_binary_judge(b, status, "fmi3UpdateDiscreteStates"));
        b->next_event = foreseen ? next : (double)NAN;
        b->ends = b->ends || ends;
        again = again && !ends;
    }
    return again
               ? mechd_binary_fault(b, MECHD_FMU_REFUSED, 0,
                                    "fmi3UpdateDiscreteStates (which requests updates without end)")
               : 0;
}

int mechd_binary_leave_event(struct mechd_binary *b)
{
    MECH_TRY(update(b));
    MECHD_BINARY_NEED(b, b->three.EnterStepMode, "fmi3EnterStepMode");
    return mechd_binary_judge(b, (int)b->three.EnterStepMode(b->component), "fmi3EnterStepMode");
}

static void note(const struct mechd_fmu_span *span, enum mech_logged_kind kind, double since,
                 double time)
{
    if (span->events != NULL) {
        mech_event_log_add(
            span->events, &(struct mech_logged){
                              .kind = kind, .of = MECH_LOGGED_MODEL, .since = since, .time = time});
    }
}

/* --- 2.0 -------------------------------------------------------------------------------------- */

/* How far a discarded step came. False: it does not report that, or not a time of the step. */
static bool came_to(struct mechd_binary *b, const struct mechd_fmu_span *span, double *reached)
{
    *reached = NAN;
    return b->two.GetRealStatus != NULL &&
           b->two.GetRealStatus(b->component, MECHP_FMI2_LAST_SUCCESSFUL_TIME, reached) <=
               MECHP_FMI2_WARNING &&
           *reached >= span->time &&
           !mech_time_before(span->time + span->size, *reached, mechd_fmu_scale(span, span->size));
}

static bool has_terminated(struct mechd_binary *b)
{
    int terminated = 0;
    return b->two.GetBooleanStatus != NULL &&
           b->two.GetBooleanStatus(b->component, MECHP_FMI2_TERMINATED, &terminated) <=
               MECHP_FMI2_WARNING &&
           terminated != 0;
}

/* Nothing may follow a discarded step but what puts the state back (section 4.2.4). */
static int step_shorter(struct mechd_binary *b, void *before, const struct mechd_fmu_span *span,
                        double reached, struct mechd_fmu_reached *out)
{
    MECH_TRY(
        mechd_binary_judge(b, (int)b->two.SetFMUstate(b->component, before), "fmi2SetFMUstate"));
    MECH_TRY(mechd_binary_rates(b, span->time));
    MECH_TRY(mechd_binary_judge(
        b, (int)b->two.DoStep(b->component, span->time, reached - span->time, 0), "fmi2DoStep"));
    *out = (struct mechd_fmu_reached){.time = reached, .event = true};
    note(span, MECH_LOGGED_RETURNS, reached, reached);
    return 0;
}

/* By a discarded step it reports that it wants to end, or that it came to a part of the step. */
static int step_from(struct mechd_binary *b, void *before, const struct mechd_fmu_span *span,
                     struct mechd_fmu_reached *out)
{
    const double end = span->time + span->size, scale = mechd_fmu_scale(span, span->size);
    double reached = end;
    *out = (struct mechd_fmu_reached){.time = end};
    MECH_TRY(mechd_binary_rates(b, span->time));
    const int status = (int)b->two.DoStep(b->component, span->time, span->size, 0);
    if (status == MECHP_FMI2_DISCARD && came_to(b, span, &reached)) {
        if (has_terminated(b)) {
            *out = (struct mechd_fmu_reached){.time = reached, .terminate = true};
            return 0;
        }
        if (before != NULL && mech_time_before(span->time, reached, scale) &&
            mech_time_before(reached, end, scale)) {
            return step_shorter(b, before, span, reached, out);
        }
    }
    return mechd_binary_judge(b, status, "fmi2DoStep");
}

static int step_two(struct mechd_binary *b, const struct mechd_fmu_span *span,
                    struct mechd_fmu_reached *out)
{
    const unsigned both = MECHD_FMU_STATE | MECHD_FMU_VARIABLE_STEP;
    void *before = NULL;
    MECHD_BINARY_NEED(b, b->two.DoStep, "fmi2DoStep");
    if (!span->early || (b->can & both) != both) {
        return step_from(b, NULL, span, out);
    }
    MECHD_BINARY_NEED(b, b->two.GetFMUstate, "fmi2GetFMUstate");
    MECHD_BINARY_NEED(b, b->two.SetFMUstate, "fmi2SetFMUstate");
    MECHD_BINARY_NEED(b, b->two.FreeFMUstate, "fmi2FreeFMUstate");
    int rc =
        mechd_binary_judge(b, (int)b->two.GetFMUstate(b->component, &before), "fmi2GetFMUstate");
    rc = rc == 0 ? step_from(b, before, span, out) : rc;
    (void)(before != NULL && b->two.FreeFMUstate(b->component, &before));
    return rc;
}

/* --- 3.0 -------------------------------------------------------------------------------------- */

/* What has failed within the step comes first: it may be why the step has. */
static int judge(struct mechd_binary *b, int status)
{
    return b->update_failed != 0 ? b->update_failed : mechd_binary_judge(b, status, "fmi3DoStep");
}

/* Of an FMU that was neither asked to return early nor made with event mode. */
static int step_whole(struct mechd_binary *b, const struct mechd_fmu_span *span,
                      struct mechd_fmu_reached *out)
{
    const double end = span->time + span->size;
    bool event = false, terminate = false, early = false;
    double reached = end;
    const int status = (int)b->three.DoStep(b->component, span->time, span->size, false, &event,
                                            &terminate, &early, &reached);
    // it is at the end, whatever it writes
    *out = (struct mechd_fmu_reached){.time = early || terminate ? reached : end,
                                      .terminate = terminate};
    return judge(b, status);
}

/* Event mode, where a part of a step has led from `from`. The event is located where the FMU has
 * returned early for it, or has foreseen it. */
static int update_at(struct mechd_binary *b, const struct mechd_fmu_span *span, double from,
                     bool early, double at)
{
    const bool located =
        early || mech_time_same(at, b->next_event, mechd_fmu_scale(span, span->size));
    MECH_TRY(mechd_binary_enter_event(b));
    MECH_TRY(mechd_binary_leave_event(b));
    note(span, MECH_LOGGED_UPDATES, located ? at : from, at);
    return 0;
}

/* One part of a step of this size, from out->time, and the event at its end. */
static int step_part(struct mechd_binary *b, const struct mechd_fmu_span *span, double size,
                     struct mechd_fmu_reached *out)
{
    const double from = out->time, goal = from + size, scale = mechd_fmu_scale(span, size);
    bool event = false, early = false;
    double reached = goal;
    const int status = (int)b->three.DoStep(b->component, from, size, false, &event,
                                            &out->terminate, &early, &reached);
    MECH_TRY(judge(b, status));
    reached = early || out->terminate ? reached : goal;
    if (!(reached >= from) || mech_time_before(goal, reached, scale)) {
        return mechd_binary_fault(b, MECHD_FMU_REFUSED, status,
                                  "fmi3DoStep (which ends outside its step)");
    }
    out->time = reached;
    const bool foreseen = !isnan(b->next_event) && !mech_time_before(reached, b->next_event, scale);
    const bool updates = b->events && (event || foreseen) && !out->terminate;
    const bool returns = early && mech_time_before(reached, goal, scale) && !out->terminate;
    if (updates) {
        MECH_TRY(update_at(b, span, from, returns, reached));
    } else if (returns) {
        note(span, MECH_LOGGED_RETURNS, reached, reached);
    }
    out->event = out->event || updates || returns;
    out->terminate = out->terminate || b->ends;
    return 0;
}

static int step_in_parts(struct mechd_binary *b, const struct mechd_fmu_span *span,
                         struct mechd_fmu_reached *out)
{
    const double size = span->size, end = span->time + size, scale = mechd_fmu_scale(span, size);
    const bool varies = (b->can & MECHD_FMU_VARIABLE_STEP) != 0;
    double rest = size;
    *out = (struct mechd_fmu_reached){.time = span->time, .terminate = b->ends};
    for (int still = 0; !out->terminate && !b->returning && !(span->early && out->event) &&
                        mech_time_before(out->time, end, scale);
         rest = end - out->time) {
        const double from = out->time;
        const bool within = varies && mech_time_before(from, b->next_event, scale) &&
                            mech_time_before(b->next_event, end, scale);
        MECH_TRY(step_part(b, span, within ? b->next_event - from : rest, out));
        still = out->time > from ? 0 : still + 1;
        if (still > STILL_MOST) {
            return mechd_binary_fault(b, MECHD_FMU_REFUSED, 0,
                                      "fmi3DoStep (which has event after event at one time)");
        }
    }
    out->time = out->terminate || mech_time_before(out->time, end, scale) ? out->time : end;
    return 0;
}

/* Inputs that vary over the step have had their values at its start. */
static int asked_for_none(struct mechd_binary *b)
{
    if (b->courses_needed) {
        return mechd_binary_fault(b, MECHD_FMU_REFUSED, 0,
                                  "fmi3DoStep (which does not read inputs within the step)");
    }
    if (!b->quiet_logged) {
        b->quiet_logged = true;
        b->log(b->log_context, MECHP_FMI3_WARNING, MECHD_FMU_HOST_CATEGORY,
               "fmi3DoStep does not read inputs within a step: those with derivatives hold "
               "their values at its start");
    }
    return 0;
}

int mechd_binary_step(struct mechd_binary *b, const struct mechd_fmu_span *span,
                      struct mechd_fmu_reached *out)
{
    if (b->version == MECHD_FMI_2) {
        return step_two(b, span, out);
    }
    MECHD_BINARY_NEED(b, b->three.DoStep, "fmi3DoStep");
    b->update_failed = 0;
    b->update_asked = false;
    b->returning = false;
    MECH_TRY(b->events || b->early ? step_in_parts(b, span, out) : step_whole(b, span, out));
    return b->update_asked || b->returning || b->course_count == 0 ? 0 : asked_for_none(b);
}
