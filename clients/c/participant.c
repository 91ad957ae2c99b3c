/* A program that takes a partner's place of a coupling (protocol/README.md, Partners of couplings):
 * the server sends frames of kind outputs, trial, commit and bye, and each is answered by one of
 * the same kind, sequence, step and iteration, with the lease of the hello. After a lost connection
 * it says hello again from the window that it has committed; a question that the server then sends
 * again is answered as before, without a second step or commit. */
#include "clients/c/line.h"
#include "protocol/frame/frame.h"
#include "solver/base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_NAMES = 1 << 16, NOT_ANSWERED = 1024 /* of the table of errors: internal-error */ };

static const double slice = 0.1; /* s between looks for an interruption */

/* Names of one direction. */
struct names {
    struct mechc_bytes text;
    const char **at; /* [count] into text */
    size_t count;
};

/* owner: the thread of its handle. */
struct mechc_participant {
    struct mechc *c;
    pid_t process; /* that has opened it */
    struct mechc_line line;
    struct mechc_place place; /* its strings are copies */
    char *coupling, *participant;
    struct names inputs, outputs;
    uint64_t lease, window;
    double time; /* s, at the end of `window` */
    bool over;   /* the coupling has ended */
    struct mechc_bytes out;
    double *values;           /* [values_count] of the present question */
    size_t values_count;      /* inputs × (order + 1) */
    struct mechp_frame tried; /* the last trial that is not committed; kind 0: there is none */
    double *tried_values;     /* [tried.count] */
    uint64_t stepped;         /* the window of a trial that cannot be taken back, 0: none */
    double *answer;           /* [outputs.count + slopes] of `tried` */
    size_t slopes;            /* values of a Jacobian behind the outputs; 0: none */
    double *committed;        /* [outputs.count] at `time`, 0 while they are not known */
    const struct mechc_program *program; /* of the question in progress */
    char why[256];                       /* that question cannot be answered; "": nothing is said */
};

/* --- hello ------------------------------------------------------------------------------------ */

static int read_names(struct mechc *c, struct mechc_json list, struct names *out)
{
    // a name takes no more than its JSON; reserved first, so that the names do not move
    const size_t room = (size_t)(list.end - list.at) + 1;
    const size_t count = mechc_json_count(list);
    if (mechc_json_kind(list) != '[' || count > MOST_NAMES) {
        return mechc_fail(c, MECHC_BAD_REPLY, "the reply to hello is not understood");
    }
    out->at = calloc(count + 1, sizeof *out->at);
    mechc_bytes_add(&out->text, list.at, room - 1);
    if (!out->at || out->text.failed) {
        return mechc_fail(c, MECHC_NO_MEMORY, "out of memory");
    }
    char *at = out->text.at;
    for (struct mechc_json_walk w = mechc_json_walk(list); mechc_json_next(&w);) {
        out->at[out->count++] = at;
        at += mechc_json_text(w.value, at, (size_t)(out->text.at + room - at)) + 1;
    }
    return MECHC_OK;
}

static int compose_hello(struct mechc_participant *p, struct mechc_bytes *b)
{
    mechc_bytes_clear(b);
    mechc_bytes_text(b, "{\"coupling\":");
    mechc_bytes_string(b, p->coupling);
    mechc_bytes_text(b, ",\"participant\":");
    mechc_bytes_string(b, p->participant);
    mechc_bytes_text(b, ",\"inputOrder\":");
    mechc_bytes_number(b, p->place.input_order);
    if (p->window > 0) {
        char number[40];
        snprintf(number, sizeof number, ",\"window\":%llu", (unsigned long long)p->window);
        mechc_bytes_text(b, number);
    }
    if (p->place.gives_jacobian) {
        mechc_bytes_text(b, ",\"want\":[\"jacobian\"]");
    }
    if (p->c->token) {
        mechc_bytes_text(b, ",\"token\":");
        mechc_bytes_string(b, p->c->token);
    }
    mechc_bytes_text(b, "}");
    return b->failed ? mechc_fail(p->c, MECHC_NO_MEMORY, "out of memory") : MECHC_OK;
}

