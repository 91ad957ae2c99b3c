/* Data of a coupling read from a request, before it is created. Internal to this module. owner: one
 * request. */
#pragma once

#include "protocol/wire/row.h"
#include "server/coupling/coupling.h"

/* A value of a participant, by its variable and component. */
struct mechd_end {
    int32_t part, index, component;
};

/* One value that goes from an output to an input; of a bond: from its flow, into its effort. */
struct mechd_link {
    struct mechd_end from, to;
    double factor, offset;
};

struct mechd_reading {
    struct mechd_call *c;
    struct mechd_coupling *g;
    struct mechd_link *links; /* [count] */
    int32_t count;
    struct mech_couple_bond *bonds; /* [bond_count]; ends by `bond_links` */
    struct mechd_link *bond_links;  /* [2 × bond_count] */
    int32_t bond_count;
    char (*bond_names)[MECH_NAME_MAX + 1];
    int32_t *turns;        /* [parts] options.order */
    size_t outside_values; /* inputs and outputs of its partners */
    struct mech_couple_options options;
};

/* A fault of the request. */
void mechd_reading_fault(const struct mechd_reading *r, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A number of an object; the preset where it is absent, and with a fault if it is not a number. */
double mechd_reading_number(const struct mechd_reading *r, const json_t *object, const char *key,
                            const char *path, double preset);

/* Connections and bonds of the request, and the values of each participant that they need, as the
 * owner of the instances (links.c). */
void mechd_read_connections(struct mechd_reading *r);
void mechd_read_bonds(struct mechd_reading *r);
/* False: no memory. */
bool mechd_make_ports(struct mechd_reading *r);
/* Index of a value among those of its participant. */
int32_t mechd_port_place(const struct mechd_coupling_port *ports, int32_t count,
                         const struct mechd_end *e);
