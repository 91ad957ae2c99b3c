/* What the server says about itself: probes, version, types, OpenAPI, metrics. */
#include "server/call/service.h"
#include "protocol/bind/bind.h"
#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_service.h"
#include "server/call/shapes.h"
#include "server/os/log.h"
#include "server/store/store.h"

#include <stdio.h>
#include <string.h>

static enum mechd_progress plain(struct mechd_call *c, const char *text)
{
    mechp_text_plain(&c->text, text, strlen(text));
    c->content_type = "text/plain; charset=utf-8";
    return MECHD_DONE;
}

static enum mechd_progress run_livez(struct mechd_call *c)
{
    return plain(c, "ok\n");
}

const struct mechd_operation mechd_operation_LIVEZ = {.run = run_livez};

static enum mechd_progress run_readyz(struct mechd_call *c)
{
    struct mechd_service *d = c->service;
    if (mechd_host_drains(&d->host)) {
        return mechd_fail(c, MECHP_DRAINING, "the server is shutting down");
    }
    if (!atomic_load(&d->ready)) {
        return mechd_fail(c, MECHP_DRAINING, "the server has not opened all its endpoints yet");
    }
    char fault[160] = "";
    if (d->host.store != NULL) {
        mechd_store_fault(d->host.store, fault, sizeof fault);
    }
    if (fault[0] != '\0') {
        return mechd_fail(c, MECHP_STORAGE_FAILED, "changes cannot be stored: %s", fault);
    }
    return plain(c, "ok\n");
}

const struct mechd_operation mechd_operation_READYZ = {.run = run_readyz};

static enum mechd_progress run_metrics(struct mechd_call *c)
{
    c->service->self.write_metrics(c->service->self.daemon, &c->text);
    c->content_type = "text/plain; version=0.0.4; charset=utf-8";
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_METRICS = {.run = run_metrics};

static enum mechd_progress run_openapi(struct mechd_call *c)
{
    mechp_bind_openapi(&c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_OPENAPI = {.run = run_openapi};

static enum mechd_progress run_types(struct mechd_call *c)
{
    mechp_bind_types(&c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_TYPES = {.run = run_types};

static enum mechd_progress run_type(struct mechd_call *c)
{
    const char *name = mechd_call_value(c, "type");
    struct mech_guess g;
    const int outcome = mechp_bind_type(name, &g, &c->text);
    if (outcome != 0) {
        mechd_fail(c, MECHP_NOT_FOUND, "there is no type %.64s%s", name, mech_guess_hint(&g));
    }
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_TYPE = {.run = run_type};

static int prepare_log_level(struct mechd_call *c)
{
    struct mechp_body_log_level in;
    MECHP_READ(log_level, c->body, &c->diag, &in);
    if (in.level == NULL || mechd_log_level_find(in.level) < 0) {
        mechd_need(c, "/level", "must be error, warning, info or debug");
    }
    return 0;
}

static enum mechd_progress run_log_level(struct mechd_call *c)
{
    struct mechp_body_log_level in;
    MECHP_READ(log_level, c->body, &c->diag, &in);
    mechd_log_set_level((enum mechd_level)mechd_log_level_find(in.level));
    mechd_log(MECHD_WARNING, "log-level", "log=%s token=%s", in.level,
              c->who.name[0] != '\0' ? c->who.name : "-");
    const struct mechp_body_log_level out = {mechd_log_level_name()};
    MECHP_WRITE(log_level, &out, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_LOG_LEVEL = {.run = run_log_level,
                                                          .prepare = prepare_log_level};

/* --- version, limits, addresses --------------------------------------------------------------- */

static void write_engines(const void *service, struct mechp_text *w)
{
    const struct mechd_service *const d = service;
    mechp_text_array(w);
    for (size_t k = 0; mechd_engine_at(k) != NULL; k++) {
        if (!mechd_engine_at(k)->apart || d->fmus.on) {
            mechp_text_string(w, mechd_engine_at(k)->name);
        }
    }
    mechp_text_end(w);
}

static void write_durability(const void *service, struct mechp_text *w)
{
    const struct mechd_service *const d = service;
    mechp_text_array(w);
    for (int k = 0; mechd_durability_names[k] != NULL; k++) {
        if (k == 0 || d->host.store != NULL) {
            mechp_text_string(w, mechd_durability_names[k]);
        }
    }
    mechp_text_end(w);
}

static enum mechd_progress run_about(struct mechd_call *c)
{
    struct mechd_service *const d = c->service;
    const struct mechd_self *const self = &d->self;
    const struct mechp_body_about_libraries libraries = {.blas = mech_blas_info(),
                                                         .jansson = JANSSON_VERSION,
                                                         .libmicrohttpd = self->libmicrohttpd,
                                                         .zeromq = self->zeromq};
    const struct mechp_body_about_limits limits = {.instances = MECHD_INSTANCES_MOST,
                                                   .queue = MECHD_QUEUE_MOST,
                                                   .body = MECHD_BODY_MOST,
                                                   .model = (int64_t)mechd_model_most(d)};
    const struct mechp_body_about_enabled enabled = {.engines = {write_engines, d},
                                                     .durability = {write_durability, d},
                                                     .fmus = d->fmus.on,
                                                     .workers = d->config.workers};
    // where the doors really are
    const struct mechp_body_about_endpoints endpoints = {.http = self->http,
                                                         .control = self->control,
                                                         .stream = self->stream,
                                                         .forces = self->forces,
                                                         .lane = self->lane};
    const struct mechp_body_about_who who = {.name = c->who.name[0] != '\0' ? c->who.name : NULL,
                                             .scope = mechp_scope_names[c->who.scope]};
    const struct mechp_body_about body = {.name = "mechd",
                                          .version = MECHD_VERSION,
                                          .compiler = __VERSION__,
                                          .libraries = MECHP_INNER(about_libraries, &libraries),
                                          .limits = MECHP_INNER(about_limits, &limits),
                                          .enabled = MECHP_INNER(about_enabled, &enabled),
                                          .endpoints = MECHP_INNER(about_endpoints, &endpoints),
                                          .who = MECHP_INNER(about_who, &who),
                                          .server_key = d->curve.on ? d->curve.text : NULL,
                                          .instances = mechd_table_count(&d->host.table)};
    MECHP_WRITE(about, &body, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_ABOUT = {.run = run_about};
