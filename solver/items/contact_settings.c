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
     .doc =
         "residual up to which a step's impulses are accepted where 1,000 iterations do not reach "
         "solver.vi's tolerance, as in piles, and four times that after solver.vi's "
         "maxIterations in piles of over 1,000 contacts; free bodies with 30 contacts or more may "
         "end at it sooner, where each contact misses at most 1/1000 of what its impulse changes "
         "by; the report states the residual; 0: solver.vi's tolerance alone, without which a step "
         "fails"},
    {.name = "capacity",
     .kind = MECH_INT,
     .offset = offsetof(struct mech_contact_settings, capacity),
     .min = 0.,
     .max = 1e6,
     .doc = "largest number of contacts in a step, for which the state has memory; 0: 16 for each "
            "shape of moving bodies, and 64; a step with more contacts fails"},
    {.name = "friction",
     .kind = MECH_CHOICE,
     .offset = offsetof(struct mech_contact_settings, friction),
     .preset = MECH_FRICTION_COULOMB,
     .choices = frictions,
     .doc = "Coulomb's law, or the associated law of convex solvers, in which sliding opens the "
            "contact"},
    {.name = "interpenetration",
     .kind = MECH_CHOICE,
     .offset = offsetof(struct mech_contact_settings, interpenetration),
     .preset = MECH_INTERPENETRATION_RESOLVE,
     .choices = interpenetrations,
     .doc = "shapes that overlap at the start separate at recoverySpeed, or the model is refused"},
    {.name = "interpenetrationDepth",
     .kind = MECH_REAL,
     .offset = offsetof(struct mech_contact_settings, depth),
     .unit = "m",
     .preset = 1e-6,
     MECH_NOT_NEGATIVE,
     .doc = "overlap at the start up to which a model is not refused"},
    {.name = "jointed",
     .kind = MECH_BOOL,
     .offset = offsetof(struct mech_contact_settings, jointed),
     .doc = "bodies that a joint connects touch each other too"},
    {.name = "margin",
     .kind = MECH_REAL,
     .offset = offsetof(struct mech_contact_settings, margin),
     .unit = "m",
     MECH_NOT_NEGATIVE,
     .doc = "distance within which shapes are considered, in addition to their motion in a step"},
    {.name = "method",
     .kind = MECH_CHOICE,
     .offset = offsetof(struct mech_contact_settings, method),
     .preset = MECH_CONTACT_NONSMOOTH,
     .choices = methods,
     .doc = "impulses that forbid overlaps, or forces that grow with them"},
    {.name = "minBounceSpeed",
     .kind = MECH_REAL,
     .offset = offsetof(struct mech_contact_settings, min_bounce_speed),
     .unit = "m/s",
     .preset = 0.15,
     MECH_NOT_NEGATIVE,
     .doc = "impacts that would rebound more slowly do not rebound; the default is the same for "
            "models of any size: small bodies need less, 0 lets all rebound"},
    {.name = "recoverySpeed",
     .kind = MECH_REAL,
     .offset = offsetof(struct mech_contact_settings, recovery_speed),
     .unit = "m/s",
     .preset = 0.6,
     MECH_NOT_NEGATIVE,
     .doc = "largest speed at which overlapping shapes are moved apart, which changes no velocity"},
};
const struct mech_table mech_contact_settings_table = {
    .name = "ContactSettings",
    .doc = "Contact between bodies by their geometry.",
    .size = sizeof(struct mech_contact_settings),
    MECH_FIELDS(fields)};
