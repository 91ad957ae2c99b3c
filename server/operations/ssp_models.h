/* The FMUs of a package that is written: those of models, and those that are hosted, as they were
 * uploaded. Each is made once, however many participants have it. On the pool, as owner of the
 * instances; then sent by the door's thread. */
#pragma once

#include "protocol/fmi/package.h"
#include "server/call/call.h"
#include "server/engine/fmu_package.h"

struct mechd_ssp_model {
    char file[MECHP_ZIP_NAME]; /* its path in the package */
    double start;              /* time at its start, s */
    /* of a model */
    struct mechp_text document;     /* JSON */
    struct mechp_fmi_layout layout; /* of its variables, FMI 2.0 */
    struct mechp_text text; /* the archive without the bytes of the binary, which lie at `head` */
    size_t head;
    /* of a hosted one: a reference; else NULL */
    struct mechd_fmu_package *package;
    /* as the package stores it */
    struct mechp_packed stored; /* without bytes */
};

struct mechd_ssp_models {
    struct mechd_ssp_model *at; /* [as many as participants] zeroed, made by the caller */
    size_t count;
    const struct mechp_packed *binary; /* of models; or NULL: there are none yet */
};

/* The FMU of an instance; into *out its index. False: refused. */
bool mechd_ssp_model_add(struct mechd_call *c, struct mechd_ssp_models *m,
                         const struct mechd_instance *i, size_t *out);
void mechd_ssp_models_fini(struct mechd_ssp_models *m);
