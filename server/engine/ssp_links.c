/* From connections to links: each connector has at most one that drives it, which is followed back
 * to an output, or to a connector of a system that nothing drives and that may have a value.
 * Start and end of a connection do not say where its signal goes: the kinds of both connectors do
 * (SSP, section 5.3.4.2.1). */
#include "server/engine/ssp_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- connections ------------------------------------------------------------------------------ */

/* One end of a connection. */
struct end {
    uint32_t node;
    enum mechd_ssp_port port; /* as the part of the connection says */
    bool outer;               /* of the system itself, seen from within */
    bool component;           /* of a component */
};

static enum mechd_ssp_port reference_port(const struct mechd_ssp_tree *t,
                                          const struct mechd_ssp_part *p, const char *name)
{
    const struct mechd_ssp_node *const n = mechd_ssp_find(t, p, name);
    return n != NULL ? n->port : MECHD_SSP_OTHER;
}

/* The part of the system by its name; NULL: there is none. */
static const struct mechd_ssp_part *part_of(struct mechd_ssp_tree *t,
                                            const struct mechd_ssp_part *system, const char *name)
{
    for (uint32_t k = system->first;
         k < system->first + system->count && mechd_ssp_works(t, system->xml); k++) {
        const struct mechd_ssp_part *const p = mechd_ssp_part(t, k);
        if (p->kind != MECHD_SSP_DICTIONARY && strcmp(p->name, name) == 0) {
            return p;
        }
    }
    return NULL;
}

static bool find_end(struct mechd_ssp_tree *t, const struct mechd_ssp_part *system,
                     const struct mechd_ssp_element *e, const char *const attributes[2],
                     struct end *out)
{
    const char *const element = mechd_ssp_attribute(e, attributes[0], NULL), *connector = NULL;
    if (!mechd_ssp_required(e, attributes[1], t->diag, &connector)) {
        return false;
    }
    const struct mechd_ssp_part *p = element != NULL ? part_of(t, system, element) : system;
    if (p == NULL) {
        mechd_ssp_fault(t->diag, e, "%s: the system has no element %.100s", attributes[0], element);
        return false;
    }
    *out = (struct end){.outer = element == NULL, .component = p->kind == MECHD_SSP_COMPONENT};
    const struct mechd_ssp_node *n = mechd_ssp_find(t, p, connector);
    out->port = n != NULL ? n->port : MECHD_SSP_OTHER;
    if (n != NULL && p->kind == MECHD_SSP_REFERENCE && p->dictionary >= 0) {
        // all references to an entry are one signal
        const struct mechd_ssp_node *const own = n;
        n = mechd_ssp_find(t, mechd_ssp_part(t, (size_t)p->dictionary), connector);
        out->port = reference_port(t, p, connector);
        if (n != NULL && own->unit.name[0] != '\0' && n->unit.name[0] != '\0' &&
            strcmp(own->unit.name, n->unit.name) != 0) {
            mechd_ssp_fault(t->diag, own->xml, "%.64s is in %.32s, in its dictionary in %.32s",
                            connector, own->unit.name, n->unit.name);
            return false;
        }
    }
    if (n == NULL) {
        mechd_ssp_fault(t->diag, e, "%s: %.64s has no connector %.100s", attributes[1],
                        element != NULL ? element : "the system", connector);
        return false;
    }
    out->node = (uint32_t)(n - mechd_ssp_node(t, 0));
    return true;
}

/* Whether a signal can come from there, and go there. */
static bool gives(const struct end *e)
{
    return e->port == MECHD_SSP_INOUT ||
           (e->outer ? e->port == MECHD_SSP_INPUT || e->port == MECHD_SSP_PARAMETER
                     : e->port == MECHD_SSP_OUTPUT || e->port == MECHD_SSP_CALCULATED);
}

static bool takes(const struct end *e)
{
    return e->port == MECHD_SSP_INOUT ||
           (e->outer ? e->port == MECHD_SSP_OUTPUT || e->port == MECHD_SSP_CALCULATED
                     : e->port == MECHD_SSP_INPUT || e->port == MECHD_SSP_PARAMETER);
}

bool mechd_ssp_linear(struct mechd_ssp_tree *t, const struct mechd_ssp_element *e, double *factor,
                      double *offset)
{
    *factor = 1.;
    *offset = 0.;
    for (const struct mechd_ssp_element *c = e->first; c != NULL && mechd_ssp_works(t, c);
         c = c->next) {
        const size_t length = strlen(c->name);
        static const char tail[] = "Transformation";
        if (c->space != MECHD_SSP_SSC || length < sizeof tail ||
            strcmp(c->name + length - (sizeof tail - 1), tail) != 0) {
            continue;
        }
        if (strcmp(c->name, "LinearTransformation") != 0) {
            mechd_ssp_fault(t->diag, c, "%.64s is not supported: only linear transformations are",
                            c->name);
            return false;
        }
        return mechd_ssp_number(c, "factor", t->diag, factor) &&
               mechd_ssp_number(c, "offset", t->diag, offset);
    }
    return true;
}

