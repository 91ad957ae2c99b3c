/* Uploaded FMUs. Uploading and deleting are changes of what this server executes: each leaves a
 * line in the log. */
#include "server/operations/fmus.h"

#include "protocol/wire/bodies.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "server/engine/fmu_channels.h"
#include "server/instance/container.h"
#include "server/os/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARIABLES_MOST = 10000, START_MOST = 64 /* shown */ };

int mechd_fmus_check_on(struct mechd_call *c)
{
    return c->service->fmus.on
               ? 0
               : mechd_refuse(c, MECHP_FORBIDDEN,
                              "this server hosts no FMUs: it was started without --fmus on");
}

/* --- replies ---------------------------------------------------------------------------------- */

static void write_start(const void *of, struct mechp_text *w)
{
    const struct mechd_fmu_variable *const v = of;
    if (v->dimension_count == 0) {
        mechp_text_number_or_null(w, v->start[0]);
        return;
    }
    mechp_text_array(w);
    for (size_t k = 0; k < v->start_count && k < START_MOST; k++) {
        mechp_text_number_or_null(w, v->start[k]);
    }
    mechp_text_end(w);
}

static void write_variable(const struct mechd_fmu_variable *v, struct mechp_text *w)
{
    static const char *const causality[] = {
        "local",      "input", "output", "parameter", "calculatedParameter", "structuralParameter",
        "independent"};
    static const char *const variability[] = {"constant", "fixed", "tunable", "discrete",
                                              "continuous"};
    // starts of texts and binaries are counted, and are no numbers
    const bool starts = v->start_count > 0 && v->start != NULL;
    const struct mechp_body_fmu_variable body = {
        .name = v->name,
        .type = mechd_fmu_type_name(v->type),
        .causality = causality[v->causality],
        .variability = variability[v->variability],
        .reference = v->reference,
        .unit = v->unit,
        .description = v->description[0] != '\0' ? v->description : NULL,
        .start = {starts ? write_start : NULL, v},
        .minimum = isfinite(v->minimum) ? v->minimum : (double)NAN,
        .maximum = isfinite(v->maximum) ? v->maximum : (double)NAN,
        .shown = mechd_fmu_variable_shown(v)};
    MECHP_WRITE(fmu_variable, &body, w);
}

static void write_variables(const void *of, struct mechp_text *w)
{
    const struct mechd_fmu_description *const d = of;
    mechp_text_array(w);
    for (size_t k = 0; k < d->variable_count && k < VARIABLES_MOST; k++) {
        write_variable(&d->variables[k], w);
    }
    mechp_text_end(w);
}

static void write_fmu(const char *id, const char *owner, const struct mechd_fmu_package *p,
                      bool whole, struct mechp_text *w)
{
    const struct mechd_fmu_description *const d = &p->description;
    const unsigned saves = MECHD_FMU_STATE | MECHD_FMU_SERIALIZE;
    const struct mechp_body_fmu body = {.id = id,
                                        .model_name = d->name,
                                        .version = d->version == MECHD_FMI_2 ? "2.0" : "3.0",
                                        .description = d->description,
                                        .tool = d->tool,
                                        .owner = owner[0] != '\0' ? owner : NULL,
                                        .bytes = p->size,
                                        .unpacked = p->unpacked,
                                        .saves = (d->can & saves) == saves,
                                        .varies = (d->can & MECHD_FMU_VARIABLE_STEP) != 0,
                                        .start_time = d->start_time,
                                        .stop_time = d->stop_time,
                                        .step_size = d->step_size,
                                        .variable_count = d->variable_count,
                                        .variables = {whole ? write_variables : NULL, d}};
    MECHP_WRITE(fmu, &body, w);
}

/* All uploads. */
struct list {
    struct mechd_fmu *at; /* [count] */
    size_t count;
};

static void write_items(const void *of, struct mechp_text *w)
{
    const struct list *const list = of;
    mechp_text_array(w);
    for (size_t k = 0; k < list->count; k++) {
        write_fmu(list->at[k].id, list->at[k].owner, list->at[k].package, false, w);
    }
    mechp_text_end(w);
}

/* --- upload ----------------------------------------------------------------------------------- */

static int prepare_upload(struct mechd_call *c)
{
    if (c->body == NULL && c->bytes == NULL) {
        return mechd_refuse(c, MECHP_MALFORMED_REQUEST, "a body is needed");
    }
    return mechd_fmus_check_on(c);
}

static void fail_upload(struct mechd_call *c, int outcome)
{
    if (outcome < 0) {
        mechd_fail_outcome(c, outcome);
        return;
    }
    const enum mechp_code code =
        outcome == MECHD_FMU_NO_STORAGE ? MECHP_STORAGE_FAILED : MECHP_INVALID_FMU;
    const struct mech_diag_entry *const e = c->diag.count > 0 ? &c->diag.entries[0] : NULL;
    mechd_fail(c, code, "%.120s%s%.120s", e != NULL ? e->path : "",
               e != NULL && e->path[0] != '\0' ? ": " : "", e != NULL ? e->text : "");
}

