/* mechctl: the command line client of mechd. Finds the command, opens the connection, runs it. */
#include "clients/cli/cli.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
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

static void print_option(const char *name, const char *argument, const char *doc)
{
    char left[64];
    snprintf(left, sizeof left, "--%s%s%s", name, argument ? " " : "", argument ? argument : "");
    printf("  %-18s %s\n", left, doc);
}

static void print_global_options(void)
{
    print_option("server", "URL",
                 "where mechd listens (default MECHD_SERVER, or "
                 "http://127.0.0.1:8080; unix:/path too)");
    print_option("json", NULL, "print what the server said, for scripts");
    print_option("timeout", "S", "longest wait for an answer, in seconds (default 30)");
    print_option("color", "WHEN", "auto, always or never (auto respects NO_COLOR)");
    print_option("help", NULL, "explain the program or the command");
    print_option("version", NULL, "print the version");
}

static void print_program_help(void)
{
    puts("usage: mechctl [options] COMMAND [arguments]\n\n"
         "Create, step and watch mechanical models on a mechd server.\n\ncommands:");
    for (const struct mechctl_command *const *c = mechctl_commands; *c; c++) {
        printf("  %-12s %s\n", (*c)->name, (*c)->summary);
    }
    puts("\noptions, before or after the command:");
    print_global_options();
    puts("\nexit codes: 0 done, 1 the server refused, 2 usage or file error, 3 no server or no\n"
         "answer in time, 4 anything else.\n\n"
         "mechctl help COMMAND explains one command.");
}

void mechctl_print_help(const struct mechctl_command *command)
{
    if (!command) {
        print_program_help();
        return;
    }
    printf("usage: mechctl %s%s%s%s\n\n%s\n", command->name, command->options ? " [options]" : "",
           *command->arguments ? " " : "", command->arguments, command->summary);
    if (command->details) {
        printf("\n%s\n", command->details);
    }
    if (command->options) {
        puts("\noptions:");
    }
    for (const struct mechctl_option *o = command->options; o && o->name; o++) {
        print_option(o->name, o->argument, o->doc);
    }
    puts("\noptions of every command:");
    print_global_options();
}

int main(int argc, char **argv)
{
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
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == MECHCTL_DONE) {
        code = MECHCTL_FAILED;
    }
    return code;
}
