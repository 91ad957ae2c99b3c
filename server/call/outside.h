/* Programs outside that take part in couplings and are called by the server.
 *
 * A coupling opens an *outside* for each participant that is a partner (server/coupling/outside.c).
 * The program says hello with {"coupling", "participant"} over ZeroMQ or the lane; from then on
 * the server sends it frames through that connection, and it answers each with a frame of the same
 * kind, step and iteration, its lease, and its outputs:
 *
 *   kind      values that it gets                       what it does
 *   outputs   its inputs at the time t                  reports y(t); no step
 *   trial     inputs at the start of the window, then   steps from its committed state by `size`,
 *             their derivatives by its inputOrder       and keeps that to be committed; where its
 *                                                       hello wants "jacobian", the outputs are
 *                                                       followed by their derivatives by these
 *                                                       values, by rows
 *   commit    none                                      the last trial becomes its state; one that
 *                                                       it has done is answered again
 *
 * `step` is the number of the window, from 1, `iteration` that of the trial within the window, and
 * `sequence` that of the question, which the answer has too.
 *
 *   state     meaning                                       next
 *   IDLE      nothing is asked                              ASKED
 *   ASKED     the answer is awaited, until `due`            ANSWERED, FAULTY, IDLE (abandoned)
 *   ANSWERED  it is there, not read yet                     IDLE
 *   FAULTY    why is in `fault`                             IDLE
 *
 * The connection is a part of its own: while the program is away a question remains asked, and is
 * sent again when it has returned in time. A program returns at the window where it stands: the
 * last committed one, or the one before it if a commit has been lost.
 * A commit cannot fail: the others have done theirs. If it is not answered in time, the window is
 * done and the program owes it: before the next question the commit is asked again, and in front of
 * it the trial if the program has been started again.
 * A program without rollback gets one trial a window: when that was not committed, its later
 * questions fail until it has said hello again, from the window that was committed.
 * No thread waits: the coupling polls, and is woken. shared, locked by m except where noted;
 * reference counted. */
#pragma once

#include "protocol/frame/frame.h"
#include "protocol/wire/codes.h"
#include "protocol/wire/text.h"
#include "server/instance/partners.h"
#include "server/os/stop.h"
#include "solver/base/diag.h"
#include "solver/base/name.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    MECHD_OUTSIDE_VALUES = 4096, /* inputs, and outputs, of a partner */
    MECHD_OUTSIDE_BYTES = 448,   /* of one, about: its name twice, numbers, derivatives, moments */
    MECHD_OUTSIDE_SLOPES = 1 << 18, /* values of a Jacobian */
    MECHD_OUTSIDE_TEXT = 120,       /* bytes of a program's own text that are shown */
    MECHD_OUTSIDE_FAULT = 200,
    MECHD_OUTSIDE_MISSED = 16 /* answers that may be late at a time */
};

/* Where frames to a program go; made by a door. owner: the outside. */
struct mechd_caller {
    /* Send it; any thread, no wait. False: the connection has ended. */
    bool (*send)(struct mechd_caller *c, const struct mechp_frame *frame, const double *values);
    /* The connection has ended. Any thread. */
    bool (*gone)(const struct mechd_caller *c);
    /* Frames to either reach the same program; `d` is of the same door. NULL: there is one caller
     * a connection. */
    bool (*same)(const struct mechd_caller *c, const struct mechd_caller *d);
    void (*destroy)(struct mechd_caller *c);
};

/* The declaration in the coupling's document. */
struct mechd_outside_terms {
    const char *const *inputs; /* [input_count] names, copied */
    const char *const *outputs;
    size_t input_count, output_count;
    bool rollback;
    double patience; /* s */
    int32_t order;   /* of the inputs over a window, by the coupling's hold */
};

enum mechd_outside_state {
    MECHD_OUTSIDE_IDLE,
    MECHD_OUTSIDE_ASKED,
    MECHD_OUTSIDE_ANSWERED,
    MECHD_OUTSIDE_FAULTY
};

/* What is sent next, until the question itself. */
enum mechd_outside_stage {
    MECHD_OUTSIDE_TRIAL_AGAIN,  /* `kept` */
    MECHD_OUTSIDE_COMMIT_AGAIN, /* `commit` */
    MECHD_OUTSIDE_QUESTION      /* `asked` */
};

/* How the table finds one. */
enum mechd_outside_key { MECHD_OUTSIDE_BY_NAME, MECHD_OUTSIDE_BY_LEASE, MECHD_OUTSIDE_KEYS };

