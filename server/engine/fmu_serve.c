#include "server/engine/fmu_serve.h"

#include "server/engine/fmu_binary.h"
#include "server/engine/fmu_course.h"
#include "server/engine/fmu_jail.h"
#include "server/engine/fmu_load.h"
#include "server/engine/fmu_pipe.h"
#include "server/engine/fmu_trace.h"
#include "server/engine/fmu_verbs.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

enum { MIB = 1 << 20, VALUES_MOST = 1 << 20 };

static const struct mechd_pipe_wait forever;

struct hosted {
    int socket;
    struct mechd_binary binary;
    struct mechd_pipe_message in, out, log, note;
    struct mechd_fmu_courses courses; /* of the next step */
    struct mechd_fmu_trace trace;     /* of the next step */
    uint32_t *required;
    bool open;
};

static int fail(struct hosted *h, int failure, const char *text)
{
    return mechd_binary_fault(&h->binary, failure, 0, text);
}

static void send_log(void *context, int status, const char *category, const char *message)
{
    struct hosted *const h = context;
    char text[MECHD_FMU_LOG_MOST];
    mechd_pipe_begin(&h->log, MECHD_FMU_LOG);
    mechd_pipe_put_u32(&h->log, (uint32_t)status);
    mech_text_copy(text, sizeof text, category);
    mechd_pipe_put_text(&h->log, text);
    mech_text_copy(text, sizeof text, message);
    mechd_pipe_put_text(&h->log, text);
    (void)mechd_pipe_send(h->socket, &h->log, &forever);
}

/* Whether the step in progress is to end early. Nothing else comes before it is answered. */
static bool has_to_return(void *context)
{
    struct hosted *const h = context;
    struct pollfd p = {h->socket, POLLIN, 0};
    return poll(&p, 1, 0) > 0 && (mechd_pipe_receive(h->socket, &h->note, &forever) != 0 ||
                                  h->note.verb == MECHD_FMU_RETURN);
}

static int require(struct hosted *h)
{
    const size_t n = mechd_pipe_get_u32(&h->in);
    if (h->open || h->required != NULL || n > VALUES_MOST) {
        return fail(h, MECHD_FMU_NO_QUESTION, "require");
    }
    h->required = calloc(n + 1, sizeof *h->required);
    if (h->required == NULL) {
        return fail(h, MECHD_FMU_REFUSED, "no memory for references");
    }
    mechd_pipe_get(&h->in, h->required, n * sizeof *h->required);
    if (!mechd_pipe_whole(&h->in)) {
        return fail(h, MECHD_FMU_NO_QUESTION, "require");
    }
    h->binary.required = h->required;
    h->binary.required_count = n;
    return 0;
}

static int open_fmu(struct hosted *h)
{
    struct mechd_pipe_message *const in = &h->in;
    char path[1024], fault[256];
    const uint32_t version = mechd_pipe_get_u32(in), can = mechd_pipe_get_u32(in);
    const uint32_t memory = mechd_pipe_get_u32(in), logging = mechd_pipe_get_u32(in);
    const char *const folder = mechd_pipe_get_text(in);
    const char *const identifier = mechd_pipe_get_text(in);
    const char *const token = mechd_pipe_get_text(in);
    const char *const name = mechd_pipe_get_text(in);
    if (!mechd_pipe_whole(in) || h->open || (version != MECHD_FMI_2 && version != MECHD_FMI_3)) {
        return fail(h, MECHD_FMU_NO_QUESTION, "open");
    }
    h->open = true;
    const int n = snprintf(path, sizeof path, "%s/binaries/%s/%s.so", folder,
                           mechd_fmu_platform((enum mechd_fmi_version)version), identifier);
    if (n < 0 || (size_t)n >= sizeof path) {
        return fail(h, MECHD_FMU_NO_QUESTION, "open");
    }
    const struct mechd_jail jail = {.folder = folder, .memory = (uint64_t)memory * MIB};
    if (mechd_jail_close(&jail, fault, sizeof fault) != 0) {
        return fail(h, MECHD_FMU_NOT_JAILED, fault);
    }
    h->binary.version = (enum mechd_fmi_version)version;
    h->binary.can = can;
    h->binary.log = send_log;
    h->binary.log_context = h;
    h->binary.wanted = has_to_return;
    h->binary.wanted_context = h;
    return mechd_binary_open(&h->binary, path, name, token, folder, logging != 0);
}

