/* The completion script of fish, which has a syntax of its own: functions that find the command and
 * the position of its argument, and a line for every command, option and argument of the tables.
 * Ids, examples and types are requested from the server. */
#include "clients/cli/cli.h"

#include <stdio.h>
#include <string.h>

static const char head[] =
    "# completion of mechctl for fish: a file mechctl.fish in a folder of completions\n"
    "function __mechctl_words\n"
    "    # the command and its arguments in front of the cursor, without options and theirs\n"
    "    set -l skip no\n"
    "    for word in (commandline -opc)[2..]\n"
    "        if test $skip = yes\n"
    "            set skip no\n"
    "        else if contains -- $word $__mechctl_valued\n"
    "            set skip yes\n"
    "        else if not string match -q -- '-*' $word\n"
    "            printf '%s\\n' $word\n"
    "        end\n"
    "    end\n"
    "end\n"
    "function __mechctl_in\n"
    "    set -l words (__mechctl_words)\n"
    "    test \"$words[1]\" = \"$argv[1]\"\n"
    "end\n"
    "function __mechctl_at\n"
    "    set -l words (__mechctl_words)\n"
    "    test (count $words) -eq $argv[2]; and test \"$words[1]\" = \"$argv[1]\"\n"
    "end\n"
    "function __mechctl_first\n"
    "    test (count (__mechctl_words)) -eq 0\n"
    "end\n"
    "function __mechctl_ask\n"
    "    mechctl --timeout 2 $argv 2>/dev/null | sed '1d; s/ .*//'\n"
    "end\n"
    "complete -c mechctl -e\n"
    "complete -c mechctl -f\n";

/* Text within single quotes. */
static void put(const char *text)
{
    putchar('\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\') {
            putchar('\\');
        }
        putchar(*text);
    }
    putchar('\'');
}

/* The words of a type, or false. */
static bool put_choice(const char *type)
{
    struct mechc_bytes words = {0};
    const bool some = mechctl_add_words(type, " ", &words);
    if (some) {
        printf(" -a '%s'", words.failed ? "" : words.at);
    }
    mechc_bytes_fini(&words);
    return some;
}

/* What may be at the place of a word of the usage, as the end of a line of `complete`. */
static void put_words(const struct mechctl_command *c, const char *word, size_t length)
{
    static const char *const kinds[][2] = {
        {"ID", " -a '(__mechctl_ask list)'"},       {"FILE", " -F"},
        {"COMMAND", " -a \"$__mechctl_commands\""}, {"TYPE", " -a '(__mechctl_ask types)'"},
        {"NAME", " -a '(__mechctl_ask examples)'"}, {"SHELL", " -a 'bash zsh fish'"}};
    if (put_choice(mechctl_type_of(c, word, length))) {
        return;
    }
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strlen(kinds[k][0]) == length && memcmp(kinds[k][0], word, length) == 0) {
            fputs(kinds[k][1], stdout);
        }
    }
}

/* The argument of an option, whose name says more than the usage's word. */
static void put_argument(const struct mechctl_option *o)
{
    static const char *const kinds[][2] = {{"color", " -x -a 'auto always never'"},
                                           {"example", " -x -a '(__mechctl_ask examples)'"},
                                           {"save", " -r -F"},
                                           {"snapshot", " -r -F"},
                                           {"output", " -r -F"}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(kinds[k][0], o->name) == 0) {
            fputs(kinds[k][1], stdout);
            return;
        }
    }
    printf(" -x");
    put_choice(o->type);
}

/* The options of a command; c NULL: those of the program. */
static void put_options(const struct mechctl_command *c, const struct mechctl_option *o)
{
    for (; o && o->name; o++) {
        printf("complete -c mechctl");
        if (c) {
            printf(" -n '__mechctl_in %s'", c->name);
        }
        printf(" -l %s", o->name);
        if (o->argument) {
            put_argument(o);
        }
        if (o->doc) {
            printf(" -d ");
            put(o->doc);
        }
        putchar('\n');
    }
}

/* The arguments of a command by their positions. */
static void put_arguments(const struct mechctl_command *c)
{
    int position = 1;
    for (const char *p = c->arguments; *p;) {
        p += strspn(p, " []");
        const size_t n = strcspn(p, " []");
        if (n > 0) {
            printf("complete -c mechctl -n '__mechctl_at %s %d'", c->name, position++);
            put_words(c, p, n);
            putchar('\n');
        }
        p += n;
    }
}

/* Names of options with an argument. */
static void put_valued(const struct mechctl_option *o)
{
    for (; o && o->name; o++) {
        if (o->argument) {
            printf(" --%s", o->name);
        }
    }
}

void mechctl_print_fish(void)
{
    fputs(head, stdout);
    printf("set -g __mechctl_valued");
    put_valued(mechctl_global_options);
    for (const struct mechctl_command *const *c = mechctl_commands; *c; c++) {
        put_valued(mechctl_options(*c));
    }
    printf("\nset -g __mechctl_commands");
    for (const struct mechctl_command *const *c = mechctl_commands; *c; c++) {
        printf(" %s", (*c)->name);
    }
    putchar('\n');
    put_options(NULL, mechctl_global_options);
    for (const struct mechctl_command *const *c = mechctl_commands; *c; c++) {
        printf("complete -c mechctl -n __mechctl_first -a %s -d ", (*c)->name);
        put((*c)->summary);
        putchar('\n');
        put_options(*c, mechctl_options(*c));
        put_arguments(*c);
    }
}
