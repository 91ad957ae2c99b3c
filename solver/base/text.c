/* Texts for people. Each conversion of a format is written by itself, so that a string that its
 * precision cuts gets its "…"; numbers are written by snprintf. */
#include "solver/base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char ellipsis[] = "\xe2\x80\xa6";

enum {
    MARK = sizeof ellipsis - 1,
    NUMBER = 512, /* bytes of a number: %f writes up to 310 before its precision */
    DIGITS = 3    /* of a width or a precision */
};

/* What has been written, and whether more did not fit. */
struct sink {
    char *out;
    size_t size, length;
    bool cut, failed;
};

/* "%-8.3lld": head "%-8.3", longs 2, kind 'd'. */
struct conversion {
    char head[24];
    int precision; /* of the format; -1: none, or an argument */
    int part;      /* precision that is an argument; -1: none */
    int width;     /* of the format; 0: none */
    bool left;     /* '-' */
    int longs;     /* l and ll; 3: z, 4: j */
    char kind;
};

size_t mech_text_whole(const char *text, size_t length)
{
    size_t start = length;
    // back over continuation bytes (10xxxxxx) to the lead byte
    while (start > 0 && length - start < 3 && ((unsigned char)text[start - 1] & 0xc0u) == 0x80u) {
        start--;
    }
    if (start == 0) {
        return length;
    }
    const unsigned char lead = (unsigned char)text[start - 1];
    const size_t size = lead >= 0xf0u ? 4 : lead >= 0xe0u ? 3 : lead >= 0xc0u ? 2 : 1;
    return size > length - start + 1 ? start - 1 : length;
}

/* As much of the bytes as fits. */
static void put(struct sink *s, const char *bytes, size_t count)
{
    const size_t room = s->size - 1 - s->length, fits = count < room ? count : room;

    if (!s->cut) {
        memcpy(s->out + s->length, bytes, fits);
        s->length += fits;
        s->cut = fits < count;
    }
}

size_t mech_text_end_cut(char *out, size_t size, size_t length)
{
    const size_t most = size > MARK ? size - 1 - MARK : size - 1;
    const size_t whole = mech_text_whole(out, length < most ? length : most);

    if (size > MARK) {
        memcpy(out + whole, ellipsis, MARK);
    }
    out[whole + (size > MARK ? MARK : 0)] = '\0';
    return whole + (size > MARK ? MARK : 0);
}

static size_t finish(struct sink *s)
{
    s->length = s->failed ? 0 : s->length;
    s->out[s->length] = '\0';
    return s->cut && !s->failed ? mech_text_end_cut(s->out, s->size, s->length) : s->length;
}

/* --- conversions ------------------------------------------------------------------------------ */

/* The digits of a width or precision into the head; returns what follows. */
static const char *read_digits(const char *at, struct conversion *c, int *out)
{
    size_t n = strlen(c->head);

    for (int k = 0; k < DIGITS && *at >= '0' && *at <= '9'; k++) {
        *out = 10 * *out + (*at - '0');
        c->head[n++] = *at++;
    }
    return at;
}

/* The conversion at '%'; returns what follows. */
static const char *read_conversion(const char *at, struct conversion *c, va_list *arguments)
{
    size_t n = 1;

    *c = (struct conversion){.head = "%", .precision = -1, .part = -1};
    for (at++; *at != '\0' && strchr("-+ #0", *at) && n < 6; at++) {
        c->head[n++] = *at;
        c->left = c->left || *at == '-';
    }
    at = read_digits(at, c, &c->width);
    if (*at == '.' && at[1] == '*') {
        const int part = va_arg(*arguments, int);

        c->part = part < 0 ? -1 : part;
        snprintf(c->head + strlen(c->head), sizeof c->head - strlen(c->head), ".%d",
                 part < 99 ? part : 99);
        at += 2;
    } else if (*at == '.') {
        c->head[strlen(c->head)] = '.';
        c->precision = 0;
        at = read_digits(at + 1, c, &c->precision);
    }
    for (; *at == 'l'; at++) {
        c->longs++;
    }
    if (*at == 'z' || *at == 'j') {
        c->longs = *at++ == 'z' ? 3 : 4;
    }
    c->kind = *at;
    return *at != '\0' ? at + 1 : at;
}

static intmax_t signed_of(int longs, va_list *arguments)
{
    return longs == 0   ? va_arg(*arguments, int)
           : longs == 1 ? va_arg(*arguments, long)
           : longs == 2 ? va_arg(*arguments, long long)
           : longs == 3 ? (intmax_t)va_arg(*arguments, size_t)
                        : va_arg(*arguments, intmax_t);
}

static uintmax_t unsigned_of(int longs, va_list *arguments)
{
    return longs == 0   ? va_arg(*arguments, unsigned)
           : longs == 1 ? va_arg(*arguments, unsigned long)
           : longs == 2 ? va_arg(*arguments, unsigned long long)
           : longs == 3 ? va_arg(*arguments, size_t)
                        : va_arg(*arguments, uintmax_t);
}

