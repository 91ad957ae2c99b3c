/* Steps and events. An FMU of 3.0 that has event mode is made with it: a step is cut where the FMU
 * returns early or where it has foreseen an event, the event is handled, and the rest of the step
 * follows. Without it, and in 2.0, events are the FMU's own within DoStep. Source: FMI 3.0.2,
 * sections 2.3.5 and 4.2. */
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
    return again ? mechd_binary_fault(b, MECHD_FMU_REFUSED, 0,
                                      "fmi3UpdateDiscreteStates (which asks for ever more updates)")
                 : 0;
}

int mechd_binary_leave_event(struct mechd_binary *b)
{
    MECH_TRY(update(b));
    MECHD_BINARY_NEED(b, b->three.EnterStepMode, "fmi3EnterStepMode");
    return mechd_binary_judge(b, (int)b->three.EnterStepMode(b->component), "fmi3EnterStepMode");
}

/* 2.0 reports by a discarded step that the FMU wants to end, and how far it came. */
static int step_two(struct mechd_binary *b, double time, double size, struct mechd_binary_step *out)
{
    MECHD_BINARY_NEED(b, b->two.DoStep, "fmi2DoStep");
    const int status = (int)b->two.DoStep(b->component, time, size, 0);
    *out = (struct mechd_binary_step){time + size, false};
    if (status == MECHP_FMI2_DISCARD && b->two.GetBooleanStatus != NULL &&
        b->two.GetRealStatus != NULL) {
        int terminated = 0;
        double reached = NAN;
        if (b->two.GetBooleanStatus(b->component, MECHP_FMI2_TERMINATED, &terminated) <=
                MECHP_FMI2_WARNING &&
            terminated != 0 &&
            b->two.GetRealStatus(b->component, MECHP_FMI2_LAST_SUCCESSFUL_TIME, &reached) <=
                MECHP_FMI2_WARNING &&
            reached >= time && !mech_time_before(time + size, reached, size)) {
            *out = (struct mechd_binary_step){reached, true};
            return 0;
        }
    }
    return mechd_binary_judge(b, status, "fmi2DoStep");
}

static int step_without_events(struct mechd_binary *b, double time, double size,
                               struct mechd_binary_step *out)
{
    bool event = false, terminate = false, early = false;
    double reached = time + size;
    const int status =
        (int)b->three.DoStep(b->component, time, size, false, &event, &terminate, &early, &reached);
    // an FMU that was not asked to return early is at the end, whatever it writes
    *out = (struct mechd_binary_step){early || terminate ? reached : time + size, terminate};
    return mechd_binary_judge(b, status, "fmi3DoStep");
}

/* One part of a step of this size, from *at, and the event at its end. */
static int step_part(struct mechd_binary *b, double size, double *at, bool *terminate)
{
    const double goal = *at + size;
    bool event = false, early = false;
    double reached = goal;
    const int status =
        (int)b->three.DoStep(b->component, *at, size, false, &event, terminate, &early, &reached);
    MECH_TRY(mechd_binary_judge(b, status, "fmi3DoStep"));
    reached = early || *terminate ? reached : goal;
    if (!(reached >= *at) || mech_time_before(goal, reached, size)) {
        return mechd_binary_fault(b, MECHD_FMU_REFUSED, status,
                                  "fmi3DoStep (which ends outside its step)");
    }
    *at = reached;
    const bool foreseen = !isnan(b->next_event) && !mech_time_before(reached, b->next_event, size);
    if ((event || foreseen) && !*terminate) {
        MECH_TRY(mechd_binary_enter_event(b));
        MECH_TRY(mechd_binary_leave_event(b));
    }
    *terminate = *terminate || b->ends;
    return 0;
}

static int step_with_events(struct mechd_binary *b, double time, double size,
                            struct mechd_binary_step *out)
{
    const double end = time + size;
    const bool varies = (b->can & MECHD_FMU_VARIABLE_STEP) != 0;
    double at = time, rest = size;
    bool terminate = b->ends;
    for (int still = 0; !terminate && mech_time_before(at, end, size); rest = end - at) {
        const double from = at;
        const bool within = varies && mech_time_before(at, b->next_event, size) &&
                            mech_time_before(b->next_event, end, size);
        MECH_TRY(step_part(b, within ? b->next_event - at : rest, &at, &terminate));
        still = at > from ? 0 : still + 1;
        if (still > STILL_MOST) {
            return mechd_binary_fault(b, MECHD_FMU_REFUSED, 0,
                                      "fmi3DoStep (which has event after event at one time)");
        }
    }
    *out = (struct mechd_binary_step){terminate ? at : end, terminate};
    return 0;
}

int mechd_binary_step(struct mechd_binary *b, double time, double size,
                      struct mechd_binary_step *out)
{
    if (b->version == MECHD_FMI_2) {
        return step_two(b, time, size, out);
    }
    MECHD_BINARY_NEED(b, b->three.DoStep, "fmi3DoStep");
    return b->events ? step_with_events(b, time, size, out)
                     : step_without_events(b, time, size, out);
}
