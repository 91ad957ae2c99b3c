/* Registry of complementarity solvers. */
#include "solver/vi/vi.h"

#include <string.h>

#define MECH_VI(name) &mech_vi_##name,
const struct mech_vi_type *const mech_vi_types[] = {
#include "solver/vi/vis.def"
    NULL};
#undef MECH_VI

const struct mech_vi_type *mech_vi_find(const char *name)
{
    for (const struct mech_vi_type *const *t = mech_vi_types; *t; t++) {
        if (strcmp((*t)->name, name) == 0) {
            return *t;
        }
    }
    return NULL;
}
