/* A value is taken from the strongest source that has it. */
#include "server/daemon/configuration.h"

#include "server/daemon/options.h"
#include "solver/base/guess.h"
#include "solver/base/odd.h"
#include "solver/base/text.h"
#include "solver/base/words.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* The items of a list (solver/base/words.h), behind what the list holds. -1: it is full, or one is
 * empty or too long. */
static int add_to_list(char (*list)[MECHD_ADDRESS], int *count, const char *text)
{
    char *const copy = strdup(text);
    char *at = copy, *item = NULL;
    const char *why = NULL;
    int code = copy != NULL ? 1 : -1;
    while (code > 0 && (code = mech_item_next(&at, &item, &why)) > 0) {
        const size_t n = strlen(item);
        if (n == 0 || n >= MECHD_ADDRESS || *count >= MECHD_LISTEN_MOST) {
            code = -1;
        } else {
            memcpy(list[(*count)++], item, n + 1);
        }
    }
    free(copy);
    return code;
}

/* Cut a comment off: # at the beginning of a line of n bytes, or behind a blank, outside of double
 * quotes around a value or an item of a list (solver/base/words.h). The bytes that are left. */
static size_t cut_comment(char *line, size_t n)
{
    size_t counts = 0;
    bool quoted = false;
    char last = '\0'; // that is no blank
    for (; counts < n; counts++) {
        const char c = line[counts];
        if (!quoted && c == '#' &&
            (counts == 0 || line[counts - 1] == ' ' || line[counts - 1] == '\t')) {
            break;
        }
        if (quoted && c == '\\' && counts + 1 < n) {
            counts++;
        } else if (c == '"') {
            quoted = !quoted && (last == '=' || last == ',');
        }
        last = c == ' ' || c == '\t' ? last : c;
    }
    line[counts] = '\0';
    return counts;
}

/* The two words of a switch, or the like; -1: it is none of them. */
static int read_switch(const char *text)
{
    static const char *const words[][2] = {
        {"off", "on"}, {"no", "yes"}, {"false", "true"}, {"0", "1"}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        for (int on = 0; on < 2; on++) {
            if (strcasecmp(text, words[k][on]) == 0) {
                return on;
            }
        }
    }
    return -1;
}

/* Smallest value of a number. */
static long least(const struct mechd_option *o)
{
    return o->preset > 0;
}

/* Set one option from text. 0, or -1 when the text is not a value for it. */
static int set(struct mechd_config *c, const struct mechd_option *o, const char *text)
{
    char *at = (char *)c + o->offset;
    char *end = NULL;
    long number = 0;
    int on = 0;
    switch (o->kind) {
    case MECHD_TEXT:
        if (strlen(text) >= o->room || *text == '\0') {
            return -1;
        }
        memcpy(at, text, strlen(text) + 1);
        return 0;
    case MECHD_LIST:
        return add_to_list((char(*)[MECHD_ADDRESS])(void *)at, (int *)(void *)((char *)c + o->room),
                           text);
    case MECHD_NUMBER:
        number = strtol(text, &end, 10);
        if (*text == '\0' || *end != '\0' || number < least(o) || number > (long)o->room) {
            return -1;
        }
        *(int *)(void *)at = (int)number;
        return 0;
    case MECHD_SWITCH:
        on = read_switch(text);
        if (on < 0) {
            return -1;
        }
        *(bool *)(void *)at = on != 0;
        return 0;
    }
    return -1;
}

/* Append to the place in `fault`: that the text is not a value, and what would be one. -1. */
static int refuse(const struct mechd_option *o, const char *text, char *fault, size_t size)
{
    char expected[96] = "it must be on or off (yes, no, true, false, 1, 0)";
    if (o->kind == MECHD_TEXT) {
        mech_text_format(expected, sizeof expected, "it must have 1 to %zu bytes", o->room - 1);
    } else if (o->kind == MECHD_NUMBER) {
        mech_text_format(expected, sizeof expected, "it must be a whole number from %ld to %zu",
                         least(o), o->room);
    } else if (o->kind == MECHD_LIST) {
        mech_text_format(expected, sizeof expected,
                         "it must be at most %d values, separated by commas, each of 1 to %d bytes",
                         MECHD_LISTEN_MOST, MECHD_ADDRESS - 1);
    }
    mech_text_append(fault, size, " cannot be '%.128s': %s", text, expected);
    return -1;
}