static bool is_interrupted(struct mechc_participant *p)
{
    return atomic_exchange(&p->c->interrupted, false);
}

/* The reply to the hello, by `until`; a return can be interrupted. */
static int hear_reply(struct mechc_participant *p, double until)
{
    for (;;) {
        const int result = mechc_line_await(&p->line, slice);
        if (result != MECHC_TIMEOUT) {
            return result == MECHC_OK ? mechc_line_receive(&p->line) : result;
        }
        if (p->line.returns && is_interrupted(p)) {
            return mechc_fail(p->c, MECHC_INTERRUPTED, "%s: interrupted", p->participant);
        }
        if (mechc_now() >= until) {
            return mechc_fail(p->c, MECHC_TIMEOUT, "no answer to the hello in time");
        }
    }
}

/* Connect and say hello, by `until`; *json is the reply. */
static int greet(struct mechc_participant *p, double until, struct mechc_json *json)
{
    const struct mechp_frame hello = {.kind = MECHP_HELLO, .sequence = 1};
    struct mechp_frame reply;
    int result = mechc_line_open_watched(p->c, p->place.door, until, &p->line);
    if (result == MECHC_OK) {
        result = compose_hello(p, &p->c->body);
    }
    if (result == MECHC_OK) {
        result = mechc_compose(p->c, &p->out, &hello, NULL);
    }
    if (result == MECHC_OK) {
        result = mechc_line_send(&p->line, p->out.at, p->out.length, p->c->body.at);
    }
    if (result == MECHC_OK) {
        result = hear_reply(p, until);
    }
    if (result != MECHC_OK) {
        return result;
    }
    if (mechp_frame_read(p->line.frame, p->line.size, &reply) != 0) {
        return mechc_fail(p->c, MECHC_BAD_REPLY, "the reply to hello is not a frame");
    }
    if (reply.kind == MECHP_ERROR) {
        return mechc_line_refused(&p->line, reply.status);
    }
    if (reply.kind != MECHP_HELLO || !mechc_json_open(p->line.extra, p->line.extra_size, json)) {
        return mechc_fail(p->c, MECHC_BAD_REPLY, "the reply to hello is not understood");
    }
    p->lease = reply.lease;
    return MECHC_OK;
}

/* The first hello: names, time, memory. */
static int begin(struct mechc_participant *p)
{
    struct mechc_json json, inputs, outputs, time, number;
    uint64_t window = 0;
    int result = greet(p, mechc_now() + p->c->timeout, &json);
    if (result != MECHC_OK) {
        return result;
    }
    if (!mechc_json_member(json, "inputs", &inputs) ||
        !mechc_json_member(json, "outputs", &outputs) || !mechc_json_member(json, "time", &time) ||
        !mechc_json_number(time, &p->time) || !mechc_json_member(json, "window", &number) ||
        !mechc_json_unsigned(number, &window)) {
        return mechc_fail(p->c, MECHC_BAD_REPLY, "the reply to hello is not understood");
    }
    if (window != p->window) {
        p->time = NAN; // that of the next window, whose commit is owed: the trial has this one's
    }
    result = read_names(p->c, inputs, &p->inputs);
    if (result == MECHC_OK) {
        result = read_names(p->c, outputs, &p->outputs);
    }
    p->values_count = p->inputs.count * (size_t)(p->place.input_order + 1);
    p->values = calloc(p->values_count + 1, sizeof *p->values);
    p->tried_values = calloc(p->values_count + 1, sizeof *p->values);
    p->slopes = p->place.gives_jacobian ? p->outputs.count * p->values_count : 0;
    p->answer = calloc(p->outputs.count + p->slopes + 1, sizeof *p->answer);
    p->committed = calloc(p->outputs.count + 1, sizeof *p->committed);
    if (result == MECHC_OK && (!p->values || !p->tried_values || !p->answer || !p->committed)) {
        result = mechc_fail(p->c, MECHC_NO_MEMORY, "out of memory");
    }
    return result;
}

