/* One table of options; a value is taken from the strongest source that has it. */
#include "server/config.h"

#include "server/instance/durable.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum option_kind { TEXT, ADDRESSES, NUMBER, SWITCH };

static const struct option {
    const char *name; /* --name, MECHD_NAME, and `name = …` in the file */
    enum option_kind kind;
    size_t offset;
    size_t room; /* TEXT: bytes; NUMBER: largest */
    const char *value;
    const char *doc;
} options[] = {
    {"listen", ADDRESSES, offsetof(struct mechd_config, listen), 0, "ADDRESS",
     "HTTP on host:port or unix:PATH, may be given again (127.0.0.1:8080)"},
    {"control", TEXT, offsetof(struct mechd_config, control), MECHD_ADDRESS, "ENDPOINT",
     "ZeroMQ control (tcp://127.0.0.1:5555), or none"},
    {"stream", TEXT, offsetof(struct mechd_config, stream), MECHD_ADDRESS, "ENDPOINT",
     "ZeroMQ stream (tcp://127.0.0.1:5556), or none"},
    {"forces", TEXT, offsetof(struct mechd_config, forces), MECHD_ADDRESS, "ENDPOINT",
     "ZeroMQ forces (tcp://127.0.0.1:5557), or none"},
    {"state", TEXT, offsetof(struct mechd_config, state), MECHD_ADDRESS, "DIR",
     "directory in which instances outlive the process, or none (none)"},
    {"durability", TEXT, offsetof(struct mechd_config, durability), 16, "MODE",
     "of instances that do not say: none, checkpoint or every-step (none)"},
    {"tokens", TEXT, offsetof(struct mechd_config, tokens), MECHD_ADDRESS, "FILE",
     "who may do what: lines of --make-token; read again on SIGHUP"},
    {"workers", NUMBER, offsetof(struct mechd_config, workers), 256, "N",
     "threads of the step pool (0: one per processor)"},
    {"model-size", NUMBER, offsetof(struct mechd_config, model_size), 2000, "MIB",
     "largest model document, MiB of JSON (64); reading it takes about 20 times that in memory"},
    {"log-level", TEXT, offsetof(struct mechd_config, log_level), 16, "LEVEL",
     "error, warning, info or debug (info)"},
    {"access-log", SWITCH, offsetof(struct mechd_config, access_log), 0, NULL,
     "log every request at level info (else at debug)"},
    {"ready-file", TEXT, offsetof(struct mechd_config, ready_file), MECHD_ADDRESS, "FILE",
     "written once everything listens: pid and real endpoints as JSON"},
    {"insecure", SWITCH, offsetof(struct mechd_config, insecure), 0, NULL,
     "serve addresses that other machines reach, without any protection"},
    {"check-config", SWITCH, offsetof(struct mechd_config, check_config), 0, NULL,
     "say what would be done and what stands against it, then leave"},
};

enum { OPTIONS = sizeof options / sizeof *options };

/* Options that are no settings. */
static const char *const others[][2] = {
    {"--config FILE", "lines of `option = value`; # begins a comment"},
    {"--make-token NAME",
     "print a new token, and its line for --tokens; --scopes read,step,admin (step)"},
    {"--print WHAT", "openapi, schema, types or errors, from the tables; man: the manual page"},
    {"--version", "version of the daemon"},
    {"--help", "this text"},
};

static const char sources[] =
    "Every option is also read from the environment as MECHD_NAME (MECHD_LOG_LEVEL=debug;\n"
    "several addresses with commas), and from the file: flags win over environment,\n"
    "environment over file. Port 0 (ZeroMQ: *) takes a free port.\n";

void mechd_config_help(void)
{
    printf("mechd " MECHD_VERSION ": a co-simulation server for mechanics\n\n"
           "usage: mechd [options]\n\n");
    for (int k = 0; k < OPTIONS; k++) {
        char left[48];
        snprintf(left, sizeof left, "--%s %s", options[k].name,
                 options[k].value != NULL ? options[k].value : "");
        printf("  %-24s %s\n", left, options[k].doc);
    }
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        printf("  %-24s %s\n", others[k][0], others[k][1]);
    }
    printf("\n%s", sources);
}

