/* Steps of a server's instance, with their events. */
#include "clients/fmu/proxy.h"

#include "solver/base/err.h"

/* A text member of an object of a reply. */
static const char *text_of(struct mechc_json object, const char *key, char *text, size_t size)
{
    struct mechc_json v;

    text[0] = '\0';
    if (mechc_json_member(object, key, &v)) {
        mechc_json_text(v, text, size);
    }
    return text;
}

static void take_events(struct mechfmu *m, struct mechc_json reply)
{
    char item[80], with[80], kind[40];
    struct mechc_json all, v;
    uint64_t more = 0;

    if (!mechc_json_member(reply, "events", &all)) {
        return;
    }
    for (struct mechc_json_walk w = mechc_json_walk(all); mechc_json_next(&w);) {
        double time = 0.;

        m->events++;
        if (mechc_json_member(w.value, "time", &v)) {
            mechc_json_number(v, &time);
        }
        text_of(w.value, "with", with, sizeof with);
        mechfmu_say(m, MECHP_FMI3_OK, "t = %.17g s: \"%s\"%s%s %s", time,
                    text_of(w.value, "item", item, sizeof item), with[0] ? " and " : "", with,
                    text_of(w.value, "kind", kind, sizeof kind));
    }
    if (mechc_json_member(reply, "moreEvents", &v) && mechc_json_unsigned(v, &more)) {
        m->events += more;
    }
}

double mechfmu_engine_step_size(const struct mechfmu *m)
{
    return m->engine->step_size;
}

enum mechp_fmi3_status mechfmu_engine_step(struct mechfmu *m, double size, bool *early)
{
    struct mechfmu_engine *const e = m->engine;
    struct mechc_json reply, v;

    mechfmu_ask(m, "step");
    mechfmu_lane_number(&e->lane, "size", size);
    mechfmu_lane_number(&e->lane, "expectTime", e->time);
    if (m->event_mode || (m->log.categories & 1u << MECHP_FMI3_OK) != 0) {
        mechfmu_lane_plain(&e->lane, "want", "[\"events\"]");
    }
    if (m->event_mode && m->early_return) {
        mechfmu_lane_plain(&e->lane, "earlyReturn", "true");
    }
    e->outputs_known = e->inputs_known = false;
    const int code = mechfmu_asked(m, MECHP_FMI3_DISCARD, &reply);
    if (code) {
        return code == MECH_INVALID ? MECHP_FMI3_DISCARD : MECHP_FMI3_ERROR;
    }
    mechfmu_take_time(e, reply);
    e->outputs_known = mechc_json_member(reply, "outputs", &v) &&
                       mechfmu_take_values(e->outputs, e->n_outputs, v, e->output);
    *early = mechc_json_member(reply, "ended/by", &v) && mechc_json_is(v, "event");
    take_events(m, reply);
    return MECHP_FMI3_OK;
}
