/* The process has the socket as its input, nothing as its output, and an environment of its own. */
#define _GNU_SOURCE
#include "server/engine/fmu_process.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    NONE = -1,
    END_TURNS = 100,
    END_TURN = 10,      /* ms */
    LOOK = 10,          /* ms between two questions whether to stop */
    LOGS_MOST = 1000,   /* an answer */
    RETURN_PART = 100,  /* of the time of an answer */
    RETURN_MOST = 10000 /* ms */
};

struct mechd_hosted {
    struct mechd_hosted_options options; /* its texts are not read after opening */
    pid_t pid;                           /* NONE: it has ended */
    int socket;
    struct mechd_pipe_message out, in;
    int status; /* of FMI */
    char reason[320];
};

__attribute__((format(printf, 2, 3))) static void explain(struct mechd_hosted *h,
                                                          const char *format, ...)
{
    va_list list;
    va_start(list, format);
    mech_text_format_list(h->reason, sizeof h->reason, format, list);
    va_end(list);
}

/* --- beginning and end ------------------------------------------------------------------------ */

static int spawn_with(struct mechd_hosted *h, int theirs, posix_spawn_file_actions_t *actions,
                      posix_spawnattr_t *attributes)
{
    // libraries of linear algebra that an FMU loads: one thread each, and the daemon's own kernels
    static char locale[] = "LC_ALL=C", name[] = "mechd-fmu";
    static char blas[] = "OPENBLAS_NUM_THREADS=1", omp[] = "OMP_NUM_THREADS=1";
    char kernel[64] = "OPENBLAS_CORETYPE=";
    const char *const own = getenv("OPENBLAS_CORETYPE");
    char *const environment[] = {locale, blas, omp, own != NULL ? kernel : NULL, NULL};
    char *const arguments[] = {name, NULL};
    sigset_t all, no_signal;
    mech_text_copy(kernel + strlen(kernel), sizeof kernel - strlen(kernel), own != NULL ? own : "");
    (void)sigfillset(&all);
    (void)sigemptyset(&no_signal);
    int rc = posix_spawn_file_actions_adddup2(actions, theirs, STDIN_FILENO);
    for (int k = STDOUT_FILENO; rc == 0 && k <= STDERR_FILENO; k++) {
        rc = posix_spawn_file_actions_addopen(actions, k, "/dev/null", O_WRONLY, 0);
    }
    if (rc == 0) {
        (void)posix_spawnattr_setsigdefault(attributes, &all);
        (void)posix_spawnattr_setsigmask(attributes, &no_signal);
        (void)posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        rc = posix_spawn(&h->pid, h->options.program, actions, attributes, arguments, environment);
    }
    return rc;
}

static int spawn(struct mechd_hosted *h, int theirs)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return MECH_NO_MEMORY;
    }
    if (posix_spawnattr_init(&attributes) != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return MECH_NO_MEMORY;
    }
    const int rc = spawn_with(h, theirs, &actions, &attributes);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (rc != 0) {
        h->pid = NONE;
        explain(h, "%s cannot be started: %s", h->options.program, strerror(rc));
        return MECHD_HOSTED_NOT_STARTED;
    }
    return 0;
}

static void explain_end(struct mechd_hosted *h, int status)
{
    if (WIFSIGNALED(status)) {
        const int number = WTERMSIG(status);
        explain(h,
                number == SIGABRT ? "the FMU aborted (signal %d, %s)"
                                  : "the FMU crashed (signal %d, %s)",
                number, strsignal(number));
    } else {
        explain(h, "the FMU ended its process with code %d", WEXITSTATUS(status));
    }
}

/* Ends the process, at once or after it had a second to end by itself; *status is how it did. */
static void end(struct mechd_hosted *h, bool at_once, int *status)
{
    pid_t ended = 0;
    *status = 0;
    if (h->pid == NONE) {
        return;
    }
    for (int k = 0; !at_once && ended == 0 && k < END_TURNS; k++) {
        ended = waitpid(h->pid, status, WNOHANG);
        if (ended == 0) {
            (void)poll(NULL, 0, END_TURN);
        }
    }
    if (ended == 0) {
        (void)kill(h->pid, SIGKILL);
        (void)waitpid(h->pid, status, 0);
    }
    h->pid = NONE;
}

void mechd_hosted_close(struct mechd_hosted *h)
{
    int status = 0;
    if (h == NULL) {
        return;
    }
    if (h->pid != NONE) {
        const struct mechd_pipe_wait brief = {.ms = END_TURN};
        mechd_pipe_begin(&h->out, MECHD_FMU_CLOSE);
        end(h, mechd_pipe_send(h->socket, &h->out, &brief) != 0, &status);
    }
    if (h->socket != NONE) {
        (void)close(h->socket);
    }
    mechd_pipe_fini(&h->out);
    mechd_pipe_fini(&h->in);
    free(h);
}

