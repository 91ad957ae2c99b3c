/* The registry of coupling schemes. */
#include "solver/couple/scheme.h"

#include <string.h>

const struct mech_scheme_type *const mech_scheme_types[] = {
#define MECH_SCHEME(name) &mech_scheme_##name,
#include "solver/couple/schemes.def"
#undef MECH_SCHEME
    NULL,
};

const struct mech_scheme_type *mech_scheme_find(const char *name)
{
    for (const struct mech_scheme_type *const *t = mech_scheme_types; *t; t++) {
        if (strcmp((*t)->name, name) == 0) {
            return *t;
        }
    }
    return NULL;
}
