/* The command line: options of the program and of the command, in any order; NAME=VALUE arguments;
 * files. */
#include "clients/cli/cli.h"
#include "solver/base/guess.h"
#include "solver/base/odd.h"
#include "solver/base/text.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int mechctl_usage(const char *format, ...)
{
    char text[1024], shown[2048];
    va_list arguments;
    va_start(arguments, format);
    mech_text_format_list(text, sizeof text, format, arguments);
    va_end(arguments);
    mech_text_show(shown, sizeof shown, text);
    fprintf(stderr, "mechctl: %s\n", shown);
    return MECHCTL_USAGE;
}

static bool to_number(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == 0 && isfinite(*out);
}

static void choose_colour(struct mechctl *m, const char *when)
{
    const char *const none = getenv("NO_COLOR"), *const terminal = getenv("TERM");
    const bool wanted =
        !(none && *none) && isatty(STDOUT_FILENO) && !(terminal && strcmp(terminal, "dumb") == 0);
    m->colour = strcmp(when, "always") == 0 || (strcmp(when, "auto") == 0 && wanted);
}

/* What is said to the program itself. */
struct line {
    const char *timeout, *color, *lease, *server_key, *key_file;
    bool *help, *version;
};

static bool is_word(const char *name, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(name, word, length) == 0;
}

/* The option of a command, NULL: it has none of that name. Valid as those of mechctl_options. */
static const struct mechctl_option *option_of(const struct mechctl_command *c, const char *name,
                                              size_t length)
{
    const struct mechctl_option *o = mechctl_options(c);
    while (o->name && !is_word(name, length, o->name)) {
        o++;
    }
    return o->name ? o : NULL;
}

static bool is_option(const char *word)
{
    return strncmp(word, "--", 2) == 0 || strcmp(word, "-o") == 0 || strcmp(word, "-h") == 0;
}

/* Does an option take an argument? 1, 0, or -1: unknown to the program and to every command. In
 * front of a command it may be a switch of one and take a value in another: then it is a switch if
 * `next`, the word behind it, is another option, or a command in which it is a switch. */
static int takes_argument(const struct mechctl_command *only, const char *name, size_t length,
                          const char *next)
{
    bool value = false, alone = false;
    for (const struct mechctl_command *const *c = mechctl_commands; *c; c++) {
        const struct mechctl_option *const o =
            only && *c != only ? NULL : option_of(*c, name, length);
        value = value || (o && o->argument);
        alone = alone || (o && !o->argument);
    }
    if (value && alone) {
        const struct mechctl_command *const c = next ? mechctl_find(next) : NULL;
        const struct mechctl_option *const o = c ? option_of(c, name, length) : NULL;
        alone = next && (is_option(next) || (o && !o->argument));
        value = !alone;
    }
    return value ? 1 : alone ? 0 : -1;
}

/* The option that was probably meant, of the program or a command, in out [size]; "": none. */
static void closest_option(const struct mechctl_command *only, const char *name, size_t length,
                           char *out, size_t size)
{
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)length, name);
    out[0] = '\0';
    struct mech_guess g = {.text = text};
    for (const struct mechctl_option *o = mechctl_global_options; o->name; o++) {
        mech_guess_try(&g, o->name);
    }
    snprintf(out, size, "%s", g.best ? g.best : "");
    for (const struct mechctl_command *const *c = mechctl_commands; *c; c++) {
        if (only && *c != only) {
            continue;
        }
        for (const struct mechctl_option *o = mechctl_options(*c); o->name; o++) {
            const int before = g.best ? g.distance : INT_MAX;
            mech_guess_try(&g, o->name);
            if (g.best && g.distance < before) { // the next table overwrites the name
                snprintf(out, size, "%s", o->name);
            }
        }
    }
}

bool mechctl_is_listed(const char *list, const char *word)
{
    const size_t length = strlen(word);
    while (list && length > 0 && *list) {
        const size_t next = strcspn(list, " ");
        if (next == length && strncmp(list, word, length) == 0) {
            return true;
        }
        list += next + strspn(list + next, " ");
    }
    return false;
}

/* The command that was probably meant, or NULL. */
static const char *closest_command(const char *name)
{
    struct mech_guess g = {.text = name};
    for (const struct mechctl_command *const *c = mechctl_commands; *c; c++) {
        if (mechctl_is_listed((*c)->synonyms, name)) {
            return (*c)->name;
        }
        mech_guess_try(&g, (*c)->name);
    }
    return mech_guess_result(&g);
}