static int enter(struct hosted *h)
{
    double times[3];
    mechd_pipe_get_f64(&h->in, times, 3);
    return mechd_pipe_whole(&h->in) ? mechd_binary_enter(&h->binary, times[0], times[1], times[2])
                                    : fail(h, MECHD_FMU_NO_QUESTION, "enter");
}

/* References and elements are copied: within a message they lie at any address. */
static int exchange(struct hosted *h, bool set)
{
    struct mechd_pipe_message *const in = &h->in;
    struct mechd_binary_values v = {.type = (enum mechd_fmu_type)mechd_pipe_get_u32(in)};
    v.n = mechd_pipe_get_u32(in);
    const size_t size = mechd_pipe_get_u32(in);
    v.count = mechd_pipe_get_u32(in);
    if (in->failed || size == 0 || size != mechd_binary_element(v.type) || v.n > VALUES_MOST ||
        v.count > VALUES_MOST || v.n > v.count) {
        return fail(h, MECHD_FMU_NO_QUESTION, "values");
    }
    uint32_t *const references = calloc(v.n + 1, sizeof *references);
    v.elements = calloc(v.count + 1, size);
    v.references = references;
    int rc = MECHD_FMU_NO_QUESTION;
    if (references == NULL || v.elements == NULL) {
        rc = fail(h, MECHD_FMU_REFUSED, "no memory for values");
    } else {
        mechd_pipe_get(in, references, v.n * sizeof *references);
        mechd_pipe_get(in, v.elements, set ? v.count * size : 0);
        rc = !mechd_pipe_whole(in) ? fail(h, MECHD_FMU_NO_QUESTION, "values")
             : set                 ? mechd_binary_set(&h->binary, &v)
                                   : mechd_binary_get(&h->binary, &v);
        if (rc == 0 && !set) {
            mechd_pipe_put(&h->out, v.elements, v.count * size);
        }
    }
    free(references);
    free(v.elements);
    return rc;
}

/* References and seed are copied, as those of values are. n: unknowns, their elements, knowns,
 * theirs. */
static int derive_from(struct hosted *h, bool adjoint, const size_t n[4], uint32_t *references,
                       double *numbers)
{
    const size_t out = adjoint ? n[3] : n[1], seed = adjoint ? n[1] : n[3];
    const struct mechd_binary_direction d = {.unknowns = references,
                                             .n_unknowns = n[0],
                                             .out = numbers,
                                             .out_count = out,
                                             .knowns = references + n[0],
                                             .n_knowns = n[2],
                                             .seed = numbers + out,
                                             .seed_count = seed};
    mechd_pipe_get(&h->in, references, (n[0] + n[2]) * sizeof *references);
    mechd_pipe_get_f64(&h->in, numbers + out, seed);
    if (!mechd_pipe_whole(&h->in)) {
        return fail(h, MECHD_FMU_NO_QUESTION, "derivatives");
    }
    const int rc =
        adjoint ? mechd_binary_adjoin(&h->binary, &d) : mechd_binary_derive(&h->binary, &d);
    mechd_pipe_put_f64(&h->out, numbers, rc == 0 ? out : 0);
    return rc;
}

static int derive(struct hosted *h, bool adjoint)
{
    size_t n[4];
    bool good = true;
    for (int k = 0; k < 4; k++) {
        n[k] = mechd_pipe_get_u32(&h->in);
        good = good && n[k] <= VALUES_MOST;
    }
    if (h->in.failed || !good || n[0] > n[1] || n[2] > n[3]) {
        return fail(h, MECHD_FMU_NO_QUESTION, "derivatives");
    }
    uint32_t *const references = calloc(n[0] + n[2] + 1, sizeof *references);
    double *const numbers = calloc(n[1] + n[3] + 1, sizeof *numbers);
    const int rc = references != NULL && numbers != NULL
                       ? derive_from(h, adjoint, n, references, numbers)
                       : fail(h, MECHD_FMU_REFUSED, "no memory for derivatives");
    free(references);
    free(numbers);
    return rc;
}

