/* Texts for people, in buffers of a fixed size: what does not fit ends with "…" after a whole UTF-8
 * character, so that a reader sees that it was cut.
 *
 *     char reason[160];
 *     mech_text_format(reason, sizeof reason, "the force of \"%.40s\" is %g N", name, force);
 *
 * Reasons, warnings, titles and details are written with these functions
 * (tests/tools/texts.py); paths, ids and lines of protocols, which programs read, are not.
 * Any thread; no allocation.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* As printf(3), into out [size]. A precision is the most that a string may take: what it cuts ends
 * with "…" too; one that is an argument ("%.*s") takes a part of a text, as in printf. Conversions:
 * d i u o x X c s f e g and %. A text that cannot be formed is empty. Returns its length. */
size_t mech_text_format(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
size_t mech_text_format_list(char *out, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

/* Append to the text in out [size]: where both do not fit, they are cut together. */
size_t mech_text_append(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Copy a text, or as much of it as fits, into out [size]. */
void mech_text_copy(char *out, size_t size, const char *text);

/* End a text that was cut, of which `length` bytes are in out [size], with "…". Returns its
 * length. */
size_t mech_text_end_cut(char *out, size_t size, size_t length);

/* Print a text that begins at column `left` and is broken at its spaces, so that no line has more
 * than `columns` characters: further lines begin at `left` too. A longer word is a line of its own;
 * the last line ends with a newline as all do. */
void mech_text_print(FILE *f, const char *text, int left, int columns);

/* Length of text without the unfinished UTF-8 character that a cut may have left at its end. */
size_t mech_text_whole(const char *text, size_t length);
