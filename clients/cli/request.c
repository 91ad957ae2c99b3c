/* Requests of the commands, and errors as compilers print them: place, then reason. */
#include "clients/cli/cli.h"
#include "solver/base/odd.h"

#include <stdio.h>
#include <string.h>

/* "model.json: " */
static void print_file(const struct mechctl *m)
{
    char shown[1024];
    mech_text_show(shown, sizeof shown, m->file);
    fprintf(stderr, "%s: ", shown);
}

/* "model.json: /objects/0/stiffness: must be positive" */
static void print_fault(const struct mechctl *m, const struct mechc_fault *f)
{
    const char *pointer = f->pointer;
    const size_t n = strlen(m->prefix);
    if (m->file && strncmp(pointer, m->prefix, n) == 0) {
        // the file is the model: its own root is the pointer's
        pointer += n;
        print_file(m);
    }
    char shown[1024];
    mech_text_show(shown, sizeof shown, pointer);
    fprintf(stderr, "%s%s%s\n", shown, *shown ? ": " : "", f->message);
}

/* Where a file stops being JSON; its place counts from the file's beginning, not from that of the
 * request around it (m->lead bytes on the first line). False: this is no such failure. */
static bool print_malformed(const struct mechctl *m, const struct mechc_error *e)
{
    int line, column, text = 0;
    if (!m->file || strcmp(e->code, "malformed-json") != 0 ||
        sscanf(e->text, "line %d, column %d: %n", &line, &column, &text) != 2 || text == 0) {
        return false;
    }
    const int shift = line == 1 && column > m->lead ? m->lead : 0;
    print_file(m);
    fprintf(stderr, "line %d, column %d: %s\nmechctl: refused (%s)\n", line, column - shift,
            e->text + text, e->code);
    return true;
}

int mechctl_result(struct mechctl *m, int result)
{
    static const int codes[] = {
        [MECHC_OK] = MECHCTL_DONE,
        [MECHC_REFUSED] = MECHCTL_REFUSED,
        [MECHC_TIMEOUT] = MECHCTL_UNREACHABLE,
        [MECHC_UNREACHABLE] = MECHCTL_UNREACHABLE,
        [MECHC_BAD_REPLY] = MECHCTL_FAILED,
        [MECHC_BAD_ARGUMENT] = MECHCTL_USAGE,
        [MECHC_INTERRUPTED] = MECHCTL_FAILED,
        [MECHC_IN_USE] = MECHCTL_FAILED,
    };
    if (result == MECHC_OK) {
        return MECHCTL_DONE;
    }
    const struct mechc_error *const e = mechc_last_error(m->c);
    for (size_t i = 0; i < e->fault_count; i++) {
        print_fault(m, &e->faults[i]);
    }
    if (print_malformed(m, e)) {
        return MECHCTL_REFUSED;
    }
    const bool coded = *e->code != 0;
    if (e->fault_count == 1 && strcmp(e->faults[0].message, e->text) == 0) {
        // the place has the whole message
        fprintf(stderr, "mechctl: refused%s%s%s\n", coded ? " (" : "", e->code, coded ? ")" : "");
        return MECHCTL_REFUSED;
    }
    char shown[2048];
    mech_text_show(shown, sizeof shown, e->text);
    fprintf(stderr, "mechctl: %s%s%s%s\n", shown, coded ? " (" : "", e->code, coded ? ")" : "");
    if (result == MECHC_UNREACHABLE) {
        fputs("mechctl: `mechd` starts a server here; --server or MECHD_SERVER names another one\n",
              stderr);
    }
    return result < 0 ? MECHCTL_FAILED : codes[result];
}

/* Whether the server may answer the same request later. */
static bool may_come(const struct mechctl *m, int result)
{
    const int status = mechc_last_error(m->c)->status;
    return result == MECHC_TIMEOUT ||
           (result == MECHC_REFUSED && (status == 429 || (status >= 500 && status != 501)));
}

int mechctl_answer(struct mechctl *m, int result, const struct mechc_reply *r)
{
    struct mechc_json problem;
    if (m->patient && may_come(m, result)) {
        return MECHCTL_LATER;
    }
    if (result != MECHC_REFUSED || !m->json || !mechc_json_open(r->body, r->size, &problem) ||
        mechc_json_kind(problem) != '{') {
        return mechctl_result(m, result);
    }
    fprintf(stderr, "%.*s\n", (int)(problem.end - problem.at), problem.at);
    return MECHCTL_REFUSED;
}

struct sigaction mechctl_on_signal(int signal, void (*handler)(int))
{
    struct sigaction before;
    sigaction(signal, NULL, &before);
    if (before.sa_handler != SIG_IGN) {
        const struct sigaction action = {.sa_handler = handler,
                                         .sa_flags = signal == SIGTSTP ? SA_RESTART : 0};
        sigaction(signal, &action, NULL);
    }
    return before;
}

static const int ends[MECHCTL_ENDS] = {SIGINT, SIGTERM, SIGHUP};

struct mechctl_ends mechctl_on_end(void (*handler)(int))
{
    struct mechctl_ends e;
    for (int k = 0; k < MECHCTL_ENDS; k++) {
        e.before[k] = mechctl_on_signal(ends[k], handler);
    }
    return e;
}

void mechctl_on_end_restore(const struct mechctl_ends *e)
{
    for (int k = 0; k < MECHCTL_ENDS; k++) {
        sigaction(ends[k], &e->before[k], NULL);
    }
}

sigset_t mechctl_hold_ends(void)
{
    sigset_t held, before;
    sigemptyset(&held);
    for (int k = 0; k < MECHCTL_ENDS; k++) {
        sigaddset(&held, ends[k]);
    }
    sigprocmask(SIG_BLOCK, &held, &before);
    return before;
}

