/* The options of the daemon: one table for flags, environment, file, --help and the manual page.
 * Static storage, any thread. Internal to the reading of the configuration. */
#pragma once

#include "server/os/config.h"

#include <stddef.h>

enum mechd_option_kind { MECHD_TEXT, MECHD_LIST, MECHD_NUMBER, MECHD_SWITCH };

struct mechd_option {
    const char *name; /* --name, MECHD_NAME, and `name = …` in the file */
    enum mechd_option_kind kind;
    size_t offset; /* in struct mechd_config: text, the first of a list, int or bool */
    size_t room;   /* TEXT: bytes; LIST: offset of the count; NUMBER: largest */
    int preset;    /* NUMBER: default; if it is not 0, 0 is refused */
    const char *value;
    const char *doc;
};

enum { MECHD_OPTIONS_MOST = 64 };
extern const struct mechd_option mechd_options[]; /* [mechd_option_count] */
extern const int mechd_option_count;

/* The option of that name, `length` bytes of it, or NULL. */
const struct mechd_option *mechd_option_find(const char *name, size_t length);