/* --- questions -------------------------------------------------------------------------------- */

struct mechd_pipe_message *mechd_hosted_question(struct mechd_hosted *h)
{
    return &h->out;
}

struct mechd_pipe_message *mechd_hosted_answer(struct mechd_hosted *h)
{
    return &h->in;
}

const char *mechd_hosted_reason(const struct mechd_hosted *h)
{
    return h->reason;
}

int mechd_hosted_status(const struct mechd_hosted *h)
{
    return h->status;
}

int mechd_hosted_distrust(struct mechd_hosted *h)
{
    int status = 0;
    explain(h, "the FMU's process sent an invalid answer");
    end(h, true, &status);
    return MECHD_HOSTED_GONE;
}

static int lost(struct mechd_hosted *h, int outcome)
{
    int status = 0;
    if (outcome < 0) {
        end(h, true, &status);
        explain(h, "there was no memory for an answer of the FMU, and its process was ended");
        return MECHD_HOSTED_GONE;
    }
    if (outcome == MECHD_PIPE_BROKEN) {
        return mechd_hosted_distrust(h);
    }
    end(h, outcome != MECHD_PIPE_CLOSED, &status);
    if (outcome == MECHD_PIPE_LATE) {
        explain(h, "the FMU did not answer within %llu ms, and its process was ended",
                (unsigned long long)h->options.call_ms);
    } else if (outcome == MECHD_PIPE_STOPPED) {
        explain(h, "the FMU was still computing, so its process was ended");
    } else {
        explain_end(h, status);
    }
    return MECHD_HOSTED_GONE;
}

static int refused(struct mechd_hosted *h)
{
    const uint32_t failure = mechd_pipe_get_u32(&h->in);
    h->status = (int)mechd_pipe_get_u32(&h->in);
    const char *const text = mechd_pipe_get_text(&h->in);
    if (!mechd_pipe_whole(&h->in)) {
        return mechd_hosted_distrust(h);
    }
    switch (failure) {
    case MECHD_FMU_REFUSED:
        explain(h, "%s returned status %d", text, h->status);
        break;
    case MECHD_FMU_LACKS:
        explain(h, "the FMU does not have %s", text);
        break;
    case MECHD_FMU_NOT_LOADED:
        explain(h, "the FMU cannot be loaded: %s", text);
        break;
    case MECHD_FMU_NOT_JAILED:
        explain(h, "the process cannot be confined: %s", text);
        break;
    default:
        explain(h, "the FMU's process refused a request: %s", text);
        break;
    }
    return MECHD_HOSTED_REFUSED;
}

/* Whether it is one. Those after the first thousand of an answer are dropped. */
static bool log_message(struct mechd_hosted *h, bool shown)
{
    const int status = (int)mechd_pipe_get_u32(&h->in);
    const char *const category = mechd_pipe_get_text(&h->in);
    const char *const message = mechd_pipe_get_text(&h->in);
    if (mechd_pipe_whole(&h->in) && h->options.log != NULL && shown) {
        h->options.log(h->options.log_context, status, category, message);
    }
    return mechd_pipe_whole(&h->in);
}

