/* Entities; and JSON laid out for people. A value that fits into the rest of its line stays on it;
 * otherwise its members stand one a line, indented by two spaces a level. Linear in the text, but
 * for the look ahead of at most one line at each opening bracket.
 */
#include "protocol/wire/text.h"

#include <string.h>

enum { COLUMNS = 100 };

struct layout {
    struct mechp_text *w;
    const char *json;
    size_t length, at;
    size_t line; /* where the present line begins in w */
};

/* Bytes as they are, without the commas of values. */
static void put(struct layout *l, const char *text, size_t n)
{
    l->w->comma[l->w->depth] = false;
    mechp_text_raw(l->w, text, n);
}

static void new_line(struct layout *l, int level)
{
    put(l, "\n", 1);
    l->line = l->w->length;
    for (int i = 0; i < level; i++) {
        put(l, "  ", 2);
    }
}

/* Length of the string at `from`, quotes included. */
static size_t string_length(const struct layout *l, size_t from)
{
    size_t i = from + 1;
    while (i < l->length && l->json[i] != '"') {
        i += l->json[i] == '\\' ? 2 : 1;
    }
    return i < l->length ? i + 1 - from : l->length - from;
}

/* True when the value that opens at `at` can be closed within the present line. */
static bool fits(const struct layout *l)
{
    size_t column = l->w->length - l->line;
    int depth = 0;
    size_t i = l->at;
    while (i < l->length && column < COLUMNS) {
        const char c = l->json[i];
        const size_t n = c == '"' ? string_length(l, i) : 1;
        column += n + (c == ',' || c == ':' ? 1 : 0);
        depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
        i += n;
        if (depth == 0) {
            // one more for the comma behind it
            return column < COLUMNS;
        }
    }
    return false;
}

/* The value at `at` on one line. */
static void write_flat(struct layout *l)
{
    int depth = 0;
    do {
        const char c = l->json[l->at];
        const size_t n = c == '"' ? string_length(l, l->at) : 1;
        put(l, l->json + l->at, n);
        if (c == ',' || c == ':') {
            put(l, " ", 1);
        }
        depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
        l->at += n;
    } while (depth > 0 && l->at < l->length);
}

void mechp_text_pretty(struct mechp_text *w, const char *json, size_t length)
{
    struct layout l = {.w = w, .json = json, .length = length, .line = w->length};
    int level = 0;
    while (l.at < length && !w->failed) {
        const char c = json[l.at];
        if ((c == '{' || c == '[') && fits(&l)) {
            write_flat(&l);
            continue;
        }
        const size_t n = c == '"' ? string_length(&l, l.at) : 1;
        if (c == '}' || c == ']') {
            level--;
            new_line(&l, level);
        }
        put(&l, json + l.at, n);
        l.at += n;
        if (c == '{' || c == '[') {
            level++;
            new_line(&l, level);
        } else if (c == ',') {
            new_line(&l, level);
        } else if (c == ':') {
            put(&l, " ", 1);
        }
    }
}

const char *mechp_text_entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    default:
        return NULL;
    }
}