/* Its place in a chain of an index. locked by the index. */
struct mechd_outside_link {
    struct mechd_outside *next;
    uint64_t hash;
};

struct mechd_instance;

struct mechd_outside {
    struct mechd_outside_link in[MECHD_OUTSIDE_KEYS];
    _Atomic int refs;

    /* const */
    char coupling[32], name[MECH_NAME_MAX + 1];
    char **inputs, **outputs; /* [input_count], [output_count] */
    size_t input_count, output_count;
    bool rollback;
    double patience; /* s */
    int32_t order;

    pthread_mutex_t m;
    void (*wake)(void *of);       /* an answer, a fault or the program is there; m is not held */
    void *of;                     /* NULL: nothing is to be woken any more */
    struct mechd_instance *pays;  /* for what a hello adds, while it is in the table; or NULL */
    struct mechd_caller *caller;  /* NULL: away */
    bool greeted;                 /* the reply to its hello is on its way: frames may follow */
    struct mechd_pass pass;       /* of its hello: once it is revoked, the connection is over */
    struct mechd_outsides *table; /* in which it is; NULL: in none, hellos do not find it */
    uint64_t lease;               /* of the present connection, 0: none */
    uint64_t window;              /* committed last */
    double time;                  /* s, at its end */
    bool tried; /* has been sent a trial since its hello, whose commit has not been
                                    answered */

    enum mechd_outside_state state;
    uint64_t sequence; /* of the last question */
    enum mechd_outside_stage stage;
    struct mechp_frame asked, trial, commit; /* the question; the last trial, the last commit */
    struct mechp_frame kept;                 /* the trial that was, or is to be committed */
    double *question, *trial_values, *kept_values; /* [input_count × (order + 1)] each */
    bool sent;                                     /* the stage's, to the present connection */
    bool owes;                                     /* the last commit has not been answered */
    bool restarted;                                /* the program has lost the trial `kept` */
    bool held;                                     /* the last commit has not been asked yet */
    uint64_t due;                                  /* mechd_now at which patience ends */
    uint64_t missed[MECHD_OUTSIDE_MISSED]; /* questions whose answers are not awaited any more and
                                              may still come, by sequence; 0: none */
    unsigned misses;
    double *answer;       /* [output_count] */
    bool gives;           /* of the connection: its answers to trials have a Jacobian */
    double *slopes;       /* [output_count × values of a trial] of the last answer; or NULL */
    bool sloped;          /* that had it */
    enum mechp_code code; /* FAULTY: PARTNER_TIMEOUT, PARTNER_FAULT */
    char fault[MECHD_OUTSIDE_FAULT];
    char blamed[MECHD_OUTSIDE_FAULT]; /* a fault that the next question but a commit reports; "" */
};

/* One index: chains by hash, as many as entries, or fewer where memory was short. shared, locked by
 * m. */
struct mechd_outside_index {
    pthread_mutex_t m;
    struct mechd_outside **chains; /* [size] */
    struct mechd_outside *few[16]; /* the chains at first */
    size_t size, count;
    uint64_t visited; /* entries that searches have looked at */
};

/* All of them. By name: each with a reference; by lease: those that are connected. The mutex of the
 * first is taken before that of an outside, that of the second after it. */
struct mechd_outsides {
    struct mechd_outside_index by[MECHD_OUTSIDE_KEYS];
    struct mechd_tokens *tokens; /* the host's */
    struct mechd_stop stop;      /* SHUTDOWN: hellos are refused; read under the outside's m */
};

void mechd_outsides_init(struct mechd_outsides *t, struct mechd_tokens *tokens);
/* End all connections, and refuse hellos from now on, before the doors close. */
void mechd_outsides_close(struct mechd_outsides *t);
/* When no coupling is left. */
void mechd_outsides_fini(struct mechd_outsides *t);

/* A partner that is away; in no table yet. NULL: no memory. */
struct mechd_outside *mechd_outside_create(const char *name,
                                           const struct mechd_outside_terms *terms);
void mechd_outside_ref(struct mechd_outside *o);
void mechd_outside_unref(struct mechd_outside *o);
/* From now on a hello for this coupling finds it; remove: none does, its connection is ended. */
void mechd_outside_add(struct mechd_outsides *t, struct mechd_outside *o, const char *coupling);
void mechd_outside_remove(struct mechd_outsides *t, struct mechd_outside *o);

