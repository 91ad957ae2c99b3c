/* Example models, embedded at build time from server/examples/<name>.json in the order of their
 * names. */
#pragma once

#include <stddef.h>

struct mechd_example {
    const char *name;
    const char *text; /* [size] a model document */
    size_t size;
};

extern const struct mechd_example mechd_examples[];
extern const size_t mechd_example_count;

/* By name, or NULL. */
const struct mechd_example *mechd_example_find(const char *name);
/* The name that was probably meant, or NULL. */
const char *mechd_example_closest(const char *name);