static void destroy(struct mechc_participant *p)
{
    mechc_line_close(&p->line, p->process == getpid());
    mechc_bytes_fini(&p->inputs.text);
    mechc_bytes_fini(&p->outputs.text);
    mechc_bytes_fini(&p->out);
    free(p->inputs.at);
    free(p->outputs.at);
    free(p->coupling);
    free(p->participant);
    free(p->values);
    free(p->tried_values);
    free(p->answer);
    free(p->committed);
    free(p);
}

static int check_place(struct mechc *c, const struct mechc_place *place)
{
    return !place->coupling || !place->participant
               ? mechc_fail(c, MECHC_BAD_ARGUMENT, "a coupling and a participant are needed")
           : place->input_order < 0 || place->input_order > 2
               ? mechc_fail(c, MECHC_BAD_ARGUMENT, "input_order must be 0, 1 or 2")
           : place->door != MECHC_CONTROL && place->door != MECHC_LANE
               ? mechc_fail(c, MECHC_BAD_ARGUMENT, "the door must be MECHC_CONTROL or MECHC_LANE")
           : !isfinite(place->returns) || place->returns < 0.
               ? mechc_fail(c, MECHC_BAD_ARGUMENT, "returns must be finite and not negative")
               : MECHC_OK;
}

int mechc_participate(struct mechc *c, const struct mechc_place *place,
                      struct mechc_participant **out)
{
    MECHC_ENTER(c);
    *out = NULL;
    mechc_clear_error(c);
    int result = check_place(c, place);
    if (result != MECHC_OK) {
        return result;
    }
    struct mechc_participant *const p = calloc(1, sizeof *p);
    if (!p) {
        return mechc_fail(c, MECHC_NO_MEMORY, "out of memory");
    }
    p->c = c;
    p->process = getpid();
    p->line.lane = -1;
    p->place = *place;
    p->window = place->window;
    p->coupling = mechc_copy(place->coupling);
    p->participant = mechc_copy(place->participant);
    result =
        p->coupling && p->participant ? begin(p) : mechc_fail(c, MECHC_NO_MEMORY, "out of memory");
    if (result != MECHC_OK) {
        destroy(p);
        return result;
    }
    *out = p;
    return MECHC_OK;
}

/* --- questions -------------------------------------------------------------------------------- */

/* Where a function leads: 0, its status, or negative. In the last case the error is noted. What the
 * program says of it is kept for the server. */
static int outcome(struct mechc_participant *p, const char *name, const struct mechp_frame *f,
                   int found)
{
    const struct mechc_program *const program = p->program;
    const char *const why = found != 0 && program->reason ? program->reason(program->self) : NULL;
    mech_text_format(p->why, sizeof p->why, "%s", why ? why : "");
    if (found < 0) {
        mechc_fail(p->c, MECHC_FAILED, "%s: the function %s returned %d in window %llu%s%.120s",
                   p->participant, name, found, (unsigned long long)f->step, why ? ": " : "",
                   why ? why : "");
    }
    return found;
}

static int wrong(struct mechc_participant *p, const char *what, const struct mechp_frame *f)
{
    mechc_fail(p->c, MECHC_BAD_REPLY, "%s of window %llu; window %llu was committed", what,
               (unsigned long long)f->step, (unsigned long long)p->window);
    mech_text_format(p->why, sizeof p->why, "%s", p->c->error.text);
    return -1;
}

