/* The options of the daemon: one table for flags, environment, file, --help, the manual page and
 * the completion of shells. Static storage, any thread. Internal to the reading of the
 * configuration. */
#pragma once

#include "server/os/config.h"

#include <stddef.h>

enum mechd_option_kind { MECHD_TEXT, MECHD_LIST, MECHD_NUMBER, MECHD_SWITCH };

struct mechd_option {
    const char *name; /* --name, MECHD_NAME, and `name = …` in the file */
    enum mechd_option_kind kind;
    size_t offset;     /* in struct mechd_config: text, the first of a list, int or bool */
    size_t room;       /* TEXT: bytes; LIST: offset of the count; NUMBER: largest */
    int preset;        /* NUMBER: default; if it is not 0, 0 is refused */
    const char *value; /* in --help; FILE and DIR are completed as such */
    const char *doc;
    const char *choices; /* TEXT: the words that it can be, with a space between; NULL: any text */
};

enum { MECHD_OPTIONS_MOST = 64 };
extern const struct mechd_option mechd_options[]; /* [mechd_option_count] */
extern const int mechd_option_count;

/* Flags that are no settings: no line of the file has them. */
enum mechd_flag_kind {
    MECHD_FLAG_CONFIG,
    MECHD_FLAG_MAKE_TOKEN,
    MECHD_FLAG_MAKE_KEY,
    MECHD_FLAG_SCOPES,
    MECHD_FLAG_PRINT,
    MECHD_FLAG_VERSION,
    MECHD_FLAG_HELP,
    MECHD_FLAGS
};

struct mechd_flag {
    const char *name;
    const char *value; /* NULL: it has none */
    const char *doc;
    const char *choices; /* as those of an option */
};
extern const struct mechd_flag mechd_flags[MECHD_FLAGS];

/* The option of that name, `length` bytes of it, or NULL. */
const struct mechd_option *mechd_option_find(const char *name, size_t length);
