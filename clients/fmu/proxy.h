/* What the files of the engine that is a server's instance share: the model's channels as the
 * resources describe them, the connection, and what is known of the instance. */
#pragma once

#include "clients/fmu/engine.h"
#include "clients/fmu/lane.h"
#include "clients/fmu/proxy_daemon.h"

enum { MECHFMU_ID = 72, MECHFMU_MESSAGES = 4, MECHFMU_LEASE = 20 };

/* A channel of the model: an input, an output or a parameter. */
struct mechfmu_named {
    char *name;
    int32_t offset, size; /* of its values among the packed ones */
    bool scalar;          /* written as a number, else as an array */
};

/* owner: the component. */
struct mechfmu_engine {
    char *document; /* [document_size] resources/model.json */
    size_t document_size;
    struct mechfmu_named *inputs, *outputs, *parameters;
    size_t n_inputs, n_outputs, n_parameters;

    struct mechfmu_lane lane;
    char id[MECHFMU_ID]; /* of the instance; "": none, the initialization has not begun */
    bool is_own;         /* created here, and deleted at the end */
    /* the number of the lease on an instance that is not, in as many characters as any has; "":
       none. One that was not released may be held for a while: it is renewed then */
    char lease[MECHFMU_LEASE + 1];
    size_t lease_at; /* where the request has it */
    double time;     /* s */
    uint64_t steps;
    double step_size; /* of internal steps, s */
    /* values before there is an instance: of the model's own start */
    double *output_start, *input_start, *parameter_start;
    double *output, *input; /* [packed] present values, if known */
    bool outputs_known, inputs_known;
    struct mechfmu_daemon daemon; /* started for this component, if any */
    char *state; /* [state_size] base64 of the present state, between state_size and write */
    size_t state_size;
};

/* --- proxy_table.c ---------------------------------------------------------------------------- */

/* Both files of the resources: document, channels, m->layout, the sizes and channels of m, its
 * settings. 0; MECH_INVALID: refused; MECH_NO_MEMORY. */
int mechfmu_table_read(struct mechfmu *m, const char *resources, char token[MECHP_FMI_TOKEN]);
void mechfmu_table_fini(struct mechfmu *m);

/* --- proxy_values.c --------------------------------------------------------------------------- */

/* The values of all channels from an object of a reply. False: it has others. */
bool mechfmu_take_values(const struct mechfmu_named *channels, size_t n, struct mechc_json from,
                         double *packed);
/* {"name": value, …} of some channels behind what the request has. */
void mechfmu_put_values(struct mechfmu_lane *l, const struct mechfmu_named *channels,
                        const int32_t *which, size_t n, const double *packed);

/* --- proxy_lease.c ---------------------------------------------------------------------------- */

/* Become the owner of the instance. 0; MECH_INVALID with a message: another client is. */
int mechfmu_lease(struct mechfmu *m);
/* No longer; whether it succeeds is of no interest. */
void mechfmu_release(struct mechfmu_engine *e);
/* The lease, if there is one, behind what the request has. */
void mechfmu_put_lease(struct mechfmu_engine *e);
/* Send the request about the instance. One that is refused because the lease has ended is sent
 * again under another one, with a warning. */
enum mechfmu_outcome mechfmu_send(struct mechfmu *m, struct mechc_json *reply);

/* --- proxy.c ---------------------------------------------------------------------------------- */

/* A request about the instance begins. */
void mechfmu_ask(struct mechfmu *m, const char *op);
/* It is sent. 0; MECH_INVALID: refused by the server, a message of that status; MECH_MISMATCH: the
 * same, of an error whatever the status; MECH_INTERNAL: the server is lost, and the component is in
 * its broken state, with a message. */
int mechfmu_asked(struct mechfmu *m, enum mechp_fmi3_status refused, struct mechc_json *reply);
/* The instance is out of reach: there is none any more. */
void mechfmu_forget_instance(struct mechfmu_engine *e);
/* Time and steps of a reply, if it has them. */
void mechfmu_take_time(struct mechfmu_engine *e, struct mechc_json reply);
/* To the server of the settings. 0, or refused. */
int mechfmu_connect(struct mechfmu *m);
/* The instance that the settings name is the component's, which still needs a lease. False: they
 * name none. */
bool mechfmu_attach(struct mechfmu *m);
/* A request to create an instance has been begun; it becomes the component's. 0, or refused; then
 * e->id is as before. */
int mechfmu_created(struct mechfmu *m, enum mechp_fmi3_status refused);
/* An instance of that id, "": none; whether it succeeds is of no interest. */
void mechfmu_delete(struct mechfmu *m, const char *id);
/* Without an instance, a lease, a connection and a daemon again. */
void mechfmu_drop(struct mechfmu *m);