int mechctl_no_command(const char *word)
{
    const char *const meant = closest_command(word);
    return mechctl_usage("'%s' is not a command%s%s%s mechctl help lists them", word,
                         meant ? ", did you mean " : ";", meant ? meant : "", meant ? "?" : "");
}

/* One option; its argument may follow after "=" or as the next word. Returns the words used, 0:
 * error. */
static int take_option(struct mechctl *m, struct line *l, char **words, int left)
{
    const char *const name = words[0] + 2;
    const size_t length = strcspn(name, "=");
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    const char *const next = value || left < 2 ? NULL : words[1];
    // switches of the program, where the command has no option of that name
    const bool of_command = m->command && takes_argument(m->command, name, length, next) == 1;
    bool *const flag = is_word(name, length, "json")                     ? &m->json
                       : is_word(name, length, "help")                   ? l->help
                       : is_word(name, length, "version") && !of_command ? l->version
                                                                         : NULL;
    if (flag && !value) {
        *flag = true;
        return 1;
    }
    const char **const text = is_word(name, length, "server")       ? &m->server
                              : is_word(name, length, "lane")       ? &m->lane
                              : is_word(name, length, "token")      ? &m->token
                              : is_word(name, length, "lease")      ? &l->lease
                              : is_word(name, length, "ca")         ? &m->ca
                              : is_word(name, length, "timeout")    ? &l->timeout
                              : is_word(name, length, "color")      ? &l->color
                              : is_word(name, length, "server-key") ? &l->server_key
                              : is_word(name, length, "curve-key")  ? &l->key_file
                                                                    : NULL;
    const int takes = text ? 1 : takes_argument(m->command, name, length, next);
    if (takes < 0 || flag || (takes == 0 && value)) {
        char meant[64] = "";
        if (takes < 0) {
            closest_option(m->command, name, length, meant, sizeof meant);
        }
        mechctl_usage("%s: no such option%s%s%s%s mechctl help%s%s lists them", words[0],
                      m->command ? " here" : "", *meant ? ", did you mean --" : ";", meant,
                      *meant ? "?" : "", m->command ? " " : "", m->command ? m->command->name : "");
        return 0;
    }
    const int used = takes == 1 && !value ? 2 : 1;
    if (used > left) {
        mechctl_usage("%s needs a value", words[0]);
        return 0;
    }
    value = used == 2 ? words[1] : value ? value : "";
    if (text) {
        *text = value;
    } else { // those of a command may precede it
        m->given[m->given_count++] = (struct mechctl_given){
            .name = name, .length = (int)length, .alone = takes == 0, .value = value};
    }
    return used;
}

/* Whether the collected options are the command's, in its form. */
static int settle(const struct mechctl *m)
{
    for (const struct mechctl_given *g = m->given; g < m->given + m->given_count; g++) {
        const struct mechctl_option *const o = option_of(m->command, g->name, (size_t)g->length);
        if (!o) {
            return mechctl_usage("--%.*s: no such option here", g->length, g->name);
        }
        if (g->alone != !o->argument) {
            return mechctl_usage("--%s %s with %s: give it after the command", o->name,
                                 o->argument ? "needs a value" : "takes no value",
                                 m->command->name);
        }
    }
    return MECHCTL_DONE;
}

static int check_count(const struct mechctl *m)
{
    const struct mechctl_command *const c = m->command;
    if (m->count < c->least) {
        return mechctl_usage("%s: too few arguments; usage: mechctl %s %s", c->name, c->name,
                             c->arguments);
    }
    if (c->most >= 0 && m->count > c->most) {
        return mechctl_usage("%s: '%s' is one argument too many; usage: mechctl %s %s", c->name,
                             m->arguments[c->most], c->name, c->arguments);
    }
    return MECHCTL_DONE;
}

/* What both handles of a program have. */
static int set_common(struct mechctl *m)
{
    int code = m->token ? mechctl_result(m, mechc_set_token(m->c, m->token)) : MECHCTL_DONE;
    code = code == MECHCTL_DONE && m->ca ? mechctl_result(m, mechc_set_ca(m->c, m->ca)) : code;
    return code == MECHCTL_DONE ? mechctl_result(m, mechc_set_timeout(m->c, m->timeout)) : code;
}

