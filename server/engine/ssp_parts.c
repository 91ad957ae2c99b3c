/* The parts of a structure, level by level: each system's parts stand together, as they are listed,
 * before those of the next level. */
#include "server/engine/ssp_tree.h"
#include "solver/base/name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- connectors ------------------------------------------------------------------------------- */

static enum mechd_ssp_port port_of(struct mechd_ssp_tree *t, const struct mechd_ssp_element *e)
{
    static const char *const kinds[] = {"input", "output", "inout", "parameter",
                                        "calculatedParameter"};
    static const char *const later[] = {"structuralParameter", "constant", "local"};
    const char *kind = "";
    if (!mechd_ssp_required(e, "kind", t->diag, &kind)) {
        return MECHD_SSP_OTHER;
    }
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(kind, kinds[k]) == 0) {
            return (enum mechd_ssp_port)k;
        }
    }
    bool known = false;
    for (unsigned k = 0; k < sizeof later / sizeof *later; k++) {
        known = known || strcmp(kind, later[k]) == 0;
    }
    if (!known) {
        mechd_ssp_fault(t->diag, e, "kind: \"%.64s\" is not the kind of a connector", kind);
    }
    return MECHD_SSP_OTHER;
}

/* Of the element of its type, if there is one. */
static struct mechd_ssp_unit type_unit(const struct mechd_ssp_element *e,
                                       const struct mechd_ssp_units *units)
{
    const char *name = "";
    for (const struct mechd_ssp_element *c = e->first; c != NULL; c = c->next) {
        name = c->space == MECHD_SSP_SSC ? mechd_ssp_attribute(c, "unit", name) : name;
    }
    return mechd_ssp_unit(units, name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct mechd_ssp_node *)a)->name,
                  ((const struct mechd_ssp_node *)b)->name);
}

/* Children of that name of `list` as nodes of the part, sorted. */
static void add_nodes(struct mechd_ssp_tree *t, uint32_t k, const struct mechd_ssp_element *list,
                      const char *child, const struct mechd_ssp_units *units)
{
    const bool entries = mechd_ssp_part(t, k)->kind == MECHD_SSP_DICTIONARY;
    const size_t from = t->nodes.count;
    for (const struct mechd_ssp_element *e =
             list != NULL ? mechd_ssp_child(list, list->space, child) : NULL;
         e != NULL && t->outcome == 0; e = mechd_ssp_sibling(e)) {
        const char *name = NULL;
        if (!mechd_ssp_required(e, "name", t->diag, &name)) {
            continue;
        }
        struct mechd_ssp_node *const n =
            mechd_ssp_add(t, &t->nodes, sizeof *n, MECHD_SSP_NODES_MOST, e);
        if (n != NULL) {
            *n = (struct mechd_ssp_node){.name = name,
                                         .part = k,
                                         .port = entries ? MECHD_SSP_INOUT : port_of(t, e),
                                         .unit = type_unit(e, units),
                                         .edge = MECHD_SSP_NO_EDGE,
                                         .xml = e};
        }
    }
    const size_t count = t->nodes.count - from;
    if (count > 1) {
        qsort(mechd_ssp_node(t, from), count, sizeof(struct mechd_ssp_node), by_name);
    }
    for (size_t n = from + 1; n < from + count; n++) {
        if (strcmp(mechd_ssp_node(t, n - 1)->name, mechd_ssp_node(t, n)->name) == 0) {
            mechd_ssp_fault(t->diag, mechd_ssp_node(t, n)->xml, "the name %.100s occurs twice",
                            mechd_ssp_node(t, n)->name);
        }
    }
    mechd_ssp_part(t, k)->first_node = (uint32_t)from;
    mechd_ssp_part(t, k)->nodes = (uint32_t)count;
}

struct mechd_ssp_node *mechd_ssp_find(const struct mechd_ssp_tree *t,
                                      const struct mechd_ssp_part *p, const char *name)
{
    const struct mechd_ssp_node key = {.name = name};
    return p->nodes > 0
               ? bsearch(&key, mechd_ssp_node(t, p->first_node), p->nodes, sizeof key, by_name)
               : NULL;
}

/* --- parts ------------------------------------------------------------------------------------ */

/* The name of a component is that of a participant: what those do not have becomes '_'. */
static const char *participant(struct mechd_ssp_tree *t, const struct mechd_ssp_part *p)
{
    const struct mechd_ssp_component *const all = t->components.items;
    char *const name = mechd_ssp_copy(t, p->path);
    if (name == NULL) {
        return NULL;
    }
    for (char *c = name; *c != '\0'; c++) {
        const char one[] = {*c, '\0'};
        *c = mech_name_valid(one) || *c == '.' || *c == '-' ? *c : '_';
    }
    if (!mech_name_valid(name)) {
        mechd_ssp_fault(t->diag, p->xml,
                        "component %.100s: at most %d characters with the systems "
                        "around it",
                        p->path, MECH_NAME_MAX);
        return NULL;
    }
    for (size_t k = 0; k < t->components.count; k++) {
        if (strcmp(all[k].name, name) == 0) {
            mechd_ssp_fault(t->diag, p->xml, "component %.100s: the name %.64s occurs twice",
                            p->path, name);
            return NULL;
        }
    }
    return name;
}

