/* Instances of FMUs: made from a package, given start values, begun. Their operations are in fmu.c.
 */
#include "server/engine/fmu_engine.h"

#include "server/engine/fmu_exchange.h"
#include "server/engine/fmu_follow.h"
#include "server/os/log.h"
#include "solver/base/text.h"

#include <math.h>
#include <stdlib.h>

/* of the communication step, where the description says nothing, s */
static const double step_preset = 0.01;
/* what a state may grow by beyond twice its first size, bytes */
enum { STATE_MORE = 4096 };

extern const struct mechd_engine_ops mechd_engine_fmu;

struct mechd_fmu_package *mechd_engine_package(const struct mechd_engine *e)
{
    return e->ops == &mechd_engine_fmu ? ((struct mechd_fmu_instance *)e->self)->package : NULL;
}

/* Quiet for what is in order: an FMU may log each step. */
static void log_message(void *context, int status, const char *category, const char *message)
{
    const struct mechd_fmu_instance *const f = context;
    char kind[80], text[MECHD_FMU_LOG_MOST];
    const enum mechd_level level = status == 0 ? MECHD_DEBUG : MECHD_WARNING;
    if (mechd_log_wants(level)) {
        mechd_log_quote(kind, sizeof kind, category);
        mechd_log_quote(text, sizeof text, message);
        mechd_log(level, "fmu-message", "instance=%s status=%d category=%s message=%s",
                  f->name[0] != 0 ? f->name : "-", status, kind, text);
    }
}

static double step_of(const struct mechd_fmu_description *d)
{
    const double length = d->stop_time - (isfinite(d->start_time) ? d->start_time : 0.);
    return d->step_size > 0.                 ? d->step_size
           : d->fixed_step > 0.              ? d->fixed_step
           : length > 0. && isfinite(length) ? 1e-3 * length
                                             : step_preset;
}

static int make_room(struct mechd_fmu_instance *f)
{
    MECH_TRY(mechd_fmu_point_init(&f->channels, &f->first));
    MECH_TRY(mechd_fmu_point_init(&f->channels, &f->now));
    MECH_TRY(mechd_fmu_point_init(&f->channels, &f->end));
    const size_t n = f->channels.size[MECH_INPUT], m = f->channels.size[MECH_PARAMETER];
    f->given = calloc(n + mechd_fmu_point_held(&f->channels) + 1, sizeof *f->given);
    if (f->given == NULL) {
        return MECH_NO_MEMORY;
    }
    MECH_TRY(mechd_fmu_follow_init(f));
    f->sent = f->given + n;
    f->sent_parameters = f->sent + n;
    f->rated = f->sent_parameters + m;
    mechd_fmu_channels_start(&f->channels, MECH_INPUT, f->first.inputs);
    mechd_fmu_channels_start(&f->channels, MECH_PARAMETER, f->first.parameters);
    f->first.time = mechd_fmu_session_start(&f->session);
    for (size_t k = 0; k < n; k++) {
        f->first.inputs[MECHD_FMU_SINCE * n + k] = f->first.time;
    }
    f->now.time = f->first.time;
    return 0;
}

int mechd_engine_of_fmu(struct mechd_fmu_package *package,
                        const struct mechd_fmu_settings *settings, struct mechd_engine *out,
                        struct mech_diag *diag)
{
    struct mechd_fmu_instance *const f = calloc(1, sizeof *f);
    if (f == NULL) {
        return MECH_NO_MEMORY;
    }
    f->package = mechd_fmu_package_ref(package);
    f->place = MECHD_FMU_ENDED;
    f->h = step_of(&package->description);
    f->session = (struct mechd_fmu_session){.package = package,
                                            .channels = &f->channels,
                                            .options = {.program = settings->program,
                                                        .name = f->name,
                                                        .memory = settings->memory,
                                                        .call_ms = settings->call_ms,
                                                        .logging = true,
                                                        .log = log_message,
                                                        .log_context = f}};
    f->places = settings->places;
    f->saves = mechd_fmu_session_saves(&f->session);
    mech_text_copy(f->name, sizeof f->name, package->description.name);
    int rc = mechd_fmu_channels_make(&package->description, &f->channels, diag);
    rc = rc == 0 ? make_room(f) : rc;
    if (rc != 0) {
        mechd_engine_fmu.destroy(f);
        return rc;
    }
    *out = (struct mechd_engine){&mechd_engine_fmu, f};
    return 0;
}

bool mechd_engine_fmu_start(const struct mechd_engine *e, enum mech_causality causality,
                            int32_t index, const double *values, const char *path,
                            struct mech_diag *diag)
{
    struct mechd_fmu_instance *const f = e->self;
    const struct mechd_fmu_channel *const c = &f->channels.at[causality][index];
    double *const to = causality == MECH_INPUT ? f->first.inputs : f->first.parameters;
    bool good = true;
    for (int32_t j = 0; j < c->v.size; j++) {
        good = good && mechd_fmu_channel_takes(c, values[j], path, diag);
        to[c->v.offset + j] = good ? values[j] : to[c->v.offset + j];
    }
    return good;
}

double mechd_engine_fmu_started(const struct mechd_engine *e, enum mech_causality causality,
                                int32_t index)
{
    const struct mechd_fmu_instance *const f = e->self;
    const double *const from = causality == MECH_INPUT ? f->first.inputs : f->first.parameters;
    return from[f->channels.at[causality][index].v.offset];
}