/* The same with outputs [outputs.count], which must be finite. */
static int outcome_of(struct mechc_participant *p, const char *name, const struct mechp_frame *f,
                      int found, const double *y)
{
    for (size_t k = 0; k < p->outputs.count && found == 0; k++) {
        if (!isfinite(y[k])) {
            mechc_fail(p->c, MECHC_BAD_ARGUMENT, "%s: output %s of the function %s is not finite",
                       p->participant, p->outputs.at[k], name);
            mech_text_format(p->why, sizeof p->why, "output %s of the function %s is not finite",
                             p->outputs.at[k], name);
            return -1;
        }
    }
    return outcome(p, name, f, found);
}

/* The Jacobian of a trial, behind its outputs. */
static int slope_outcome(struct mechc_participant *p, const struct mechp_frame *f,
                         const struct mechc_window *w, const struct mechc_program *program)
{
    double *const slopes = p->answer + p->outputs.count;
    const int found = program->jacobian(program->self, w, slopes);
    for (size_t k = 0; k < p->slopes && found == 0; k++) {
        if (!isfinite(slopes[k])) {
            mech_text_format(p->why, sizeof p->why,
                             "the derivative of output %s by value %zu is not finite",
                             p->outputs.at[k / p->values_count], k % p->values_count);
            mechc_fail(p->c, MECHC_BAD_ARGUMENT, "%s: %s", p->participant, p->why);
            return -1;
        }
    }
    return outcome(p, "jacobian", f, found);
}

static struct mechc_window window_of(const struct mechc_participant *p, const struct mechp_frame *f)
{
    return (struct mechc_window){.number = f->step,
                                 .iteration = f->iteration,
                                 .time = f->time,
                                 .size = f->size,
                                 .inputs = p->values};
}

/* True for the last trial, sent again: the state that it led to is there. */
static bool is_again(const struct mechc_participant *p, const struct mechp_frame *f)
{
    const struct mechp_frame *const t = &p->tried;
    return t->kind == f->kind && t->step == f->step && t->iteration == f->iteration &&
           t->sequence == f->sequence && t->count == f->count && t->time == f->time &&
           t->size == f->size && memcmp(p->tried_values, p->values, f->count * sizeof(double)) == 0;
}

static int try_window(struct mechc_participant *p, const struct mechp_frame *f,
                      const struct mechc_program *program)
{
    if (is_again(p, f)) {
        return 0;
    }
    if (f->step != p->window + 1) {
        return wrong(p, "a trial", f);
    }
    if (p->stepped == f->step) {
        mech_text_format(p->why, sizeof p->why,
                         "window %llu has been stepped, and was not committed",
                         (unsigned long long)f->step);
        return NOT_ANSWERED;
    }
    const struct mechc_window w = window_of(p, f);
    p->tried.kind = 0;
    p->stepped = p->place.cannot_roll_back ? f->step : 0;
    p->time = f->time;
    int found = outcome_of(p, "trial", f, program->trial(program->self, &w, p->answer), p->answer);
    if (found == 0 && p->slopes > 0) {
        found = slope_outcome(p, f, &w, program);
    }
    if (found == 0) {
        p->tried = *f;
        memcpy(p->tried_values, p->values, f->count * sizeof(double));
    }
    return found;
}

static int commit_window(struct mechc_participant *p, const struct mechp_frame *f,
                         const struct mechc_program *program)
{
    if (f->step == p->window) {
        return 0;
    }
    if (p->tried.kind == 0 || p->tried.step != f->step) {
        return wrong(p, "a commit without a trial", f);
    }
    const int found = outcome(p, "commit", f, program->commit ? program->commit(program->self) : 0);
    if (found == 0) {
        p->window = f->step;
        p->time = p->tried.time + p->tried.size;
        p->tried.kind = 0;
        memcpy(p->committed, p->answer, p->outputs.count * sizeof(double));
    }
    return found;
}

