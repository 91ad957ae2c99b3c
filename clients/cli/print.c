/* Values for people: numbers, one-line values, indented JSON, key-value trees. */
#include "clients/cli/cli.h"
#include "solver/base/odd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_LIST = 8, LINE = 100 };

const char *mechctl_ink(const struct mechctl *m, enum mechctl_ink ink)
{
    static const char *const sequences[] = {
        [MECHCTL_PLAIN] = "",       [MECHCTL_BOLD] = "\033[1m",   [MECHCTL_DIM] = "\033[2m",
        [MECHCTL_RED] = "\033[31m", [MECHCTL_GREEN] = "\033[32m", [MECHCTL_BLUE] = "\033[34m",
    };
    return m->colour ? sequences[ink] : "";
}

const char *mechctl_ink_off(const struct mechctl *m)
{
    return m->colour ? "\033[0m" : "";
}

int mechctl_flush(void)
{
    static bool told;
    int fault = errno;
    const bool failed = ferror(stdout), flushed = fflush(stdout) == 0;
    if (flushed && !failed) {
        return MECHCTL_DONE;
    }
    // a write larger than the buffer fails at once, with nothing left to flush
    fault = flushed ? fault : errno;
    if (!told && fault != EPIPE) {
        fprintf(stderr, "mechctl: standard output: %s\n",
                fault ? strerror(fault) : "it cannot be written");
    }
    told = true;
    return MECHCTL_FAILED;
}

const char *mechctl_human(double value, char out[32])
{
    snprintf(out, 32, "%.9g", value);
    return out;
}

