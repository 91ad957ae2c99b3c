/* The error of a handle: set here, or read from the daemon's problem+json (RFC 9457). */
#include "clients/c/handle.h"

#include "solver/base/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct mechc_error no_memory = {
    .result = MECHC_NO_MEMORY, .code = "", .text = "out of memory"};

void mechc_clear_error(struct mechc *c)
{
    free(c->faults);
    c->faults = NULL;
    mechc_bytes_clear(&c->words);
    c->error = (struct mechc_error){.code = "", .text = ""};
}

int mechc_fail(struct mechc *c, enum mechc_result result, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    mech_text_format_list(text, sizeof text, format, arguments);
    va_end(arguments);
    mechc_clear_error(c);
    mechc_bytes_text(&c->words, text);
    if (c->words.failed) {
        c->error = no_memory;
        return MECHC_NO_MEMORY;
    }
    c->error = (struct mechc_error){.result = result, .code = "", .text = c->words.at};
    return result;
}

/* Reserve everything at once, so that the pointers into it stay: decoded text is never longer than
 * the JSON that it comes from. */
static char *take(struct mechc_bytes *words, struct mechc_json v)
{
    char *const at = words->at + words->length;
    const size_t n = mechc_json_text(v, at, words->capacity - words->length);
    words->length += n + 1;
    return at;
}

static void read_faults(struct mechc *c, struct mechc_json list)
{
    const size_t count = mechc_json_count(list);
    c->faults = calloc(count ? count : 1, sizeof *c->faults);
    if (!c->faults) {
        return;
    }
    size_t n = 0;
    for (struct mechc_json_walk w = mechc_json_walk(list); mechc_json_next(&w); n++) {
        struct mechc_json v;
        c->faults[n].pointer = mechc_json_member(w.value, "pointer", &v) ? take(&c->words, v) : "";
        c->faults[n].message = mechc_json_member(w.value, "message", &v) ? take(&c->words, v) : "";
    }
    c->error.faults = c->faults;
    c->error.fault_count = n;
}

int mechc_refused(struct mechc *c, int status, const char *body, size_t size)
{
    struct mechc_json problem, v;
    if (!mechc_json_open(body, size, &problem) || mechc_json_kind(problem) != '{') {
        const int result =
            mechc_fail(c, MECHC_REFUSED, "the server answered with status %d", status);
        c->error.status = status;
        return result;
    }
    mechc_clear_error(c);
    // reserve first: the pointers into it must not move
    struct mechc_bytes *const words = &c->words;
    for (size_t have = 0; have < size + 64 && !words->failed; have += 32) {
        mechc_bytes_add(words, "                                ", 32);
    }
    if (words->failed) {
        c->error = no_memory;
        return MECHC_NO_MEMORY;
    }
    words->length = 0;
    c->error = (struct mechc_error){.result = MECHC_REFUSED, .status = status, .code = ""};
    uint64_t number = 0;
    if (status == 0 && mechc_json_member(problem, "status", &v) &&
        mechc_json_unsigned(v, &number)) {
        c->error.status = number < 1000 ? (int)number : 0;
    }
    if (mechc_json_member(problem, "code", &v)) {
        c->error.code = take(words, v);
    }
    // the detail is more specific than the title, if there is one
    if (mechc_json_member(problem, "detail", &v) || mechc_json_member(problem, "title", &v)) {
        c->error.text = take(words, v);
    } else {
        c->error.text = "the server refused";
    }
    if (mechc_json_member(problem, "errors", &v)) {
        read_faults(c, v);
    }
    return MECHC_REFUSED;
}

const struct mechc_error *mechc_last_error(const struct mechc *c)
{
    return c ? &c->error : &no_memory;
}