/* The flag of that name, n bytes of it, or MECHD_FLAGS. */
static enum mechd_flag_kind find_flag(const char *name, size_t n)
{
    int k = 0;
    while (k < MECHD_FLAGS &&
           (strlen(mechd_flags[k].name) != n || memcmp(mechd_flags[k].name, name, n) != 0)) {
        k++;
    }
    return (enum mechd_flag_kind)k;
}

/* What a misspelled option [n] may have meant: ", did you mean --listen?", or "". */
static void guess(const char *name, size_t n, char *out, size_t size)
{
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)n, name);
    struct mech_guess g = {.text = text};
    for (int k = 0; k < mechd_option_count; k++) {
        mech_guess_try(&g, mechd_options[k].name);
    }
    for (int k = 0; k < MECHD_FLAGS; k++) {
        mech_guess_try(&g, mechd_flags[k].name);
    }
    const char *const meant = mech_guess_result(&g);
    snprintf(out, size, "%s%s%s", meant != NULL ? ", did you mean --" : "",
             meant != NULL ? meant : "", meant != NULL ? "?" : "");
}

/* Cut white space off both ends, in place. */
static char *trim(char *text)
{
    text += strspn(text, " \t\r\n");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r\n", text[n - 1]) != NULL) {
        text[--n] = '\0';
    }
    return text;
}

/* The text in double quotes, in place, of an option that is one text; lists have quotes of their
 * own. "": it is no such text. */
static const char *unquoted(const struct mechd_option *o, char *value)
{
    char *at = value, *item = NULL;
    const char *why = NULL;
    if (o->kind != MECHD_TEXT || *value != '"') {
        return value;
    }
    return mech_item_next(&at, &item, &why) > 0 && at == NULL ? item : "";
}

/* A line of the file: all addresses of a list fit. */
enum { LINE = 4096 };

/* Read the file; options in `given` came from a stronger source, those of the file are noted in
 * `here`. One whose path begins with a hyphen, which is no part of it, may be missing. */
static int read_file(struct mechd_config *c, const char *path, const bool *given, bool *here,
                     char *fault, size_t size)
{
    const bool may_be_missing = *path == '-';
    path += may_be_missing;
    if (*path == '\0') {
        mech_text_format(fault, size, "the configuration file - has no path: write -FILE");
        return -1;
    }
    FILE *file = fopen(path, "r");
    if (file == NULL && may_be_missing && errno == ENOENT) {
        return 0;
    }
    if (file == NULL) {
        mech_text_format(fault, size, "cannot read the configuration file %s: %s", path,
                         strerror(errno));
        return -1;
    }
    char buffer[LINE];
    size_t length = 0;
    int outcome = 0;
    for (int n = 1; outcome == 0 && mech_text_line(file, buffer, sizeof buffer, &length); n++) {
        if (length == LINE - 1 && buffer[LINE - 2] != '\n') {
            mech_text_format(fault, size, "%s, line %d: the line is longer than %d bytes", path, n,
                             LINE - 2);
            outcome = -1;
            break;
        }
        const char *const wide = n == 1 ? mech_text_wide(buffer, length) : NULL;
        if (wide != NULL) {
            mech_text_format(fault, size, "%s is %s: save it as UTF-8", path, wide);
            outcome = -1;
            break;
        }
        char *const begin = buffer + (n == 1 ? mech_text_mark(buffer, length) : 0);
        const size_t counts = cut_comment(begin, length - (size_t)(begin - buffer));
        struct mech_odd odd;
        if (mech_text_odd(begin, counts, &odd)) {
            mech_text_format(fault, size, "%s, line %d, column %d: %s is not allowed here", path, n,
                             odd.column, odd.text);
            outcome = -1;
            break;
        }
        char *text = trim(begin);
        char *equals = strchr(text, '=');
        if (*text == '\0') {
            continue;
        }
        if (equals == NULL) {
            mech_text_format(fault, size, "%s, line %d: the line is not `option = value`", path, n);
            outcome = -1;
            break;
        }
        *equals = '\0';
        const char *name = trim(text);
        char *const value = trim(equals + 1);
        const struct mechd_option *o = mechd_option_find(name, strlen(name));
        if (o == NULL) {
            char meant[48];
            guess(name, strlen(name), meant, sizeof meant);
            mech_text_format(fault, size, "%s, line %d: there is no option %s%s", path, n, name,
                             meant);
            outcome = -1;
        } else if (!given[o - mechd_options] && set(c, o, unquoted(o, value)) != 0) {
            mech_text_format(fault, size, "%s, line %d: %s", path, n, name);
            outcome = refuse(o, value, fault, size);
        } else {
            here[o - mechd_options] = true;
        }
    }
    if (outcome == 0 && ferror(file)) {
        mech_text_format(fault, size, "cannot read the configuration file %s: %s", path,
                         strerror(errno));
        outcome = -1;
    }
    fclose(file);
    return outcome;
}

