/* Data of a coupling read from a document, before it is created: that of a request, or of a point
 * of a sweep. Internal to this module. owner: one thread. */
#pragma once

#include "protocol/wire/bodies_coupling.h"
#include "server/coupling/coupling.h"
#include "solver/base/guess.h"
#include "solver/couple/scheme.h"

/* A value of a participant, by its variable and component. */
struct mechd_end {
    int32_t part, index, component;
};

/* One value that goes from an output to an input; of a bond: from its flow, into its effort. */
struct mechd_connection {
    struct mechd_end from, to;
    double factor, offset;
};

struct mechd_reading;

/* What an item of the participants has. */
struct mechd_listed {
    const char *name;      /* NULL: it has none, nor the id of an instance */
    const char *of;        /* that id, or NULL */
    const json_t *outside; /* the object of a program outside, or NULL */
};

/* Where the instances of participants come from. */
struct mechd_source {
    const struct mechp_shape *shape; /* of an item of the participants */
    const char *wants;               /* the fault of an item that does not say which */
    /* The members of an item. False: it does not say which instance. */
    bool (*read)(const struct mechp_json_in *in, struct mechd_listed *out);
    /* Its instance, into p->instance, a reference. Faults go to the reading, at `path`. */
    void (*find)(struct mechd_reading *r, struct mechd_part *p, const struct mechd_listed *item,
                 const char *path);
    void *of;
};

struct mechd_reading {
    const json_t *document;
    struct mechp_body_couple_request in;      /* its members, parts of the tree */
    struct mechp_body_coupling_scheme scheme; /* those of its scheme */
    json_t *owned;          /* the document, where it is freed with the reading; or NULL */
    struct mech_diag *diag; /* faults of the document */
    const struct mechd_source *source;
    struct mechd_call *c; /* that asks; NULL: a sweep, which has no partners outside */
    /* what is no fault of the document: OK, or why there is no coupling */
    enum mechp_code code;
    char detail[160];
    struct mechd_coupling *g;
    struct mechd_connection *links; /* [count] */
    int32_t count;
    struct mech_couple_bond *bonds;      /* [bond_count]; ends by `bond_links` */
    struct mechd_connection *bond_links; /* [2 × bond_count] */
    int32_t bond_count;
    char (*bond_names)[MECH_NAME_MAX + 1];
    int32_t *turns;        /* [parts] options.order */
    size_t outside_values; /* inputs and outputs of its partners */
    bool lost;             /* a participant that is listed is not known: its ends are no faults */
    struct mech_couple_options options;
    const struct mech_scheme_type *type; /* options.scheme; NULL: there is none of that name */
};

/* Of what belongs to the request alone: the faults of all kinds have been found together, and
 * nothing has been captured. Freed with the coupling, or when it is connected. */
void mechd_reading_free(struct mechd_reading *r);

/* There is no coupling, for another reason than a fault; the first one is kept, and refuses the
 * call, if there is one. */
void mechd_reading_fail(struct mechd_reading *r, enum mechp_code code, const char *detail);
/* Without faults, and nothing has failed. */
bool mechd_reading_good(const struct mechd_reading *r);
/* A fault of the document. */
void mechd_reading_fault(const struct mechd_reading *r, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Index of the participant of this name, or −1. */
int32_t mechd_reading_part(const struct mechd_reading *r, const char *name);
/* The end of a message about a name that no participant has. */
const char *mechd_reading_hint(const struct mechd_reading *r, struct mech_guess *g,
                               const char *name);
/* A number that was read, or where it is absent, its preset. */
double mechd_reading_or(double given, double preset);
/* A fault at path/key, unless it holds. */
void mechd_reading_must(const struct mechd_reading *r, bool holds, const char *path,
                        const char *key, const char *text);

/* Scheme, hold, waveform and error control of the request, and whether they fit the participants
 * and bonds (scheme.c). */
void mechd_read_scheme(struct mechd_reading *r);
/* Connections and bonds of the request (links.c). Names, sizes and units of variables are const. */
void mechd_read_connections(struct mechd_reading *r);
void mechd_read_bonds(struct mechd_reading *r);
/* Outputs of the request, or those of all participants, into g->shown (shown.c). */
void mechd_read_shown(struct mechd_reading *r);
/* The request that makes this coupling again: what was asked, and the presets of what was not, as
 * JSON text, into g->document (document.c). False: no memory. */
bool mechd_document_make(const struct mechd_reading *r);
/* The values of each participant that they need. False: no memory. */
bool mechd_make_ports(struct mechd_reading *r);
/* The participant and its variable that "left.tip" means (links.c). False: a fault at the path, or
 * at the participant. */
bool mechd_end_find(const struct mechd_reading *r, const char *name, enum mech_causality causality,
                    const char *path, int32_t *part, int32_t *index);
/* Index of a value among those of its participant. */
int32_t mechd_port_place(const struct mechd_coupling_port *ports, int32_t count,
                         const struct mechd_end *e);
