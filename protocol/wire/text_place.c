/* The JSON pointer (RFC 6901) of a value in text that a writer has made, from the objects and
 * arrays that are open at its first byte. It reads from the beginning: for refusals only. */
#include "protocol/wire/text.h"

#include <stdio.h>

/* An object or array that is open. */
struct level {
    bool array;
    size_t index;    /* of an array */
    const char *key; /* of an object, [length] without quotes */
    size_t length;
};

/* Behind the closing quote of the string that begins at text[from]. */
static size_t string_end(const char *text, size_t from, size_t end)
{
    size_t i = from + 1;
    while (i < end && text[i] != '"') {
        i += text[i] == '\\' ? 2 : 1;
    }
    return i + 1;
}

/* Levels that are open at text[end], the outermost MECHP_TEXT_DEPTH of them. */
static int levels_at(const char *text, size_t end, struct level open[MECHP_TEXT_DEPTH])
{
    struct level beyond = {.array = false}; /* any that is too deep */
    int depth = 0;
    for (size_t i = 0; i < end;) {
        struct level *const now =
            depth > 0 && depth <= MECHP_TEXT_DEPTH ? &open[depth - 1] : &beyond;
        if (text[i] == '"') {
            const size_t after = string_end(text, i, end);
            if (after < end && text[after] == ':') {
                now->key = text + i + 1;
                now->length = after - i - 2;
            }
            i = after;
            continue;
        }
        if (text[i] == '{' || text[i] == '[') {
            depth++;
            if (depth <= MECHP_TEXT_DEPTH) {
                open[depth - 1] = (struct level){.array = text[i] == '['};
            }
        } else if (text[i] == '}' || text[i] == ']') {
            depth -= depth > 0;
        } else if (text[i] == ',') {
            now->index++;
        }
        i++;
    }
    return depth < MECHP_TEXT_DEPTH ? depth : MECHP_TEXT_DEPTH;
}

/* One character of a pointer: how many bytes it takes there. */
static size_t escape(char c, char out[2])
{
    out[0] = c == '~' || c == '/' ? '~' : c;
    out[1] = c == '/' ? '1' : '0';
    return c == '~' || c == '/' ? 2 : 1;
}

bool mechp_text_beyond(const struct mechp_text *w, char *pointer, size_t size)
{
    struct level open[MECHP_TEXT_DEPTH];
    size_t used = 0;
    pointer[0] = '\0';
    if (w->beyond == 0) {
        return false;
    }
    const int depth = levels_at(w->bytes, w->beyond - 1, open);
    for (int k = 0; k < depth; k++) {
        char digits[24], two[2];
        const char *from = open[k].key;
        size_t length = open[k].length;
        if (open[k].array) {
            length = (size_t)snprintf(digits, sizeof digits, "%zu", open[k].index);
            from = digits;
        }
        if (used + 1 < size) {
            pointer[used++] = '/';
        }
        for (size_t i = 0; i < length; i++) {
            const size_t n = escape(from[i], two);
            if (used + n >= size) {
                break;
            }
            pointer[used] = two[0];
            pointer[used + n - 1] = two[n - 1];
            used += n;
        }
        pointer[used] = '\0';
    }
    return true;
}
