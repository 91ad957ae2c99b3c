/* Bytes that grow, and JSON text written into them. */
#include "clients/c/bytes.h"

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 512 };

static bool reserve(struct mechc_bytes *b, size_t more)
{
    if (b->failed || more > SIZE_MAX / 4 || b->length > SIZE_MAX / 4) {
        b->failed = true;
        return false;
    }
    if (b->length + more < b->capacity) {
        return true;
    }
    size_t capacity = b->capacity ? b->capacity : FIRST;
    while (capacity <= b->length + more) {
        capacity *= 2;
    }
    char *const at = realloc(b->at, capacity);
    if (!at) {
        b->failed = true;
        return false;
    }
    b->at = at;
    b->capacity = capacity;
    return true;
}

void mechc_bytes_add(struct mechc_bytes *b, const void *bytes, size_t size)
{
    if (reserve(b, size)) {
        if (size > 0) {
            memcpy(b->at + b->length, bytes, size);
        }
        b->length += size;
        b->at[b->length] = 0;
    }
}

void mechc_bytes_text(struct mechc_bytes *b, const char *text)
{
    mechc_bytes_add(b, text, strlen(text));
}

void mechc_bytes_string(struct mechc_bytes *b, const char *text)
{
    mechc_bytes_text(b, "\"");
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            mechc_bytes_add(b, (const char[]){'\\', *text}, 2);
        } else if (c < 0x20) {
            char escape[8];
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)c);
            mechc_bytes_text(b, escape);
        } else {
            mechc_bytes_add(b, text, 1);
        }
    }
    mechc_bytes_text(b, "\"");
}

void mechc_bytes_number(struct mechc_bytes *b, double value)
{
    // the shortest of the forms that are exact; the locale's decimal point becomes a point
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    char *const point = strchr(text, *localeconv()->decimal_point);
    if (point) {
        *point = '.';
    }
    mechc_bytes_text(b, text);
}

void mechc_bytes_clear(struct mechc_bytes *b)
{
    b->length = 0;
    b->failed = false;
    if (b->at) {
        b->at[0] = 0;
    }
}

void mechc_bytes_fini(struct mechc_bytes *b)
{
    free(b->at);
    *b = (struct mechc_bytes){0};
}

char *mechc_copy(const char *text)
{
    const size_t n = strlen(text) + 1;
    char *const copy = malloc(n);
    if (copy) {
        memcpy(copy, text, n);
    }
    return copy;
}
