/* One component of an FMU: a simulation of the model in its resources, behind both versions of FMI
 * (fmi2.c, fmi3.c). What simulates is an engine (engine.h): the solver, or an instance of a server.
 * What a call may not do it refuses with a message, and nothing has changed.
 *
 * Inputs: until one is set, the model's own value acts. A value that is set holds, extrapolated by
 * the derivatives that are set after it; setting the value again ends these. Parameters that are
 * set before the end of the initialization shape the initial state, later ones the model alone.
 *
 * owner: the importer, one thread at a time; components share nothing.
 */
#pragma once

#include "protocol/fmi/fmi3.h"
#include "protocol/fmi/layout.h"
#include "protocol/fmi/settings.h"

struct mechfmu;
struct mechfmu_engine;
struct mech_diag;

enum { MECHFMU_TEXT = 512 };

/* What the library exports, and texts with formats of the C standard. */
#ifdef _WIN32
#define MECHFMU_EXPORT __declspec(dllexport)
#define MECHFMU_PRINTF(format_at, from) __attribute__((format(gnu_printf, format_at, from)))
#else
#define MECHFMU_EXPORT __attribute__((visibility("default")))
#define MECHFMU_PRINTF(format_at, from) __attribute__((format(printf, format_at, from)))
#endif

/* Statuses have the same numbers in both versions. The message is text. */
struct mechfmu_log {
    void (*write)(const struct mechfmu *m, enum mechp_fmi3_status status, const char *category,
                  const char *text);
    char importer[sizeof(void (*)(void))]; /* what the version's file calls the importer by */
    void *environment;
    bool on;             /* of all categories at the beginning */
    unsigned categories; /* that are written: bit 1 << status; that of OK is for events */
};

/* A channel of inputs of the model: its values among the packed ones. */
struct mechfmu_channel {
    int32_t offset, size;
};

struct mechfmu {
    enum mechp_fmi_version version;
    unsigned state;    /* a bit of enum mechp_fmi2_state or mechp_fmi3_state */
    unsigned starting; /* bits of the states in which parameters shape the initial state */
    unsigned reached;  /* bits of all states in which a component can be at rest */
    unsigned broken;   /* bit of the state in which a component is lost until reset or restored */
    uint64_t model;    /* hash of the token */
    char *name;        /* the importer's, copied */
    struct mechfmu_log log;
    struct mechfmu_engine *engine;
    struct mechp_fmi_layout layout;
    char *settings[MECHP_FMI_SETTINGS]; /* malloc'd, of engines that have them; or NULL */
    /* what the importer has set; one block, which states copy */
    size_t inputs, packed, parameters; /* channels, values, parameters */
    struct mechfmu_channel *channels;  /* [inputs] */
    double *given;                     /* [held_size] the arrays below, one behind the other */
    double *is_set;                    /* [inputs] 1: set */
    double *since;     /* [inputs] s: when the value held, from which derivatives count */
    double *value;     /* [packed] */
    double *rate;      /* [2 × packed] by channel: first, then second derivatives */
    double *parameter; /* [parameters] */
    double *before;    /* [held_size] what is restored where a call is refused */
    size_t measured;   /* values of all outputs */
    double *outputs;   /* [measured] scratch */
    int32_t *touched;  /* [inputs] scratch: channels that a call sets */
    double start;      /* s: steps are counted from there */
    double stop;       /* s, or infinity */
    bool event_mode, early_return;
    mechp_fmi3_intermediate *update; /* 3.0: the importer's, within a step; NULL: none */
    uint32_t *watched; /* [watched_count] the variables that it reads and sets there */
    size_t watched_count;
    uint64_t events; /* of the last step */
};

/* resources: a folder, with or without a separator at its end. 0 and *out; else a message through
 * the log, *out is NULL: no such file, no such model, another token, no memory. */
int mechfmu_create(enum mechp_fmi_version version, const char *name, const char *token,
                   const char *resources, const struct mechfmu_log *log, struct mechfmu **out);
void mechfmu_destroy(struct mechfmu *m);

/* A message, if the importer wants it. Returns the status, of which the category follows. */
enum mechp_fmi3_status mechfmu_say(const struct mechfmu *m, enum mechp_fmi3_status status,
                                   const char *format, ...) MECHFMU_PRINTF(3, 4);
/* Whether the state is one of these; a message if not. NULL is in no state. */
bool mechfmu_may(const struct mechfmu *m, unsigned states, const char *function);

/* Values in given[]. */
size_t mechfmu_held(const struct mechfmu *m);
/* The time that has been reached, s. */
double mechfmu_time(const struct mechfmu *m);
/* The h by which times near t are compared (base/times.h), where steps have the size h. s */
double mechfmu_scale(const struct mechfmu *m, double t, double h);
/* Whether these categories are written from now on, others as before; n 0: all. OK; ERROR: there is
 * no such category. */
