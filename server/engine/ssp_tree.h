/* The structure of a package between its reading and its joining. Internal to ssp_*.c. */
#pragma once

#include "server/engine/ssp.h"
#include "server/engine/ssp_xml.h"

/* What has connectors. */
enum mechd_ssp_kind {
    MECHD_SSP_SYSTEM,
    MECHD_SSP_COMPONENT,
    MECHD_SSP_REFERENCE, /* to a signal dictionary */
    MECHD_SSP_DICTIONARY
};

enum mechd_ssp_port {
    MECHD_SSP_INPUT,
    MECHD_SSP_OUTPUT,
    MECHD_SSP_INOUT,
    MECHD_SSP_PARAMETER,
    MECHD_SSP_CALCULATED,
    MECHD_SSP_OTHER /* of 2.0: it has a start value, and no connections */
};

enum { MECHD_SSP_NO_EDGE = -1, MECHD_SSP_NO_PART = -1 };

/* A unit: "" where none is said; without a definition its name alone is compared. */
struct mechd_ssp_unit {
    const char *name;
    const struct mechd_fmu_unit *of;  /* or NULL */
    enum mechd_fmu_quantity quantity; /* open: SSP says it of nothing, FMUs of their variables */
};

/* Definitions of a file [count], sorted by name. */
struct mechd_ssp_units {
    const struct mechd_fmu_unit *at;
    size_t count;
};

struct mechd_ssp_part {
    enum mechd_ssp_kind kind;
    const struct mechd_ssp_element *xml;
    const char *name;
    const char *path; /* with the systems around it, but for the outermost: "a.b" */
    int32_t parent;
    uint32_t first, count;      /* of a system: its parts, as listed; then its dictionaries */
    uint32_t first_node, nodes; /* connectors, sorted by name; entries of a dictionary */
    uint32_t component;         /* of a component: its index */
    int32_t dictionary;         /* of a reference: that part */
};

struct mechd_ssp_node {
    const char *name;
    uint32_t part;
    enum mechd_ssp_port port;
    struct mechd_ssp_unit unit;
    int32_t edge; /* that drives it, or NO_EDGE */
    const struct mechd_ssp_element *xml;
    const struct mechd_fmu_variable *variable; /* of a component, once joined */
    /* of a component: what is behind = by · value + more, from connector to variable of inputs and
     * parameters, from variable to connector of outputs, whose units may differ */
    double by, more;
    const double *values; /* [count] of a connector of a system, or NULL */
    size_t count;
    struct mechd_ssp_unit given; /* of those values */
};

struct mechd_ssp_edge {
    uint32_t from, to; /* nodes */
    bool plain;        /* without conversion of units */
    double factor, offset;
    const struct mechd_ssp_element *xml;
};

struct mechd_ssp_file {
    const char *path;
    const struct mechd_ssp_element *root;
    struct mechd_ssp_units units;
};

struct mechd_ssp_tree {
    struct mechd_ssp *s;
    struct mech_diag *diag; /* of the function that is at work */
    const struct mechd_ssp_files *files;
    int outcome;                  /* negative: memory, or the work that it may take */
    struct mechd_ssp_units units; /* of the description */
    struct mech_arena_list parts, nodes, edges, read, components, sources, links, starts;
    const struct mechd_fmu_description *const *fmus;
    const struct mechd_fmu_variable ***sorted; /* [sources] their variables by name */
    uint64_t work;                             /* comparisons of names, numbers read so far */
};

static inline struct mechd_ssp_part *mechd_ssp_part(const struct mechd_ssp_tree *t, size_t k)
{
    return (struct mechd_ssp_part *)t->parts.items + k;
}

static inline struct mechd_ssp_node *mechd_ssp_node(const struct mechd_ssp_tree *t, size_t k)
{
    return (struct mechd_ssp_node *)t->nodes.items + k;
}

static inline struct mechd_ssp_edge *mechd_ssp_edge(const struct mechd_ssp_tree *t, size_t k)
{
    return (struct mechd_ssp_edge *)t->edges.items + k;
}