static int rates(struct hosted *h)
{
    const size_t n = mechd_pipe_get_u32(&h->in), count = mechd_pipe_get_u32(&h->in);
    if (h->in.failed || n > count || count > VALUES_MOST) {
        return fail(h, MECHD_FMU_NO_QUESTION, "rates");
    }
    uint32_t *const references = calloc(n + 1, sizeof *references);
    double *const out = calloc(count + 1, sizeof *out);
    int rc = MECHD_FMU_NO_QUESTION;
    if (references == NULL || out == NULL) {
        rc = fail(h, MECHD_FMU_REFUSED, "no memory for derivatives");
    } else {
        mechd_pipe_get(&h->in, references, n * sizeof *references);
        rc = mechd_pipe_whole(&h->in)
                 ? mechd_binary_output_rates(&h->binary, references, n, out, count)
                 : fail(h, MECHD_FMU_NO_QUESTION, "rates");
        mechd_pipe_put_f64(&h->out, out, rc == 0 ? count : 0);
    }
    free(references);
    free(out);
    return rc;
}

static int take_courses(struct hosted *h)
{
    mechd_fmu_courses_fini(&h->courses);
    h->binary.courses_needed = mechd_pipe_get_u32(&h->in) != 0;
    return mechd_fmu_courses_get(&h->in, &h->courses) ? 0
                                                      : fail(h, MECHD_FMU_NO_QUESTION, "courses");
}

static int take_trace(struct hosted *h)
{
    mechd_fmu_trace_fini(&h->trace);
    return mechd_fmu_trace_get(&h->in, &h->trace) ? 0 : fail(h, MECHD_FMU_NO_QUESTION, "trace");
}

static void put_events(struct hosted *h, const struct mech_event_log *log)
{
    const uint64_t total = log->total < UINT32_MAX ? log->total : UINT32_MAX;
    mechd_pipe_put_u32(&h->out, (uint32_t)total);
    for (size_t k = 0; k < log->count; k++) {
        const double times[] = {log->at[k].since, log->at[k].time};
        mechd_pipe_put_u32(&h->out, (uint32_t)log->at[k].kind);
        mechd_pipe_put_f64(&h->out, times, 2);
    }
}

static int step(struct hosted *h, bool watched)
{
    double times[2];
    struct mechd_fmu_reached end = {0};
    struct mech_logged at[MECHD_FMU_EVENTS_MOST];
    struct mech_event_log log = {.at = at, .room = MECHD_FMU_EVENTS_MOST};
    mechd_pipe_get_f64(&h->in, times, 2);
    const struct mechd_fmu_span span = {.time = times[0],
                                        .size = times[1],
                                        .start = h->binary.start,
                                        .early = watched && mechd_pipe_get_u32(&h->in) != 0,
                                        .events = watched ? &log : NULL};
    if (!mechd_pipe_whole(&h->in)) {
        return fail(h, MECHD_FMU_NO_QUESTION, "step");
    }
    h->binary.courses = h->courses.at;
    h->binary.course_count = h->courses.count;
    h->binary.course_scratch = h->courses.scratch;
    h->binary.trace = h->trace.width > 0 ? &h->trace : NULL;
    const int rc = mechd_binary_step(&h->binary, &span, &end);
    h->binary.course_count = 0;
    h->binary.courses_needed = false;
    h->binary.trace = NULL;
    mechd_fmu_courses_fini(&h->courses);
    mechd_pipe_put_f64(&h->out, &end.time, 1);
    mechd_pipe_put_u32(&h->out, end.terminate ? 1 : 0);
    if (watched) {
        mechd_pipe_put_u32(&h->out, end.event ? 1 : 0);
        put_events(h, &log);
    }
    if (h->trace.width > 0) {
        mechd_fmu_rows_put(&h->trace, &h->out);
    }
    mechd_fmu_trace_fini(&h->trace);
    return rc;
}

