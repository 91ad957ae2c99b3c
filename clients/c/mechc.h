/* mechc.h: the C client of mechd. C17 or C++; needs libcurl and libzmq, no solver.
 *
 * A struct mechc is a connection to one daemon: commands over HTTP, lock-step partners and live
 * streams over ZeroMQ. One thread uses a handle at a time, a second one gets MECHC_IN_USE; two
 * handles share no state. Partners and streams belong to the handle that opened them: use them
 * in the same thread and close them before it. After a fork both processes may use a handle, each
 * over its own connections; partners and streams work only in the process that opened them: calls
 * in another one return MECHC_BAD_ARGUMENT, and it closes them and opens its own.
 *
 *   struct mechc *c;
 *   char id[MECHC_ID];
 *   struct mechc_report r;
 *   if (mechc_open("http://127.0.0.1:8080", &c) == MECHC_OK) {
 *       if (mechc_create_example(c, "spring-mass-damper", id) != MECHC_OK ||
 *           mechc_step(c, id, 0.01, &r) != MECHC_OK) {
 *           fprintf(stderr, "%s\n", mechc_last_error(c)->text);
 *       }
 *       mechc_close(c);
 *   }
 *
 * Every function that can fail returns enum mechc_result; the error is in
 * mechc_last_error() until the next call. Names are returned in UTF-8, numbers are float64 in SI
 * units. Strings that go into a path (ids, names) are percent-encoded here.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MECHC_API __attribute__((visibility("default")))
#else
#define MECHC_API
#endif

enum {
    MECHC_ID = 72,   /* bytes for an id of an instance, snapshot or run, zero included */
    MECHC_PATH = 640 /* bytes for a path, zero included */
};

enum mechc_result {
    MECHC_NO_MEMORY = -1,
    MECHC_OK = 0,
    MECHC_REFUSED = 1,      /* the daemon answered with an error: code, status, faults */
    MECHC_UNREACHABLE = 2,  /* no connection to the daemon, or it broke */
    MECHC_TIMEOUT = 3,      /* no answer (no frame) before the deadline */
    MECHC_BAD_REPLY = 4,    /* this version does not understand the answer */
    MECHC_BAD_ARGUMENT = 5, /* refused here, nothing was sent */
    MECHC_INTERRUPTED = 6,  /* mechc_interrupt() has ended the wait */
    MECHC_IN_USE = 7, /* another thread is in a call with this handle: each thread opens its own;
                         mechc_last_error() is that thread's */
    MECHC_FAILED = 8  /* a function of a program (mechc_serve) has failed */
};

/* One fault that the daemon reports: a JSON pointer into the request, and the reason. */
struct mechc_fault {
    const char *pointer;
    const char *message;
};

/* The last failure of a handle. Strings live until the next call with that handle; never NULL. */
struct mechc_error {
    int result;       /* enum mechc_result */
    int status;       /* HTTP status, 0 if none */
    const char *code; /* "invalid-model", … as in problem+json and the list of codes; or "" */
    const char *text; /* a sentence for people */
    const struct mechc_fault *faults; /* [fault_count] */
    size_t fault_count;
};

struct mechc;

/* --- connection ------------------------------------------------------------------------------- */

MECHC_API const char *mechc_version(void);

/* `base`: "http://host:port", "https://…" or "unix:/path/to/socket"; NULL: the environment's
 * MECHD_SERVER, else http://127.0.0.1:8080. Nothing is sent yet. On failure *out is NULL, or a
 * handle that only carries the error (close it). */
MECHC_API int mechc_open(const char *base, struct mechc **out);
MECHC_API void mechc_close(struct mechc *c);

/* ZeroMQ endpoints ("tcp://host:port"), and the lane ("unix:PATH" or "tcp://host:port"). Those that
 * are not set are requested with GET /v1 at their first use. */
enum mechc_socket { MECHC_CONTROL, MECHC_STREAM, MECHC_FORCES, MECHC_LANE };
MECHC_API int mechc_set_endpoint(struct mechc *c, enum mechc_socket which, const char *endpoint);