/* Text for man(7): no macro at the beginning of a line, hyphens that can be copied. */
static void put(const char *text)
{
    bool fresh = true;
    for (const char *p = text; *p != '\0'; p++) {
        printf(fresh && (*p == '.' || *p == '\'') ? "\\&%s" : "%s", *p == '\\'  ? "\\e"
                                                                    : *p == '-' ? "\\-"
                                                                                : "");
        if (*p != '\\' && *p != '-') {
            putchar(*p);
        }
        fresh = *p == '\n';
    }
}

/* "--name VALUE" and what it is. */
static void put_option(const char *name, const char *value, const char *doc)
{
    printf(".TP\n.B ");
    put(name);
    printf("%s", value != NULL ? " " : "");
    put(value != NULL ? value : "");
    printf("\n");
    put(doc);
    printf("\n");
}

void mechd_config_manual(void)
{
    printf(
        ".TH MECHD 1 \"\" \"mechd " MECHD_VERSION "\" \"User Commands\"\n"
        ".SH NAME\nmechd \\- a co\\-simulation server for mechanics\n"
        ".SH SYNOPSIS\n.B mechd\n[\\fIoptions\\fR]\n.SH DESCRIPTION\n"
        "Takes mechanical models over HTTP, steps them, streams their motion over ZeroMQ and "
        "takes\n"
        "forces back while they move. It runs in the foreground and logs to standard error.\n"
        "SIGTERM and SIGINT end it in two seconds at most, SIGHUP reads the file of tokens again.\n"
        ".SH OPTIONS\n");
    for (int k = 0; k < OPTIONS; k++) {
        char name[48];
        snprintf(name, sizeof name, "--%s", options[k].name);
        put_option(name, options[k].value, options[k].doc);
    }
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        put_option(others[k][0], NULL, others[k][1]);
    }
    printf(".SH ENVIRONMENT\n");
    put(sources);
    printf(".SH EXIT STATUS\n0 after SIGTERM or SIGINT, or when what was asked for was printed; 1 "
           "when\n"
           "the configuration has a fault or a door cannot be opened.\n"
           ".SH SEE ALSO\n.BR mechctl (1)\n");
}

/* One address of a list; NULL when the list is full or the address too long. */
static int add_addresses(struct mechd_config *c, const char *text)
{
    while (*text != '\0') {
        const size_t n = strcspn(text, ",");
        if (n == 0 || n >= MECHD_ADDRESS || c->listen_count >= MECHD_LISTEN_MOST) {
            return -1;
        }
        memcpy(c->listen[c->listen_count], text, n);
        c->listen[c->listen_count++][n] = '\0';
        text += n + (text[n] == ',');
    }
    return 0;
}

/* Set one option from text. 0, or -1 when the text is not a value for it. */
static int set(struct mechd_config *c, const struct option *o, const char *text)
{
    char *at = (char *)c + o->offset;
    char *end = NULL;
    long number = 0;
    bool on = false;
    switch (o->kind) {
    case TEXT:
        if (strlen(text) >= o->room || *text == '\0') {
            return -1;
        }
        memcpy(at, text, strlen(text) + 1);
        return 0;
    case ADDRESSES:
        return add_addresses(c, text);
    case NUMBER:
        number = strtol(text, &end, 10);
        if (*text == '\0' || *end != '\0' || number < 0 || number > (long)o->room) {
            return -1;
        }
        *(int *)(void *)at = (int)number;
        return 0;
    case SWITCH:
        on = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
        if (!on && strcmp(text, "false") != 0 && strcmp(text, "0") != 0) {
            return -1;
        }
        *(bool *)(void *)at = on;
        return 0;
    }
    return -1;
}