enum { NAME = 48 };

/* The value of an option's variable, or NULL, and its name: the prefix and that of the option. */
static const char *variable(const struct mechd_option *o, const char *prefix, char name[NAME])
{
    snprintf(name, NAME, "%s", prefix);
    size_t n = strlen(name);
    for (const char *p = o->name; *p != '\0'; p++) {
        name[n++] = *p == '-' ? '_' : (char)(*p - 'a' + 'A');
    }
    name[n] = '\0';
    return getenv(name);
}

/* Read the variables with a prefix of options that are not `given`, and note these there. -1: one
 * has no value of its option. */
static int read_variables(struct mechd_config *c, const char *prefix, bool *given, char *fault,
                          size_t size)
{
    for (int k = 0; k < mechd_option_count; k++) {
        char name[NAME];
        const char *const value = given[k] ? NULL : variable(&mechd_options[k], prefix, name);
        if (value == NULL) {
            continue;
        }
        if (set(c, &mechd_options[k], value) != 0) {
            mech_text_format(fault, size, "%s", name);
            return refuse(&mechd_options[k], value, fault, size);
        }
        given[k] = true;
    }
    return 0;
}

/* Do what a flag says; value: "" where it has none. */
static void take_flag(struct mechd_config *c, enum mechd_flag_kind kind, const char *value,
                      const char **file)
{
    static const enum mechd_action actions[MECHD_FLAGS] = {
        [MECHD_FLAG_HELP] = MECHD_SAY_HELP,     [MECHD_FLAG_VERSION] = MECHD_SAY_VERSION,
        [MECHD_FLAG_PRINT] = MECHD_PRINT,       [MECHD_FLAG_MAKE_TOKEN] = MECHD_MAKE_TOKEN,
        [MECHD_FLAG_MAKE_KEY] = MECHD_MAKE_KEY,
    };
    if (kind == MECHD_FLAG_CONFIG) {
        *file = value;
    } else if (kind == MECHD_FLAG_SCOPES) {
        snprintf(c->scopes, sizeof c->scopes, "%s", value);
    } else {
        c->action = actions[kind];
        snprintf(c->print, sizeof c->print, "%s", value);
    }
}

