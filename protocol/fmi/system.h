/* Documents of a system structure package: FMUs, what connects them, and values of their inputs and
 * parameters. The same system gives the same bytes.
 *
 *   SystemStructure.ssd         mechp_system_description
 *   resources/parameters.ssv    mechp_system_values
 *   resources/….fmu             one for all components of one model
 *
 * Values, factors and offsets are in the units of the variables of the FMUs, which the documents do
 * not repeat; conversions of units are suppressed, so that a signal is exactly factor · output +
 * offset. The standard does not describe scheme and windows: an annotation has them.
 * Source: System Structure and Parameterization 1.0.1, sections 5 and 6. */
#pragma once

#include "protocol/wire/text.h"

#include <stdint.h>

#define MECHP_SYSTEM_DESCRIPTION "SystemStructure.ssd"
#define MECHP_SYSTEM_VALUES "resources/parameters.ssv"

enum mechp_system_port { MECHP_SYSTEM_INPUT, MECHP_SYSTEM_OUTPUT, MECHP_SYSTEM_PARAMETER };
enum mechp_system_type { MECHP_SYSTEM_REAL, MECHP_SYSTEM_INTEGER, MECHP_SYSTEM_BOOLEAN };

/* A variable of a component. */
struct mechp_system_connector {
    const char *name;
    enum mechp_system_port port;
    enum mechp_system_type type;
    bool has_value; /* an input or a parameter: its start value is written */
    double value;
};

struct mechp_system_component {
    const char *name;
    const char *source;                              /* path of its FMU in the package */
    const struct mechp_system_connector *connectors; /* [connector_count] */
    size_t connector_count;
};

/* input = factor · output + offset. */
struct mechp_system_connection {
    size_t from, to; /* components */
    const char *output, *input;
    double factor, offset;
};

struct mechp_system {
    const char *name;
    const char *settings; /* JSON text of scheme and windows */
    double start_time;    /* s */
    const struct mechp_system_component *components;
    size_t component_count;
    const struct mechp_system_connection *connections;
    size_t connection_count;
};

/* Append a document. w->failed: no memory. */
void mechp_system_description(const struct mechp_system *s, struct mechp_text *w);
void mechp_system_values(const struct mechp_system *s, struct mechp_text *w);
