/* A member as it was written. One pass over text that a parser has found to be well formed: strings
 * are passed as a whole, brackets are counted. */
#include "protocol/wire/json.h"

#include <string.h>

static size_t skip_blanks(const char *bytes, size_t i, size_t size)
{
    while (i < size && strchr(" \t\r\n,:", bytes[i]) != NULL && bytes[i] != '\0') {
        i++;
    }
    return i;
}

static size_t skip_string(const char *bytes, size_t i, size_t size)
{
    for (i++; i < size && bytes[i] != '"'; i++) {
        i += bytes[i] == '\\';
    }
    return i < size ? i + 1 : size;
}

/* Index behind the value that begins at i. */
static size_t skip_value(const char *bytes, size_t i, size_t size)
{
    int depth = 0;
    do {
        const char c = bytes[i];
        if (c == '"') {
            i = skip_string(bytes, i, size);
        } else if (c == '{' || c == '[') {
            depth++;
            i++;
        } else if (c == '}' || c == ']') {
            depth--;
            i++;
        } else if (depth > 0) {
            i++;
        } else {
            while (i < size && strchr(" \t\r\n,}]", bytes[i]) == NULL) {
                i++;
            }
        }
    } while (depth > 0 && i < size);
    return i;
}

/* Whether the string [length] with its quotes is the key, escapes and all. */
static bool is_key(const char *string, size_t length, const char *key)
{
    if (memchr(string, '\\', length) == NULL) {
        return length == strlen(key) + 2 && memcmp(string + 1, key, length - 2) == 0;
    }
    json_t *const read = json_loadb(string, length, JSON_DECODE_ANY, NULL);
    const bool same = read != NULL && strcmp(json_string_value(read), key) == 0;
    json_decref(read);
    return same;
}

const char *mechp_json_member_text(const char *bytes, size_t size, const char *key, size_t *length)
{
    size_t i = skip_blanks(bytes, 0, size);
    if (i == size || bytes[i] != '{') {
        return NULL;
    }
    for (i = skip_blanks(bytes, i + 1, size); i < size && bytes[i] == '"';
         i = skip_blanks(bytes, i, size)) {
        const size_t name = i;
        i = skip_string(bytes, i, size);
        const bool found = is_key(bytes + name, i - name, key);
        const size_t value = skip_blanks(bytes, i, size);
        if (value == size) {
            return NULL;
        }
        i = skip_value(bytes, value, size);
        if (found) {
            *length = i - value;
            return bytes + value;
        }
    }
    return NULL;
}
