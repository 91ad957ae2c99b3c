/* System structure packages (.ssp) that come from outside: FMUs, what connects them, and values of
 * their parameters.
 *
 *     struct mechd_ssp s;
 *     MECH_TRY(mechd_ssp_read(&files, &s, &diag));      which FMUs it needs: s.sources
 *     …                                                 each is opened (fmu_package.h)
 *     MECH_TRY(mechd_ssp_join(&s, descriptions, &diag)); s.links, s.starts
 *     mechd_ssp_fini(&s);
 *
 * Nested systems are flattened: a component "b" of a system "a" is "a.b", and signals through
 * connectors of systems and through signal dictionaries become links from output to input, with the
 * conversions of units and the linear transformations of all connections on their way in one factor
 * and one offset. Values of parameter sets, through their mappings, become start values; those of a
 * system take precedence over those within it, later ones over earlier ones. Values for names that
 * nothing has are passed over, as the standard requires.
 *
 * Refused by name: components that are no FMUs (nested packages among them), sources outside the
 * archive or within an FMU, connections that transform by tables, parameters that follow outputs,
 * texts and enumerations as values. Documents are read as ssp_xml.h says.
 *
 * owner: the holder of the struct; one thread.
 * Source: System Structure and Parameterization 1.0.1; of 2.0 the types of values and kinds of
 * connectors, where they mean the same. */
#pragma once

#include "server/engine/fmu_description.h"

enum { MECHD_SSP_REFUSED = 1 /* the only outcome: faults in diag, each with file and line */ };

enum {
    MECHD_SSP_SIZE_MOST = 16 << 20, /* bytes of a document */
    MECHD_SSP_COMPONENTS_MOST = 64,
    MECHD_SSP_PARTS_MOST = 4096,       /* systems, components, dictionaries, references to them */
    MECHD_SSP_NODES_MOST = 65536,      /* connectors and entries of dictionaries */
    MECHD_SSP_EDGES_MOST = 65536,      /* connections */
    MECHD_SSP_THROUGH_MOST = 256,      /* connectors on the way of one signal */
    MECHD_SSP_FILES_MOST = 256,        /* parameter sets, mappings, dictionaries */
    MECHD_SSP_VALUES_MOST = 1 << 16,   /* start values */
    MECHD_SSP_MEMORY_MOST = 128 << 20, /* bytes of all that is made of it */
};

/* The files of the package. */
struct mechd_ssp_files {
    /* malloc'ed text [size] of a file, at most MECHD_SSP_SIZE_MOST bytes: 0; MECH_NO_MEMORY; or
     * positive, with a fault */
    int (*read)(void *of, const char *path, char **text, size_t *size, struct mech_diag *diag);
    void *of;
};

struct mechd_ssp_component {
    const char *name; /* unique, valid as that of a participant */
    uint32_t source;  /* index of its FMU */
};

/* input = factor · output + offset, in the units that the FMUs use. */
struct mechd_ssp_link {
    uint32_t from, to; /* components */
    const char *output, *input;
    double factor, offset;
};

struct mechd_ssp_start {
    uint32_t component;
    const struct mechd_fmu_variable *variable; /* of its description: an input or a parameter */
    const double *values;                      /* [count] in its unit */
    size_t count;
};

struct mechd_ssp_tree;

struct mechd_ssp {
    const char *name;
    const char *settings; /* what this server has added of the coupling, a text; or NULL */
    const char **sources; /* [source_count] paths of FMUs in the archive, each once */
    size_t source_count;
    struct mechd_ssp_component *components; /* [component_count] level by level, as listed */
    size_t component_count;
    struct mechd_ssp_link *links; /* [link_count] in the order of components and their connectors */
    size_t link_count;
    struct mechd_ssp_start *starts; /* [start_count] each variable once, by components */
    size_t start_count;
    struct mechd_ssp_tree *tree; /* internal (ssp_tree.h) */
    struct mech_arena arena;     /* holds all of it */
};

/* SystemStructure.ssd and the files that it names. 0, MECH_NO_MEMORY or REFUSED; then `out` is
 * empty. `files` is not kept. */
int mechd_ssp_read(const struct mechd_ssp_files *files, struct mechd_ssp *out,
                   struct mech_diag *diag);
/* Links and starts, by the descriptions of the FMUs [source_count], which outlive it. 0,
 * MECH_NO_MEMORY or REFUSED. Once. */
int mechd_ssp_join(struct mechd_ssp *s, const struct mechd_fmu_description *const *fmus,
                   struct mech_diag *diag);
void mechd_ssp_fini(struct mechd_ssp *s);