/* Bearer token of the requests and of partners, visible characters of ASCII; the end of a line
 * behind it is cut off. NULL: none. At first the environment's MECHD_TOKEN. */
MECHC_API int mechc_set_token(struct mechc *c, const char *token);

/* The lease sent with every request, and used by partners; 0: none. Initially the environment's
 * MECHD_LEASE. */
MECHC_API int mechc_set_lease(struct mechc *c, uint64_t lease);

/* The next step with this handle, of an instance, of a coupling or of a partner (a trial too), is
 * refused with the code "time-mismatch" unless it begins at this time, s; NaN: at any, as before.
 * For that one step only: a program that has lost an answer finds out whether its step was done. */
MECHC_API int mechc_expect_time(struct mechc *c, double time);

/* PEM file with the authorities that the server's certificate is checked against (https://…);
 * NULL: those of the system. At first the environment's MECHD_CA. */
MECHC_API int mechc_set_ca(struct mechc *c, const char *file);

/* CURVE, where ZeroMQ's sockets require it. The server's public key, 64 hexadecimal digits or 40
 * characters of Z85: at first the environment's MECHD_SERVER_KEY; without it (NULL) the server
 * reports its key over HTTP, which is as trustworthy as that connection. The file with the client's
 * own pair (a line `secret KEY`), as `mechd --make-curve-key` prints it: at first
 * MECHD_CLIENT_KEY. */
MECHC_API int mechc_set_server_key(struct mechc *c, const char *key);
MECHC_API int mechc_set_key_file(struct mechc *c, const char *path);

/* Longest wait for an answer, s; 30 at first. When the wait for a request ends early, the server
 * cancels and undoes its work (or ends the process of a hosted FMU that cannot save its state),
 * unless that has been done; the error's text states which, and what it made. */
MECHC_API int mechc_set_timeout(struct mechc *c, double seconds);

/* End the wait for an answer over HTTP, from a signal's handler or another thread: the request in
 * progress, or else the next one, is MECHC_INTERRUPTED within a second, and its work on the
 * server ends as after a timeout. mechc_serve ends likewise, between two requests. */
MECHC_API void mechc_interrupt(struct mechc *c);

MECHC_API const char *mechc_base(const struct mechc *c);
MECHC_API const struct mechc_error *mechc_last_error(const struct mechc *c);

/* --- any route -------------------------------------------------------------------------------- */

struct mechc_request {
    const char *method; /* "GET", … */
    const char *path;   /* "/v1/instances?limit=10", already percent-encoded */
    const void *body;   /* [size] or NULL */
    size_t size;
    const char *type; /* media type of the body; NULL: application/json */
};

struct mechc_reply {
    int status;
    const char *body; /* [size], and a zero after it; valid until the next call with the handle */
    size_t size;
};

/* A path from names closed by NULL, each percent-encoded: {"v1", "types", "Mass1D", NULL} gives
 * "/v1/types/Mass1D". */
MECHC_API int mechc_path(struct mechc *c, const char *const *names, char out[MECHC_PATH]);

/* One request, one answer. A status of 400 and above is MECHC_REFUSED (the reply is filled too). */
MECHC_API int mechc_call(struct mechc *c, const struct mechc_request *r, struct mechc_reply *out);

/* The same operations over the server's lane: a message is JSON as over ZeroMQ, {"op": "step",
 * "id": "i-1", "size": 0.01}; the handle's token and lease are added. The reply's body is the
 * object of the answer, its status 200, or the problem of a refusal (MECHC_REFUSED). */
MECHC_API int mechc_ask(struct mechc *c, const char *message, struct mechc_reply *out);

/* --- instances -------------------------------------------------------------------------------- */

/* From the JSON text of a model, the name of an example, or the bytes of a snapshot; `id` gets the
 * new instance's id. */
MECHC_API int mechc_create(struct mechc *c, const char *model, char id[MECHC_ID]);
MECHC_API int mechc_create_example(struct mechc *c, const char *example, char id[MECHC_ID]);
MECHC_API int mechc_create_snapshot(struct mechc *c, const void *bytes, size_t size,
                                    char id[MECHC_ID]);

