/* The mode of storing as requests have it. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/json.h"
#include "server/instance/durable.h"

#include <math.h>
#include <string.h>

const char *const mechd_durability_names[] = {"none", "checkpoint", "every-step", NULL};

int mechd_durability_find(const char *name)
{
    for (int k = 0; mechd_durability_names[k] != NULL; k++) {
        if (strcmp(name, mechd_durability_names[k]) == 0) {
            return k;
        }
    }
    return -1;
}

void mechd_durability_write(const struct mechd_durable_settings *s, struct mechp_text *w)
{
    if (s->mode != MECHD_DURABLE_CHECKPOINT) {
        mechp_text_string(w, mechd_durability_names[s->mode]);
        return;
    }
    const struct mechp_body_durability body = {
        .mode = mechd_durability_names[s->mode],
        .steps = s->steps > 0 ? (int64_t)s->steps : INT64_MIN,
        .seconds = s->seconds > 0. ? s->seconds : (double)NAN};
    MECHP_WRITE(durability, &body, w);
}

struct mechd_durable_settings
mechd_durability_read(const json_t *value, enum mechd_durability preset, struct mech_diag *diag)
{
    struct mechd_durable_settings s = {.mode = preset};
    const char *mode = json_string_value(value);
    if (json_is_object(value)) {
        const struct mechp_json_in part = {value, "/durability", diag};
        struct mechp_body_durability in;
        mechp_shape_only(value, part.base, &mechp_body_durability, diag);
        MECHP_READ_IN(durability, &part, &in);
        mode = in.mode;
        s.steps = in.steps > 0 ? (uint64_t)in.steps : 0;
        s.seconds = isnan(in.seconds) ? 0. : in.seconds;
    }
    if (mode != NULL || (value != NULL && !json_is_null(value))) {
        int k = 0;
        while (mode != NULL && mechd_durability_names[k] != NULL &&
               strcmp(mechd_durability_names[k], mode) != 0) {
            k++;
        }
        if (mode == NULL || mechd_durability_names[k] == NULL) {
            mech_diag_add(diag, "/durability",
                          "\"none\", \"checkpoint\", \"every-step\", or an object with that as its "
                          "mode");
        } else {
            s.mode = (enum mechd_durability)k;
        }
    }
    if (!(s.seconds >= 0.) || s.seconds > 1e6) {
        mech_diag_add(diag, "/durability/seconds", "must be 0 to 1e6");
    }
    if (s.mode != MECHD_DURABLE_CHECKPOINT && (s.steps > 0 || s.seconds > 0.)) {
        mech_diag_add(diag, "/durability/mode", "steps and seconds are for \"checkpoint\" only");
    }
    if (s.mode == MECHD_DURABLE_CHECKPOINT && s.steps == 0 && s.seconds == 0.) {
        s.seconds = 1.;
    }
    return s;
}
