/* What modelDescription.xml says of an FMU for co-simulation, FMI 2.0 and 3.0, in one struct.
 *
 * The text comes from outside: it is read by expat without a document type (so that there are no
 * entities and nothing is loaded), 32 elements deep at most, and with bounds on what it may make.
 * The first fault ends the reading and is an entry of `diag` with its line. What the two versions
 * call differently has one name here: Real is Float64, guid the instantiation token. Elements that
 * are not known (annotations of vendors) are passed over, whatever is in them.
 *
 *     struct mechd_fmu_description d;
 *     MECH_TRY(mechd_fmu_description_read(text, size, &d, &diag));
 *     … d.variables[k].name …
 *     mechd_fmu_description_fini(&d);
 *
 * owner: the holder of the struct; any thread, one at a time.
 * Source: FMI 2.0.5, section 2.2; FMI 3.0.2, section 2.4. */
#pragma once

#include "solver/base/arena.h"
#include "solver/base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mechd_description_outcome {
    MECHD_DESCRIPTION_XML = 1,   /* no well-formed XML */
    MECHD_DESCRIPTION_FORBIDDEN, /* it has a document type */
    MECHD_DESCRIPTION_LIMIT,     /* too large, too deep, too many variables */
    MECHD_DESCRIPTION_VERSION,   /* of a version of FMI other than 2.0 and 3.0 */
    MECHD_DESCRIPTION_KIND,      /* it is not for co-simulation, or needs a tool to be executed */
    MECHD_DESCRIPTION_CONTENT,   /* something in it is missing, or is not what the standard says */
};

enum {
    MECHD_DESCRIPTION_SIZE_MOST = 16 << 20,    /* bytes of the text */
    MECHD_DESCRIPTION_MEMORY_MOST = 128 << 20, /* bytes of what it becomes */
    MECHD_DESCRIPTION_COUNT_MOST = 100000,     /* variables, types, units: of each */
    MECHD_DESCRIPTION_TEXT_MOST = 1 << 20,     /* bytes of a start value; of other texts 4096 */
    MECHD_DESCRIPTION_DIMENSIONS_MOST = 8
};

enum mechd_fmi_version { MECHD_FMI_2 = 2, MECHD_FMI_3 = 3 };

#define MECHD_FMU_TYPE(symbol, name2, name3, low, high) MECHD_FMU_##symbol,
enum mechd_fmu_type {
#include "server/engine/fmu_types.def"
    MECHD_FMU_TYPES
};
#undef MECHD_FMU_TYPE

enum mechd_fmu_causality {
    MECHD_FMU_LOCAL,
    MECHD_FMU_INPUT,
    MECHD_FMU_OUTPUT,
    MECHD_FMU_PARAMETER,
    MECHD_FMU_CALCULATED_PARAMETER,
    MECHD_FMU_STRUCTURAL_PARAMETER,
    MECHD_FMU_INDEPENDENT
};

enum mechd_fmu_variability {
    MECHD_FMU_CONSTANT,
    MECHD_FMU_FIXED,
    MECHD_FMU_TUNABLE,
    MECHD_FMU_DISCRETE,
    MECHD_FMU_CONTINUOUS
};

enum mechd_fmu_initial {
    MECHD_FMU_INITIAL_DEFAULT, /* not said: by causality and variability */
    MECHD_FMU_EXACT,
    MECHD_FMU_APPROX,
    MECHD_FMU_CALCULATED
};

/* Capabilities of co-simulation, bits. */
enum mechd_fmu_can {
    MECHD_FMU_VARIABLE_STEP = 1,
    MECHD_FMU_STATE = 2,           /* get and set a state */
    MECHD_FMU_SERIALIZE = 4,       /* as bytes */
    MECHD_FMU_DIRECTIONAL = 8,     /* derivatives */
    MECHD_FMU_ADJOINT = 16,        /* derivatives */
    MECHD_FMU_ONCE = 32,           /* one instance in a process */
    MECHD_FMU_EVENTS = 64,         /* event mode */
    MECHD_FMU_EARLY_RETURN = 128,  /* may return early */
    MECHD_FMU_INTERMEDIATE = 256,  /* intermediate update */
    MECHD_FMU_INTERPOLATE = 512,   /* 2.0: inputs with derivatives */
    MECHD_FMU_ASYNCHRONOUS = 1024, /* 2.0: DoStep may be pending */
    MECHD_FMU_NEEDS_TOOL = 2048,   /* it runs only in its tool */
    MECHD_FMU_RETURNS = 4096       /* it returns early where intermediate update asks for that */
};