int mechctl_open(struct mechctl *m, const char *server, struct mechc **out)
{
    struct mechc *const mine = m->c;
    const int result = mechc_open(server ? server : m->server, out);
    int code = MECHCTL_FAILED;
    if (*out) {
        m->c = *out; // whose errors are printed
        code = mechctl_result(m, result);
        if (code == MECHCTL_DONE) {
            mechc_set_lease(m->c, 0);
            code = set_common(m);
        }
        m->c = mine;
    } else {
        fputs("mechctl: out of memory\n", stderr);
    }
    return code;
}

static int open_server(struct mechctl *m, const struct line *l)
{
    m->timeout = 30.;
    const int result = mechc_open(m->server, &m->c);
    if (result != MECHC_OK) {
        return mechctl_result(m, result);
    }
    if (l->timeout && (!to_number(l->timeout, &m->timeout) || m->timeout <= 0.)) {
        return mechctl_usage("--timeout: '%s' is not a positive number", l->timeout);
    }
    if (l->lease) {
        char *end = NULL;
        errno = 0;
        mechc_set_lease(m->c, strtoull(l->lease, &end, 10));
        if (*l->lease < '0' || *l->lease > '9' || *end || errno != 0) {
            return mechctl_usage("--lease: '%s' is not the number of a lease", l->lease);
        }
    }
    const struct {
        const char *value;
        int (*set)(struct mechc *c, const char *value);
    } given[] = {{l->server_key, mechc_set_server_key}, {l->key_file, mechc_set_key_file}};
    int code = set_common(m);
    for (size_t i = 0; i < sizeof given / sizeof *given && code == MECHCTL_DONE; i++) {
        if (given[i].value) {
            code = mechctl_result(m, given[i].set(m->c, given[i].value));
        }
    }
    if (m->lane && code == MECHCTL_DONE) {
        code = mechctl_result(m, mechc_set_endpoint(m->c, MECHC_LANE, m->lane));
    }
    return code;
}

int mechctl_parse(struct mechctl *m, int argc, char **argv, bool *help, bool *version)
{
    struct line l = {.color = "auto", .help = help, .version = version};
    bool options = true;
    static char output[] = "--output"; // options keep their names
    m->given = calloc((size_t)argc + 1, sizeof *m->given);
    if (!m->given) {
        fputs("mechctl: out of memory\n", stderr);
        return MECHCTL_FAILED;
    }
    // positional words move to the front of argv, in their order
    m->arguments = argv;
    for (int i = 1; i < argc;) {
        if (options && strcmp(argv[i], "-o") == 0) {
            argv[i] = output;
        }
        char *const word = argv[i];
        if (options && strcmp(word, "--") == 0) {
            options = false;
            i++;
        } else if (options && strcmp(word, "-h") == 0) {
            *help = true;
            i++;
        } else if (options && strncmp(word, "--", 2) == 0) {
            const int used = take_option(m, &l, argv + i, argc - i);
            if (used == 0) {
                return MECHCTL_USAGE;
            }
            i += used;
        } else if (!m->command) {
            m->command = mechctl_find(word);
            if (!m->command) {
                return mechctl_no_command(word);
            }
            i++;
        } else {
            m->arguments[m->count++] = word;
            i++;
        }
    }
    if (strcmp(l.color, "auto") != 0 && strcmp(l.color, "always") != 0 &&
        strcmp(l.color, "never") != 0) {
        return mechctl_usage("--color: auto, always or never");
    }
    choose_colour(m, l.color);
    if (*help || *version || !m->command) {
        return MECHCTL_DONE;
    }
    int code = settle(m);
    if (code == MECHCTL_DONE) {
        code = check_count(m);
    }
    return code == MECHCTL_DONE ? open_server(m, &l) : code;
}

const char *mechctl_option(const struct mechctl *m, const char *name)
{
    for (int i = m->given_count - 1; i >= 0; i--) {
        if (is_word(m->given[i].name, (size_t)m->given[i].length, name)) {
            return m->given[i].value;
        }
    }
    return NULL;
}

int mechctl_number(const struct mechctl *m, const char *name, double *out)
{
    const char *const text = mechctl_option(m, name);
    if (text && !to_number(text, out)) {
        return mechctl_usage("--%s: '%s' is not a number", name, text);
    }
    return MECHCTL_DONE;
}

