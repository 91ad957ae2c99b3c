/* One pass over the text; what is unquoted moves towards the front, never past what is read. */
#include "solver/base/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Past one piece: in quotes, or up to a character of `ends`. Its text goes to *to, which is
 * closed by NUL only once the character behind the piece has been read. NULL: no piece. */
static char *take(char *from, const char *ends, char **to, const char **why)
{
    char *out = *to;
    if (*from != '"') {
        const size_t n = strcspn(from, ends);
        memmove(out, from, n);
        *to = out + n;
        return from + n;
    }
    for (from++; *from != '"'; from++) {
        from += *from == '\\';
        if (*from == '\0') {
            *why = "a double quote is not closed";
            return NULL;
        }
        *out++ = *from;
    }
    from++;
    if (*from != '\0' && !strchr(ends, *from)) {
        *why = "after a closing double quote a comma is expected";
        return NULL;
    }
    *to = out;
    return from;
}

/* The same, of a word or an item: *out, and the character behind it in *end; empty is a fault
 * unless it is in quotes. Code as below. */
static int take_first(char **at, const char *ends, char **out, char *end, const char **why)
{
    char *from = *at;
    if (!from || *from == '\0') {
        *at = NULL;
        return 0;
    }
    char *to = from;
    const bool quoted = *from == '"';
    *out = from;
    from = take(from, ends, &to, why);
    if (!from) {
        return -1;
    }
    if (to == *out && !quoted) {
        *why = "a word between commas is empty";
        return -1;
    }
    *end = *from;
    *to = '\0';
    *at = *end != '\0' ? from + 1 : NULL;
    return 1;
}

int mech_item_next(char **at, char **out, const char **why)
{
    char end;
    return take_first(at, ",", out, &end, why);
}

int mech_word_next(char **at, struct mech_word *out, const char **why)
{
    char end = '\0';
    *out = (struct mech_word){.name = NULL};
    const int code = take_first(at, "=,", &out->name, &end, why);
    if (code > 0 && end == '=') {
        char *to = *at;
        out->value = to;
        char *const from = take(*at, ",", &to, why);
        if (!from) {
            return -1;
        }
        *at = *from != '\0' ? from + 1 : NULL;
        *to = '\0';
    }
    return code;
}

const char *mech_element_next(const char **at, size_t *length)
{
    const char *p = *at;
    if (!p) {
        return NULL;
    }
    p += strspn(p, ", \t");
    if (*p == '\0') {
        *at = NULL;
        return NULL;
    }
    const char *const begin = p;
    bool quoted = false;
    for (; *p != '\0' && (quoted || *p != ','); p++) {
        quoted = quoted != (*p == '"');
        p += quoted && *p == '\\' && p[1] != '\0';
    }
    *at = p;
    size_t n = (size_t)(p - begin);
    while (n > 0 && (begin[n - 1] == ' ' || begin[n - 1] == '\t')) {
        n--;
    }
    *length = n;
    return begin;
}

double mech_element_weight(const char *element, size_t length)
{
    bool quoted = false;
    for (size_t k = 0; k < length; k++) {
        quoted = quoted != (element[k] == '"');
        k += quoted && element[k] == '\\';
        if (!quoted && k < length && element[k] == ';') {
            const char *const p = element + k + 1 + strspn(element + k + 1, " \t");
            if ((*p == 'q' || *p == 'Q') && p[1] == '=') {
                return strtod(p + 2, NULL);
            }
        }
    }
    return 1.;
}