static void connect_one(struct mechd_ssp_tree *t, const struct mechd_ssp_part *system,
                        const struct mechd_ssp_element *e)
{
    static const char *const attributes[2][2] = {{"startElement", "startConnector"},
                                                 {"endElement", "endConnector"}};
    struct end ends[2];
    double factor = 1., offset = 0.;
    bool plain = false;
    const bool first = find_end(t, system, e, attributes[0], &ends[0]);
    const bool second = find_end(t, system, e, attributes[1], &ends[1]);
    if (!first || !second || !mechd_ssp_bool(e, "suppressUnitConversion", t->diag, &plain) ||
        !mechd_ssp_linear(t, e, &factor, &offset)) {
        return;
    }
    const bool forward = gives(&ends[0]) && takes(&ends[1]);
    if (!forward && !(gives(&ends[1]) && takes(&ends[0]))) {
        mechd_ssp_fault(t->diag, e,
                        "the kinds of %.64s and %.64s cannot be connected: one must give a signal "
                        "and the other one take it",
                        mechd_ssp_attribute(e, "startConnector", ""),
                        mechd_ssp_attribute(e, "endConnector", ""));
        return;
    }
    const struct end *const from = &ends[forward ? 0 : 1], *const to = &ends[forward ? 1 : 0];
    struct mechd_ssp_node *const driven = mechd_ssp_node(t, to->node);
    if (driven->edge != MECHD_SSP_NO_EDGE) {
        mechd_ssp_fault(t->diag, e, "%.100s is driven by two connections", driven->name);
        return;
    }
    struct mechd_ssp_edge *const edge =
        mechd_ssp_add(t, &t->edges, sizeof *edge, MECHD_SSP_EDGES_MOST, e);
    if (edge != NULL) {
        driven->edge = (int32_t)t->edges.count - 1;
        *edge = (struct mechd_ssp_edge){.from = from->node,
                                        .to = to->node,
                                        .plain = plain,
                                        .factor = factor,
                                        .offset = offset,
                                        .xml = e};
    }
}

void mechd_ssp_connect(struct mechd_ssp_tree *t)
{
    for (uint32_t k = 0; k < t->parts.count; k++) {
        const struct mechd_ssp_part *const p = mechd_ssp_part(t, k);
        const struct mechd_ssp_element *const all =
            p->kind == MECHD_SSP_SYSTEM ? mechd_ssp_child(p->xml, MECHD_SSP_SSD, "Connections")
                                        : NULL;
        for (const struct mechd_ssp_element *e = mechd_ssp_child(all, MECHD_SSP_SSD, "Connection");
             e != NULL && t->outcome == 0; e = mechd_ssp_sibling(e)) {
            connect_one(t, p, e);
        }
    }
}

/* --- signals ---------------------------------------------------------------------------------- */

/* value behind the edge = *factor · value + *offset, and its unit. False: a fault. */
static bool pass(struct mechd_ssp_tree *t, const struct mechd_ssp_edge *e,
                 struct mechd_ssp_unit *unit, double *factor, double *offset)
{
    const struct mechd_ssp_node *const to = mechd_ssp_node(t, e->to);
    const bool known = to->unit.name[0] != '\0';
    double by = 1., more = 0.;
    const char *const reason = e->plain ? NULL : mechd_ssp_convert(unit, &to->unit, &by, &more);
    if (reason != NULL) {
        mechd_ssp_fault(t->diag, e->xml, "%.64s is in %.32s, %.64s in %.32s: %s",
                        mechd_ssp_node(t, e->from)->name, unit->name, to->name, to->unit.name,
                        reason);
        return false;
    }
    // the linear transformation comes behind the conversion
    *factor = e->factor * (by * *factor);
    *offset = e->factor * (by * *offset + more) + e->offset;
    const enum mechd_fmu_quantity quantity = unit->quantity;
    *unit = known || e->plain ? to->unit : *unit;
    unit->quantity = to->unit.quantity != MECHD_FMU_QUANTITY_OPEN ? to->unit.quantity : quantity;
    return true;
}

/* The connections that lead to a node, the last one first, into path [THROUGH_MOST]. Their number;
 * 0 with a fault where they go round or through too many. */