/* Zeroed place for one more item, or NULL, with a fault at the element. */
void *mechd_ssp_add(struct mechd_ssp_tree *t, struct mech_arena_list *list, size_t size,
                    size_t most, const struct mechd_ssp_element *at);
/* Zeroed memory, or NULL, which is kept as the outcome. */
void *mechd_ssp_alloc(struct mechd_ssp_tree *t, size_t count, size_t size);
char *mechd_ssp_copy(struct mechd_ssp_tree *t, const char *text);
/* 0, MECH_NO_MEMORY or REFUSED. */
int mechd_ssp_outcome(const struct mechd_ssp_tree *t);
/* One more comparison of names, or number that is read. False: there have been too many, which is
 * a fault. */
bool mechd_ssp_works(struct mechd_ssp_tree *t, const struct mechd_ssp_element *at);
/* Goes on: without faults and with memory. */
bool mechd_ssp_good(const struct mechd_ssp_tree *t);

/* The document of the attribute source of an element, or the one that `inside` contains, into *out;
 * a file is read once. `inside` may be NULL. False: a fault. */
bool mechd_ssp_content(struct mechd_ssp_tree *t, const struct mechd_ssp_element *e,
                       const struct mechd_ssp_element *inside, struct mechd_ssp_file *out);
/* Its path in the archive. False: a fault. */
bool mechd_ssp_path(struct mechd_ssp_tree *t, const struct mechd_ssp_element *e, const char **out);

/* The outermost system and all within it (ssp_parts.c). */
void mechd_ssp_read_parts(struct mechd_ssp_tree *t, const struct mechd_ssp_element *system);
/* The connector of that name, or NULL. */
struct mechd_ssp_node *mechd_ssp_find(const struct mechd_ssp_tree *t,
                                      const struct mechd_ssp_part *p, const char *name);
/* The variable of a component's FMU, or NULL. Once joined. */
const struct mechd_fmu_variable *mechd_ssp_variable(const struct mechd_ssp_tree *t,
                                                    const struct mechd_ssp_part *p,
                                                    const char *name);

/* Definitions of units of a root, whose children are of its namespace (ssp_units.c). */
void mechd_ssp_read_units(struct mechd_ssp_tree *t, const struct mechd_ssp_element *root,
                          struct mechd_ssp_units *out);
struct mechd_ssp_unit mechd_ssp_unit(const struct mechd_ssp_units *units, const char *name);
struct mechd_ssp_unit mechd_ssp_unit_of(const struct mechd_fmu_description *d,
                                        const struct mechd_fmu_variable *v);
/* value in `to` = *factor · value in `from` + *offset; exactly 1 and 0 where they are the same, or
 * one is not said. Without offsets where one is a difference. NULL, or the reason why not: they are
 * of two kinds, only their names are known, or the other one is no difference and has an offset. */
const char *mechd_ssp_convert(const struct mechd_ssp_unit *from, const struct mechd_ssp_unit *to,
                              double *factor, double *offset);

/* The element LinearTransformation below e, into *factor and *offset; other transformations are
 * faults (ssp_links.c). */
bool mechd_ssp_linear(struct mechd_ssp_tree *t, const struct mechd_ssp_element *e, double *factor,
                      double *offset);
/* Edges of all systems (ssp_links.c). */
void mechd_ssp_connect(struct mechd_ssp_tree *t);
/* Links, and values of connectors of systems to what they drive (ssp_links.c). */
void mechd_ssp_follow(struct mechd_ssp_tree *t);
/* Bindings of all parts: their files are read; then their values (ssp_starts.c). */
void mechd_ssp_read_bindings(struct mechd_ssp_tree *t);
void mechd_ssp_bind(struct mechd_ssp_tree *t);
/* A start value of a component's variable (ssp_starts.c). The last one of a variable remains. */
void mechd_ssp_start(struct mechd_ssp_tree *t, const struct mechd_ssp_part *p,
                     const struct mechd_fmu_variable *v, const double *values, size_t count,
                     const struct mechd_ssp_element *at);
/* Each variable once, sorted (ssp_starts.c). */
void mechd_ssp_settle_starts(struct mechd_ssp_tree *t);
