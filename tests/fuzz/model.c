/* Model documents from any bytes: parsed, read, checked, created, stepped, written and read again.
 * Nothing may crash, and what was accepted must be accepted again as it was written, word for word.
 */
#include "protocol/bind/bind.h"
#include "protocol/wire/json.h"
#include "solver/sim/mech.h"

#include <stdlib.h>
#include <string.h>

/* A stack that is hard to hold takes seconds a step until it is given up, minutes under sanitizers:
 * scenes with room for more contacts are read and created, and not stepped. */
enum { VALUES_MOST = 300, CONTACTS_MOST = 120 };

/* Larger bodies only take longer. */
static const struct mechp_json_limits limits = {.bytes = 1 << 16, .tree = 256000, .depth = 32};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A document from text, or NULL. */
static struct mech_document *read_model(const char *text, size_t size)
{
    struct mechp_json_fault fault;
    struct mech_document *document = NULL;
    json_t *root = NULL;
    if (mechp_json_parse(text, size, &limits, &fault, &root) != 0) {
        return NULL;
    }
    struct mech_diag diag;
    mech_diag_init(&diag);
    const int code = mechp_bind_read(root, "/model", &diag, &document);
    // faults are reported exactly when there is no document
    if ((code == 0) != (document != NULL) || (code > 0) != !mech_diag_clean(&diag)) {
        abort();
    }
    mech_diag_fini(&diag);
    json_decref(root);
    return document;
}

/* The document as text (malloc'd), or NULL: it is beyond the limits. */
static char *write_model(const struct mech_document *document, size_t *size)
{
    struct mechp_text w;
    mechp_text_init(&w, NULL, 0);
    mechp_bind_write(document, &w);
    char *const text = mechp_text_take(&w, size);
    if (text == NULL) {
        abort();
    }
    return text;
}

/* Written, read and written again: the same. */
static void write_and_read(const struct mech_document *document)
{
    size_t first_size = 0;
    size_t second_size = 0;
    char *const first = write_model(document, &first_size);
    struct mech_document *const again =
        first_size < limits.bytes ? read_model(first, first_size) : NULL;
    // a value may be written with more members than it was read with
    if (again != NULL) {
        char *const second = write_model(again, &second_size);
        if (first_size != second_size || memcmp(first, second, first_size) != 0) {
            abort();
        }
        free(second);
    }
    mech_document_destroy(again);
    free(first);
}

/* A few steps, a trial, outputs; then the state from before. */
static void step(struct mech_sim *s)
{
    const struct mech_sizes n = mech_sim_sizes(s);
    if (n.v + n.x + n.impulse > VALUES_MOST || n.contact > CONTACTS_MOST ||
        mech_sim_output_size(s) > VALUES_MOST) {
        return;
    }
    double outputs[VALUES_MOST];
    struct mech_step_report report;
    void *const before = malloc(mech_sim_snapshot_size(s));
    if (before == NULL) {
        return;
    }
    const size_t size = mech_sim_snapshot_write(s, before);
    for (int k = 0; k < 2; k++) {
        const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 3, .trial = k == 0};
        if (mech_sim_step(s, &r, &report) < 0) {
            abort();
        }
        mech_sim_get_outputs(s, outputs);
    }
    bool same = false;
    if (mech_sim_snapshot_read(s, before, size, &same) != 0 || !same) {
        abort();
    }
    free(before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mech_document *const document = read_model((const char *)data, size);
    if (document == NULL) {
        return 0;
    }
    write_and_read(document);
    struct mech_diag diag;
    struct mech_sim *sim = NULL;
    mech_diag_init(&diag);
    const int code = mech_sim_create(document, &diag, &sim);
    if ((code == 0) != (sim != NULL) || (code == MECH_INVALID && mech_diag_clean(&diag))) {
        abort();
    }
    if (sim != NULL) {
        step(sim);
        mech_sim_destroy(sim);
    } else {
        mech_document_destroy(document);
    }
    mech_diag_fini(&diag);
    return 0;
}
