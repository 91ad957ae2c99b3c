/* Texts of expressions from bytes, valid ones and broken ones; and what is compared of them. */
#pragma once

#include "tests/fuzz/fuzz.h"

enum { FORMULA_TEXT = 5000 };

/* Ends with a zero. */
void formula_text(struct fuzz_bytes *b, char text[FORMULA_TEXT]);

/* Compares solver/expr with muParser over t, u, x_1 at several points: whether the text is refused,
 * the reason with its place, and, where muparser_values_are_compared, the bits of values, also of
 * several members at once and of those that derivatives come with. 0, also where another version
 * than MUPARSER_COMPARED is installed; 1: they differ, and `what` says in what. */
int formula_compare(const char *text, char what[256]);
