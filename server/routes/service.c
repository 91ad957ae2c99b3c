/* What the server says about itself: probes, version, types, OpenAPI, metrics. */
#include "protocol/bind/bind.h"
#include "server/daemon.h"
#include "server/http/http.h"
#include "server/plain.h"
#include "server/routes/shapes.h"
#include "server/store/store.h"
#include "server/zmq/zmq.h"

#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <zmq.h>

static enum mechd_progress plain(struct mechd_call *c, const char *text)
{
    mechd_plain(&c->text, text, strlen(text));
    c->content_type = "text/plain; charset=utf-8";
    return MECHD_DONE;
}

static enum mechd_progress run_livez(struct mechd_call *c)
{
    return plain(c, "ok\n");
}

const struct mechd_operation mechd_operation_LIVEZ = {.run = run_livez,
                                                      .flags = MECHD_READS | MECHD_OPEN};

static enum mechd_progress run_readyz(struct mechd_call *c)
{
    struct mechd *d = c->daemon;
    if (atomic_load(&d->draining)) {
        return mechd_fail(c, MECHP_DRAINING, "the server is shutting down");
    }
    if (!atomic_load(&d->ready)) {
        return mechd_fail(c, MECHP_DRAINING, "the server has not opened all its doors yet");
    }
    char fault[160] = "";
    if (d->store != NULL) {
        mechd_store_fault(d->store, fault, sizeof fault);
    }
    if (fault[0] != '\0') {
        return mechd_fail(c, MECHP_STORAGE_FAILED, "changes cannot be stored: %s", fault);
    }
    return plain(c, "ok\n");
}

const struct mechd_operation mechd_operation_READYZ = {.run = run_readyz,
                                                       .flags = MECHD_READS | MECHD_OPEN};

static enum mechd_progress run_metrics(struct mechd_call *c)
{
    mechd_metrics_write(c->daemon, &c->text);
    c->content_type = "text/plain; version=0.0.4; charset=utf-8";
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_METRICS = {.run = run_metrics, .flags = MECHD_READS};

static enum mechd_progress run_openapi(struct mechd_call *c)
{
    mechp_bind_openapi(&c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_OPENAPI = {
    .run = run_openapi, .flags = MECHD_READS | MECHD_IN_POOL | MECHD_OPEN};

static enum mechd_progress run_types(struct mechd_call *c)
{
    mechp_bind_types(&c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_TYPES = {.run = run_types,
                                                      .flags = MECHD_READS | MECHD_IN_POOL};

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

const struct mechd_operation mechd_operation_TYPE = {.run = run_type, .flags = MECHD_READS};

static int prepare_log_level(struct mechd_call *c)
{
    const char *level = json_string_value(json_object_get(c->body, "level"));
    if (level == NULL || mechd_log_level_find(level) < 0) {
        mech_diag_add(&c->diag, "/level", "it is error, warning, info or debug");
    }
    return 0;
}

static enum mechd_progress run_log_level(struct mechd_call *c)
{
    const char *level = json_string_value(json_object_get(c->body, "level"));
    mechd_log_set_level((enum mechd_level)mechd_log_level_find(level));
    mechd_log(MECHD_WARNING, "log-level", "log=%s token=%s", level,
              c->who.name[0] != '\0' ? c->who.name : "-");
    mechp_text_object(&c->text);
    mechp_text_member_string(&c->text, "level", mechd_log_level_name());
    mechp_text_end(&c->text);
    return MECHD_DONE;
}

static const char *const log_level_keys[] = {"level", NULL};
const struct mechd_operation mechd_operation_LOG_LEVEL = {.run = run_log_level,
                                                          .prepare = prepare_log_level,
                                                          .flags = MECHD_ADMIN,
                                                          .keys = log_level_keys};

/* Where the doors really are. */
static void write_endpoints(const struct mechd *d, struct mechp_text *w)
{
    mechp_text_key(w, "endpoints");
    mechp_text_object(w);
    mechp_text_member_string(w, "http", mechd_http_address(d->http));
    mechp_text_member_string(w, "control", mechd_zmq_endpoint(d->zmq, MECHD_ZMQ_CONTROL));
    mechp_text_member_string(w, "stream", mechd_zmq_endpoint(d->zmq, MECHD_ZMQ_STREAM));
    mechp_text_member_string(w, "forces", mechd_zmq_endpoint(d->zmq, MECHD_ZMQ_FORCES));
    mechp_text_end(w);
}

static enum mechd_progress run_about(struct mechd_call *c)
{
    struct mechp_text *w = &c->text;
    int major = 0;
    int minor = 0;
    int patch = 0;
    char zmq[32];
    zmq_version(&major, &minor, &patch);
    snprintf(zmq, sizeof zmq, "%d.%d.%d", major, minor, patch);
    mechp_text_object(w);
    mechp_text_member_string(w, "name", "mechd");
    mechp_text_member_string(w, "version", MECHD_VERSION);
    mechp_text_member_string(w, "compiler", __VERSION__);
    mechp_text_key(w, "libraries");
    mechp_text_object(w);
    mechp_text_member_string(w, "blas", mech_blas_info());
    mechp_text_member_string(w, "jansson", JANSSON_VERSION);
    mechp_text_member_string(w, "libmicrohttpd", MHD_get_version());
    mechp_text_member_string(w, "zeromq", zmq);
    mechp_text_end(w);
    mechp_text_key(w, "limits");
    mechp_text_object(w);
    mechp_text_member_integer(w, "instances", MECHD_INSTANCES_MOST);
    mechp_text_member_integer(w, "queue", MECHD_QUEUE_MOST);
    mechp_text_member_integer(w, "body", MECHD_BODY_MOST);
    mechp_text_member_integer(w, "model", (int64_t)mechd_model_most(c->daemon));
    mechp_text_end(w);
    mechp_text_key(w, "enabled");
    mechp_text_object(w);
    mechp_text_key(w, "engines");
    mechp_text_array(w);
    for (size_t k = 0; mechd_engine_at(k) != NULL; k++) {
        mechp_text_string(w, mechd_engine_at(k)->name);
    }
    mechp_text_end(w);
    mechp_text_key(w, "durability");
    mechp_text_array(w);
    for (int k = 0; mechd_durability_names[k] != NULL; k++) {
        if (k == 0 || c->daemon->store != NULL) {
            mechp_text_string(w, mechd_durability_names[k]);
        }
    }
    mechp_text_end(w);
    mechp_text_member_integer(w, "workers", c->daemon->config.workers);
    mechp_text_end(w);
    write_endpoints(c->daemon, w);
    mechp_text_key(w, "who");
    mechp_text_object(w);
    mechp_text_member_string(w, "name", c->who.name[0] != '\0' ? c->who.name : NULL);
    mechp_text_member_string(w, "scope", mechd_scope_names[c->who.scope]);
    mechp_text_end(w);
    if (c->daemon->curve.on) {
        mechp_text_member_string(w, "serverKey", c->daemon->curve.text);
    }
    mechp_text_member_integer(w, "instances", mechd_table_count(&c->daemon->table));
    mechp_text_end(w);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_ABOUT = {.run = run_about, .flags = MECHD_READS};