void mechctl_release_ends(const sigset_t *before)
{
    sigprocmask(SIG_SETMASK, before, NULL);
}

static volatile sig_atomic_t noted;

static void note(int number)
{
    if (noted != 0) {
        signal(number, SIG_DFL);
        raise(number);
    }
    noted = number;
}

struct mechctl_ends mechctl_note_ends(void)
{
    return mechctl_on_end(note);
}

int mechctl_noted(void)
{
    return noted;
}

void mechctl_obey_ends(const struct mechctl_ends *before)
{
    mechctl_on_end_restore(before);
    if (noted != 0) {
        raise(noted);
    }
}

/* whose request Ctrl-C cancels, and the signal that has */
static struct mechc *waiting;
static volatile sig_atomic_t cancelled;

static void interrupt(int signal)
{
    cancelled = signal;
    mechc_interrupt(waiting);
}

int mechctl_request(struct mechctl *m, const struct mechc_request *r, struct mechc_reply *out)
{
    if (m->lane) {
        return mechctl_lane_call(m, r, out);
    }
    struct mechctl_ends before = {0};
    const bool changes = strcmp(r->method, "GET") != 0;
    if (changes) {
        waiting = m->c;
        before = mechctl_on_end(interrupt);
    }
    const int result = mechc_call(m->c, r, out);
    if (changes) {
        mechctl_on_end_restore(&before);
    }
    const int code = mechctl_answer(m, result, out);
    if (result == MECHC_INTERRUPTED) {
        raise(cancelled); // the outcome has been printed
    }
    return code;
}

bool mechctl_is_there(struct mechctl *m, const char *collection, const char *name)
{
    struct mechc_reply r;
    char text[MECHC_PATH];
    return mechc_path(m->c, MECHCTL_PATH("v1", collection, name), text) == MECHC_OK &&
           mechc_call(m->c, &(struct mechc_request){.method = "GET", .path = text}, &r) == MECHC_OK;
}

int mechctl_send(struct mechctl *m, const char *method, const char *const *path,
                 const struct mechc_bytes *body, struct mechc_json *reply)
{
    static const char nothing[] = "null";
    *reply = (struct mechc_json){.at = nothing, .end = nothing + 4};
    if (body && body->failed) {
        fputs("mechctl: out of memory\n", stderr);
        return MECHCTL_FAILED;
    }
    char text[MECHC_PATH];
    struct mechc_reply r;
    int code = mechctl_result(m, mechc_path(m->c, path, text));
    if (code == MECHCTL_DONE) {
        code = mechctl_request(m,
                               &(struct mechc_request){.method = method,
                                                       .path = text,
                                                       .body = body ? body->at : NULL,
                                                       .size = body ? body->length : 0},
                               &r);
    }
    if (code != MECHCTL_DONE) {
        return code;
    }
    if (r.size > 0 && !mechc_json_open(r.body, r.size, reply)) {
        fputs("mechctl: the reply is not JSON\n", stderr);
        return MECHCTL_FAILED;
    }
    return MECHCTL_DONE;
}

int mechctl_get(struct mechctl *m, const char *const *path, struct mechc_json *reply)
{
    return mechctl_send(m, "GET", path, NULL, reply);
}

int mechctl_hold(struct mechctl *m, struct mechc_json *reply)
{
    mechc_bytes_clear(&m->held);
    mechc_bytes_add(&m->held, reply->at, (size_t)(reply->end - reply->at));
    if (m->held.failed || !mechc_json_open(m->held.at, m->held.length, reply)) {
        fputs("mechctl: out of memory\n", stderr);
        return MECHCTL_FAILED;
    }
    return MECHCTL_DONE;
}

void mechctl_query(char *path, size_t size, const char *key, const char *value)
{
    size_t used = strlen(path);
    if (!value || used == 0) {
        return;
    }
    if (used + strlen(key) + 3 * strlen(value) + 3 > size) {
        path[0] = 0;
        return;
    }
    used += (size_t)snprintf(path + used, size - used, "%c%s=", strchr(path, '?') ? '&' : '?', key);
    for (const char *c = value; *c; c++) {
        const bool plain = (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') ||
                           (*c >= 'A' && *c <= 'Z') || strchr("-._,", *c);
        used += (size_t)snprintf(path + used, size - used, plain ? "%c" : "%%%02X",
                                 plain ? *c : (unsigned char)*c);
    }
}

static int show(const struct mechctl *m, int code, struct mechc_json reply)
{
    if (code == MECHCTL_DONE && m->json) {
        return mechctl_print_raw(reply);
    }
    if (code == MECHCTL_DONE) {
        mechctl_print_json(reply);
    }
    return code;
}

int mechctl_print_reply(struct mechctl *m, const char *method, const char *const *path,
                        const struct mechc_bytes *body)
{
    struct mechc_json reply;
    const int code = mechctl_send(m, method, path, body, &reply);
    return show(m, code, reply);
}

int mechctl_show_path(struct mechctl *m, const char *const *path)
{
    struct mechc_json reply;
    const int code = mechctl_get(m, path, &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    mechctl_print_tree(m, reply);
    return MECHCTL_DONE;
}

int mechctl_print_path(struct mechctl *m, const char *path)
{
    struct mechc_json reply;
    struct mechc_reply r;
    if (*path == 0) {
        return mechctl_usage("the options are too long");
    }
    const int code = mechctl_request(m, &(struct mechc_request){.method = "GET", .path = path}, &r);
    if (code != MECHCTL_DONE) {
        return code;
    }
    if (!mechc_json_open(r.body, r.size, &reply)) {
        return mechctl_write_file("-", r.body, r.size);
    }
    return show(m, MECHCTL_DONE, reply);
}