static size_t trace(struct mechd_ssp_tree *t, const struct mechd_ssp_node *n,
                    const struct mechd_ssp_edge **path)
{
    size_t count = 0;
    for (int32_t at = n->edge; at != MECHD_SSP_NO_EDGE;
         at = mechd_ssp_node(t, path[count - 1]->from)->edge) {
        if (count == MECHD_SSP_THROUGH_MOST) {
            mechd_ssp_fault(
                t->diag, n->xml,
                "%.100s: its signal forms a loop, or passes through more than %d connectors",
                n->name, (int)MECHD_SSP_THROUGH_MOST);
            return 0;
        }
        path[count++] = mechd_ssp_edge(t, (size_t)at);
    }
    return count;
}

/* The length of the path from the first connector on the way of the signal that has a value; the
 * whole one where none has: connectors without values pass on nothing. */
static size_t from_value(const struct mechd_ssp_tree *t, const struct mechd_ssp_edge **path,
                         size_t length)
{
    size_t count = length;
    while (count > 0 && mechd_ssp_node(t, path[count - 1]->from)->values == NULL) {
        count--;
    }
    return count > 0 ? count : length;
}

/* A connector of a system that has a value, or nothing, drives the node. */
static void give_value(struct mechd_ssp_tree *t, const struct mechd_ssp_node *from,
                       const struct mechd_ssp_node *to, double factor, double offset)
{
    if (from->values == NULL) {
        return;
    }
    double *const values = mechd_ssp_alloc(t, from->count, sizeof *values);
    for (size_t k = 0; values != NULL && k < from->count; k++) {
        values[k] = factor * from->values[k] + offset;
        if (!isfinite(values[k])) {
            mechd_ssp_fault(t->diag, to->xml, "%.100s: its value is beyond the range of numbers",
                            to->name);
            return;
        }
    }
    if (values != NULL) {
        mechd_ssp_start(t, mechd_ssp_part(t, to->part), to->variable, values, from->count, to->xml);
    }
}

/* What drives a connector of a component. */
static void follow(struct mechd_ssp_tree *t, const struct mechd_ssp_node *n)
{
    const struct mechd_ssp_edge *path[MECHD_SSP_THROUGH_MOST];
    const size_t length = trace(t, n, path);
    if (length == 0) {
        return;
    }
    const struct mechd_ssp_part *const p = mechd_ssp_part(t, n->part);
    const struct mechd_ssp_part *const q =
        mechd_ssp_part(t, mechd_ssp_node(t, path[length - 1]->from)->part);
    const bool component = q->kind == MECHD_SSP_COMPONENT;
    const size_t count = component ? length : from_value(t, path, length);
    const struct mechd_ssp_node *const from = mechd_ssp_node(t, path[count - 1]->from);
    struct mechd_ssp_unit unit = from->values != NULL ? from->given : from->unit;
    double factor = component ? from->by : 1., offset = component ? from->more : 0.;
    for (size_t k = count; k > 0; k--) {
        if (!pass(t, path[k - 1], &unit, &factor, &offset)) {
            return;
        }
    }
    factor *= n->by;
    offset = n->by * offset + n->more;
    if (!isfinite(factor) || !isfinite(offset)) {
        mechd_ssp_fault(t->diag, n->xml, "%.100s: its factor is beyond the range of numbers",
                        n->name);
        return;
    }
    if (!component) {
        give_value(t, from, n, factor, offset);
        return;
    }
    if (n->port != MECHD_SSP_INPUT || from->port != MECHD_SSP_OUTPUT) {
        mechd_ssp_fault(t->diag, path[0]->xml,
                        "%.64s of %.64s follows %.64s: only inputs follow outputs", n->name,
                        p->path, from->name);
        return;
    }
    struct mechd_ssp_link *const link =
        mechd_ssp_add(t, &t->links, sizeof *link, MECHD_SSP_EDGES_MOST, n->xml);
    if (link != NULL) {
        *link = (struct mechd_ssp_link){.from = q->component,
                                        .to = p->component,
                                        .output = from->name,
                                        .input = n->name,
                                        .factor = factor,
                                        .offset = offset};
    }
}

void mechd_ssp_follow(struct mechd_ssp_tree *t)
{
    // parts of one level stand together, and components in their order
    for (uint32_t k = 0; k < t->nodes.count && t->outcome == 0; k++) {
        const struct mechd_ssp_node *const n = mechd_ssp_node(t, k);
        if (mechd_ssp_part(t, n->part)->kind == MECHD_SSP_COMPONENT) {
            follow(t, n);
        }
    }
}
