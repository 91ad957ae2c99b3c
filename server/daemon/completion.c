/* What shells complete behind mechd, from the table of options: their names, and behind one of them
 * the words that it can be, files or folders. The scripts of bash and zsh share their middle, which
 * chooses by the word in front of the cursor; fish has a line for each option. */
#include "protocol/wire/shells.h"
#include "server/daemon/configuration.h"
#include "server/daemon/options.h"

#include <stdio.h>
#include <string.h>

static const struct mechp_shells shells = MECHP_SHELLS("mechd");

/* The k-th line of the table: options, then the flags that are no settings. */
static struct mechd_flag line(int k)
{
    if (k >= mechd_option_count) {
        return mechd_flags[k - mechd_option_count];
    }
    const struct mechd_option *const o = &mechd_options[k];
    return (struct mechd_flag){
        .name = o->name, .value = o->value, .doc = o->doc, .choices = o->choices};
}

static int count(void)
{
    return mechd_option_count + MECHD_FLAGS;
}

static bool is_a(const struct mechd_flag *f, const char *value)
{
    return f->value != NULL && strcmp(f->value, value) == 0;
}

/* Of bash and zsh: what the list of words is behind each option with a value, else. */
static void print_choice(void)
{
    puts("    local word=${words[$CURRENT]} before=${words[$((CURRENT - 1))]} list=''\n"
         "    case $before in");
    for (int k = 0; k < count(); k++) {
        const struct mechd_flag f = line(k);
        if (f.value != NULL) {
            printf("    --%s) list='%s' ;;\n", f.name,
                   is_a(&f, "FILE")    ? "FILES"
                   : is_a(&f, "DIR")   ? "FOLDERS"
                   : f.choices != NULL ? f.choices
                                       : "");
        }
    }
    printf("    *) list='");
    for (int k = 0; k < count(); k++) {
        printf("%s--%s", k > 0 ? " " : "", line(k).name);
    }
    puts("' ;;\n    esac");
}

/* Text within single quotes of fish. */
static void put_quoted(const char *text)
{
    putchar('\'');
    for (; *text != '\0'; text++) {
        printf(*text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
    }
    putchar('\'');
}

static void print_fish(void)
{
    puts("# completion of mechd for fish: a file mechd.fish in a folder of completions\n"
         "complete -c mechd -e\n"
         "complete -c mechd -f");
    for (int k = 0; k < count(); k++) {
        const struct mechd_flag f = line(k);
        printf("complete -c mechd -l %s", f.name);
        if (is_a(&f, "FILE")) {
            printf(" -r -F");
        } else if (is_a(&f, "DIR")) {
            printf(" -x -a '(__fish_complete_directories)'");
        } else if (f.choices != NULL) {
            printf(" -x -a '%s'", f.choices);
        } else if (f.value != NULL) {
            printf(" -x");
        }
        printf(" -d ");
        put_quoted(f.doc);
        putchar('\n');
    }
}

int mechd_config_complete(const char *shell)
{
    const bool zsh = strcmp(shell, "zsh") == 0;
    if (strcmp(shell, "fish") == 0) {
        print_fish();
        return 0;
    }
    if (!zsh && strcmp(shell, "bash") != 0) {
        return 1;
    }
    fputs(zsh ? shells.zsh_head : shells.bash_head, stdout);
    print_choice();
    fputs(zsh ? shells.zsh_tail : shells.bash_tail, stdout);
    return 0;
}
