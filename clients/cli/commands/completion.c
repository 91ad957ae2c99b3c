/* mechctl completion: what shells complete on the command line, from the tables.
 *
 * The scripts of bash and zsh share their middle, which finds the command, the position of its
 * argument, and the words that may follow; ids, examples and types are requested from the server.
 * That of fish is in fish.c.
 */
#include "clients/cli/cli.h"
#include "protocol/wire/shells.h"

#include <stdio.h>
#include <string.h>

static const struct mechp_shells shells = MECHP_SHELLS("mechctl");

static const char find_command[] =
    "    local command='' kinds='' options='' values='' list='' kind='' at=0 k=2\n"
    "    local word=${words[$CURRENT]} before=${words[$((CURRENT - 1))]}\n"
    "    while [ $k -lt $CURRENT ]; do\n"
    "        case ${words[$k]} in\n"
    "        %s) k=$((k + 1)) ;;\n"
    "        -*) ;;\n"
    "        *) if [ -z \"$command\" ]; then command=${words[$k]}; else at=$((at + 1)); fi ;;\n"
    "        esac\n"
    "        k=$((k + 1))\n"
    "    done\n";

static const char choose_words[] =
    "    while [ $at -gt 0 ]; do kinds=${kinds#* } at=$((at - 1)); done\n"
    "    kind=${kinds%%%% *}\n"
    "    case $before in\n"
    "    --color) kind=colors ;;\n"
    "    --example) kind=examples ;;\n"
    "    --save|--snapshot|--output) kind=files ;;\n"
    "    %s) kind=${values:-nothing} ;;\n"
    "    *) case $word in -*) kind=options ;; esac\n"
    "        if [ -z \"$command\" ] && [ \"$kind\" != options ]; then kind=commands; fi ;;\n"
    "    esac\n"
    "    case $kind in\n"
    "    colors) list='auto always never' ;;\n"
    "    shells) list='bash zsh fish' ;;\n"
    "    :*) list=${kind#:} list=${list//,/ } ;;\n"
    "    files) list=FILES ;;\n"
    "    ids) list=$(mechctl --timeout 2 list 2>/dev/null | sed '1d; s/ .*//') ;;\n"
    "    examples) list=$(mechctl --timeout 2 examples 2>/dev/null | sed '1d; s/ .*//') ;;\n"
    "    types) list=$(mechctl --timeout 2 types 2>/dev/null | sed '1d; s/ .*//') ;;\n"
    "    options) list=\"$options %s\" ;;\n"
    "    commands) list='%s' ;;\n"
    "    esac\n";

/* "--a|--b" of all options with an argument, or "--a --b" of a table. */
static void add_options(struct mechc_bytes *out, const struct mechctl_option *o, bool valued,
                        const char *between)
{
    for (; o && o->name; o++) {
        if (!valued || o->argument) {
            mechc_bytes_text(out, out->length ? between : "");
            mechc_bytes_text(out, "--");
            mechc_bytes_text(out, o->name);
        }
    }
}

/* The words of a type as ":a,b", or false. */
static bool print_choice(const char *type)
{
    struct mechc_bytes words = {0};
    const bool some = mechctl_add_words(type, ",", &words);
    if (some) {
        printf(":%s", words.failed ? "" : words.at);
    }
    mechc_bytes_fini(&words);
    return some;
}

/* The kind of word at a position, by the word in the usage; ":a,b" are words to choose. */
static void print_kind(const struct mechctl_command *c, const char *word, size_t length)
{
    if (print_choice(mechctl_type_of(c, word, length))) {
        return;
    }
    static const char *const kinds[][2] = {{"ID", "ids"},           {"FILE", "files"},
                                           {"COMMAND", "commands"}, {"TYPE", "types"},
                                           {"NAME", "examples"},    {"SHELL", "shells"}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strlen(kinds[k][0]) == length && memcmp(kinds[k][0], word, length) == 0) {
            fputs(kinds[k][1], stdout);
            return;
        }
    }
    fputs("nothing", stdout);
}

/* The words of options. */
static void print_values(const struct mechctl_command *c)
{
    puts("        case $before in");
    for (const struct mechctl_option *o = mechctl_options(c); o->name; o++) {
        struct mechc_bytes words = {0};
        if (o->argument && mechctl_add_words(o->type, ",", &words)) {
            printf("        --%s) values=':%s' ;;\n", o->name, words.failed ? "" : words.at);
        }
        mechc_bytes_fini(&words);
    }
    puts("        esac ;;");
}

static void print_command(const struct mechctl_command *c)
{
    struct mechc_bytes options = {0};
    mechc_bytes_text(&options, "");
    add_options(&options, mechctl_options(c), false, " ");
    printf("    %s) options='%s' kinds='", c->name, options.failed ? "" : options.at);
    for (const char *p = c->arguments; *p;) {
        p += strspn(p, " []");
        const size_t n = strcspn(p, " []");
        if (n > 0) {
            print_kind(c, p, n);
            putchar(' ');
        }
        p += n;
    }
    puts("nothing '");
    print_values(c);
    mechc_bytes_fini(&options);
}

static int run(struct mechctl *m)
{
    const bool zsh = strcmp(m->arguments[0], "zsh") == 0;
    if (strcmp(m->arguments[0], "fish") == 0) {
        mechctl_print_fish();
        return MECHCTL_DONE;
    }
    if (!zsh && strcmp(m->arguments[0], "bash") != 0) {
        return mechctl_usage("completion: the shells are bash, zsh and fish");
    }
    struct mechc_bytes valued = {0}, global = {0}, names = {0};
    add_options(&valued, mechctl_global_options, true, "|");
    add_options(&global, mechctl_global_options, false, " ");
    for (const struct mechctl_command *const *c = mechctl_commands; *c; c++) {
        add_options(&valued, mechctl_options(*c), true, "|");
        mechc_bytes_text(&names, names.length ? " " : "");
        mechc_bytes_text(&names, (*c)->name);
    }
    const bool failed = valued.failed || global.failed || names.failed;
    if (!failed) {
        fputs(zsh ? shells.zsh_head : shells.bash_head, stdout);
        printf(find_command, valued.at);
        puts("    case $command in");
        for (const struct mechctl_command *const *c = mechctl_commands; *c; c++) {
            print_command(*c);
        }
        puts("    esac");
        printf(choose_words, valued.at, global.at, names.at);
        fputs(zsh ? shells.zsh_tail : shells.bash_tail, stdout);
    }
    mechc_bytes_fini(&valued);
    mechc_bytes_fini(&global);
    mechc_bytes_fini(&names);
    return failed ? MECHCTL_FAILED : MECHCTL_DONE;
}

const struct mechctl_command mechctl_completion = {
    .name = "completion",
    .group = MECHCTL_SERVER,
    .arguments = "SHELL",
    .summary = "print the completion script of a shell: bash, zsh or fish",
    .details = "  source <(mechctl completion bash)\n"
               "  mechctl completion zsh >~/.zfunc/_mechctl\n"
               "  mechctl completion fish >~/.config/fish/completions/mechctl.fish",
    .least = 1,
    .most = 1,
    .run = run,
};