/* The daemon's JSON about all instances, one, its variables. */
MECHC_API int mechc_list(struct mechc *c, struct mechc_reply *out);
MECHC_API int mechc_inspect(struct mechc *c, const char *id, struct mechc_reply *out);
MECHC_API int mechc_variables(struct mechc *c, const char *id, struct mechc_reply *out);

MECHC_API int mechc_delete(struct mechc *c, const char *id);
MECHC_API int mechc_reset(struct mechc *c, const char *id);

/* --- stepping --------------------------------------------------------------------------------- */

struct mechc_report {
    double time;         /* s, after the step */
    uint64_t step;       /* internal steps since the start */
    uint64_t steps;      /* internal steps of this command */
    uint64_t iterations; /* Newton iterations */
    double residual;     /* largest final residual */
    uint64_t contacts;   /* active interaction rows in the last step */
};

/* One communication step of `size` seconds; to the time `until`; `count` internal steps.
 * `report` may be NULL. A step that fails was undone. */
MECHC_API int mechc_step(struct mechc *c, const char *id, double size, struct mechc_report *report);
MECHC_API int mechc_step_until(struct mechc *c, const char *id, double until,
                               struct mechc_report *report);
MECHC_API int mechc_step_count(struct mechc *c, const char *id, uint64_t count,
                               struct mechc_report *report);

/* --- inputs, outputs, state ------------------------------------------------------------------- */

/* Set scalar inputs by name; they hold until they are set again. */
MECHC_API int mechc_set_inputs(struct mechc *c, const char *id, size_t count,
                               const char *const *names, const double *values);

/* Read one output (or input) by name: *count values, of which at most `capacity` are written. */
MECHC_API int mechc_output(struct mechc *c, const char *id, const char *name, double *values,
                           size_t capacity, size_t *count);
MECHC_API int mechc_input(struct mechc *c, const char *id, const char *name, double *values,
                          size_t capacity, size_t *count);

/* Read one part of the state: "time", "q", "v", "a", "lambda", "impulse", "x", "z". */
MECHC_API int mechc_state(struct mechc *c, const char *id, const char *part, double *values,
                          size_t capacity, size_t *count);
/* Set one of "q", "v", "x", "z", or "time" (one value). */
MECHC_API int mechc_set_state(struct mechc *c, const char *id, const char *part,
                              const double *values, size_t count);

/* --- snapshots and runs ----------------------------------------------------------------------- */

MECHC_API int mechc_snapshot(struct mechc *c, const char *id, char snapshot[MECHC_ID]);
MECHC_API int mechc_restore(struct mechc *c, const char *id, const char *snapshot);
MECHC_API int mechc_delete_snapshot(struct mechc *c, const char *id, const char *snapshot);
/* The snapshot as bytes, model included: the argument of mechc_create_snapshot. */
MECHC_API int mechc_snapshot_bytes(struct mechc *c, const char *id, const char *snapshot,
                                   struct mechc_reply *out);

/* Let the daemon step the instance by itself. */
struct mechc_run_settings {
    double pace;   /* simulated seconds per second; 0: as fast as possible */
    double period; /* communication step, s; 0: the daemon's choice */
    double until;  /* end time, s; 0: until it is stopped */
};
MECHC_API int mechc_run(struct mechc *c, const char *id, const struct mechc_run_settings *r,
                        char run[MECHC_ID]);
MECHC_API int mechc_stop(struct mechc *c, const char *id, const char *run);

/* --- couplings: instances that exchange values and step together ------------------------------ */

struct mechc_coupling_report {
    double time;          /* s, after the last window */
    uint64_t window;      /* windows done since the start */
    uint64_t windows;     /* windows of this command */
    uint64_t iterations;  /* evaluations of all participants */
    uint64_t evaluations; /* trial steps of single participants */
    uint64_t refused;     /* windows that were too inaccurate and were repeated smaller */
};