/* Index of the path among the sources. False: a fault. */
static bool add_source(struct mechd_ssp_tree *t, const struct mechd_ssp_element *e, uint32_t *out)
{
    const char *path = NULL;
    if (!mechd_ssp_path(t, e, &path)) {
        return false;
    }
    const char **const all = t->sources.items;
    for (uint32_t k = 0; k < t->sources.count; k++) {
        if (strcmp(all[k], path) == 0) {
            *out = k;
            return true;
        }
    }
    const char **const one =
        mechd_ssp_add(t, &t->sources, sizeof *one, MECHD_SSP_COMPONENTS_MOST, e);
    if (one != NULL) {
        *one = path;
        *out = (uint32_t)t->sources.count - 1;
    }
    return one != NULL;
}

static void read_component(struct mechd_ssp_tree *t, struct mechd_ssp_part *p)
{
    static const char fmu[] = "application/x-fmu-sharedlibrary";
    const char *const type = mechd_ssp_attribute(p->xml, "type", fmu);
    uint32_t source = 0;
    if (strcmp(type, fmu) != 0) {
        mechd_ssp_fault(t->diag, p->xml, "component %.64s: type %.80s: only FMUs are supported",
                        p->path, type);
        return;
    }
    if (strcmp(mechd_ssp_attribute(p->xml, "implementation", "any"), "ModelExchange") == 0) {
        mechd_ssp_fault(t->diag, p->xml,
                        "component %.64s: only FMUs for co-simulation are supported", p->path);
        return;
    }
    const char *const name = participant(t, p);
    if (name == NULL || !add_source(t, p->xml, &source)) {
        return;
    }
    struct mechd_ssp_component *const c =
        mechd_ssp_add(t, &t->components, sizeof *c, MECHD_SSP_COMPONENTS_MOST, p->xml);
    if (c != NULL) {
        p->component = (uint32_t)t->components.count - 1;
        *c = (struct mechd_ssp_component){.name = name, .source = source};
    }
}

/* A part of the system `parent`, or the outermost system. */
static void add_part(struct mechd_ssp_tree *t, enum mechd_ssp_kind kind, int32_t parent,
                     const struct mechd_ssp_element *e)
{
    struct mechd_ssp_part *const p =
        mechd_ssp_add(t, &t->parts, sizeof *p, MECHD_SSP_PARTS_MOST, e);
    if (p == NULL) {
        return;
    }
    const struct mechd_ssp_part *const around =
        parent >= 0 ? mechd_ssp_part(t, (size_t)parent) : NULL;
    *p = (struct mechd_ssp_part){.kind = kind,
                                 .xml = e,
                                 .name = "",
                                 .path = "",
                                 .parent = parent,
                                 .dictionary = MECHD_SSP_NO_PART};
    if (around == NULL || !mechd_ssp_required(e, "name", t->diag, &p->name)) {
        return;
    }
    const size_t before = strlen(around->path), size = before + strlen(p->name) + 2;
    char *const path = mechd_ssp_alloc(t, size, 1);
    if (path != NULL) {
        (void)snprintf(path, size, "%s%s%s", around->path, before > 0 ? "." : "", p->name);
        p->path = path;
    }
    if (kind == MECHD_SSP_COMPONENT && path != NULL) {
        read_component(t, p);
    }
}

static int by_part_name(const void *a, const void *b)
{
    return strcmp((*(const struct mechd_ssp_part *const *)a)->name,
                  (*(const struct mechd_ssp_part *const *)b)->name);
}

/* Names are unique among the parts of a system, and among its dictionaries. */
static void refuse_twins(struct mechd_ssp_tree *t, uint32_t first, uint32_t count)
{
    const struct mechd_ssp_part **const sorted = mechd_ssp_alloc(t, count, sizeof *sorted);
    for (uint32_t k = 0; sorted != NULL && k < count; k++) {
        sorted[k] = mechd_ssp_part(t, first + k);
    }
    if (sorted != NULL && count > 1) {
        qsort(sorted, count, sizeof *sorted, by_part_name);
    }
    for (uint32_t k = 1; sorted != NULL && k < count; k++) {
        const bool both = (sorted[k - 1]->kind == MECHD_SSP_DICTIONARY) ==
                          (sorted[k]->kind == MECHD_SSP_DICTIONARY);
        if (both && strcmp(sorted[k - 1]->name, sorted[k]->name) == 0) {
            mechd_ssp_fault(t->diag, sorted[k]->xml, "the name %.100s occurs twice",
                            sorted[k]->name);
        }
    }
}

