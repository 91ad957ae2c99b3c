/* mechctl replay --coupling --on: a coupling once more on another server. Each of its instances is
 * cloned, which takes no lease, the clone's state goes there as bytes with the model, and the
 * document of the coupling couples what is made of these. The scheme begins there anew. */
#include "clients/cli/cli.h"

#include <string.h>

int mechctl_copy_open(struct mechctl_copy *c, struct mechctl *m)
{
    *c = (struct mechctl_copy){.m = m};
    const int code = mechctl_open(m, NULL, &c->from);
    return code == MECHCTL_DONE ? mechctl_open_on(m, &c->to) : code;
}

/* Print what a call of libmechc with this handle has failed by. */
static int result(struct mechctl_copy *c, struct mechc *handle, int outcome)
{
    struct mechc *const mine = c->m->c;
    c->m->c = handle;
    const int code = mechctl_result(c->m, outcome);
    c->m->c = mine;
    return code;
}

/* Also after a signal, which may end this request too. */
static int remove_one(struct mechctl_copy *c, struct mechc *handle,
                      int (*erase)(struct mechc *handle, const char *id), const char *id)
{
    int outcome = erase(handle, id);
    outcome = outcome == MECHC_INTERRUPTED ? erase(handle, id) : outcome;
    return result(c, handle, outcome);
}

/* A member of the reply that is an id. */
static int take_id(struct mechc_json reply, char id[MECHC_ID])
{
    struct mechc_json v;
    const bool good =
        mechc_json_member(reply, "id", &v) && mechc_json_text(v, id, MECHC_ID) < MECHC_ID;
    return good ? MECHCTL_DONE : MECHCTL_FAILED;
}

/* --- instances -------------------------------------------------------------------------------- */

/* The present state of a clone there, as the next of c->ids. */
static int send_state(struct mechctl_copy *c, const char *clone)
{
    struct mechc_reply bytes;
    char sid[MECHC_ID];
    int code = result(c, c->from, mechc_snapshot(c->from, clone, sid));
    if (code == MECHCTL_DONE) {
        code = result(c, c->from, mechc_snapshot_bytes(c->from, clone, sid, &bytes));
    }
    if (code == MECHCTL_DONE) {
        code = result(c, c->to,
                      mechc_create_snapshot(c->to, bytes.body, bytes.size, c->ids[c->count]));
    }
    c->count += code == MECHCTL_DONE;
    return code;
}

static int copy_instance(struct mechctl_copy *c, struct mechc_json participant)
{
    struct mechctl *const m = c->m;
    struct mechc_json instance, reply;
    char id[MECHC_ID], clone[MECHC_ID] = "";
    if (c->count == MECHCTL_COPIED || !mechc_json_member(participant, "instance", &instance) ||
        mechc_json_text(instance, id, sizeof id) >= sizeof id) {
        return MECHCTL_FAILED;
    }
    mechc_bytes_clear(&m->body);
    mechc_bytes_text(&m->body, "{}");
    int code =
        mechctl_send(m, "POST", MECHCTL_PATH("v1", "instances", id, "clone"), &m->body, &reply);
    code = code == MECHCTL_DONE ? take_id(reply, clone) : code;
    code = code == MECHCTL_DONE ? send_state(c, clone) : code;
    if (clone[0] != '\0') {
        const int gone = remove_one(c, c->from, mechc_delete, clone);
        code = code == MECHCTL_DONE ? gone : code;
    }
    return code;
}

/* --- the coupling ----------------------------------------------------------------------------- */

/* The same names with the instances there. */
static void add_participants(const struct mechctl_copy *c, struct mechc_json participants)
{
    struct mechc_bytes *const b = &c->m->body;
    int k = 0;
    mechc_bytes_text(b, "[");
    for (struct mechc_json_walk w = mechc_json_walk(participants); mechc_json_next(&w); k++) {
        struct mechc_json name;
        mechc_bytes_text(b, k > 0 ? ",{" : "{");
        if (mechc_json_member(w.value, "name", &name)) {
            mechc_bytes_text(b, "\"name\":");
            mechc_bytes_add(b, name.at, (size_t)(name.end - name.at));
            mechc_bytes_text(b, ",");
        }
        mechc_bytes_text(b, "\"instance\":");
        mechc_bytes_string(b, c->ids[k]);
        mechc_bytes_text(b, "}");
    }
    mechc_bytes_text(b, "]");
}

static int couple(struct mechctl_copy *c, struct mechc_json document)
{
    struct mechctl *const m = c->m;
    struct mechc_bytes *const b = &m->body;
    struct mechc_json reply;
    mechc_bytes_clear(b);
    mechc_bytes_text(b, "{");
    for (struct mechc_json_walk w = mechc_json_walk(document); mechc_json_next(&w);) {
        mechc_bytes_text(b, b->length > 1 ? "," : "");
        mechc_bytes_add(b, w.key.at, (size_t)(w.key.end - w.key.at));
        mechc_bytes_text(b, ":");
        if (mechc_json_is(w.key, "participants")) {
            add_participants(c, w.value);
        } else {
            mechc_bytes_add(b, w.value.at, (size_t)(w.value.end - w.value.at));
        }
    }
    mechc_bytes_text(b, "}");
    const int code = mechctl_send(m, "POST", MECHCTL_PATH("v1", "couplings"), b, &reply);
    return code == MECHCTL_DONE ? take_id(reply, c->coupling) : code;
}

/* All of it; m->c is c->from. */
static int make(struct mechctl_copy *c, struct mechc_json document)
{
    struct mechc_json participants;
    int code =
        mechc_json_member(document, "participants", &participants) ? MECHCTL_DONE : MECHCTL_FAILED;
    for (struct mechc_json_walk w = mechc_json_walk(participants);
         code == MECHCTL_DONE && mechc_json_next(&w);) {
        const sigset_t before = mechctl_hold_ends();
        code = copy_instance(c, w.value);
        mechctl_release_ends(&before);
    }
    c->m->c = c->to;
    const sigset_t before = mechctl_hold_ends();
    code = code == MECHCTL_DONE ? couple(c, document) : code;
    mechctl_release_ends(&before);
    return code;
}

int mechctl_copy_make(struct mechctl_copy *c, const char *id)
{
    struct mechctl *const m = c->m;
    struct mechc *const mine = m->c;
    const char *const lane = m->lane;
    struct mechc_bytes text = {0}; // of the document, beyond the next request
    struct mechc_json reply, document;
    m->c = c->from;
    m->lane = NULL;
    int code = mechctl_get(m, MECHCTL_PATH("v1", "couplings", id), &reply);
    if (code == MECHCTL_DONE) {
        code = MECHCTL_FAILED;
        if (mechc_json_member(reply, "document", &document)) {
            mechc_bytes_add(&text, document.at, (size_t)(document.end - document.at));
            code = mechc_json_open(text.at, text.length, &document) ? make(c, document) : code;
        }
    }
    m->c = mine;
    m->lane = lane;
    mechc_bytes_fini(&text);
    return code;
}

int mechctl_copy_end(struct mechctl_copy *c)
{
    int code = MECHCTL_DONE;
    if (c->coupling[0] != '\0') {
        code = remove_one(c, c->to, mechc_coupling_delete, c->coupling);
    }
    while (c->count > 0) {
        const int gone = remove_one(c, c->to, mechc_delete, c->ids[--c->count]);
        code = code == MECHCTL_DONE ? gone : code;
    }
    mechc_close(c->to);
    mechc_close(c->from);
    return code;
}