/* From the JSON text that POST /v1/couplings takes; `id` gets the new coupling's id. Values of its
 * participants are those of their instances (mechc_output); "outputs" chooses those that its
 * stream and its runs have. */
MECHC_API int mechc_couple(struct mechc *c, const char *coupling, char id[MECHC_ID]);
/* Windows for `size` seconds, to the time `until`, or `count` of them; `report` may be NULL. A
 * window that fails was undone for all participants; those before it remain. */
MECHC_API int mechc_coupling_step(struct mechc *c, const char *id, double size,
                                  struct mechc_coupling_report *report);
MECHC_API int mechc_coupling_step_until(struct mechc *c, const char *id, double until,
                                        struct mechc_coupling_report *report);
MECHC_API int mechc_coupling_step_count(struct mechc *c, const char *id, uint64_t count,
                                        struct mechc_coupling_report *report);
/* Reset all its instances. */
MECHC_API int mechc_coupling_reset(struct mechc *c, const char *id,
                                   struct mechc_coupling_report *report);
/* The state of it and of all its instances stays on the server, as the snapshot "s-1"; go back to
 * one; drop one. Of the report only `time` and `window` are filled. */
MECHC_API int mechc_coupling_snapshot(struct mechc *c, const char *id, char snapshot[MECHC_ID]);
MECHC_API int mechc_coupling_restore(struct mechc *c, const char *id, const char *snapshot,
                                     struct mechc_coupling_report *report);
MECHC_API int mechc_coupling_delete_snapshot(struct mechc *c, const char *id, const char *snapshot);
/* That state as bytes, models included; and such bytes, which are not those of a reply of this
 * handle, as the state of a coupling of the same participants, here or on another server: it
 * continues with the same bits. Bytes that do not fit are refused, and nothing changes. */
MECHC_API int mechc_coupling_state(struct mechc *c, const char *id, struct mechc_reply *out);
MECHC_API int mechc_coupling_set_state(struct mechc *c, const char *id, const void *bytes,
                                       size_t size, struct mechc_coupling_report *report);
/* The daemon's JSON about it. */
MECHC_API int mechc_coupling_inspect(struct mechc *c, const char *id, struct mechc_reply *out);
/* The coupling ends; its instances remain. */
MECHC_API int mechc_coupling_delete(struct mechc *c, const char *id);

/* Progress of a run. */
struct mechc_run_state {
    char state[16];    /* running, finished, stopped, failed or interrupted */
    double time;       /* s */
    uint64_t periods;  /* done */
    uint64_t overruns; /* periods that were late */
    uint64_t recorded; /* rows, while they are retained */
    char reason[256];  /* of an end before its time, UTF-8; "": there is none */
};
/* Let the daemon step the coupling by itself: a period is a window, or r->period. `record`: JSON
 * text of what it records, "{}": all outputs after each period; NULL: nothing. */
MECHC_API int mechc_coupling_run(struct mechc *c, const char *id,
                                 const struct mechc_run_settings *r, const char *record,
                                 char run[MECHC_ID]);
MECHC_API int mechc_coupling_run_look(struct mechc *c, const char *id, const char *run,
                                      struct mechc_run_state *out);
/* The rows recorded so far, as the daemon's JSON. */
MECHC_API int mechc_coupling_run_results(struct mechc *c, const char *id, const char *run,
                                         struct mechc_reply *out);
MECHC_API int mechc_coupling_stop(struct mechc *c, const char *id, const char *run);

/* --- lock-step partner: binary frames over ZeroMQ or the lane --------------------------------- */

struct mechc_partner;

struct mechc_hello {
    const char *const *inputs; /* [input_count] names; their values go out in this order */
    size_t input_count;
    const char *const *outputs; /* [output_count] names; their values come back in this order */
    size_t output_count;
    int input_order; /* 0 to 2: derivatives that follow the input values */
};

/* Position of an output among the returned values. */
struct mechc_channel {
    const char *name;
    uint32_t offset, count;
};

