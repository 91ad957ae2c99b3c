/* Settings of contacts between bodies by their geometry. recoverySpeed and minBounceSpeed are
 * Chrono's defaults (max_penetration_recovery_speed 0.6 m/s, min_bounce_speed 0.15 m/s). */
#include "solver/items/document.h"

#include <stddef.h>

static const char *const methods[] = {"nonsmooth", "penalty", NULL};
static const char *const frictions[] = {"coulomb", "associated", NULL};
static const char *const interpenetrations[] = {"resolve", "refuse", NULL};

static const struct mech_field fields[] = {
    {.name = "acceptable",
     .kind = MECH_REAL,
     .offset = offsetof(struct mech_contact_settings, acceptable),
     .unit = "",
     .preset = 1e-4,
     .min = 0.,
     .max = 1.,
     .doc = "largest residual that the impulses of a step may have if 1,000 iterations do not "
            "reach the tolerance of solver.vi, as in piles; four times as much for over 1,000 "
            "contacts after maxIterations of solver.vi. With 30 contacts or more of free bodies, "
            "iterations end at this residual earlier, once the error of each contact is at most "
            "1/1000 of the change of its impulse. The report of the step states the residual. 0: a "
            "step that does not reach the tolerance of solver.vi fails"},
    {.name = "capacity",
     .kind = MECH_INT,
     .offset = offsetof(struct mech_contact_settings, capacity),
     .min = 0.,
     .max = 1e6,
     .doc = "largest number of contacts in a step, for which the state reserves memory; a step "
            "with more contacts fails; 0: 64, and 16 more for each shape of moving bodies"},
    {.name = "friction",
     .kind = MECH_CHOICE,
     .offset = offsetof(struct mech_contact_settings, friction),
     .preset = MECH_FRICTION_COULOMB,
     .choices = frictions,
     .doc = "coulomb: Coulomb's law; associated: the associated law of convex solvers, in which "
            "sliding opens the contact"},
    {.name = "interpenetration",
     .kind = MECH_CHOICE,
     .offset = offsetof(struct mech_contact_settings, interpenetration),
     .preset = MECH_INTERPENETRATION_RESOLVE,
     .choices = interpenetrations,
     .doc = "resolve: shapes that overlap at the start separate at recoverySpeed; refuse: such a "
            "model is refused"},
    {.name = "interpenetrationDepth",
     .kind = MECH_REAL,
     .offset = offsetof(struct mech_contact_settings, depth),
     .unit = "m",
     .preset = 1e-6,
     MECH_NOT_NEGATIVE,
     .doc = "largest overlap at the start that is not refused"},
    {.name = "jointed",
     .kind = MECH_BOOL,
     .offset = offsetof(struct mech_contact_settings, jointed),
     .doc = "whether bodies that a joint connects touch each other too"},
    {.name = "margin",
     .kind = MECH_REAL,
     .offset = offsetof(struct mech_contact_settings, margin),
     .unit = "m",
     MECH_NOT_NEGATIVE,
     .doc = "distance up to which shapes are considered for contact, in addition to their motion "
            "in a step"},
    {.name = "method",
     .kind = MECH_CHOICE,
     .offset = offsetof(struct mech_contact_settings, method),
     .preset = MECH_CONTACT_NONSMOOTH,
     .choices = methods,
     .doc =
         "nonsmooth: impulses that prevent overlaps; penalty: forces that grow with the overlap"},
    {.name = "minBounceSpeed",
     .kind = MECH_REAL,
     .offset = offsetof(struct mech_contact_settings, min_bounce_speed),
     .unit = "m/s",
     .preset = 0.15,
     MECH_NOT_NEGATIVE,
     .doc = "impacts that would rebound more slowly do not rebound; 0: all rebound. The default "
            "does not depend on the size of the model; small bodies need a smaller one"},
    {.name = "recoverySpeed",
     .kind = MECH_REAL,
     .offset = offsetof(struct mech_contact_settings, recovery_speed),
     .unit = "m/s",
     .preset = 0.6,
     MECH_NOT_NEGATIVE,
     .doc = "largest speed at which overlapping shapes are moved apart; this changes no velocity"},
};
const struct mech_table mech_contact_settings_table = {
    .name = "ContactSettings",
    .doc = "Contact between bodies by their geometry.",
    .size = sizeof(struct mech_contact_settings),
    MECH_FIELDS(fields)};