static int report(struct mechc_participant *p, const struct mechp_frame *f,
                  const struct mechc_program *program)
{
    const struct mechc_window w = window_of(p, f);
    p->time = f->time;
    return outcome_of(p, "outputs", f, program->outputs(program->self, &w, p->committed),
                      p->committed);
}

/* Answer one question, 0, a status, or negative; *y are its outputs. */
static int respond(struct mechc_participant *p, const struct mechp_frame *f,
                   const struct mechc_program *program, const double **y)
{
    const size_t needed = f->kind == MECHP_TRIAL     ? p->values_count
                          : f->kind == MECHP_OUTPUTS ? p->inputs.count
                                                     : 0;
    *y = f->kind == MECHP_TRIAL ? p->answer : p->committed;
    if (f->count != needed) {
        return wrong(p, "a request with a wrong number of values", f);
    }
    memset(p->values, 0, p->values_count * sizeof *p->values);
    if (f->count > 0) {
        mechp_frame_get_values(p->line.frame + MECHP_FRAME_HEADER, p->values, f->count);
    }
    return f->kind == MECHP_TRIAL     ? try_window(p, f, program)
           : f->kind == MECHP_COMMIT  ? commit_window(p, f, program)
           : f->kind == MECHP_OUTPUTS ? report(p, f, program)
                                      : wrong(p, mechp_frame_kind_name(f->kind), f);
}

/* --- serving ---------------------------------------------------------------------------------- */

/* The connection is over: what is asked of the line from now on is MECHC_UNREACHABLE. */
static void disconnect(struct mechc_participant *p)
{
    mechc_line_close(&p->line, true);
    p->line = (struct mechc_line){.c = p->c, .door = p->place.door, .lane = -1, .returns = true};
    zmq_msg_init(&p->line.parts[0]);
    zmq_msg_init(&p->line.parts[1]);
}

/* Say hello again, from the window that was committed here. After a failure there is no
 * connection, and the next wait for a question begins here again. */
static int come_back(struct mechc_participant *p)
{
    const double until = mechc_now() + p->place.returns;
    char lost[256];
    snprintf(lost, sizeof lost, "%s", p->c->error.text);
    for (;;) {
        struct mechc_json unused;
        disconnect(p);
        if (is_interrupted(p)) {
            return mechc_fail(p->c, MECHC_INTERRUPTED, "%s: interrupted", p->participant);
        }
        if (mechc_now() >= until) {
            return mechc_fail(p->c, MECHC_UNREACHABLE, "%s; %s has not returned within %g s", lost,
                              p->participant, p->place.returns);
        }
        const double end = mechc_now() + p->c->timeout;
        const int result = greet(p, end < until ? end : until, &unused);
        if (result == MECHC_OK) {
            return result;
        }
        if (result != MECHC_UNREACHABLE && result != MECHC_TIMEOUT &&
            !(result == MECHC_REFUSED && strcmp(p->c->error.code, "draining") == 0)) {
            disconnect(p);
            return result;
        }
        nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * slice)}, NULL);
    }
}

/* Send the answer. Where the connection is lost meanwhile, the question comes again. */
static int reply(struct mechc_participant *p, const struct mechp_frame *f, const double *y,
                 int status)
{
    const size_t count = p->outputs.count + (f->kind == MECHP_TRIAL ? p->slopes : 0);
    const char *const why = status != 0 && p->why[0] != '\0' ? p->why : NULL;
    const struct mechp_frame answer = {.kind = status != 0 ? MECHP_ERROR : f->kind,
                                       .flags = why ? MECHP_TEXT : 0,
                                       .count = status != 0 ? 0 : (uint32_t)count,
                                       .step = f->step,
                                       .iteration = f->iteration,
                                       .sequence = f->sequence,
                                       .status = status < 0 ? NOT_ANSWERED : status,
                                       .lease = p->lease};
    const int result = mechc_compose(p->c, &p->out, &answer, y);
    return result == MECHC_OK ? mechc_line_send(&p->line, p->out.at, p->out.length, why) : result;
}