/* Values sent with a frame and returned by it. */
struct mechc_exchange {
    double size;          /* communication step H, s */
    const double *inputs; /* [input_count], or NULL with 0: inputs stay as they are */
    size_t input_count;
    uint32_t iteration; /* of the coupling, for trials */
    double *outputs;    /* [output_capacity] or NULL */
    size_t output_capacity;
    size_t output_count; /* returned: values that the daemon sent */
    double time;         /* returned, s */
    uint64_t step;       /* returned: internal steps since the start */
};

MECHC_API int mechc_partner_open(struct mechc *c, const char *id, const struct mechc_hello *hello,
                                 struct mechc_partner **out);
/* The same over the server's lane (--lane): less latency, and no library between. */
MECHC_API int mechc_partner_open_lane(struct mechc *c, const char *id,
                                      const struct mechc_hello *hello, struct mechc_partner **out);
/* Channels of the reply's values; the array lives as long as the partner. */
MECHC_API const struct mechc_channel *mechc_partner_layout(const struct mechc_partner *p,
                                                           size_t *count);
/* Step; try a step from the committed state; keep the last trial; set inputs; read outputs. */
MECHC_API int mechc_partner_step(struct mechc_partner *p, struct mechc_exchange *x);
MECHC_API int mechc_partner_trial(struct mechc_partner *p, struct mechc_exchange *x);
MECHC_API int mechc_partner_commit(struct mechc_partner *p, struct mechc_exchange *x);
MECHC_API int mechc_partner_inputs(struct mechc_partner *p, struct mechc_exchange *x);
MECHC_API int mechc_partner_outputs(struct mechc_partner *p, struct mechc_exchange *x);
/* Keep the state on the server, stored where the instance is, as the snapshot "s-NUMBER"; go back
 * to one. */
MECHC_API int mechc_partner_snapshot(struct mechc_partner *p, uint32_t *number);
MECHC_API int mechc_partner_restore(struct mechc_partner *p, uint32_t number);
/* Push inputs through the forces socket, without an answer; they hold from `time` on. */
MECHC_API int mechc_partner_push(struct mechc_partner *p, double time, const double *inputs,
                                 size_t count);
/* Sends goodbye (which releases the lease) and frees. */
MECHC_API void mechc_partner_close(struct mechc_partner *p);

/* --- an external program of a coupling -------------------------------------------------------- */

struct mechc_participant;

/* The place of a program, which a coupling's document declares as {"name": participant, "partner":
 * {…}}. Strings are copied. */
struct mechc_place {
    const char *coupling, *participant;
    enum mechc_socket door; /* MECHC_CONTROL or MECHC_LANE */
    int input_order;        /* 0 to 2, the coupling's hold: derivatives of inputs over a window */
    uint64_t window;        /* of a restarted program: the last window that it has committed */
    int cannot_roll_back;   /* not 0: as "rollback": false in the document */
    double returns;         /* s for which it tries to reconnect after a lost connection; 0: not */
    int gives_jacobian;     /* not 0: the program has the function jacobian */
};

/* A request of the server. The array lives during the call. */
struct mechc_window {
    uint64_t number;      /* from 1 */
    uint32_t iteration;   /* of the trial within the window */
    double time, size;    /* s: its start, and its length (0 for outputs) */
    const double *inputs; /* [input_count], then their derivatives [input_order][input_count] */
};

/* The functions of a program, called in the thread of mechc_serve; they write all of y
 * [output_count]. `commit` may be NULL where cannot_roll_back is set: a trial is the step then.
 * They return 0; or a positive number, the status of the error that the coupling's step reports:
 * the window is undone, the program serves the next request; or a negative one: the same, and
 * mechc_serve returns MECHC_FAILED. A commit that fails undoes nothing: the window is done for the
 * others, the coupling's step fails with commit-owed, and commit is called again before the next
 * request. With cannot_roll_back a window that was given up has been stepped: close the
 * participant, and participate again from the state of the last commit. */