static const struct option *find(const char *name, size_t length)
{
    for (int k = 0; k < OPTIONS; k++) {
        if (strlen(options[k].name) == length && memcmp(options[k].name, name, length) == 0) {
            return &options[k];
        }
    }
    return NULL;
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

/* Read the file; options in `given` came from a stronger source. */
static int read_file(struct mechd_config *c, const char *path, const bool *given, char *fault,
                     size_t size)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        snprintf(fault, size, "cannot read the configuration file %s", path);
        return -1;
    }
    char buffer[512];
    int outcome = 0;
    for (int n = 1; outcome == 0 && fgets(buffer, sizeof buffer, file) != NULL; n++) {
        buffer[strcspn(buffer, "#")] = '\0';
        char *text = trim(buffer);
        char *equals = strchr(text, '=');
        if (*text == '\0') {
            continue;
        }
        if (equals == NULL) {
            snprintf(fault, size, "%s, line %d: no `option = value`", path, n);
            outcome = -1;
            break;
        }
        *equals = '\0';
        const char *name = trim(text);
        const char *value = trim(equals + 1);
        const struct option *o = find(name, strlen(name));
        if (o == NULL) {
            snprintf(fault, size, "%s, line %d: there is no option %s", path, n, name);
            outcome = -1;
        } else if (!given[o - options] && set(c, o, value) != 0) {
            snprintf(fault, size, "%s, line %d: %s cannot be '%s'", path, n, name, value);
            outcome = -1;
        }
    }
    fclose(file);
    return outcome;
}

/* The environment's value of an option, or NULL. */
static const char *environment(const struct option *o)
{
    char name[48] = "MECHD_";
    size_t n = strlen(name);
    for (const char *p = o->name; *p != '\0'; p++) {
        name[n++] = *p == '-' ? '_' : (char)(*p - 'a' + 'A');
    }
    name[n] = '\0';
    return getenv(name);
}

bool mechd_config_is_local(const char *address)
{
    static const char *const local[] = {"unix:",      "ipc://",           "inproc://",
                                        "127.",       "localhost:",       "[::1]:",
                                        "tcp://127.", "tcp://localhost:", "tcp://[::1]:"};
    for (size_t k = 0; k < sizeof local / sizeof *local; k++) {
        if (strncmp(address, local[k], strlen(local[k])) == 0) {
            return true;
        }
    }
    return strcmp(address, "none") == 0;
}

int mechd_config_durability(const struct mechd_config *c)
{
    for (int k = 0; mechd_durability_names[k] != NULL; k++) {
        if (strcmp(c->durability, mechd_durability_names[k]) == 0) {
            return k;
        }
    }
    return -1;
}

/* Everything that can be refused before anything is opened. */
static int check(const struct mechd_config *c, char *fault, size_t size)
{
    if (mechd_config_durability(c) < 0) {
        snprintf(fault, size, "--durability %s: it is none, checkpoint or every-step",
                 c->durability);
        return -1;
    }
    if (mechd_config_durability(c) > 0 && strcmp(c->state, "none") == 0) {
        snprintf(fault, size, "--durability %s needs a directory: say --state DIR too",
                 c->durability);
        return -1;
    }
    if (mechd_log_level_find(c->log_level) < 0) {
        snprintf(fault, size, "--log-level %s: it is error, warning, info or debug", c->log_level);
        return -1;
    }
    const char *addresses[MECHD_LISTEN_MOST + 3] = {c->control, c->stream, c->forces};
    for (int k = 0; k < c->listen_count; k++) {
        addresses[3 + k] = c->listen[k];
    }
    for (int k = 0; k < 3 + c->listen_count; k++) {
        // tokens protect HTTP; the stream is open to everybody who reaches it
        const bool protected = k >= 3 && c->tokens[0] != '\0';
        if (!c->insecure && !protected && !mechd_config_is_local(addresses[k])) {
            snprintf(fault, size,
                     "%s is reached by other machines, and nothing protects it: listen on a "
                     "loopback address, %sor say --insecure",
                     addresses[k], k >= 3 ? "give --tokens FILE, " : "");
            return -1;
        }
    }
    return 0;
}