/* "1" as a number, "1,2,3" as an array. */
static int add_value(const char *argument, const char *value, struct mechc_bytes *out)
{
    const bool array = strchr(value, ',');
    mechc_bytes_text(out, array ? "[" : "");
    for (const char *p = value; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        char piece[64];
        const size_t n = strcspn(p, ",");
        double x;
        snprintf(piece, sizeof piece, "%.*s", n < sizeof piece ? (int)n : (int)sizeof piece, p);
        if (n >= sizeof piece || !to_number(piece, &x)) {
            return mechctl_usage("%s: '%s' is not a number", argument, piece);
        }
        mechc_bytes_text(out, p == value ? "" : ",");
        mechc_bytes_number(out, x);
    }
    mechc_bytes_text(out, array ? "]" : "");
    return MECHCTL_DONE;
}

int mechctl_assignments(struct mechctl *m, int first, struct mechc_bytes *out)
{
    mechc_bytes_text(out, "{");
    for (int i = first; i < m->count; i++) {
        char *const equals = strchr(m->arguments[i], '=');
        if (!equals || equals == m->arguments[i]) {
            return mechctl_usage("'%s': expected NAME=VALUE", m->arguments[i]);
        }
        mechc_bytes_text(out, i > first ? "," : "");
        *equals = 0;
        mechc_bytes_string(out, m->arguments[i]);
        mechc_bytes_text(out, ":");
        const int code = add_value(m->arguments[i], equals + 1, out);
        *equals = '=';
        if (code != MECHCTL_DONE) {
            return code;
        }
    }
    mechc_bytes_text(out, "}");
    return MECHCTL_DONE;
}

int mechctl_read_file(const char *path, struct mechc_bytes *out)
{
    const bool standard = strcmp(path, "-") == 0;
    FILE *const f = standard ? stdin : fopen(path, "rb");
    if (!f) {
        return mechctl_usage("%s: %s", path, strerror(errno));
    }
    char piece[16384];
    size_t n;
    mechc_bytes_add(out, "", 0);
    while ((n = fread(piece, 1, sizeof piece, f)) > 0) {
        mechc_bytes_add(out, piece, n);
    }
    const bool failed = ferror(f) || out->failed;
    const int fault = errno;
    if (!standard) {
        fclose(f);
    }
    return failed ? mechctl_usage("%s: %s", path, strerror(fault)) : MECHCTL_DONE;
}

static int refuse_empty(const char *path)
{
    return mechctl_usage("%s: it is empty", strcmp(path, "-") == 0 ? "standard input" : path);
}

int mechctl_read_content(const char *path, struct mechc_bytes *out)
{
    const size_t before = out->length;
    const int code = mechctl_read_file(path, out);
    return code == MECHCTL_DONE && !out->failed && out->length == before ? refuse_empty(path)
                                                                         : code;
}

bool mechctl_is_blank(const char *text, size_t size)
{
    size_t k = mech_text_mark(text, size);
    while (k < size && (text[k] == ' ' || text[k] == '\t' || text[k] == '\r' || text[k] == '\n')) {
        k++;
    }
    return k == size;
}

int mechctl_read_json(const char *path, struct mechc_bytes *out)
{
    const size_t before = out->length;
    const int code = mechctl_read_content(path, out);
    if (code != MECHCTL_DONE || out->failed) {
        return code;
    }
    char *const text = out->at + before;
    const size_t size = out->length - before, mark = mech_text_mark(text, size);
    if (mechctl_is_blank(text, size)) {
        return refuse_empty(path);
    }
    const char *const wide = mech_text_wide(text, size);
    if (wide) {
        return mechctl_usage("%s: it is %s, and JSON is UTF-8: save it as UTF-8", path, wide);
    }
    memmove(text, text + mark, size - mark);
    out->length -= mark;
    return MECHCTL_DONE;
}

int mechctl_write_file(const char *path, const void *bytes, size_t size)
{
    if (strcmp(path, "-") == 0) {
        errno = 0;
        fwrite(bytes, 1, size, stdout);
        return mechctl_flush();
    }
    FILE *const f = fopen(path, "wb");
    if (!f) {
        return mechctl_usage("%s: %s", path, strerror(errno));
    }
    const bool written = fwrite(bytes, 1, size, f) == size;
    const bool closed = fclose(f) == 0;
    return written && closed ? MECHCTL_DONE : mechctl_usage("%s: %s", path, strerror(errno));
}

int mechctl_save(const struct mechctl *m, const char *path, const void *bytes, size_t size)
{
    const int code = mechctl_write_file(path, bytes, size);
    if (code == MECHCTL_DONE && strcmp(path, "-") != 0 && !m->json) {
        printf("%s: %zu bytes\n", path, size);
    }
    return code;
}