/* What is in a system. */
static void read_system(struct mechd_ssp_tree *t, uint32_t k)
{
    const struct mechd_ssp_element *const xml = mechd_ssp_part(t, k)->xml;
    const struct mechd_ssp_element *const elements =
        mechd_ssp_child(xml, MECHD_SSP_SSD, "Elements");
    const struct mechd_ssp_element *const dictionaries =
        mechd_ssp_child(xml, MECHD_SSP_SSD, "SignalDictionaries");
    const uint32_t first = (uint32_t)t->parts.count;
    for (const struct mechd_ssp_element *e = elements != NULL ? elements->first : NULL; e != NULL;
         e = e->next) {
        if (mechd_ssp_is(e, MECHD_SSP_SSD, "Component")) {
            add_part(t, MECHD_SSP_COMPONENT, (int32_t)k, e);
        } else if (mechd_ssp_is(e, MECHD_SSP_SSD, "System")) {
            add_part(t, MECHD_SSP_SYSTEM, (int32_t)k, e);
        } else if (mechd_ssp_is(e, MECHD_SSP_SSD, "SignalDictionaryReference")) {
            add_part(t, MECHD_SSP_REFERENCE, (int32_t)k, e);
        } else {
            mechd_ssp_fault(t->diag, e, "%.64s is not an element of a system", e->name);
        }
    }
    for (const struct mechd_ssp_element *e =
             mechd_ssp_child(dictionaries, MECHD_SSP_SSD, "SignalDictionary");
         e != NULL; e = mechd_ssp_sibling(e)) {
        add_part(t, MECHD_SSP_DICTIONARY, (int32_t)k, e);
    }
    mechd_ssp_part(t, k)->first = first;
    mechd_ssp_part(t, k)->count = (uint32_t)t->parts.count - first;
    refuse_twins(t, first, mechd_ssp_part(t, k)->count);
}

static void read_dictionary(struct mechd_ssp_tree *t, uint32_t k)
{
    const struct mechd_ssp_element *const xml = mechd_ssp_part(t, k)->xml;
    struct mechd_ssp_file file;
    if (!mechd_ssp_content(t, xml, xml, &file)) {
        return;
    }
    if (!mechd_ssp_is(file.root, MECHD_SSP_SSB, "SignalDictionary")) {
        mechd_ssp_fault(t->diag, file.root, "%.64s is not a signal dictionary", file.root->name);
        return;
    }
    add_nodes(t, k, file.root, "DictionaryEntry", &file.units);
}

/* The dictionary of that name in the systems around, the innermost first. */
static void find_dictionary(struct mechd_ssp_tree *t, struct mechd_ssp_part *p)
{
    const char *name = NULL;
    if (!mechd_ssp_required(p->xml, "dictionary", t->diag, &name)) {
        return;
    }
    for (int32_t at = p->parent; at >= 0 && p->dictionary < 0;
         at = mechd_ssp_part(t, (size_t)at)->parent) {
        const struct mechd_ssp_part *const system = mechd_ssp_part(t, (size_t)at);
        for (uint32_t k = system->first;
             k < system->first + system->count && mechd_ssp_works(t, p->xml); k++) {
            const struct mechd_ssp_part *const d = mechd_ssp_part(t, k);
            if (d->kind == MECHD_SSP_DICTIONARY && strcmp(d->name, name) == 0) {
                p->dictionary = (int32_t)k;
            }
        }
    }
    if (p->dictionary < 0) {
        mechd_ssp_fault(t->diag, p->xml, "there is no signal dictionary %.100s", name);
    }
}

/* The list grows meanwhile. */
void mechd_ssp_read_parts(struct mechd_ssp_tree *t, const struct mechd_ssp_element *system)
{
    add_part(t, MECHD_SSP_SYSTEM, MECHD_SSP_NO_PART, system);
    for (uint32_t k = 0; k < t->parts.count && t->outcome == 0; k++) {
        const enum mechd_ssp_kind kind = mechd_ssp_part(t, k)->kind;
        if (kind == MECHD_SSP_DICTIONARY) {
            read_dictionary(t, k);
            continue;
        }
        add_nodes(t, k, mechd_ssp_child(mechd_ssp_part(t, k)->xml, MECHD_SSP_SSD, "Connectors"),
                  "Connector", &t->units);
        if (kind == MECHD_SSP_SYSTEM) {
            read_system(t, k);
        }
    }
    for (uint32_t k = 0; k < t->parts.count && t->outcome == 0; k++) {
        if (mechd_ssp_part(t, k)->kind == MECHD_SSP_REFERENCE) {
            find_dictionary(t, mechd_ssp_part(t, k));
        }
    }
}
