/* What a misspelled name was probably meant to be.
 *
 *   struct mech_guess g = {.text = "stifness"};
 *   mech_guess_try(&g, "stiffness");
 *   mech_guess_result(&g)   "stiffness", or NULL: nothing is near enough
 *
 * Near is an edit distance of at most a third of the text's length. owner: one thread. */
#pragma once

#include <stddef.h>

enum { MECH_GUESS_HINT = 96, MECH_GUESS_MOST = 1024 };

struct mech_guess {
    const char *text;
    const char *best; /* borrowed from the caller of try */
    int distance;
    char hint[MECH_GUESS_HINT];
};

void mech_guess_try(struct mech_guess *g, const char *name);
const char *mech_guess_result(const struct mech_guess *g);
/* The end of a message about the text: ", did you mean 'stiffness'?", or "". Stored in g. */
const char *mech_guess_hint(struct mech_guess *g);

/* The hint for a text, from a list of structs of `size` bytes whose first member is their name, a
 * const char * or NULL. The first MECH_GUESS_MOST are tried. */
const char *mech_hint(struct mech_guess *g, const char *text, const void *list, size_t n,
                      size_t size);

/* The same for names closed by NULL. */
const char *mech_closest(const char *text, const char *const *names);
/* Edit distance (insert, delete, replace, swap neighbours), 99 beyond 64 bytes. */
int mech_distance(const char *a, const char *b);
