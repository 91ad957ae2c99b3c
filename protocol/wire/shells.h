/* What the completion scripts of programs begin and end with, in bash and in zsh. Between them the
 * script sets `list` from words, CURRENT and its own variables: to words with blanks between, or to
 * FILES or FOLDERS. In either shell words[1] is the program, and words[CURRENT] is completed.
 *
 *   static const struct mechp_shells shells = MECHP_SHELLS("mechd");
 *   fputs(zsh ? shells.zsh_head : shells.bash_head, stdout);
 */
#pragma once

struct mechp_shells {
    const char *bash_head, *bash_tail;
    const char *zsh_head, *zsh_tail;
};

#define MECHP_SHELLS(program)                                                                      \
    {                                                                                              \
        .bash_head = MECHP_BASH_HEAD(program), .bash_tail = MECHP_BASH_TAIL(program),              \
        .zsh_head = MECHP_ZSH_HEAD(program), .zsh_tail = MECHP_ZSH_TAIL(program)                   \
    }

#define MECHP_BASH_HEAD(program)                                                                   \
    "# completion of " program " for bash: source this file\n"                                     \
    "_" program "() {\n"                                                                           \
    "    local -a words\n"                                                                         \
    "    local line=${COMP_LINE:0:COMP_POINT}\n"                                                   \
    "    read -ra words <<<\"_ $line\"\n"                                                          \
    "    case $line in *[[:space:]]) words+=('') ;; esac\n"                                        \
    "    local CURRENT=$((${#words[@]} - 1))\n"
#define MECHP_BASH_TAIL(program)                                                                   \
    "    COMPREPLY=()\n"                                                                           \
    "    case $list in\n"                                                                          \
    "    FILES) compopt -o filenames 2>/dev/null\n"                                                \
    "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"                               \
    "    FOLDERS) compopt -o filenames 2>/dev/null\n"                                              \
    "        mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;\n"                               \
    "    *) mapfile -t COMPREPLY < <(compgen -W \"$list\" -- \"$word\") ;;\n"                      \
    "    esac\n"                                                                                   \
    "}\n"                                                                                          \
    "complete -F _" program " " program "\n"

#define MECHP_ZSH_HEAD(program)                                                                    \
    "#compdef " program "\n"                                                                       \
    "# completion of " program " for zsh: a file _" program " in fpath\n"                          \
    "_" program "() {\n"
#define MECHP_ZSH_TAIL(program)                                                                    \
    "    case $list in\n"                                                                          \
    "    FILES) _files ;;\n"                                                                       \
    "    FOLDERS) _files -/ ;;\n"                                                                  \
    "    *) compadd -- ${=list} ;;\n"                                                              \
    "    esac\n"                                                                                   \
    "}\n"                                                                                          \
    "if [ \"$funcstack[1]\" = _" program " ]; then\n"                                              \
    "    _" program " \"$@\"\n"                                                                    \
    "else\n"                                                                                       \
    "    compdef _" program " " program "\n"                                                       \
    "fi\n"
