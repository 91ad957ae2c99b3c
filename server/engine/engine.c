/* The list of engines, and what is said of all. */
#include "server/engine/engine.h"

#include "solver/base/guess.h"

#define MECHD_ENGINE(name) extern const struct mechd_engine_ops mechd_engine_##name;
#include "server/engine/engines.def"
#undef MECHD_ENGINE

#define MECHD_ENGINE(name) &mechd_engine_##name,
static const struct mechd_engine_ops *const engines[] = {
#include "server/engine/engines.def"
    NULL};
#undef MECHD_ENGINE

const struct mechd_engine_ops *mechd_engine_at(size_t i)
{
    return i < sizeof engines / sizeof *engines ? engines[i] : NULL;
}

void mechd_engine_lacks(const struct mechd_engine *e, enum mech_causality causality,
                        const char *name, const char *path, struct mech_diag *diag)
{
    static const char *const kinds[] = {
        [MECH_INPUT] = "input", [MECH_OUTPUT_VARIABLE] = "output", [MECH_PARAMETER] = "parameter"};
    struct mech_guess g = {.text = name != NULL ? name : ""};
    const bool tries = name != NULL && !mech_diag_full(diag);
    const size_t n = tries ? mechd_engine_variable_count(e, causality) : 0;
    for (size_t k = 0; k < n && k < MECH_GUESS_MOST; k++) {
        struct mech_variable v;
        mechd_engine_variable(e, causality, k, &v);
        mech_guess_try(&g, v.name);
    }
    mech_diag_add(diag, path, "there is no %s '%.64s'%s", kinds[causality], g.text,
                  mech_guess_hint(&g));
}