/* Whether a value counts from the zero of its unit, or is a difference of such values, for which
 * the offset of the unit is ignored. */
enum mechd_fmu_quantity { MECHD_FMU_QUANTITY_OPEN, MECHD_FMU_ABSOLUTE, MECHD_FMU_RELATIVE };

enum { MECHD_FMU_NO_VARIABLE = -1 };

/* A dimension of an array (3.0). */
struct mechd_fmu_dimension {
    uint64_t size;    /* if `variable` is MECHD_FMU_NO_VARIABLE */
    int64_t variable; /* index of the structural parameter that has the size */
};

enum mechd_fmu_dependence {
    MECHD_FMU_DEPENDS_ON_ALL, /* not said */
    MECHD_FMU_DEPENDS_ON      /* those listed, perhaps none */
};

struct mechd_fmu_variable {
    const char *name, *description;   /* description: "" if there is none */
    const char *unit;                 /* "": none; of its declared type if it says none itself */
    enum mechd_fmu_quantity quantity; /* relativeQuantity, its own or of its type; never open */
    const char *declared_type;        /* or NULL */
    uint32_t reference;
    int line; /* of the text */
    enum mechd_fmu_type type;
    enum mechd_fmu_causality causality;
    enum mechd_fmu_variability variability;
    enum mechd_fmu_initial initial;
    bool within; /* 3.0: it may be set or read within a step (intermediateUpdate) */
    double minimum, maximum, nominal; /* in `unit`; NaN: not said */
    const char *start_text;           /* as it is written, or NULL */
    double *start; /* [start_count] numbers, and booleans as 0 or 1; NULL: texts, binaries */
    size_t start_count;
    struct mechd_fmu_dimension *dimensions; /* [dimension_count] */
    size_t dimension_count;                 /* 0: a scalar */
    enum mechd_fmu_dependence dependence;   /* of an output */
    uint32_t *dependencies;                 /* [dependency_count] indices of variables */
    size_t dependency_count;
};

/* kg, m, s, A, K, mol, cd, rad: exponents; value in base units = factor · value + offset. */
struct mechd_fmu_unit {
    const char *name;
    bool based; /* the text says what follows; else only the name is known */
    int exponents[8];
    double factor, offset; /* finite, factor not 0 */
};

struct mechd_fmu_description {
    enum mechd_fmi_version version;
    const char *name;          /* of the model */
    const char *identifier;    /* of its binary: binaries/…/IDENTIFIER.so */
    const char *token;         /* instantiation token, 2.0: guid */
    const char *description;   /* or "" */
    const char *tool;          /* that has generated it, or "" */
    unsigned can;              /* enum mechd_fmu_can */
    uint32_t derivative_order; /* of outputs, the highest */
    double fixed_step;         /* internal, s; NaN: not said */
    double start_time, stop_time, tolerance, step_size; /* default experiment; NaN: not said */
    struct mechd_fmu_variable *variables; /* [variable_count] in the order of the text */
    size_t variable_count;
    struct mechd_fmu_unit *units; /* [unit_count] sorted by name */
    size_t unit_count;
    struct mech_arena arena; /* holds all of it */
};

/* The description in text [size]. 0, MECH_NO_MEMORY or an outcome; then `out` is empty. */
int mechd_fmu_description_read(const char *text, size_t size, struct mechd_fmu_description *out,
                               struct mech_diag *diag);
void mechd_fmu_description_fini(struct mechd_fmu_description *d);

/* Name of a type as FMI 3.0 has it. */
const char *mechd_fmu_type_name(enum mechd_fmu_type type);
