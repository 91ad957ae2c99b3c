/* Couplings from the store, made again as a request would make them. */
#include "server/coupling/keep.h"

#include "protocol/frame/frame.h"
#include "server/call/service.h"
#include "server/coupling/face.h"
#include "server/coupling/outside.h"
#include "server/instance/lives.h"
#include "server/os/log.h"
#include "server/os/ticks.h"
#include "server/store/store.h"
#include "solver/base/err.h"
#include "solver/base/name.h"
#include "solver/base/text.h"

struct loading {
    struct mechd_service *service;
    uint64_t couplings;
    char reason[320]; /* of the last one that could not be made */
};

/* Why the request is refused; an outcome. */
static int refused(struct loading *l, const struct mechd_call *c)
{
    if (c->diag.count > 0) {
        mech_text_format(l->reason, sizeof l->reason, "%.100s: %.160s", c->diag.entries[0].path,
                         c->diag.entries[0].text);
    } else {
        mech_text_format(l->reason, sizeof l->reason, "%s", c->detail);
    }
    return c->code == MECHP_OUT_OF_MEMORY ? MECH_NO_MEMORY : MECH_INVALID;
}

/* The coupling of the document, with the state, into the table. As visit. */
static int make(struct loading *l, struct mechd_call *c, struct mechd_coupling *g,
                const struct mechd_stored_coupling *stored)
{
    struct mechd_coupling_command k = {.coupling = g, .call = c, .kind = MECHD_COUPLING_START};
    if (!mechd_coupling_connect(g, c)) {
        return refused(l, c);
    }
    char reason[160];
    const int read = mechd_keep_read(g, stored->state, stored->state_size, reason);
    if (read != 0) {
        mech_text_format(l->reason, sizeof l->reason, "%s", reason);
        return read < 0 ? read : MECH_MISMATCH;
    }
    if (!mechd_keep_join(&k) || g->keep.mode == MECHD_DURABLE_NONE) {
        mech_text_format(l->reason, sizeof l->reason, "%s",
                         k.code != MECHP_OK ? k.detail : "its participants are not stored");
        return k.code != MECHP_OK ? MECH_NO_MEMORY : MECH_MISMATCH;
    }
    mechd_keep_number(g, stored->number);
    if (mechd_keep_load_snapshots(g, stored->number) != 0 || mechd_keep_load_runs(g) != 0) {
        mech_text_format(l->reason, sizeof l->reason, "its snapshots or runs cannot be read");
        return MECH_INTERNAL;
    }
    g->started = true;
    // its owner alone writes it: nothing runs yet
    atomic_store(&g->face->revision, stored->revision);
    g->face->published.sequence = stored->sequence;
    g->keep.since = stored->sequence;
    const int added = mechd_coupling_restore(l->service->couplings, g, stored->number);
    if (added != 0) {
        mech_text_format(l->reason, sizeof l->reason,
                         added == MECH_INVALID ? "its id is taken"
                                               : "there are too many couplings");
        return added == MECH_INVALID ? added : MECH_NO_MEMORY;
    }
    mechd_lives_continued(g->face);
    mechd_coupling_note_time(g);
    mechd_face_changed(g, MECHP_REWOUND);
    g->keep.dirty = false;
    return 0;
}

static int load_one(void *context, const struct mechd_stored_coupling *stored, const char **reason)
{
    struct loading *const l = context;
    struct mechd_call c;
    struct mechp_json_fault fault;
    mechd_call_init(&c, l->service, MECHD_DOOR_HTTP);
    c.match.route = mechp_route_at(MECHP_ROUTE_COUPLE);
    mech_text_copy(c.who.name, sizeof c.who.name, stored->token);
    *reason = l->reason;
    int outcome = 0;
    if (mechp_json_parse(stored->document, stored->document_size, NULL, &fault, &c.body) != 0) {
        mech_text_format(l->reason, sizeof l->reason, "its document: %.120s", fault.text);
        outcome = fault.code == MECHP_OUT_OF_MEMORY ? MECH_NO_MEMORY : MECH_INVALID;
    }
    struct mechd_coupling *const g = outcome == 0 ? mechd_coupling_open(&c, true) : NULL;
    if (g != NULL) {
        outcome = make(l, &c, g, stored);
        if (outcome != 0) {
            mechd_keep_close(g);
        }
    } else if (outcome == 0) {
        outcome = refused(l, &c);
    }
    mechd_coupling_unref(g);
    mechd_call_fini(&c);
    l->couplings += outcome == 0;
    return outcome;
}

int mechd_couplings_load(struct mechd_service *s)
{
    struct loading l = {.service = s};
    const uint64_t start = mechd_now();
    s->couplings->serial = mechd_store_last(s->host.store, MECHD_NUMBER_COUPLING);
    MECH_TRY(mechd_store_visit_couplings(s->host.store, load_one, &l));
    if (l.couplings > 0) {
        mechd_log(MECHD_INFO, "recovered", "couplings=%llu seconds=%.3f",
                  (unsigned long long)l.couplings, 1e-9 * (double)(mechd_now() - start));
    }
    return 0;
}
