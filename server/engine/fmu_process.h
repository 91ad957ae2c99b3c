/* The daemon's end of a process that hosts an FMU: starts mechd-fmu, asks it, and ends it.
 *
 *     struct mechd_hosted *h = NULL;
 *     MECH_TRY(mechd_hosted_open(&options, &h, fault, sizeof fault));
 *     mechd_pipe_begin(mechd_hosted_question(h), MECHD_FMU_STEP);
 *     mechd_pipe_put_f64(mechd_hosted_question(h), (const double[]){time, size}, 2);
 *     MECH_TRY(mechd_hosted_ask(h, NULL));      … mechd_hosted_answer(h) …
 *
 * What the process does wrong ends that process, and is an outcome with its reason: nothing that it
 * sends is trusted. owner: one thread at a time; the process ends with the thread that has opened
 * it, at the latest. The daemon ignores SIGPIPE. */
#pragma once

#include "server/engine/fmu_description.h"
#include "server/engine/fmu_pipe.h"
#include "server/engine/fmu_verbs.h"

enum mechd_hosted_outcome {
    MECHD_HOSTED_REFUSED = 1, /* the FMU answered that it does not; it is there as before */
    MECHD_HOSTED_GONE,        /* the process has ended, or has been ended: there is no instance */
    MECHD_HOSTED_NOT_STARTED, /* there was no process to begin with */
    MECHD_HOSTED_STOPPED,     /* of a session's step: it has ended early, because it was to stop */
    MECHD_HOSTED_FULL         /* of an instance: there are as many as there may be */
};

struct mechd_hosted_options {
    const char *program; /* path of mechd-fmu */
    const char *folder;  /* absolute: that of the unpacked archive */
    const char *identifier, *token, *name;
    enum mechd_fmi_version version;
    unsigned can;             /* abilities of the description, enum mechd_fmu_can */
    const uint32_t *required; /* [required_count] variables that are set within steps (3.0) */
    size_t required_count;
    uint32_t memory;  /* MiB of address space; 0: no limit */
    uint64_t call_ms; /* the most that an answer may take; 0: no limit */
    bool logging;
    /* a message of the FMU, which has a status of FMI; or NULL */
    void (*log)(void *context, int status, const char *category, const char *message);
    void *log_context;
};

struct mechd_hosted;

/* A process with one instance of the FMU. 0, MECH_NO_MEMORY or an outcome, with its reason in fault
 * [size]. */
int mechd_hosted_open(const struct mechd_hosted_options *options, struct mechd_hosted **out,
                      char *fault, size_t size);
void mechd_hosted_close(struct mechd_hosted *h);

/* The message to be asked, begun with a verb; the answer to the last one. */
struct mechd_pipe_message *mechd_hosted_question(struct mechd_hosted *h);
struct mechd_pipe_message *mechd_hosted_answer(struct mechd_hosted *h);

/* Whether a question is to end before its answer. */
struct mechd_hosted_stop {
    bool (*wanted)(void *context); /* asked every few milliseconds whether to stop */
    bool (*urgent)(void *context); /* asked when it is: whether at once; NULL: never */
    void *context;
};

/* Asks and waits. What is to stop ends with its process; but a step of an FMU that returns early
 * when it is asked to (3.0) has a hundredth of call_ms for that, at most 10 s and as long as it is
 * not urgent, and is then answered. stop NULL: it is not to stop. 0; MECH_NO_MEMORY: for the
 * question, which was not sent; or an outcome. No memory for an answer ends the process, as the
 * rest of it cannot be read. */
int mechd_hosted_ask(struct mechd_hosted *h, const struct mechd_hosted_stop *stop);
/* The answer does not have what it should: the process is ended. Returns MECHD_HOSTED_GONE. */
int mechd_hosted_distrust(struct mechd_hosted *h);

/* Why the last outcome was not 0, for people; and the status of FMI of a refusal, 0: none. */
const char *mechd_hosted_reason(const struct mechd_hosted *h);
int mechd_hosted_status(const struct mechd_hosted *h);
