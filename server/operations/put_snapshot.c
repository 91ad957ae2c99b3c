/* A snapshot of one instance becomes the state of another. Both models must say the same: they are
 * compared as documents, so that a snapshot of another version, which prints a model otherwise, is
 * taken too. Whether joints are active is a matter of the state. */
#include "server/operations/put_snapshot.h"

#include "protocol/bind/bind.h"
#include "protocol/frame/frame.h"
#include "protocol/wire/json.h"
#include "server/call/shapes.h"
#include "server/instance/container.h"

#include <stdlib.h>
#include <string.h>

static bool differ(const json_t *a, const json_t *b, struct mech_path *p, int depth);

/* Whether a member is /objects/3/active: `p` is where its object stands. */
static bool is_activity(const struct mech_path *p, int depth, const char *key)
{
    return depth == 2 && strcmp(key, "active") == 0 && strncmp(p->text, "/objects/", 9) == 0;
}

/* A member of a that b does not have. */
static bool lacks(const json_t *a, const json_t *b, struct mech_path *p, int depth)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)a, key, value)
    {
        if (json_object_get(b, key) == NULL && !is_activity(p, depth, key)) {
            (void)mech_path_push(p, key);
            return true;
        }
    }
    return false;
}

static bool differ_members(const json_t *a, const json_t *b, struct mech_path *p, int depth)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)a, key, value)
    {
        if (is_activity(p, depth, key)) {
            continue;
        }
        const json_t *const other = json_object_get(b, key);
        const size_t mark = mech_path_push(p, key);
        if (other == NULL || differ(value, other, p, depth + 1)) {
            return true;
        }
        mech_path_cut(p, mark);
    }
    return lacks(b, a, p, depth);
}

/* Where two documents differ first, if they do. */
static bool differ(const json_t *a, const json_t *b, struct mech_path *p, int depth)
{
    if (json_typeof(a) != json_typeof(b)) {
        return true;
    }
    if (json_is_object(a)) {
        return differ_members(a, b, p, depth);
    }
    if (!json_is_array(a)) {
        return !json_equal(a, b);
    }
    const size_t n = json_array_size(a), m = json_array_size(b);
    for (size_t k = 0; k < n && k < m; k++) {
        const size_t mark = mech_path_push_index(p, k);
        if (differ(json_array_get(a, k), json_array_get(b, k), p, depth + 1)) {
            return true;
        }
        mech_path_cut(p, mark);
    }
    return n != m;
}

/* A document as this program prints it, as a tree; NULL: refused. */
static json_t *printed(struct mechd_call *c, const struct mech_document *d)
{
    struct mechp_text text;
    struct mechp_json_fault fault;
    json_t *tree = NULL;
    mechp_text_init(&text, NULL, 0);
    mechp_bind_write(d, &text);
    if (text.failed || mechp_json_parse(text.bytes, text.length, NULL, &fault, &tree) != 0) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory to compare the models");
    }
    mechp_text_fini(&text);
    return tree;
}

/* The document of the bytes; NULL: refused. */
static struct mech_document *read_document(struct mechd_call *c, const struct mechd_container *in)
{
    struct mechp_json_fault fault;
    struct mech_document *document = NULL;
    struct mech_diag diag;
    json_t *tree = NULL;
    if (mechp_json_parse(in->model, in->model_size, NULL, &fault, &tree) != 0) {
        const bool starved = fault.code == MECHP_OUT_OF_MEMORY;
        mechd_fail(c, starved ? fault.code : MECHP_SNAPSHOT_MISMATCH, "the snapshot's model: %s",
                   fault.text);
        return NULL;
    }
    mech_diag_init(&diag);
    const int outcome = mechp_bind_read(tree, "", &diag, &document);
    if (outcome < 0) {
        mechd_fail_outcome(c, outcome);
    } else if (outcome > 0) {
        mechd_fail(c, MECHP_SNAPSHOT_MISMATCH, "the snapshot's model, %.80s: %.120s",
                   diag.count > 0 ? diag.entries[0].path : "",
                   diag.count > 0 ? diag.entries[0].text : "it is invalid");
    }
    mech_diag_fini(&diag);
    json_decref(tree);
    return outcome == 0 ? document : NULL;
}

bool mechd_documents_differ(const json_t *a, const json_t *b, struct mech_path *p)
{
    return differ(a, b, p, 0);
}

/* Whether the bytes are of the simulation's model; if not, refused. */
static bool same_model(struct mechd_call *c, const struct mech_sim *sim,
                       const struct mechd_container *in)
{
    const struct mech_document *const mine = mech_sim_document(sim);
    struct mech_document *const theirs = read_document(c, in);
    json_t *const a = theirs != NULL ? printed(c, mine) : NULL;
    json_t *const b = a != NULL ? printed(c, theirs) : NULL;
    struct mech_path path = {.length = 0};
    const bool same = b != NULL && !differ(a, b, &path, 0);
    if (b != NULL && !same) {
        mechd_fail(c, MECHP_SNAPSHOT_MISMATCH,
                   "the snapshot is of another model: they differ at %s", path.text);
    }
    json_decref(a);
    json_decref(b);
    mech_document_destroy(theirs);
    return same;
}

bool mechd_read_snapshot(struct mechd_call *c, const struct mech_sim *sim, const void *bytes,
                         size_t size, struct mechd_container *out)
{
    if (mechd_container_read(bytes, size, out) != 0) {
        mechd_fail(c, MECHP_SNAPSHOT_MISMATCH, "the bytes are not a snapshot, or are damaged");
        return false;
    }
    return same_model(c, sim, out);
}

bool mechd_adopt_snapshot(struct mechd_call *c, struct mechd_instance *i,
                          const struct mechd_container *in, bool *reproducible)
{
    const int outcome = mech_sim_snapshot_adopt(i->sim, in->state, in->state_size, reproducible);
    if (outcome == MECH_MISMATCH) {
        mechd_fail(c, MECHP_SNAPSHOT_MISMATCH, "the snapshot's state does not fit its model");
    } else if (outcome != 0) {
        mechd_fail_reason(c, outcome, mechd_engine_refusal(&i->engine));
    }
    return outcome == 0;
}

bool mechd_put_snapshot(struct mechd_call *c, const void *bytes, size_t size, bool *reproducible)
{
    struct mechd_instance *const i = c->job.instance;
    struct mechd_container parts;
    if (!mechd_read_snapshot(c, i->sim, bytes, size, &parts) ||
        !mechd_adopt_snapshot(c, i, &parts, reproducible)) {
        return false;
    }
    i->base = 0;
    mechd_instance_changed(i, MECHP_REWOUND);
    return true;
}

bool mechd_put_snapshot_text(struct mechd_call *c, const char *text, bool *reproducible)
{
    size_t size = 0;
    unsigned char *const bytes = mechd_base64_decode(text, strlen(text), &size);
    if (bytes == NULL) {
        mech_diag_add(&c->diag, "/snapshot", "not base64");
        return false;
    }
    const bool put = mechd_put_snapshot(c, bytes, size, reproducible);
    free(bytes);
    return put;
}
