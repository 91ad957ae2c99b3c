/* The variables of a model as an FMU has them, from those of its simulation (mech_sim_variable).
 *
 * FMI 2.0 has scalars alone: an array becomes one variable an element, "tip[1]" the first. FMI 3.0
 * has arrays of one unit each: one of two units ("N, N m") becomes "grip:1" and "grip:2". A name is
 * unique within its FMU: of equal names the input keeps it, then the output; others are written
 * "output:tip" and "parameter:tip", with a character that no name of a model contains. An input
 * that sets a parameter stands for it: the parameter itself is no variable then. Nor is an output
 * without values.
 *
 * value references: 0 is time. 2.0: the packed values of inputs, outputs, parameters follow. 3.0:
 * as in mech_variable, and the second part of two units behind all of them.
 *
 * owner: one thread; the layout has copies of all texts, the simulation is not kept.
 */
#pragma once

#include "solver/base/arena.h"
#include "solver/sim/mech.h"

enum mechp_fmi_version { MECHP_FMI_2 = 2, MECHP_FMI_3 = 3 };

/* Until it is set, an input has the value that the model itself gives it. */
enum mechp_fmi_variability {
    MECHP_FMI_CONTINUOUS,
    MECHP_FMI_DISCRETE, /* an input that sets a parameter: constant between events */
    MECHP_FMI_TUNABLE   /* a parameter */
};

struct mechp_fmi_variable {
    const char *name; /* unique; characters that need no escape in XML */
    const char *unit; /* "" when the model does not know it; of parameters, and inputs that set
                                them, by the fields that they set (solver/items/limits.h) */
    const char *description; /* plain text, may need escapes in XML */
    enum mech_causality causality;
    enum mechp_fmi_variability variability;
    uint32_t reference;
    int32_t channel; /* index within its causality, as mech_sim_variable has it */
    int32_t first;   /* of its values within that channel */
    int32_t size;    /* number of values */
    int32_t offset;  /* of its first value in the packed inputs, outputs or parameters */
    bool scalar;     /* otherwise an array of `size` in FMI 3.0 */
    bool direct;     /* an output that may change when an input does, at the same time */
    double min, max; /* of parameters, and inputs that set them, by the fields; infinite: none */
    double nominal;  /* of those: the magnitude of the model's own value; 0: none */
};

struct mechp_fmi_layout {
    struct mech_arena arena;
    enum mechp_fmi_version version;
    struct mechp_fmi_variable *at; /* [n] by reference, which has gaps; [0] is time */
    size_t n;
    double *scratch; /* room for the values of any channel, used by mechp_fmi_layout_get */
};

/* 0; negative: no memory. mechp_fmi_layout_fini in any case. */
int mechp_fmi_layout_init(struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                          enum mechp_fmi_version version);
void mechp_fmi_layout_fini(struct mechp_fmi_layout *layout);

/* The variable of that reference, or NULL. */
const struct mechp_fmi_variable *mechp_fmi_layout_find(const struct mechp_fmi_layout *layout,
                                                       uint32_t reference);

/* Whether FMI 3.0 reads or sets it within a step (intermediate update): outputs, and inputs that
 * may change there. */
bool mechp_fmi_has_update(const struct mechp_fmi_variable *v);

/* values [v->size] in the present state, the time in s. The layout's scratch is overwritten. */
void mechp_fmi_layout_get(const struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                          const struct mechp_fmi_variable *v, double *values);

enum { MECHP_FMI_TOKEN = 39 };
/* The GUID (2.0) or instantiation token (3.0): "{8-4-4-4-12}" hexadecimal digits and NUL of a hash
 * of the document's bytes and of all that the description says of its variables, so that an FMU
 * refuses a description that is not its own. */
void mechp_fmi_layout_token(const struct mechp_fmi_layout *layout, const char *document,
                            size_t size, char token[MECHP_FMI_TOKEN]);
