/* A compiled model and its initial state, for tests of what lies below a simulation.
 *
 *     struct compiled c;
 *     compiled_open(&c, "{'mechd': 1, 'nodes': …}");
 *     …
 *     compiled_close(&c);
 */
#pragma once

#include "solver/model/model.h"
#include "tests/unit/model.h"

struct compiled {
    struct mech_document *document;
    struct mech_model *model;
    struct mech_state state;
    double *block;
};

static inline void compiled_open(struct compiled *c, const char *text)
{
    char *const json = strdup(text);
    struct mech_diag diag;

    *c = (struct compiled){.document = NULL};
    for (char *at = json; *at; at++) {
        *at = *at == '\'' ? '"' : *at;
    }
    json_t *const value = json_loads(json, 0, NULL);
    free(json);
    CU_ASSERT_PTR_NOT_NULL_FATAL(value);
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(mechp_bind_read(value, "", &diag, &c->document), 0);
    CU_ASSERT_EQUAL_FATAL(mech_model_compile(c->document, NULL, &diag, &c->model), 0);
    mech_diag_fini(&diag);
    json_decref(value);
    c->block = calloc(1, mech_state_bytes(mech_model_sizes(c->model)));
    mech_state_place(mech_model_sizes(c->model), c->block, &c->state);
    mech_model_initial(c->model, &c->state);
}

static inline void compiled_close(struct compiled *c)
{
    free(c->block);
    mech_model_destroy(c->model);
    mech_document_destroy(c->document);
}