struct mechc_program {
    void *self;
    /* y at `time`, without a step */
    int (*outputs)(void *self, const struct mechc_window *w, double *y);
    /* a step by `size` from the committed state, and y at its end; several times before a commit */
    int (*trial)(void *self, const struct mechc_window *w, double *y);
    /* the last trial becomes the state; one that is sent again is answered without a call */
    int (*commit)(void *self);
    /* why the function that has just failed did so, UTF-8, for the error of the coupling's step and
     * of mechc_serve; read before the next call. NULL, or it returns NULL: no reason is given */
    const char *(*reason)(void *self);
    /* where gives_jacobian is set, after each trial: derivatives of y at its end by the values of
     * w->inputs, [output_count][input_count * (input_order + 1)] by rows, which Newton schemes use
     * instead of difference quotients; returns as the others do */
    int (*jacobian)(void *self, const struct mechc_window *w, double *slopes);
};

/* Take the place. A refusal (no such place, another window or order) is MECHC_REFUSED. */
MECHC_API int mechc_participate(struct mechc *c, const struct mechc_place *place,
                                struct mechc_participant **out);
/* Names of inputs or outputs in the order of their values: [*count], as long as it lives. */
MECHC_API const char *const *mechc_participant_inputs(const struct mechc_participant *p,
                                                      size_t *count);
MECHC_API const char *const *mechc_participant_outputs(const struct mechc_participant *p,
                                                       size_t *count);
/* The last window that was committed, and the time at its end, s (`time` may be NULL): NaN if
 * the program connected while the commit of the next window was owed, until that is requested. */
MECHC_API uint64_t mechc_participant_window(const struct mechc_participant *p, double *time);
/* Answer the server's requests until the coupling ends, or until `windows` windows have been
 * committed (0: no limit). It waits as long as the coupling lasts; mechc_interrupt ends that, and
 * the attempts to reconnect. MECHC_UNREACHABLE: the connection was lost and could not be restored.
 * After MECHC_FAILED, MECHC_INTERRUPTED or MECHC_UNREACHABLE it may be called again: where there is
 * no connection it says hello again. MECHC_BAD_ARGUMENT: a function is missing, or gave a number
 * that is not finite. */
MECHC_API int mechc_serve(struct mechc_participant *p, const struct mechc_program *program,
                          uint64_t windows);
/* Leaves the place and frees; the coupling waits for a program that takes it. */
MECHC_API void mechc_participant_close(struct mechc_participant *p);

/* --- stream: outputs of committed steps ------------------------------------------------------- */

struct mechc_stream;

enum mechc_flags {
    MECHC_REPEAT = 1,     /* the last frame again, for a client that has just subscribed */
    MECHC_REWOUND = 2,    /* time went back before this: a restore, a reset, or MECHC_ANOTHER */
    MECHC_EVENT = 4,      /* the step had an event */
    MECHC_LATE = 8,       /* a stamped force came after its time, and acts from now on */
    MECHC_ANOTHER = 65536 /* with REWOUND, first of another instance under the id */
};

struct mechc_sample {
    const char *id;       /* instance */
    const double *values; /* [count] all outputs, in the order of its variables */
    size_t count;
    double time;       /* s */
    uint64_t step;     /* internal steps since the start */
    uint64_t sequence; /* grows by one per frame of an instance */
    uint64_t lost;     /* frames missing before this one */
    unsigned flags;    /* enum mechc_flags; REWOUND also first after a recreation */
};

/* Subscribe to one instance, before it exists or after: steps from then on are not missed.
 * MECHC_UNREACHABLE: the server has not answered within the handle's timeout. */
MECHC_API int mechc_stream_open(struct mechc *c, const char *id, struct mechc_stream **out);
/* The next frame, waiting at most `seconds`; MECHC_TIMEOUT if there was none. The data of `out` is
 * valid until the next call with the stream. MECHC_UNREACHABLE: the server refuses the client's
 * key, or there has been no connection for the handle's timeout; the stream keeps trying, and so
 * may the caller. */
MECHC_API int mechc_stream_next(struct mechc_stream *s, double seconds, struct mechc_sample *out);
MECHC_API void mechc_stream_close(struct mechc_stream *s);

#ifdef __cplusplus
}
#endif
