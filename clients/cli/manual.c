/* The manual page of mechctl, from the tables of commands and options; man(7) macros. */
#include "clients/cli/cli.h"

#include <stdio.h>

/* Text as it is: no macro at the beginning of a line, hyphens that can be copied. */
static void put(const char *text)
{
    bool fresh = true;
    for (; *text; text++) {
        if (fresh && (*text == '.' || *text == '\'')) {
            fputs("\\&", stdout);
        }
        fresh = *text == '\n';
        if (*text == '\\') {
            fputs("\\e", stdout);
        } else if (*text == '-') {
            fputs("\\-", stdout);
        } else {
            putchar(*text);
        }
    }
}

static void put_options(const struct mechctl_option *o)
{
    for (; o && o->name; o++) {
        fputs(".TP\n\\fB\\-\\-", stdout);
        put(o->name);
        fputs("\\fR", stdout);
        if (o->argument) {
            fputs(" \\fI", stdout);
            put(o->argument);
            fputs("\\fR", stdout);
        }
        putchar('\n');
        put(o->doc);
        putchar('\n');
    }
}

static void put_command(const struct mechctl_command *c)
{
    printf(".SS %s", c->name);
    if (*c->arguments) {
        fputs(" \\fI", stdout);
        put(c->arguments);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    put(c->summary);
    fputs(".\n", stdout);
    if (c->details) {
        fputs(".PP\n.nf\n", stdout);
        put(c->details);
        fputs("\n.fi\n", stdout);
    }
    struct mechc_bytes text = {0};
    for (const struct mechctl_words *w = c->words; w && w->argument; w++) {
        mechc_bytes_clear(&text);
        mechctl_tell_words(w, &text);
        fputs(".PP\n", stdout);
        put(text.failed ? "" : text.at);
        fputs(".\n", stdout);
    }
    mechc_bytes_fini(&text);
    put_options(mechctl_options(c));
}

int mechctl_print_manual(void)
{
    printf(".TH MECHCTL 1 \"\" \"mechd %s\" \"User Commands\"\n", mechc_version());
    fputs(
        ".SH NAME\nmechctl \\- create, step and watch mechanical models on a mechd server\n"
        ".SH SYNOPSIS\n.B mechctl\n[\\fIoptions\\fR] \\fICOMMAND\\fR [\\fIarguments\\fR]\n"
        ".SH DESCRIPTION\nEach command sends one request to\n.BR mechd (1)\n"
        "or follows its stream, and prints the answer as text, or with\n.B \\-\\-json\n"
        "unchanged. With that option a refusal is the server's problem document (RFC 9457: code,\n"
        "detail, errors with pointers into the request), one line of JSON on standard error;\n"
        "exit statuses are the same.\nOptions may come before or after the command.\n.SH OPTIONS\n",
        stdout);
    put_options(mechctl_global_options);
    puts(".SH COMMANDS");
    for (const struct mechctl_command *const *c = mechctl_commands; *c; c++) {
        put_command(*c);
    }
    puts(".SH EXIT STATUS");
    for (int code = 0; mechctl_exits[code]; code++) {
        printf(".TP\n%d\n", code);
        put(mechctl_exits[code]);
        putchar('\n');
    }
    fputs(".SH ENVIRONMENT\n.TP\n.B MECHD_SERVER\nthe server: http://host:port, https://host:port "
          "or unix:/path\n"
          ".TP\n.B MECHD_TOKEN\nthe bearer token\n"
          ".TP\n.B MECHD_ON_TOKEN\nthe token for the server of\n.B replay \\-\\-on\n"
          ".TP\n.B MECHD_LEASE\nnumber of the lease that commands send\n"
          ".TP\n.B MECHD_CA\nPEM file with the authorities that an https:// server is checked "
          "against\n"
          ".TP\n.B MECHD_CLIENT_KEY\nfile with the client's key pair for ZeroMQ\n"
          ".TP\n.B MECHD_SERVER_KEY\nthe server's public key for ZeroMQ\n"
          ".TP\n.B NO_COLOR\nno colors, if it is set and not empty\n.SH SEE ALSO\n.BR mechd (1)\n",
          stdout);
    return MECHCTL_DONE;
}
