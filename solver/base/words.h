/* Lists in one text: of a query, an option, a member of a request, a header. One rule for all.
 *
 * Words have commas between them. A word, or the text after its first `=`, may be put in double
 * quotes; within them a backslash takes the next character as it is (the quoted string of RFC 9110,
 * section 5.6.4), and commas, `=` and blanks belong to the value. Outside of quotes every character
 * but the comma is itself:
 *
 *     rig=7,night           two words: rig with the value 7, night without one
 *     "only"="left,right"   one word with a value that has a comma
 *     note="say \"a\""      a value with quotes
 *
 * Any thread. */
#pragma once

#include <stddef.h>

/* One word, both texts within the caller's. */
struct mech_word {
    char *name;  /* the text in front of the first `=`, or all of it */
    char *value; /* after it; NULL: none */
};

/* Take the next word of a text, which is changed in place: quotes and backslashes go, NULs come
 * between words. *at moves on; at the end it is NULL. 1: a word; 0: the text is over, or was empty;
 * -1: not a list, and *why is the reason, of static storage.
 *
 *     char *at = copy;
 *     while ((code = mech_word_next(&at, &word, &why)) > 0) { … }
 */
int mech_word_next(char **at, struct mech_word *out, const char **why);

/* The same for a list of texts, in which `=` is a character like others. */
int mech_item_next(char **at, char **out, const char **why);

/* The next element of the list of a header (RFC 9110, section 5.6.1): where it begins, without
 * blanks around it, and its length; commas in quoted strings do not separate. *at moves past it.
 * NULL: the list is over. Empty elements are passed over. */
const char *mech_element_next(const char **at, size_t *length);

/* The weight of such an element (RFC 9110, section 12.4.2), its parameter q; 1 without one. */
double mech_element_weight(const char *element, size_t length);
