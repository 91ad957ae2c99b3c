/* --help and the manual page, from the table of options. */
#include "server/daemon/options.h"

#include "server/daemon/configuration.h"
#include "solver/base/text.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS = 80, LEFT = 27 /* of what is said about an option */ };

static const char sources[] =
    "Every option can also be set in the environment as MECHD_NAME (MECHD_LOG_LEVEL=debug; several "
    "addresses separated by commas) and in the configuration file. Flags override the environment, "
    "which overrides the file. MECHD_DEFAULT_NAME is the value of an option that none of them "
    "sets. Options without a value take on or off there, and as a flag with `=`: `access-log = "
    "on`, --access-log=off. Port 0 (ZeroMQ: *) selects a free port.";

/* An option in the help; a long name has a line of its own. */
static void print_entry(const char *name, const char *value, const char *doc)
{
    char left[48];
    snprintf(left, sizeof left, "--%s %s", name, value != NULL ? value : "");
    printf(strlen(left) > 24 ? "  %s\n%27s" : "  %-24s %s", left, "");
    mech_text_print(stdout, doc, LEFT, COLUMNS);
}

void mechd_config_help(void)
{
    printf("mechd " MECHD_VERSION ": a co-simulation server for mechanics\n\n"
           "usage: mechd [options]\n\n");
    for (int k = 0; k < mechd_option_count; k++) {
        print_entry(mechd_options[k].name, mechd_options[k].value, mechd_options[k].doc);
    }
    for (int k = 0; k < MECHD_FLAGS; k++) {
        print_entry(mechd_flags[k].name, mechd_flags[k].value, mechd_flags[k].doc);
    }
    putchar('\n');
    mech_text_print(stdout, sources, 0, COLUMNS);
}

/* A text of one of these kinds as the file has it: quoted where it would end at a comma or at a
 * comment (solver/base/words.h). */
static void print_item(const char *text, enum mechd_option_kind kind)
{
    const bool ends = text[0] == '#' || strstr(text, " #") != NULL || strstr(text, "\t#") != NULL;
    const bool blank = *text != '\0' && (*text == ' ' || text[strlen(text) - 1] == ' ');
    const char *const special = kind == MECHD_LIST ? strpbrk(text, ",\"") : NULL;
    if (!ends && !blank && special == NULL && *text != '"') {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (; *text != '\0'; text++) {
        printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    }
    putchar('"');
}

void mechd_config_print(const struct mechd_config *c)
{
    for (int k = 0; k < mechd_option_count; k++) {
        const struct mechd_option *const o = &mechd_options[k];
        const char *const at = (const char *)c + o->offset;
        int count = 0;
        switch (o->kind) {
        case MECHD_TEXT:
            if (*at != '\0') {
                printf("%s = ", o->name);
                print_item(at, o->kind);
                putchar('\n');
            }
            break;
        case MECHD_LIST:
            count = *(const int *)(const void *)((const char *)c + o->room);
            for (int j = 0; j < count; j++) {
                printf("%s%s", j > 0 ? "," : o->name, j > 0 ? "" : " = ");
                print_item(at + (size_t)j * MECHD_ADDRESS, o->kind);
            }
            fputs(count > 0 ? "\n" : "", stdout);
            break;
        case MECHD_NUMBER:
            printf("%s = %d\n", o->name, *(const int *)(const void *)at);
            break;
        case MECHD_SWITCH:
            printf("%s = %s\n", o->name, *(const bool *)(const void *)at ? "on" : "off");
            break;
        }
    }
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
    printf(".TP\n.B \\-\\-");
    put(name);
    printf("%s", value != NULL ? " " : "");
    put(value != NULL ? value : "");
    printf("\n");
    put(doc);
    printf("\n");
}

void mechd_config_manual(void)
{
    printf(".TH MECHD 1 \"\" \"mechd " MECHD_VERSION "\" \"User Commands\"\n"
           ".SH NAME\nmechd \\- a co\\-simulation server for mechanics\n"
           ".SH SYNOPSIS\n.B mechd\n[\\fIoptions\\fR]\n.SH DESCRIPTION\n"
           "Accepts mechanical models over HTTP, steps them, streams their motion over ZeroMQ and "
           "applies\n"
           "forces that clients send meanwhile. It runs in the foreground and logs to standard "
           "error.\n"
           "SIGTERM and SIGINT stop it, by default within two seconds unless a computation cannot "
           "be\n"
           "cancelled. SIGHUP reloads the files of tokens, public keys and certificates, and from "
           "the\n"
           "configuration file the options quota, log\\-level and access\\-log.\n"
           ".SH OPTIONS\n");
    for (int k = 0; k < mechd_option_count; k++) {
        put_option(mechd_options[k].name, mechd_options[k].value, mechd_options[k].doc);
    }
    for (int k = 0; k < MECHD_FLAGS; k++) {
        put_option(mechd_flags[k].name, mechd_flags[k].value, mechd_flags[k].doc);
    }
    printf(".SH ENVIRONMENT\n");
    put(sources);
    putchar('\n');
    printf(".SH EXIT STATUS\n0 after SIGTERM or SIGINT, or after printing the requested text; 1 "
           "when\n"
           "the configuration has an error or an endpoint cannot be opened.\n"
           ".SH SEE ALSO\n.BR mechctl (1)\n");
}