/* Flags, closed by NULL; `given` notes which. Returns -1 with a sentence. */
static int read_flags(struct mechd_config *c, char **argv, bool *given, const char **file,
                      char *fault, size_t size)
{
    for (int k = 1; argv[k] != NULL; k++) {
        const char *flag = argv[k];
        if (strncmp(flag, "--", 2) != 0) {
            // --switch yes
            const char *const before = k > 1 && read_switch(flag) >= 0 ? argv[k - 1] : "";
            const bool joined = strncmp(before, "--", 2) == 0 && strchr(before, '=') == NULL;
            mech_text_format(fault, size, "'%s' is not an option; %s%s%s%s", flag,
                             joined ? "write " : "see ", joined ? before : "--help",
                             joined ? "=" : "", joined ? flag : "");
            return -1;
        }
        flag += 2;

        // --option=value or --option value
        const size_t n = strcspn(flag, "=");
        const struct mechd_option *o = mechd_option_find(flag, n);
        const enum mechd_flag_kind kind = o != NULL ? MECHD_FLAGS : find_flag(flag, n);
        if (o == NULL && kind == MECHD_FLAGS) {
            char meant[48];
            guess(flag, n, meant, sizeof meant);
            mech_text_format(fault, size, "there is no option --%.*s%s; see --help", (int)n, flag,
                             meant);
            return -1;
        }
        if (o == NULL && mechd_flags[kind].value == NULL) {
            take_flag(c, kind, "", file);
            return 0;
        }
        const char *value = flag[n] == '=' ? flag + n + 1 : NULL;
        if (value == NULL && o != NULL && o->kind == MECHD_SWITCH) {
            value = "true";
        } else if (value == NULL) {
            value = argv[k + 1];
            if (value == NULL || strncmp(value, "--", 2) == 0) {
                mech_text_format(fault, size, "--%.*s needs a value", (int)n, flag);
                return -1;
            }
            k++;
        }
        if (kind == MECHD_FLAG_CONFIG && *value == '\0') {
            mech_text_format(fault, size, "--config needs a value");
            return -1;
        }
        if (o == NULL) {
            take_flag(c, kind, value, file);
        } else if (set(c, o, value) != 0) {
            mech_text_format(fault, size, "--%s", o->name);
            return refuse(o, value, fault, size);
        } else {
            given[o - mechd_options] = true;
        }
    }
    return 0;
}

int mechd_config_read(struct mechd_config *c, int argc, char **argv, char *fault, size_t size)
{
    *c = (struct mechd_config){.control = "tcp://127.0.0.1:5555",
                               .stream = "tcp://127.0.0.1:5556",
                               .forces = "tcp://127.0.0.1:5557",
                               .lane = "none",
                               .state = "none",
                               .durability = "none",
                               .fmus = "off",
                               .scopes = "step",
                               .log_level = "info",
                               .unix_mode = "600"};
    for (int k = 0; k < mechd_option_count; k++) {
        if (mechd_options[k].kind == MECHD_NUMBER) {
            *(int *)(void *)((char *)c + mechd_options[k].offset) = mechd_options[k].preset;
        }
    }

    // flags first: they are the strongest, and name the file
    bool given[MECHD_OPTIONS_MOST] = {false};
    const char *file = getenv("MECHD_CONFIG");
    if (read_flags(c, argv, given, &file, fault, size) != 0) {
        return -1;
    }
    const bool shown = c->action == MECHD_PRINT && strcmp(c->print, "settings") == 0;
    if (c->action != MECHD_SERVE && !shown) {
        return 0;
    }
    bool here[MECHD_OPTIONS_MOST] = {false};
    if (read_variables(c, "MECHD_", given, fault, size) != 0 ||
        (file != NULL && *file != '\0' && read_file(c, file, given, here, fault, size) != 0)) {
        return -1;
    }
    for (int k = 0; k < mechd_option_count; k++) {
        given[k] = given[k] || here[k];
    }
    if (read_variables(c, "MECHD_DEFAULT_", given, fault, size) != 0) {
        return -1;
    }

    // what no source has given
    if (c->listen_count == 0) {
        add_to_list(c->listen, &c->listen_count, "127.0.0.1:8080");
    }
    if (c->workers == 0) {
        const long n = sysconf(_SC_NPROCESSORS_ONLN);
        c->workers = n < 1 ? 1 : n > 64 ? 64 : (int)n;
    }
    // what they are can be asked before the files that they name are made
    return shown ? 0 : mechd_config_agree(c, fault, size);
}
