#include "server/instance/state.h"

#include <string.h>

size_t mechd_state_size(const struct mechd_instance *i)
{
    if (i->sim == NULL) {
        return 0;
    }
    const struct mech_sizes n = mech_sim_sizes(i->sim);
    return (size_t)n.q + (size_t)n.v + (size_t)n.x + (size_t)n.z;
}

int mechd_state_set(struct mechd_instance *i, double time, const double *values)
{
    const struct mech_sizes n = mech_sim_sizes(i->sim);
    const double *const v = values + n.q;
    const double *const x = v + n.v;
    const struct mech_state_view in = {.time = time, .q = values, .v = v, .x = x, .z = x + n.x};
    return mech_sim_set_state(i->sim, &in);
}

double mechd_state_get(const struct mechd_instance *i, double *values)
{
    const struct mech_sizes n = mech_sim_sizes(i->sim);
    struct mech_state_view s;
    mech_sim_state(i->sim, &s);
    const struct part {
        const double *from;
        size_t count;
    } parts[] = {{s.q, (size_t)n.q}, {s.v, (size_t)n.v}, {s.x, (size_t)n.x}, {s.z, (size_t)n.z}};
    for (int k = 0; k < 4; k++) {
        if (parts[k].count > 0) {
            memcpy(values, parts[k].from, parts[k].count * sizeof *values);
        }
        values += parts[k].count;
    }
    return s.time;
}