static int turn(struct hosted *h, int (*to)(struct mechd_binary *b))
{
    return h->binary.events ? to(&h->binary)
                            : fail(h, MECHD_FMU_NO_QUESTION, "the FMU was made without event mode");
}

static int save(struct hosted *h)
{
    char *bytes = NULL;
    size_t size = 0;
    const int rc = mechd_binary_save(&h->binary, &bytes, &size);
    mechd_pipe_put(&h->out, bytes, rc == 0 ? size : 0);
    free(bytes);
    return rc;
}

/* What was asked for over a step that has not been made is not for the next one. */
static int restore(struct hosted *h)
{
    mechd_fmu_courses_fini(&h->courses);
    mechd_fmu_trace_fini(&h->trace);
    h->binary.courses_needed = false;
    return mechd_binary_restore(&h->binary, (const char *)h->in.bytes, h->in.size);
}

static int answer(struct hosted *h)
{
    const uint32_t verb = h->in.verb;
    if (verb != MECHD_FMU_OPEN && verb != MECHD_FMU_REQUIRE && h->binary.component == NULL) {
        return fail(h, MECHD_FMU_NO_QUESTION, "nothing is open");
    }
    switch (verb) {
    case MECHD_FMU_REQUIRE:
        return require(h);
    case MECHD_FMU_OPEN:
        return open_fmu(h);
    case MECHD_FMU_ENTER:
        return enter(h);
    case MECHD_FMU_EXIT:
        return mechd_binary_exit(&h->binary);
    case MECHD_FMU_SET:
        return exchange(h, true);
    case MECHD_FMU_GET:
        return exchange(h, false);
    case MECHD_FMU_DERIVE:
        return derive(h, false);
    case MECHD_FMU_ADJOIN:
        return derive(h, true);
    case MECHD_FMU_RATES:
        return rates(h);
    case MECHD_FMU_COURSES:
        return take_courses(h);
    case MECHD_FMU_TRACE:
        return take_trace(h);
    case MECHD_FMU_STEP:
        return step(h, false);
    case MECHD_FMU_WATCHED:
        return step(h, true);
    case MECHD_FMU_EVENT:
        return turn(h, mechd_binary_enter_event);
    case MECHD_FMU_RESUME:
        return turn(h, mechd_binary_leave_event);
    case MECHD_FMU_SAVE:
        return save(h);
    case MECHD_FMU_RESTORE:
        return restore(h);
    case MECHD_FMU_RESET:
        return mechd_binary_reset(&h->binary);
    default:
        return fail(h, MECHD_FMU_NO_QUESTION, "no such verb");
    }
}

void mechd_fmu_serve(int socket)
{
    static struct hosted h;
    h = (struct hosted){.socket = socket};
    while (mechd_pipe_receive(socket, &h.in, &forever) == 0 && h.in.verb != MECHD_FMU_CLOSE) {
        if (h.in.verb == MECHD_FMU_RETURN) {
            continue; // the step that it was about is over
        }
        mechd_pipe_begin(&h.out, MECHD_FMU_DONE);
        int rc = answer(&h);
        if (rc == 0 && h.out.failed) {
            rc = fail(&h, MECHD_FMU_REFUSED, "an answer larger than a message");
        }
        if (rc != 0) {
            mechd_pipe_begin(&h.out, MECHD_FMU_FAILED);
            mechd_pipe_put_u32(&h.out, (uint32_t)rc);
            mechd_pipe_put_u32(&h.out, (uint32_t)h.binary.status);
            mechd_pipe_put_text(&h.out, h.binary.fault);
        }
        if (mechd_pipe_send(socket, &h.out, &forever) != 0) {
            break;
        }
    }
    mechd_binary_close(&h.binary);
    mechd_fmu_courses_fini(&h.courses);
    mechd_fmu_trace_fini(&h.trace);
    free(h.required);
}