int mechd_engine_fmu_like(const struct mechd_engine *e, struct mechd_engine *out)
{
    const struct mechd_fmu_instance *const f = e->self;
    const struct mechd_fmu_settings settings = {.program = f->session.options.program,
                                                .memory = f->session.options.memory,
                                                .call_ms = f->session.options.call_ms,
                                                .places = f->places};
    struct mech_diag diag;
    *out = (struct mechd_engine){NULL, NULL};
    mech_diag_init(&diag);
    const int rc = mechd_engine_of_fmu(f->package, &settings, out, &diag);
    mech_diag_fini(&diag);
    if (rc == 0) {
        mechd_fmu_point_copy(&f->first, &((struct mechd_fmu_instance *)out->self)->first);
    }
    return rc;
}

int mechd_engine_fmu_begin(const struct mechd_engine *e)
{
    struct mechd_fmu_instance *const f = e->self;
    MECH_TRY(mechd_engine_fmu.reset(f));
    f->state_most = f->saves ? 2 * f->now.state_size + STATE_MORE : 0;
    return 0;
}

bool mechd_engine_fmu_is_full(const struct mechd_engine *e)
{
    return ((const struct mechd_fmu_instance *)e->self)->full;
}

const char *mechd_engine_fmu_unfollowed(const struct mechd_engine *e, int32_t index, bool sampled)
{
    const struct mechd_fmu_instance *const f = e->self;
    return mechd_fmu_unfollowed(&f->session, &f->channels.at[MECH_INPUT][index], sampled);
}

bool mechd_engine_fmu_traces(const struct mechd_engine *e, int32_t index)
{
    const struct mechd_fmu_instance *const f = e->self;
    return f->package->description.version == MECHD_FMI_3 &&
           (f->package->description.can & MECHD_FMU_INTERMEDIATE) != 0 &&
           mechd_fmu_channel_is_within(&f->channels.at[MECH_OUTPUT_VARIABLE][index]);
}

bool mechd_engine_fmu_derives(const struct mechd_engine *e, bool adjoint)
{
    const struct mechd_fmu_instance *const f = e->self;
    const unsigned needed = adjoint ? MECHD_FMU_ADJOINT : MECHD_FMU_DIRECTIONAL;
    return (f->package->description.can & needed) != 0;
}

bool mechd_engine_fmu_has_slopes(const struct mechd_engine *e, enum mech_causality causality,
                                 int32_t index)
{
    const struct mechd_fmu_instance *const f = e->self;
    return mechd_fmu_channel_has_slopes(&f->channels.at[causality][index]);
}

bool mechd_engine_fmu_relative(const struct mechd_engine *e, enum mech_causality causality,
                               int32_t index)
{
    const struct mechd_fmu_instance *const f = e->self;
    return f->channels.at[causality][index].of->quantity == MECHD_FMU_RELATIVE;
}

/* With the inputs of the committed point, which the next step sends too. One that saves its state
 * is restored before it is used again, so that they leave nothing there; one that does not has them
 * already. */
static int derive(struct mechd_fmu_instance *f, bool adjoint, const double *seed, double *out)
{
    const enum mech_causality of = adjoint ? MECH_INPUT : MECH_OUTPUT_VARIABLE;
    f->place = f->saves ? MECHD_FMU_MOVED : f->place;
    MECH_TRY(mechd_fmu_send(f, &f->now, f->now.time));
    MECH_TRY(adjoint ? mechd_fmu_session_adjoin(&f->session, seed, out)
                     : mechd_fmu_session_derive(&f->session, seed, out));
    for (size_t k = 0; k < f->channels.size[of]; k++) {
        if (!isfinite(out[k])) {
            mech_text_format(f->session.reason, sizeof f->session.reason,
                             "a derivative of the FMU is infinite or not a number");
            return MECHD_HOSTED_REFUSED;
        }
    }
    return 0;
}

static int derive_there(struct mechd_fmu_instance *f, bool adjoint, const double *seed, double *out)
{
    f->refusal[0] = 0;
    if (f->place == MECHD_FMU_AT_TRIAL) {
        mech_text_copy(f->refusal, sizeof f->refusal, "the FMU is at the end of a trial step");
        return MECH_INVALID;
    }
    MECH_TRY(mechd_fmu_settle(f));
    if (!f->saves && mechd_fmu_pends(f, &f->now, f->now.time)) {
        mech_text_copy(f->refusal, sizeof f->refusal,
                       "inputs or parameters have values that only the next step passes to the "
                       "FMU, which cannot save its state");
        return MECH_INVALID;
    }
    int rc = derive(f, adjoint, seed, out);
    if (rc != 0) {
        rc = mechd_fmu_lost(f, rc);
        // nothing was passed to it
        f->sent_known = !f->saves && f->session.hosted != NULL;
    }
    return rc;
}

int mechd_engine_fmu_derive(const struct mechd_engine *e, const double *direction, double *outputs)
{
    return derive_there(e->self, false, direction, outputs);
}

int mechd_engine_fmu_adjoin(const struct mechd_engine *e, const double *seed, double *inputs)
{
    return derive_there(e->self, true, seed, inputs);
}

void mechd_engine_fmu_call(const struct mechd_engine *e, const char *name)
{
    struct mechd_fmu_instance *const f = e->self;
    mech_text_copy(f->name, sizeof f->name, name);
}