/* Where it stands between two windows, to be stored. All members have eight bytes. */
struct mechd_outside_place {
    uint64_t window, sequence, owes;
    uint64_t commit_sequence, commit_step, commit_iteration;
    uint64_t kept_sequence, kept_step, kept_iteration, kept_count;
    double time, commit_time, commit_size, kept_time, kept_size;
};
/* Into *out, and the values of the trial that is `kept` [input_count × (order + 1)]. */
void mechd_outside_save(struct mechd_outside *o, struct mechd_outside_place *out, double *values);
/* Nothing is asked, and it stands there: a program that does not has to return, and its connection
 * ends, unless its last commit is held. Any thread. */
void mechd_outside_restore(struct mechd_outside *o, const struct mechd_outside_place *place,
                           const double *values);

/* --- asked by a coupling ---------------------------------------------------------------------- */

/* The time before the first window, which the reply to a hello reports. Nothing has been asked. */
void mechd_outside_set_time(struct mechd_outside *o, double time);
/* Ask: kind, step, iteration, time, size; values [count]. It is IDLE. */
void mechd_outside_ask(struct mechd_outside *o, const struct mechp_frame *frame,
                       const double *values);
/* The window of the last trial is done, and owed: its commit, `frame`, is asked later, by confirm,
 * when that is known to last. It is IDLE before and after. */
void mechd_outside_hold(struct mechd_outside *o, const struct mechp_frame *frame);
/* Ask that commit. */
void mechd_outside_confirm(struct mechd_outside *o);
/* ANSWERED: the answer is in out [output_count]. FAULTY: code and fault [MECHD_OUTSIDE_FAULT] give
 * the reason; a commit is done all the same, and owed. Both: it is IDLE then. Else ASKED. */
enum mechd_outside_state mechd_outside_poll(struct mechd_outside *o, uint64_t now, double *out,
                                            enum mechp_code *code, char *fault);
/* mechd_now at which patience with the open question ends. */
uint64_t mechd_outside_due(struct mechd_outside *o);
/* The program that is connected returns Jacobians. */
bool mechd_outside_gives(struct mechd_outside *o);
/* [output_count × values of a trial] by rows, of the answer that was polled last, until the next
 * question; NULL: it came without. */
const double *mechd_outside_slopes(struct mechd_outside *o);
/* It has stepped a window that was not committed, and cannot roll back. IDLE. */
bool mechd_outside_ahead(struct mechd_outside *o);
/* The answer is not wanted any more. */
void mechd_outside_abandon(struct mechd_outside *o);

/* --- by doors --------------------------------------------------------------------------------- */

/* A hello, and its result. owner: the request. */
struct mechd_outside_hello {
    const json_t *body;            /* coupling, participant, inputOrder, window, want, token */
    struct mechd_pass pass;        /* its token */
    struct mechd_caller *caller;   /* taken if it succeeds */
    struct mech_diag *diag;        /* faults of the body */
    struct mechp_text *reply;      /* its JSON */
    char *detail;                  /* [256] the reason of a refusal that has no place */
    struct mechd_outside *outside; /* a reference */
    uint64_t lease;
};

/* OK, or a code: then the caller stays the door's. */
enum mechp_code mechd_outside_hello(struct mechd_outsides *t, struct mechd_outside_hello *h);
/* The reply to that hello is on its way. */
void mechd_outside_greeted(struct mechd_outside *o, uint64_t lease);
/* There is no reply to the hello that has this lease: the program is away. False: no program has
 * it. Any thread. */
bool mechd_outside_withdraw(struct mechd_outsides *t, uint64_t lease);
/* A frame of a partner, and what belongs to it. */
struct mechd_outside_answer {
    const struct mechp_frame *frame;
    const double *values; /* [frame->count] */
    const char *text;     /* of an error, any bytes; NULL: none */
    size_t text_size;
};
/* Take it, by its lease: an answer, an error, a bye. False: there is none with this lease, or its
 * token has been revoked, which ends the connection. A wrong answer is a fault of this partner, and
 * so is one that was not asked for or is given twice, which its next question reports; one that
 * comes after its time is passed over. */
bool mechd_outside_take(struct mechd_outsides *t, const struct mechd_outside_answer *answer);
/* A text of a program as it is shown: within quotes, at most MECHD_OUTSIDE_TEXT bytes of it, with
 * characters that are not seen named by their code point, <U+000A>, and bytes that are no UTF-8 by
 * their value, <0xFF>. "" if there is none. Returns out [size]. */
const char *mechd_outside_quote(const char *text, size_t text_size, char *out, size_t size);

/* Its description, as one JSON object. Any thread. */
void mechd_outside_write(const void *outside, struct mechp_text *w);
