/* One process of an FMU in use: begun from start values, stepped, saved and restored.
 *
 *     struct mechd_fmu_session s = {.package = p, .channels = &c, .options = {…}};
 *     MECH_TRY(mechd_fmu_session_begin(&s, inputs, parameters));
 *     MECH_TRY(mechd_fmu_session_step(&s, &span, &reached));
 *     MECH_TRY(mechd_fmu_session_get(&s, MECH_OUTPUT_VARIABLE, outputs));   (fmu_exchange.h)
 *     mechd_fmu_session_end(&s);
 *
 * Each returns 0, MECH_NO_MEMORY or an outcome of fmu_process.h with its words in s->reason:
 * REFUSED, the process is as before but for what the FMU has changed itself; GONE, it has ended.
 * owner: one thread at a time. */
#pragma once

#include "server/engine/fmu_channels.h"
#include "server/engine/fmu_course.h"
#include "server/engine/fmu_package.h"
#include "server/engine/fmu_process.h"
#include "server/engine/fmu_trace.h"
#include "server/engine/fmu_verbs.h"

struct mechd_fmu_session {
    struct mechd_fmu_package *package;         /* the caller's */
    const struct mechd_fmu_channels *channels; /* the caller's */
    struct mechd_hosted_options options;       /* folder, names and version are filled in */
    struct mechd_hosted *hosted;               /* NULL: there is no process */
    bool (*wanted)(void *context);             /* asked in each call whether to stop, or NULL */
    bool (*urgent)(void *context);             /* … and then whether at once, or NULL */
    void *context;
    bool stopped;   /* `wanted` said so in the last call */
    bool eventless; /* with event mode, which its description has, the FMU makes no instance */
    char reason[320];
};

/* A process whose FMU is initialized at its start time, with these values [size] of inputs and
 * parameters. Those that are the description's own are not sent. One that says it has event mode,
 * and makes no instance with it, has one without, in a second process. */
int mechd_fmu_session_begin(struct mechd_fmu_session *s, const double *inputs,
                            const double *parameters);
void mechd_fmu_session_end(struct mechd_fmu_session *s);
/* Time at which the FMU starts, s. */
double mechd_fmu_session_start(const struct mechd_fmu_session *s);

/* For the parts of a session: the question that mechd_hosted_question has is asked; one that is a
 * verb alone is asked; an answer has not what it should, and the process is ended (GONE). */
int mechd_fmu_session_ask(struct mechd_fmu_session *s);
int mechd_fmu_session_ask_verb(struct mechd_fmu_session *s, uint32_t verb);
int mechd_fmu_session_distrust(struct mechd_fmu_session *s);

/* How inputs go over the next step, after which they are forgotten: ones that have slopes, of an
 * FMU that follows them (fmu_follow.h). `needed`: if it then asks for none of them, as one of 3.0
 * may, the step is REFUSED. */
int mechd_fmu_session_courses(struct mechd_fmu_session *s, const struct mechd_fmu_course *at,
                              size_t count, bool needed);
/* Outputs, with room for so many rows, that are read within the next step of an FMU of 3.0: ones
 * that have intermediate update (fmu_trace.h). */
int mechd_fmu_session_trace(struct mechd_fmu_session *s, const struct mechd_fmu_traced *at,
                            size_t count, size_t room);
/* One communication step. out->terminate: the FMU has done it, and asks to end the simulation
 * there; one that asks for that earlier is REFUSED, and so is one that ends elsewhere than it
 * should, or, of a step that may end early, than at an event; and a row of span->trace that is not
 * of the step, or not finite. STOPPED: it was to stop, and has ended early, at out->time. Events
 * have the name of the description's model. */
int mechd_fmu_session_step(struct mechd_fmu_session *s, const struct mechd_fmu_span *span,
                           struct mechd_fmu_reached *out);

/* Why the events of its steps are not known, or, `early`, why its steps cannot end early; NULL:
 * they are, and they can. */
const char *mechd_fmu_session_blind(const struct mechd_fmu_session *s, bool early);

/* True if it can save its state as bytes and restore it. */
bool mechd_fmu_session_saves(const struct mechd_fmu_session *s);
/* Its state: *bytes is malloc'ed anew, *size its size. */
int mechd_fmu_session_save(struct mechd_fmu_session *s, unsigned char **bytes, size_t *size);
int mechd_fmu_session_restore(struct mechd_fmu_session *s, const unsigned char *bytes, size_t size);