struct mechd_fmu_package *mechd_fmus_open_bytes(struct mechd_call *c, const void *bytes,
                                                size_t size, const char *base)
{
    struct mechd_fmu_package *p = NULL;
    struct mechd_fmu_channels channels;
    int outcome = mechd_fmu_package_open(bytes, size, c->service->fmus.root, &p, &c->diag);
    if (outcome == 0) {
        // what no instance can show is refused here
        outcome = mechd_fmu_channels_make(&p->description, &channels, &c->diag);
    }
    if (outcome == 0) {
        mechd_fmu_channels_fini(&channels);
        return p;
    }
    mechd_fmu_package_unref(p);
    mech_diag_prefix(c->diag.entries, c->diag.count, base);
    fail_upload(c, outcome);
    return NULL;
}

bool mechd_fmus_keep(struct mechd_call *c, struct mechd_fmu_package *p, char *id)
{
    struct mechd_account *const account =
        mechd_accounts_find(&c->service->host.accounts, c->who.name);
    struct mechd_excess excess;
    char name[128];
    const int outcome = account != NULL ? mechd_fmus_add(&c->service->fmus, p, account, id, &excess)
                                        : MECH_NO_MEMORY;
    if (outcome == MECH_UNSUPPORTED && excess.which != MECHD_QUOTAS) {
        mechd_fail_quota(c, &excess);
    } else if (outcome == MECH_UNSUPPORTED) {
        mechd_fail(c, MECHP_LIMIT_REACHED,
                   "at most %d FMUs and %llu bytes in all, including deleted ones that still have "
                   "instances",
                   MECHD_FMUS_MOST, (unsigned long long)mechd_fmus_bytes);
    } else if (outcome != 0) {
        mechd_fail_outcome(c, outcome);
    } else {
        mechd_log_quote(name, sizeof name, p->description.name);
        mechd_log(MECHD_WARNING, "fmu-uploaded", "fmu=%s token=%s model=%s bytes=%llu hash=%016llx",
                  id, c->who.name[0] != '\0' ? c->who.name : "-", name, (unsigned long long)p->size,
                  (unsigned long long)p->hash);
    }
    return outcome == 0;
}

void mechd_fmus_drop(struct mechd_call *c, const char *id)
{
    if (mechd_fmus_remove(&c->service->fmus, id, NULL) == 0) {
        mechd_log(MECHD_WARNING, "fmu-deleted", "fmu=%s token=%s", id,
                  c->who.name[0] != '\0' ? c->who.name : "-");
    }
}

static enum mechd_progress run_upload(struct mechd_call *c)
{
    unsigned char *decoded = NULL;
    const void *bytes = c->bytes;
    size_t size = c->size;
    if (bytes == NULL) {
        struct mechp_body_upload_fmu_request in;
        MECHP_READ(upload_fmu_request, c->body, &c->diag, &in);
        if (in.fmu == NULL) {
            mech_diag_add(&c->diag, "/fmu", "the bytes of an .fmu as base64 are needed");
            return MECHD_DONE;
        }
        decoded = mechd_base64_decode(in.fmu, strlen(in.fmu), &size);
        bytes = decoded;
        if (decoded == NULL) {
            mech_diag_add(&c->diag, "/fmu", "not base64");
            return MECHD_DONE;
        }
    }
    struct mechd_fmu_package *const p = mechd_fmus_open_bytes(c, bytes, size, "");
    char id[MECH_NAME_MAX + 1];
    free(decoded);
    if (p != NULL && mechd_fmus_keep(c, p, id)) {
        c->status = 201;
        snprintf(c->location, sizeof c->location, "/v1/fmus/%s", id);
        write_fmu(id, c->who.name, p, true, &c->text);
    }
    mechd_fmu_package_unref(p);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_UPLOAD_FMU = {.run = run_upload,
                                                           .prepare = prepare_upload};

/* --- list, one, delete ------------------------------------------------------------------------ */

static enum mechd_progress run_list(struct mechd_call *c)
{
    struct list list = {NULL, 0};
    if (mechd_fmus_list(&c->service->fmus, &list.at, &list.count) != 0) {
        return mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the list");
    }
    const struct mechp_body_fmu_list body = {{write_items, &list}};
    MECHP_WRITE(fmu_list, &body, &c->text);
    mechd_fmus_list_free(list.at, list.count);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_FMUS = {.run = run_list};

static enum mechd_progress run_one(struct mechd_call *c)
{
    const char *const id = mechd_call_value(c, "fid");
    char owner[MECH_NAME_MAX + 1];
    struct mechd_fmu_package *const p = mechd_fmus_find(&c->service->fmus, id, owner);
    if (p == NULL) {
        return mechd_fail(c, MECHP_NOT_FOUND, "there is no FMU %.64s", id);
    }
    write_fmu(id, owner, p, true, &c->text);
    mechd_fmu_package_unref(p);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_GET_FMU = {.run = run_one};

static enum mechd_progress run_delete(struct mechd_call *c)
{
    const char *const id = mechd_call_value(c, "fid");
    const bool all = c->who.scope >= MECHP_SCOPE_ADMIN;
    const int outcome = mechd_fmus_remove(&c->service->fmus, id, all ? NULL : c->who.name);
    if (outcome == MECH_NOT_FOUND) {
        return mechd_fail(c, MECHP_NOT_FOUND, "there is no FMU %.64s", id);
    }
    if (outcome != 0) {
        return mechd_fail(c, MECHP_FORBIDDEN, "FMU %.64s was uploaded by another token", id);
    }
    mechd_log(MECHD_WARNING, "fmu-deleted", "fmu=%s token=%s", id,
              c->who.name[0] != '\0' ? c->who.name : "-");
    c->status = 204;
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_DELETE_FMU = {.run = run_delete};