static int next(struct mechc_participant *p, const struct mechc_program *program)
{
    struct mechp_frame f;
    const double *y;
    int result = mechc_line_await(&p->line, slice);
    if (result == MECHC_OK) {
        result = mechc_line_receive(&p->line);
    }
    if (result == MECHC_UNREACHABLE) {
        return come_back(p);
    }
    if (result != MECHC_OK) {
        return result == MECHC_TIMEOUT ? MECHC_OK : result;
    }
    if (mechp_frame_read(p->line.frame, p->line.size, &f) != 0) {
        return mechc_fail(p->c, MECHC_BAD_REPLY, "the server's request is not a frame");
    }
    if (f.kind == MECHP_ERROR) {
        return mechc_line_refused(&p->line, f.status);
    }
    if (f.kind == MECHP_BYE) {
        p->over = f.lease == p->lease; // another one's is that of an earlier connection
        return MECHC_OK;
    }
    mechc_clear_error(p->c);
    p->program = program;
    p->why[0] = '\0';
    const int found = respond(p, &f, program, &y);
    const enum mechc_result failed = found < 0 ? (enum mechc_result)p->c->error.result : MECHC_OK;
    char words[256];
    snprintf(words, sizeof words, "%s", p->c->error.text);
    result = reply(p, &f, y, found);
    if (found < 0) {
        return mechc_fail(p->c, failed, "%s", words);
    }
    return result == MECHC_UNREACHABLE || result == MECHC_TIMEOUT ? come_back(p) : result;
}

int mechc_serve(struct mechc_participant *p, const struct mechc_program *program, uint64_t windows)
{
    MECHC_ENTER(p->c);
    mechc_clear_error(p->c);
    int result = mechc_opened_here(p->c, p->process, "participant");
    if (result == MECHC_OK &&
        (!program->outputs || !program->trial || (!program->commit && !p->place.cannot_roll_back) ||
         (!program->jacobian && p->place.gives_jacobian))) {
        result = mechc_fail(p->c, MECHC_BAD_ARGUMENT,
                            "the program must have outputs, trial and commit%s",
                            p->place.gives_jacobian ? ", and a jacobian" : "");
    }
    const uint64_t left = UINT64_MAX - p->window;
    const uint64_t last = p->window + (windows == 0 || windows > left ? left : windows);
    while (result == MECHC_OK && !p->over && p->window < last) {
        result = is_interrupted(p)
                     ? mechc_fail(p->c, MECHC_INTERRUPTED, "%s: interrupted", p->participant)
                     : next(p, program);
    }
    return result;
}

/* --- the public rest -------------------------------------------------------------------------- */

const char *const *mechc_participant_inputs(const struct mechc_participant *p, size_t *count)
{
    *count = p->inputs.count;
    return p->inputs.at;
}

const char *const *mechc_participant_outputs(const struct mechc_participant *p, size_t *count)
{
    *count = p->outputs.count;
    return p->outputs.at;
}

uint64_t mechc_participant_window(const struct mechc_participant *p, double *time)
{
    if (time) {
        *time = p->time;
    }
    return p->window;
}

void mechc_participant_close(struct mechc_participant *p)
{
    if (!p) {
        return;
    }
    const struct mechp_frame bye = {.kind = MECHP_BYE, .lease = p->lease};
    if (p->process == getpid() && !p->over && mechc_line_is_open(&p->line) && mechc_enter(p->c)) {
        const int linger = 1000; // ms: the goodbye has no answer
        if (p->line.control) {
            zmq_setsockopt(p->line.control, ZMQ_LINGER, &linger, sizeof linger);
        }
        if (mechc_compose(p->c, &p->out, &bye, NULL) == MECHC_OK) {
            mechc_line_send(&p->line, p->out.at, p->out.length, NULL);
        }
        mechc_leave(&p->c);
    }
    destroy(p);
}
