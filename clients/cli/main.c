/* mechctl: the command line client of mechd. Finds the command, opens the connection, runs it. */
#include "clients/cli/cli.h"

#include "solver/base/descriptors.h"
#include "solver/base/text.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MECHCTL_COMMAND(name) extern const struct mechctl_command mechctl_##name;
#include "clients/cli/commands.def"
#undef MECHCTL_COMMAND

#define MECHCTL_COMMAND(name) &mechctl_##name,
const struct mechctl_command *const mechctl_commands[] = {
#include "clients/cli/commands.def"
    NULL};
#undef MECHCTL_COMMAND

const struct mechctl_command *mechctl_find(const char *name)
{
    for (const struct mechctl_command *const *c = mechctl_commands; *c; c++) {
        if (strcmp((*c)->name, name) == 0) {
            return *c;
        }
    }
    return NULL;
}

static void print_words(const struct mechctl_words *w)
{
    struct mechc_bytes text = {0};
    for (; w && w->argument; w++) {
        mechc_bytes_clear(&text);
        mechctl_tell_words(w, &text);
        printf("\n%s.\n", text.failed ? "" : text.at);
    }
    mechc_bytes_fini(&text);
}

static void print_option(const char *name, const char *argument, const char *doc)
{
    char left[64];
    snprintf(left, sizeof left, "--%s%s%s", name, argument ? " " : "", argument ? argument : "");
    // a long name has a line of its own
    printf(strlen(left) > 18 ? "  %s\n%21s" : "  %-18s %s", left, "");
    mech_text_print(stdout, doc, 21, 80);
}

const struct mechctl_option mechctl_global_options[] = {
    MECHCTL_OPTION(
        "server", "URL",
        "the server: http://host:port, https://host:port or unix:/path (default MECHD_SERVER, or "
        "http://127.0.0.1:8080)"),
    MECHCTL_OPTION(
        "lane", "ADDRESS",
        "send requests over the server's lane, unix:PATH or tcp://host:port, instead of HTTP"),
    MECHCTL_OPTION("token", "TOKEN",
                   "bearer token for a server that requires one (default MECHD_TOKEN)"),
    MECHCTL_OPTION("lease", "NUMBER", "lease to send with the command (default MECHD_LEASE)"),
    MECHCTL_OPTION("ca", "FILE",
                   "PEM file with the authorities that an https:// server is checked against "
                   "(default MECHD_CA)"),
    MECHCTL_OPTION(
        "curve-key", "FILE",
        "file with the client's key pair for ZeroMQ, as mechd --make-curve-key prints it (default "
        "MECHD_CLIENT_KEY)"),
    MECHCTL_OPTION(
        "server-key", "KEY",
        "the server's public key for ZeroMQ (default MECHD_SERVER_KEY, or as the server reports it "
        "over HTTP)"),
    MECHCTL_OPTION("json", NULL,
                   "print the server's JSON, for scripts; refusals too, on standard error"),
    MECHCTL_OPTION("timeout", "S", "longest wait for an answer, in seconds (default 30)"),
    MECHCTL_OPTION("color", "WHEN",
                   "auto, always or never (auto: on a terminal, without NO_COLOR)"),
    MECHCTL_OPTION("help", NULL, "explain the program or the command"),
    MECHCTL_OPTION("version", NULL, "print the version"),
    {0},
};

const char *const mechctl_exits[] = {
    [MECHCTL_DONE] = "done",
    [MECHCTL_REFUSED] = "the server refused; the reason is on standard error",
    [MECHCTL_USAGE] = "usage or file error",
    [MECHCTL_UNREACHABLE] = "no server, or no answer in time",
    [MECHCTL_FAILED] = "any other error",
    NULL,
};

static void print_options(const struct mechctl_option *o)
{
    for (; o && o->name; o++) {
        print_option(o->name, o->argument, o->doc);
    }
}

static const char *const group_titles[MECHCTL_GROUPS] = {
    [MECHCTL_MODELS] = "Models and instances",
    [MECHCTL_STEPS] = "Steps, values and states",
    [MECHCTL_RUNS] = "Runs, results and the stream",
    [MECHCTL_ANALYSES] = "Analyses and systems of equations",
    [MECHCTL_MANY] = "Many instances",
    [MECHCTL_SERVER] = "The server and this program",
};

static void print_program_help(void)
{
    puts("usage: mechctl [options] COMMAND [arguments]\n\n"
         "Create, step and watch mechanical models on a mechd server.\n\ncommands:");
    for (int group = 0; group < MECHCTL_GROUPS; group++) {
        printf("\n%s\n", group_titles[group]);
        for (const struct mechctl_command *const *c = mechctl_commands; *c; c++) {
            if ((int)(*c)->group == group) {
                printf("  %-12s %s\n", (*c)->name, (*c)->summary);
            }
        }
    }
    puts("\noptions, before or after the command:");
    print_options(mechctl_global_options);
    puts("\nexit status:");
    for (int code = 0; mechctl_exits[code]; code++) {
        printf("  %d  %s\n", code, mechctl_exits[code]);
    }
    puts("\nmechctl help COMMAND explains one command.");
}

void mechctl_print_help(const struct mechctl_command *command)
{
    if (!command) {
        print_program_help();
        return;
    }
    const struct mechctl_option *const options = mechctl_options(command);
    printf("usage: mechctl %s%s%s%s\n\n%s\n", command->name, options->name ? " [options]" : "",
           *command->arguments ? " " : "", command->arguments, command->summary);
    if (command->details) {
        printf("\n%s\n", command->details);
    }
    print_words(command->words);
    if (options->name) {
        puts("\noptions:");
    }
    print_options(options);
    puts("\noptions of every command:");
    print_options(mechctl_global_options);
}

int main(int argc, char **argv)
{
    mech_descriptors_hold();
    setlocale(LC_CTYPE, "");
    // a reader that leaves (head, grep -q) ends the output, not with a signal
    signal(SIGPIPE, SIG_IGN);
    struct mechctl m = {.prefix = ""};
    bool help = false, version = false;
    int code = mechctl_parse(&m, argc, argv, &help, &version);
    if (code == MECHCTL_DONE && version) {
        printf("mechctl %s\n", mechc_version());
    } else if (code == MECHCTL_DONE && (help || !m.command)) {
        mechctl_print_help(m.command);
        code = help ? MECHCTL_DONE : MECHCTL_USAGE;
    } else if (code == MECHCTL_DONE) {
        code = m.command->run(&m);
    }
    mechc_close(m.c);
    mechc_bytes_fini(&m.body);
    mechc_bytes_fini(&m.held);
    free(m.given);
    errno = 0;
    const int written = mechctl_flush();
    return code == MECHCTL_DONE ? written : code;
}