enum mechp_fmi3_status mechfmu_choose(struct mechfmu *m, bool on, size_t n,
                                      const char *const categories[]);

/* Settings of engines that have them, which are texts. A token reads as "". OK; ERROR: there is no
 * such variable, the state sets none, no memory. */
enum mechp_fmi3_status mechfmu_get_texts(struct mechfmu *m, const uint32_t vr[], size_t n,
                                         const char *values[]);
enum mechp_fmi3_status mechfmu_set_texts(struct mechfmu *m, const uint32_t vr[], size_t n,
                                         const char *const values[]);

/* values [n_values]: those of all variables in order. OK; ERROR: no such variables. */
enum mechp_fmi3_status mechfmu_get(struct mechfmu *m, const uint32_t vr[], size_t n,
                                   double values[], size_t n_values);
/* OK; DISCARD: values with which there is no model or that are not finite; ERROR: variables that
 * cannot be set. */
enum mechp_fmi3_status mechfmu_set(struct mechfmu *m, const uint32_t vr[], size_t n,
                                   const double values[], size_t n_values);
/* All inputs that are set hold from the component's time on, which another state has brought. OK;
 * ERROR. */
enum mechp_fmi3_status mechfmu_hold(struct mechfmu *m);
/* The derivative of order 1 or 2 of scalar inputs (2.0, which discards values and steps alone, no
 * derivatives: 2.1.3). OK; ERROR. */
enum mechp_fmi3_status mechfmu_set_rates(struct mechfmu *m, const uint32_t vr[], size_t n,
                                         const int orders[], const double values[]);
/* First time derivatives of outputs, values [n_values] as in mechfmu_get. OK; DISCARD (ERROR in
 * 2.0): there is none here; ERROR. */
enum mechp_fmi3_status mechfmu_output_rates(struct mechfmu *m, const uint32_t vr[], size_t n,
                                            const int32_t orders[], double values[],
                                            size_t n_values);

/* The initial state at that time, s. OK; ERROR. */
enum mechp_fmi3_status mechfmu_start(struct mechfmu *m, double start, bool has_stop, double stop);
/* The initialization begins: from here on there are values. OK; ERROR. */
enum mechp_fmi3_status mechfmu_enter(struct mechfmu *m);
enum mechp_fmi3_status mechfmu_reset(struct mechfmu *m);
/* From `time`, which is the component's, by `size`, s; *early: ended before. OK; DISCARD: the
 * model cannot do this step, ERROR: no such step; then nothing has changed. */
enum mechp_fmi3_status mechfmu_step(struct mechfmu *m, double time, double size, bool *early);

/* --- intermediate update: updates.c ----------------------------------------------------------- */

/* Register the importer's function and variables, which are copied; without variables it is not
 * called. OK; ERROR: one of them cannot be read or set there. */
enum mechp_fmi3_status mechfmu_watch(struct mechfmu *m, mechp_fmi3_intermediate *update,
                                     const uint32_t vr[], size_t n);
/* False, with a message: within an update these are not all among the importer's. */
bool mechfmu_may_use(const struct mechfmu *m, const uint32_t vr[], size_t n);
/* A step of that size, s, in pieces, with an update behind each. */
enum mechp_fmi3_status mechfmu_step_updating(struct mechfmu *m, double size, bool *early);

/* Derivatives of outputs by continuous inputs at one time. */
struct mechfmu_slope {
    const uint32_t *unknowns, *knowns;
    size_t n_unknowns, n_knowns;
    const double *seed;
    size_t n_seed;
    double *out;
    size_t n_out;
    bool adjoint;
};
/* OK; DISCARD (ERROR in 2.0): there is none here; ERROR. */
enum mechp_fmi3_status mechfmu_slope(struct mechfmu *m, const struct mechfmu_slope *q);

/* --- states: saved.c -------------------------------------------------------------------------- */

/* A state as one block of memory, which belongs to this component's model; that of another one is
 * refused. *state not NULL: its memory is used again. OK; ERROR. */
enum mechp_fmi3_status mechfmu_save(struct mechfmu *m, void **state);
enum mechp_fmi3_status mechfmu_restore(struct mechfmu *m, const void *state);
void mechfmu_forget(void **state);
/* As bytes, for another process: [*size]. OK; ERROR. */
enum mechp_fmi3_status mechfmu_bytes_size(struct mechfmu *m, const void *state, size_t *size);
enum mechp_fmi3_status mechfmu_to_bytes(struct mechfmu *m, const void *state, void *bytes,
                                        size_t size);
/* A new state in *state, whatever that was; ERROR: not the bytes of a state of this model. */
enum mechp_fmi3_status mechfmu_from_bytes(struct mechfmu *m, const void *bytes, size_t size,
                                          void **state);