static uint64_t now(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The next message of an answer that is to be there `ms` after `began`; 0: at any time. */
static int receive(struct mechd_hosted *h, uint64_t began, struct mechd_pipe_wait wait)
{
    const uint64_t passed = now() - began;
    if (wait.ms > 0) {
        wait.ms = passed < wait.ms ? wait.ms - passed : 1;
    }
    return mechd_pipe_receive(h->socket, &h->in, &wait);
}

/* A question that waits for its answer, and whether to stop. */
struct waiting {
    const struct mechd_hosted *of;
    struct mechd_hosted_stop stop;
    bool returns;             /* the FMU can be asked to return early … */
    bool asked;               /* … and has been */
    uint64_t since, patience; /* ms */
    uint64_t looked;          /* ms of the clock: its begin, or the last question whether to stop */
};

/* Whether the question is a step of an FMU that returns early when it is asked to. */
static bool returns(const struct mechd_hosted *h)
{
    const unsigned both = MECHD_FMU_RETURNS | MECHD_FMU_VARIABLE_STEP;
    return h->options.version == MECHD_FMI_3 && (h->options.can & both) == both &&
           (h->out.verb == MECHD_FMU_STEP || h->out.verb == MECHD_FMU_WATCHED);
}

static bool gives_up(void *context)
{
    struct waiting *const w = context;
    const struct mechd_pipe_message question = {.verb = MECHD_FMU_RETURN};
    const struct mechd_pipe_wait brief = {.ms = END_TURN};
    w->looked = now();
    if (!w->asked && !w->stop.wanted(w->stop.context)) {
        return false;
    }
    if (w->stop.urgent != NULL && w->stop.urgent(w->stop.context)) {
        return true;
    }
    if (w->asked) {
        return w->looked - w->since > w->patience;
    }
    w->asked = true;
    w->since = w->looked;
    return !w->returns || mechd_pipe_send(w->of->socket, &question, &brief) != 0;
}

/* The same between messages: the pipe asks while it waits for one, and an FMU that logs without a
 * pause lets it wait for none. */
static bool is_over(struct waiting *w)
{
    return w->stop.wanted != NULL && now() - w->looked >= LOOK && gives_up(w);
}

int mechd_hosted_ask(struct mechd_hosted *h, const struct mechd_hosted_stop *stop)
{
    const uint64_t part = h->options.call_ms / RETURN_PART, began = now();
    struct waiting waiting = {
        .of = h,
        .stop = stop != NULL ? *stop : (struct mechd_hosted_stop){.wanted = NULL, .urgent = NULL},
        .returns = returns(h),
        .patience = h->options.call_ms > 0 && part < RETURN_MOST ? part : RETURN_MOST,
        .looked = began};
    const struct mechd_pipe_wait sending = {h->options.call_ms, waiting.stop.wanted,
                                            waiting.stop.context};
    const struct mechd_pipe_wait wait = {h->options.call_ms, stop != NULL ? gives_up : NULL,
                                         &waiting};
    h->status = 0;
    if (h->pid == NONE) {
        return MECHD_HOSTED_GONE;
    }
    int rc = mechd_pipe_send(h->socket, &h->out, &sending);
    if (rc < 0) {
        return rc;
    }
    for (uint64_t logs = 0; rc == 0; logs++) {
        rc = receive(h, began, wait);
        if (rc == 0 && wait.ms > 0 && now() - began > wait.ms) {
            rc = MECHD_PIPE_LATE;
        } else if (rc == 0 && h->in.verb == MECHD_FMU_LOG) {
            rc = !log_message(h, logs < LOGS_MOST) ? MECHD_PIPE_BROKEN
                 : is_over(&waiting)               ? MECHD_PIPE_STOPPED
                                                   : 0;
        } else if (rc == 0) {
            return h->in.verb == MECHD_FMU_DONE     ? 0
                   : h->in.verb == MECHD_FMU_FAILED ? refused(h)
                                                    : mechd_hosted_distrust(h);
        }
    }
    return lost(h, rc);
}

static int begin(struct mechd_hosted *h)
{
    const struct mechd_hosted_options *const o = &h->options;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        explain(h, "no socket for %s", o->program);
        return MECHD_HOSTED_NOT_STARTED;
    }
    h->socket = ends[0];
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    const int rc = spawn(h, ends[1]);
    (void)close(ends[1]);
    MECH_TRY(rc);
    if (o->required_count > 0) {
        mechd_pipe_begin(&h->out, MECHD_FMU_REQUIRE);
        mechd_pipe_put_u32(&h->out, (uint32_t)o->required_count);
        mechd_pipe_put(&h->out, o->required, o->required_count * sizeof *o->required);
        MECH_TRY(mechd_hosted_ask(h, NULL));
    }
    mechd_pipe_begin(&h->out, MECHD_FMU_OPEN);
    mechd_pipe_put_u32(&h->out, (uint32_t)o->version);
    mechd_pipe_put_u32(&h->out, o->can);
    mechd_pipe_put_u32(&h->out, o->memory);
    mechd_pipe_put_u32(&h->out, o->logging ? 1 : 0);
    mechd_pipe_put_text(&h->out, o->folder);
    mechd_pipe_put_text(&h->out, o->identifier);
    mechd_pipe_put_text(&h->out, o->token);
    mechd_pipe_put_text(&h->out, o->name);
    return mechd_hosted_ask(h, NULL);
}

int mechd_hosted_open(const struct mechd_hosted_options *options, struct mechd_hosted **out,
                      char *fault, size_t size)
{
    *out = NULL;
    struct mechd_hosted *const h = calloc(1, sizeof *h);
    if (h == NULL) {
        return MECH_NO_MEMORY;
    }
    h->options = *options;
    h->pid = NONE;
    h->socket = NONE;
    const int rc = begin(h);
    if (rc != 0) {
        mech_text_copy(fault, size, h->reason);
        mechd_hosted_close(h);
        return rc;
    }
    *out = h;
    return 0;
}