int mechctl_width(const char *text)
{
    int width = 0;
    for (; *text; text++) {
        // bytes that continue a character take no column
        width += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return width;
}

static bool is_container(struct mechc_json v)
{
    return mechc_json_kind(v) == '{' || mechc_json_kind(v) == '[';
}

/* Control characters would move the terminal's cursor, marks of direction turn a line around. */
static bool moves(int32_t code)
{
    return code < ' ' || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
           code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

/* A text, with blanks for what moves. */
static void add_string(struct mechc_json value, struct mechc_bytes *out)
{
    char text[256];
    mechc_json_text(value, text, sizeof text);
    size_t length = 1;
    for (size_t k = 0, n = strlen(text); k < n; k += length) {
        const int32_t code = mech_text_code(text + k, n - k, &length);
        mechc_bytes_add(out, moves(code) ? " " : text + k, moves(code) ? 1 : length);
    }
}

/* A value behind its name in a list: in double quotes where it would be read otherwise, as
 * --label takes it. */
static void add_value(struct mechc_json value, struct mechc_bytes *out)
{
    char text[256];
    if (mechc_json_kind(value) != '"' ||
        (mechc_json_text(value, text, sizeof text) < sizeof text && !strpbrk(text, ",\"\\") &&
         text[0] != ' ' && (*text == '\0' || text[strlen(text) - 1] != ' '))) {
        mechctl_inline(value, out);
        return;
    }
    struct mechc_bytes plain = {0};
    add_string(value, &plain);
    mechc_bytes_text(out, "\"");
    for (const char *p = plain.failed ? "" : plain.at; *p != '\0'; p++) {
        mechc_bytes_text(out, *p == '"' || *p == '\\' ? "\\" : "");
        mechc_bytes_add(out, p, 1);
    }
    mechc_bytes_text(out, "\"");
    mechc_bytes_fini(&plain);
}

void mechctl_inline(struct mechc_json value, struct mechc_bytes *out)
{
    double x;
    char text[64];
    switch (mechc_json_kind(value)) {
    case '0':
        // whole numbers keep all their digits
        if (memchr(value.at, '.', (size_t)(value.end - value.at)) ||
            memchr(value.at, 'e', (size_t)(value.end - value.at))) {
            mechc_json_number(value, &x);
            mechc_bytes_text(out, mechctl_human(x, text));
        } else {
            mechc_bytes_add(out, value.at, (size_t)(value.end - value.at));
        }
        return;
    case '{':
    case '[':
        break;
    case 'n':
        mechc_bytes_text(out, "-");
        return;
    case 't':
    case 'f':
        mechc_bytes_text(out, *value.at == 't' ? "yes" : "no");
        return;
    default:
        add_string(value, out);
        return;
    }
    // a few plain values are written out, with their names if they have some; more are counted
    const bool list = mechc_json_kind(value) == '[';
    const size_t n = mechc_json_count(value);
    if (n == 0) {
        mechc_bytes_text(out, "-");
        return;
    }
    bool plain = n <= SHORT_LIST;
    for (struct mechc_json_walk w = mechc_json_walk(value); plain && mechc_json_next(&w);) {
        plain = !is_container(w.value);
    }
    if (!plain) {
        snprintf(text, sizeof text, list ? "[%zu values]" : "{%zu members}", n);
        mechc_bytes_text(out, text);
        return;
    }
    mechc_bytes_text(out, list ? "[" : "");
    bool first = true;
    for (struct mechc_json_walk w = mechc_json_walk(value); mechc_json_next(&w);) {
        mechc_bytes_text(out, first ? "" : ", ");
        if (!list) {
            add_string(w.key, out);
            mechc_bytes_text(out, "=");
            add_value(w.value, out);
        } else {
            mechctl_inline(w.value, out);
        }
        first = false;
    }
    mechc_bytes_text(out, list ? "]" : "");
}

static bool holds_containers(struct mechc_json v)
{
    for (struct mechc_json_walk w = mechc_json_walk(v); mechc_json_next(&w);) {
        if (is_container(w.value)) {
            return true;
        }
    }
    return false;
}

static void print_json(struct mechc_json v, int depth)
{
    const char kind = mechc_json_kind(v);
    if (!is_container(v)) {
        fwrite(v.at, 1, (size_t)(v.end - v.at), stdout);
        return;
    }
    // plain lists and small plain objects stay on one line
    const bool flat = !holds_containers(v) && (kind == '[' || v.end - v.at < LINE - 2 * depth);
    bool first = true;
    putchar(kind);
    for (struct mechc_json_walk w = mechc_json_walk(v); mechc_json_next(&w);) {
        fputs(first ? "" : flat ? ", " : ",", stdout);
        if (!flat) {
            printf("\n%*s", 2 * depth + 2, "");
        } else if (first && kind == '{') {
            putchar(' ');
        }
        if (w.object) {
            printf("%.*s: ", (int)(w.key.end - w.key.at), w.key.at);
        }
        print_json(w.value, depth + 1);
        first = false;
    }
    if (!flat && !first) {
        printf("\n%*s", 2 * depth, "");
    } else if (kind == '{' && !first) {
        putchar(' ');
    }
    putchar(kind == '{' ? '}' : ']');
}

void mechctl_print_json(struct mechc_json value)
{
    print_json(value, 0);
    putchar('\n');
}

int mechctl_print_raw(struct mechc_json value)
{
    errno = 0;
    fwrite(value.at, 1, (size_t)(value.end - value.at), stdout);
    if (!ferror(stdout)) {
        putchar('\n');
    }
    return mechctl_flush();
}

void mechctl_print_warnings(const struct mechctl *m, struct mechc_json reply)
{
    struct mechc_json warnings;
    struct mechc_json v;
    struct mechc_bytes text = {0};
    if (!mechc_json_member(reply, "warnings", &warnings)) {
        return;
    }
    for (struct mechc_json_walk w = mechc_json_walk(warnings); mechc_json_next(&w);) {
        mechc_bytes_clear(&text);
        mechc_bytes_text(&text, m->file ? m->file : "mechctl");
        mechc_bytes_text(&text, ": ");
        if (mechc_json_member(w.value, "pointer", &v)) {
            char pointer[256];
            const size_t n = m->prefix ? strlen(m->prefix) : 0;
            mechc_json_text(v, pointer, sizeof pointer);
            const bool inside = m->file && n > 0 && strncmp(pointer, m->prefix, n) == 0;
            mechc_bytes_text(&text, pointer + (inside ? n : 0));
            mechc_bytes_text(&text, ": ");
        }
        mechc_bytes_text(&text, "warning: ");
        if (mechc_json_member(w.value, "message", &v)) {
            add_string(v, &text);
        }
        fprintf(stderr, "%s\n", text.failed ? "mechctl: out of memory" : text.at);
    }
    mechc_bytes_fini(&text);
}

int mechctl_print_id(const struct mechctl *m, struct mechc_json reply)
{
    char id[MECHC_ID] = "";
    struct mechc_json v;
    if (m->json) {
        return mechctl_print_raw(reply);
    }
    if (mechc_json_member(reply, "id", &v)) {
        mechc_json_text(v, id, sizeof id);
    }
    printf("%s\n", id);
    mechctl_print_warnings(m, reply);
    return MECHCTL_DONE;
}

char *mechctl_text(struct mechc_json string, const char *behind)
{
    const size_t length = mechc_json_text(string, NULL, 0);
    char *const out = malloc(length + strlen(behind) + 1);
    if (out) {
        mechc_json_text(string, out, length + 1);
        memcpy(out + length, behind, strlen(behind) + 1);
    }
    return out;
}

/* How wide the keys of an object are. */
static int width_of_keys(struct mechc_json object)
{
    int width = 0;
    for (struct mechc_json_walk w = mechc_json_walk(object); mechc_json_next(&w) && w.object;) {
        char *const key = mechctl_text(w.key, "");
        width = key && mechctl_width(key) > width ? mechctl_width(key) : width;
        free(key);
    }
    return width;
}

static void print_tree(const struct mechctl *m, struct mechc_json object, int depth)
{
    // keys of one level share a column
    const int width = width_of_keys(object);
    struct mechc_bytes line = {0};
    for (struct mechc_json_walk w = mechc_json_walk(object); mechc_json_next(&w);) {
        char *const own = w.object ? mechctl_text(w.key, "") : NULL;
        const char *const key = own ? own : "-";
        const int used = mechctl_width(key);
        printf("%*s%s%s%s", 2 * depth, "", mechctl_ink(m, MECHCTL_DIM), key, mechctl_ink_off(m));
        free(own);
        const bool nested = is_container(w.value) && mechc_json_count(w.value) > 0 &&
                            (mechc_json_kind(w.value) == '{' || holds_containers(w.value));
        if (nested) {
            putchar('\n');
            print_tree(m, w.value, depth + 1);
            continue;
        }
        mechc_bytes_clear(&line);
        mechctl_inline(w.value, &line);
        printf("%*s  %s\n", width > used ? width - used : 0, "", line.failed ? "" : line.at);
    }
    mechc_bytes_fini(&line);
}

void mechctl_print_tree(const struct mechctl *m, struct mechc_json object)
{
    print_tree(m, object, 0);
}

int mechctl_run_values(struct mechctl *m)
{
    const char *const id = m->arguments[0], *const what = m->command->name;
    struct mechc_json reply, variables, values;
    int code = mechctl_get(m, MECHCTL_PATH("v1", "instances", id, what), &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    code = mechctl_hold(m, &reply);
    if (code == MECHCTL_DONE) {
        code = mechctl_get(m, MECHCTL_PATH("v1", "instances", id, "variables"), &variables);
    }
    if (code != MECHCTL_DONE) {
        return code;
    }
    const bool units = mechc_json_member(variables, "items", &variables);
    if (mechc_json_member(reply, what, &values)) {
        mechctl_print_values(m, values, units ? &variables : NULL);
    }
    return MECHCTL_DONE;
}

void mechctl_print_step(const struct mechctl *m, struct mechc_json reply)
{
    struct mechc_json v;
    struct mechc_bytes line = {0};
    static const char *const parts[][2] = {
        {"time", "time"},
        {"report/windows", "windows"},
        {"report/steps", "steps"},
        {"report/iterations", "iterations"},
        {"report/contacts", "contacts"},
        {"trial", "trial"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (mechc_json_member(reply, parts[i][0], &v)) {
            mechc_bytes_text(&line, line.length ? "  " : "");
            mechc_bytes_text(&line, parts[i][1]);
            mechc_bytes_text(&line, " ");
            mechctl_inline(v, &line);
            mechc_bytes_text(&line, i == 0 ? " s" : "");
        }
    }
    printf("%s%s%s\n", mechctl_ink(m, MECHCTL_DIM), line.at && !line.failed ? line.at : "",
           mechctl_ink_off(m));
    mechc_bytes_fini(&line);
    if (mechc_json_member(reply, "outputs", &v)) {
        mechctl_print_values(m, v, NULL);
    }
    if (mechc_json_member(reply, "report", &v)) {
        mechctl_print_warnings(m, v);
    }
}
