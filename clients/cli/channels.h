/* The values of a stream by name, for `mechctl watch`: a channel for each value of the outputs, in
 * the order of the frames. */
#pragma once

#include "clients/cli/cli.h"

enum { MECHCTL_HISTORY = 512 };

struct mechctl_channel {
    char *name, unit[24];         /* "x", "p[2]"; unit "": none, or unknown */
    double past[MECHCTL_HISTORY]; /* the command's: a ring of drawn values */
};

/* owner: the command. */
struct mechctl_channels {
    struct mechctl_channel *at; /* [count] */
    size_t count;
    int width; /* of the longest name */
};

/* Of the instance of that id, or with --coupling of the coupling. MECHCTL_DONE, or printed and *out
 * has nothing. */
int mechctl_channels_read(struct mechctl *m, const char *id, struct mechctl_channels *out);
/* Whether both have the same names and units. */
bool mechctl_channels_same(const struct mechctl_channels *a, const struct mechctl_channels *b);
void mechctl_channels_free(struct mechctl_channels *c);
