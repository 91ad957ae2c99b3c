/* A structure and the descriptions of its FMUs: connectors become variables, whose kinds and units
 * are then known; then values, then signals. */
#include "server/engine/ssp_tree.h"

#include <stdlib.h>
#include <string.h>

static int by_variable_name(const void *a, const void *b)
{
    return strcmp((*(const struct mechd_fmu_variable *const *)a)->name,
                  (*(const struct mechd_fmu_variable *const *)b)->name);
}

static void sort_variables(struct mechd_ssp_tree *t)
{
    t->sorted = mechd_ssp_alloc(t, t->sources.count, sizeof *t->sorted);
    for (size_t k = 0; t->sorted != NULL && k < t->sources.count; k++) {
        const struct mechd_fmu_description *const d = t->fmus[k];
        const struct mechd_fmu_variable **const all =
            mechd_ssp_alloc(t, d->variable_count, sizeof *all);
        for (size_t n = 0; all != NULL && n < d->variable_count; n++) {
            all[n] = &d->variables[n];
        }
        if (all != NULL && d->variable_count > 1) {
            qsort(all, d->variable_count, sizeof *all, by_variable_name);
        }
        t->sorted[k] = all;
    }
}

const struct mechd_fmu_variable *
mechd_ssp_variable(const struct mechd_ssp_tree *t, const struct mechd_ssp_part *p, const char *name)
{
    const struct mechd_fmu_variable key = {.name = name}, *const at = &key;
    const uint32_t source = t->s->components[p->component].source;
    const size_t count = t->fmus[source]->variable_count;
    const struct mechd_fmu_variable **const found =
        count > 0 ? bsearch(&at, t->sorted[source], count, sizeof *found, by_variable_name) : NULL;
    return found != NULL ? *found : NULL;
}

/* What is between the unit of a connector and that of its variable. */
static void find_unit(struct mechd_ssp_tree *t, const struct mechd_ssp_part *p,
                      struct mechd_ssp_node *n)
{
    const struct mechd_ssp_unit own =
        mechd_ssp_unit_of(t->fmus[t->s->components[p->component].source], n->variable);
    if (n->unit.name[0] == '\0') {
        n->unit = own;
    }
    n->unit.quantity = own.quantity;
    const bool leaves = n->port == MECHD_SSP_OUTPUT || n->port == MECHD_SSP_CALCULATED;
    const char *const reason =
        mechd_ssp_convert(leaves ? &own : &n->unit, leaves ? &n->unit : &own, &n->by, &n->more);
    if (reason != NULL) {
        mechd_ssp_fault(t->diag, n->xml, "%.64s of %.64s is in %.32s, in its FMU in %.32s: %s",
                        n->name, p->path, n->unit.name, own.name, reason);
    }
}

/* Connectors of components are variables of their FMUs, of the same kind. */
static void find_variables(struct mechd_ssp_tree *t)
{
    static const enum mechd_ssp_port ports[] = {[MECHD_FMU_LOCAL] = MECHD_SSP_OTHER,
                                                [MECHD_FMU_INPUT] = MECHD_SSP_INPUT,
                                                [MECHD_FMU_OUTPUT] = MECHD_SSP_OUTPUT,
                                                [MECHD_FMU_PARAMETER] = MECHD_SSP_PARAMETER,
                                                [MECHD_FMU_CALCULATED_PARAMETER] =
                                                    MECHD_SSP_CALCULATED,
                                                [MECHD_FMU_STRUCTURAL_PARAMETER] = MECHD_SSP_OTHER,
                                                [MECHD_FMU_INDEPENDENT] = MECHD_SSP_OTHER};
    for (size_t k = 0; k < t->nodes.count; k++) {
        struct mechd_ssp_node *const n = mechd_ssp_node(t, k);
        const struct mechd_ssp_part *const p = mechd_ssp_part(t, n->part);
        if (p->kind != MECHD_SSP_COMPONENT) {
            continue;
        }
        n->variable = mechd_ssp_variable(t, p, n->name);
        if (n->variable == NULL) {
            mechd_ssp_fault(t->diag, n->xml, "the FMU of %.64s has no variable %.100s", p->path,
                            n->name);
        } else if (ports[n->variable->causality] != n->port) {
            mechd_ssp_fault(t->diag, n->xml,
                            "connector %.100s of %.64s has another causality in its FMU", n->name,
                            p->path);
        } else {
            find_unit(t, p, n);
        }
    }
}

/* Connectors of systems and entries of dictionaries on the way to a difference are differences. */
static void pass_differences_back(struct mechd_ssp_tree *t)
{
    for (size_t k = 0; k < t->nodes.count; k++) {
        const struct mechd_ssp_node *const n = mechd_ssp_node(t, k);
        int32_t at = n->variable != NULL && n->unit.quantity == MECHD_FMU_RELATIVE
                         ? n->edge
                         : MECHD_SSP_NO_EDGE;
        for (int through = 0; at != MECHD_SSP_NO_EDGE && through < MECHD_SSP_THROUGH_MOST &&
                              mechd_ssp_works(t, n->xml);
             through++) {
            struct mechd_ssp_node *const from =
                mechd_ssp_node(t, mechd_ssp_edge(t, (size_t)at)->from);
            if (from->variable == NULL) {
                from->unit.quantity = MECHD_FMU_RELATIVE;
            }
            at = from->edge;
        }
    }
}

int mechd_ssp_join(struct mechd_ssp *s, const struct mechd_fmu_description *const *fmus,
                   struct mech_diag *diag)
{
    struct mechd_ssp_tree *const t = s->tree;
    t->diag = diag;
    t->fmus = fmus;
    sort_variables(t);
    if (t->outcome == 0) {
        find_variables(t);
        pass_differences_back(t);
    }
    if (mechd_ssp_good(t)) {
        mechd_ssp_bind(t);
    }
    if (mechd_ssp_good(t)) {
        mechd_ssp_follow(t);
        mechd_ssp_settle_starts(t);
    }
    s->links = t->links.items;
    s->link_count = t->links.count;
    s->starts = t->starts.items;
    s->start_count = t->starts.count;
    return mechd_ssp_outcome(t);
}