static void put_string(struct sink *s, const struct conversion *c, const char *text)
{
    const size_t most = c->part >= 0        ? (size_t)c->part
                        : c->precision >= 0 ? (size_t)c->precision
                                            : SIZE_MAX;
    const size_t whole = c->part >= 0 ? strnlen(text, most) : strlen(text);
    const bool cut = whole > most && most >= MARK;
    size_t length = whole <= most ? whole : mech_text_whole(text, cut ? most - MARK : most);

    for (size_t k = length + (cut ? MARK : 0); !c->left && k < (size_t)c->width; k++) {
        put(s, " ", 1);
    }
    put(s, text, length);
    if (cut) {
        put(s, ellipsis, MARK);
        length += MARK;
    }
    for (size_t k = length; c->left && k < (size_t)c->width; k++) {
        put(s, " ", 1);
    }
}

// the format is the conversion as the caller's format, which the compiler has checked, has it
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_conversion(struct sink *s, struct conversion *c, va_list *arguments)
{
    char text[NUMBER];
    const size_t n = strlen(c->head);
    int written = -1;

    if (c->kind == 's' && c->longs == 0) {
        const char *const string = va_arg(*arguments, const char *);
        put_string(s, c, string ? string : "(null)");
        return;
    }
    if (c->kind != '\0' && strchr("di", c->kind)) {
        memcpy(c->head + n, "jd", sizeof "jd");
        written = snprintf(text, sizeof text, c->head, signed_of(c->longs, arguments));
    } else if (c->kind != '\0' && strchr("uoxX", c->kind)) {
        memcpy(c->head + n, (const char[]){'j', c->kind, '\0'}, 3);
        written = snprintf(text, sizeof text, c->head, unsigned_of(c->longs, arguments));
    } else if (c->kind != '\0' && strchr("feg", c->kind)) {
        memcpy(c->head + n, (const char[]){c->kind, '\0'}, 2);
        written = snprintf(text, sizeof text, c->head, va_arg(*arguments, double));
    } else if (c->kind == 'c' && c->longs == 0) {
        text[0] = (char)va_arg(*arguments, int);
        written = 1;
    } else if (c->kind == '%') {
        text[0] = '%';
        written = 1;
    }
    if (written < 0 || (size_t)written >= sizeof text) {
        s->failed = true;
    } else {
        put(s, text, (size_t)written);
    }
}
#pragma GCC diagnostic pop

static void write_format(struct sink *s, const char *format, va_list *arguments)
{
    for (const char *at = format; *at != '\0' && !s->failed;) {
        const size_t plain = strcspn(at, "%");

        put(s, at, plain);
        at += plain;
        if (*at == '%') {
            struct conversion c;

            at = read_conversion(at, &c, arguments);
            put_conversion(s, &c, arguments);
        }
    }
}

/* --- the functions of the header -------------------------------------------------------------- */

size_t mech_text_format_list(char *out, size_t size, const char *format, va_list arguments)
{
    struct sink s = {.out = out, .size = size};
    va_list own;

    va_copy(own, arguments);
    write_format(&s, format, &own);
    va_end(own);
    return finish(&s);
}

size_t mech_text_format(char *out, size_t size, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const size_t length = mech_text_format_list(out, size, format, arguments);
    va_end(arguments);
    return length;
}

size_t mech_text_append(char *out, size_t size, const char *format, ...)
{
    struct sink s = {.out = out, .size = size, .length = strnlen(out, size - 1)};
    va_list arguments;

    // behind a text that was cut already there is no room
    if (s.length >= MARK && s.length + MARK + 1 >= size &&
        memcmp(out + s.length - MARK, ellipsis, MARK) == 0) {
        return s.length;
    }
    va_start(arguments, format);
    write_format(&s, format, &arguments);
    va_end(arguments);
    return finish(&s);
}

void mech_text_copy(char *out, size_t size, const char *text)
{
    struct sink s = {.out = out, .size = size};

    put(&s, text, strlen(text));
    finish(&s);
}

/* Characters of a word of `length` bytes. */
static int columns_of(const char *word, size_t length)
{
    int count = 0;

    for (size_t k = 0; k < length; k++) {
        count += (word[k] & 0xc0) != 0x80;
    }
    return count;
}

void mech_text_print(FILE *f, const char *text, int left, int columns)
{
    int at = left;

    for (text += strspn(text, " "); *text != '\0';) {
        const size_t length = strcspn(text, " "), spaces = strspn(text + length, " ");
        const size_t next = length + spaces;
        fprintf(f, "%.*s", (int)length, text);
        at += columns_of(text, length);
        text += next;
        const int wide = columns_of(text, strcspn(text, " "));
        if (*text != '\0' && at + (int)spaces + wide > columns) {
            fprintf(f, "\n%*s", left, "");
            at = left;
        } else if (*text != '\0') {
            fprintf(f, "%*s", (int)spaces, "");
            at += (int)spaces;
        }
    }
    fputc('\n', f);
}
