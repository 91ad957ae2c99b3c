/* Texts that people edit, and invisible characters that editors leave in them: byte order marks,
 * UTF-16, blanks that are none, marks without width.
 *
 *   bytes += mech_text_mark(bytes, size);              a mark of UTF-8 means nothing
 *   if (mech_text_wide(bytes, size) != NULL) { … "it is UTF-16" … }
 *   struct mech_odd odd;
 *   if (mech_text_odd(line, length, &odd)) { … odd.column, odd.text: "U+00A0 (no-break space)" … }
 *
 * Unicode 15: general categories Cc, Cf, Zl, Zp and Zs but for blank, tab and ends of lines,
 * fillers of Hangul, the blank of Braille, variation selectors, private use, noncharacters, and
 * bytes that are not UTF-8. Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MECH_ODD_TEXT = 64, MECH_NO_CODE = -1 };

/* Bytes of a mark of UTF-8 (EF BB BF) at the beginning: 3 or 0. */
size_t mech_text_mark(const char *bytes, size_t size);
/* "UTF-16" or "UTF-32" of what begins as such a text does, with a mark or with ASCII; or NULL. */
const char *mech_text_wide(const char *bytes, size_t size);

/* The code point at the beginning of size > 0 bytes, and its length; MECH_NO_CODE and 1: they are
 * no UTF-8. */
int32_t mech_text_code(const char *bytes, size_t size, size_t *length);

/* A character that is not seen. */
struct mech_odd {
    size_t at;        /* bytes before it */
    int line, column; /* from 1, in characters */
    char text[MECH_ODD_TEXT];
};

/* The first of them in the text. False: none. */
bool mech_text_odd(const char *bytes, size_t size, struct mech_odd *out);
/* The character at a place: its position and its name. */
void mech_text_name(const char *bytes, size_t size, size_t at, struct mech_odd *out);

/* The next line of a file with its end, as fgets(3) reads it, and its length, which a zero in it
 * does not end. False: there is none, or it cannot be read. */
bool mech_text_line(FILE *file, char *out, size_t size, size_t *length);

/* Lines of a file, and what in them may be why something is not found in it.
 *
 *   struct mech_lines l = {.file = file};
 *   while (!found && mech_lines_next(&l, line, sizeof line, &text)) { … text … }
 *   if (!found) { mech_lines_explain(&l, path, "has no key", fault, size); } */
struct mech_lines {
    FILE *file;
    int count;           /* of those that have been read */
    const char *wide;    /* "UTF-16" or "UTF-32": the file is that, and is not read; or NULL */
    struct mech_odd odd; /* the first character that is not seen; line 0: there is none */
};

/* The next line, without a mark of UTF-8. False: there is none, or the text is not UTF-8 at all. */
bool mech_lines_next(struct mech_lines *l, char *out, size_t size, char **text);
/* "FILE has no key; line 2, column 7 is U+00A0 (no-break space)", or what else is known. */
void mech_lines_explain(const struct mech_lines *l, const char *path, const char *missing,
                        char *out, size_t size);

/* Copies a sentence, which ends with "…" where it does not fit, and writes characters that are not
 * seen, tabs and ends of lines, which a quoted name may have, as code points ("U+00A0"). So are
 * Greek and Cyrillic letters that look like Latin ones, and letters of full width, in a word that
 * reads as Latin: "markers" with a Cyrillic second letter as "mU+0430rkers". A word that has other
 * Greek or Cyrillic letters too is copied as it is. */
void mech_text_show(char *out, size_t size, const char *text);