/* Flags, closed by NULL; `given` notes which. Returns -1 with a sentence. */
static int read_flags(struct mechd_config *c, char **argv, bool *given, const char **file,
                      char *fault, size_t size)
{
    for (int k = 1; argv[k] != NULL; k++) {
        const char *flag = argv[k];
        if (strncmp(flag, "--", 2) != 0) {
            snprintf(fault, size, "'%s' is not an option; see --help", flag);
            return -1;
        }
        flag += 2;

        // --option=value or --option value
        const size_t n = strcspn(flag, "=");
        const struct option *o = find(flag, n);
        const bool is_config = n == 6 && memcmp(flag, "config", 6) == 0;
        const bool is_print = n == 5 && memcmp(flag, "print", 5) == 0;
        if (strcmp(flag, "help") == 0 || strcmp(flag, "version") == 0) {
            c->action = *flag == 'h' ? MECHD_SAY_HELP : MECHD_SAY_VERSION;
            return 0;
        }
        const bool is_token = n == 10 && memcmp(flag, "make-token", 10) == 0;
        const bool is_scopes = n == 6 && memcmp(flag, "scopes", 6) == 0;
        if (o == NULL && !is_config && !is_print && !is_token && !is_scopes) {
            snprintf(fault, size, "there is no option --%.*s; see --help", (int)n, flag);
            return -1;
        }
        const char *value = flag[n] == '=' ? flag + n + 1 : NULL;
        if (value == NULL && o != NULL && o->kind == SWITCH) {
            value = "true";
        } else if (value == NULL) {
            value = argv[k + 1];
            if (value == NULL || strncmp(value, "--", 2) == 0) {
                snprintf(fault, size, "--%.*s needs a value", (int)n, flag);
                return -1;
            }
            k++;
        }
        if (is_config) {
            *file = value;
        } else if (is_token) {
            c->action = MECHD_MAKE_TOKEN;
            snprintf(c->print, sizeof c->print, "%s", value);
        } else if (is_scopes) {
            snprintf(c->scopes, sizeof c->scopes, "%s", value);
        } else if (is_print) {
            c->action = MECHD_PRINT;
            snprintf(c->print, sizeof c->print, "%s", value);
        } else if (set(c, o, value) != 0) {
            snprintf(fault, size, "--%s cannot be '%s'", o->name, value);
            return -1;
        } else {
            given[o - options] = true;
        }
    }
    return 0;
}

int mechd_config_read(struct mechd_config *c, int argc, char **argv, char *fault, size_t size)
{
    *c = (struct mechd_config){.control = "tcp://127.0.0.1:5555",
                               .stream = "tcp://127.0.0.1:5556",
                               .forces = "tcp://127.0.0.1:5557",
                               .state = "none",
                               .durability = "none",
                               .scopes = "step",
                               .log_level = "info"};

    // flags first: they are the strongest, and name the file
    bool given[OPTIONS] = {false};
    const char *file = getenv("MECHD_CONFIG");
    if (read_flags(c, argv, given, &file, fault, size) != 0) {
        return -1;
    }
    if (c->action != MECHD_SERVE) {
        return 0;
    }
    for (int k = 0; k < OPTIONS; k++) {
        const char *value = given[k] ? NULL : environment(&options[k]);
        if (value == NULL) {
            continue;
        }
        if (set(c, &options[k], value) != 0) {
            snprintf(fault, size, "the environment's value for --%s cannot be '%s'",
                     options[k].name, value);
            return -1;
        }
        given[k] = true;
    }
    if (file != NULL && *file != '\0' && read_file(c, file, given, fault, size) != 0) {
        return -1;
    }

    // what no source has given
    if (c->listen_count == 0) {
        add_addresses(c, "127.0.0.1:8080");
    }
    if (c->model_size == 0) {
        c->model_size = 64;
    }
    if (c->workers == 0) {
        const long n = sysconf(_SC_NPROCESSORS_ONLN);
        c->workers = n < 1 ? 1 : n > 64 ? 64 : (int)n;
    }
    return check(c, fault, size);
}
