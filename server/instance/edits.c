/* Edits of the model of a stored instance: what they have replaced is retained until the edited
 * model is stored, so that they are undone with all else that could not be stored. */
#include "protocol/bind/bind.h"
#include "server/instance/durable.h"
#include "server/instance/instance.h"

#include <stdlib.h>

/* owner: the instance's owner */
struct mechd_edit {
    struct mechd_edit *next; /* the one before it */
    struct mechp_edited *before;
    uint64_t revision; /* of the instance with it */
    uint64_t model;    /* bytes of the stored model that count without it */
};

static void destroy(struct mechd_edit *x)
{
    while (x != NULL) {
        struct mechd_edit *const next = x->next;
        mechp_edited_destroy(x->before);
        free(x);
        x = next;
    }
}

void mechd_durable_drop_edits(struct mechd_durable *d)
{
    destroy(d->edits);
    d->edits = NULL;
}

/* Forget those that are stored. */
static void drop_stored(struct mechd_durable *d)
{
    const uint64_t stored = atomic_load(&d->modelled);
    struct mechd_edit **at = &d->edits;
    while (*at != NULL && (*at)->revision > stored) {
        at = &(*at)->next;
    }
    destroy(*at);
    *at = NULL;
}

/* Whether an edit that goes into the same record undoes this one too. */
static bool is_covered(const struct mechd_durable *d, const struct mechp_edited *newer)
{
    bool covered = false;
    for (const struct mechd_edit *x = d->edits; x != NULL && x->revision >= d->remodels;
         x = x->next) {
        covered = covered || mechp_edited_covers(x->before, newer);
    }
    return covered;
}

int mechd_durable_edit(struct mechd_instance *i, const struct mechp_edit_query *query,
                       struct mech_diag *diag)
{
    struct mechd_durable *const d = &i->durable;
    if (d->key == 0) {
        return mechp_bind_edit(i->sim, query, diag, NULL);
    }
    drop_stored(d);
    struct mechd_edit *const x = malloc(sizeof *x);
    const int code = x != NULL ? mechp_bind_edit(i->sim, query, diag, &x->before) : MECH_NO_MEMORY;
    if (code != 0) {
        free(x);
        return code;
    }
    x->revision = atomic_load(&i->revision) + 1;
    x->model = d->model;
    x->next = NULL;
    if (!d->remodelled) {
        d->remodels = x->revision;
        d->remodelled = true;
    }
    if (is_covered(d, x->before)) {
        destroy(x);
    } else {
        x->next = d->edits;
        d->edits = x;
    }
    return 0;
}

void mechd_durable_undo_edits(struct mechd_instance *i, uint64_t revision)
{
    struct mechd_durable *const d = &i->durable;
    while (d->edits != NULL && d->edits->revision > revision) {
        struct mechd_edit *const x = d->edits;
        mechp_bind_edit_undo(i->sim, x->before);
        d->model = x->model;
        d->edits = x->next;
        x->next = NULL;
        destroy(x);
    }
}
