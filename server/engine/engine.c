/* The list of engines. */
#include "server/engine/engine.h"

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
