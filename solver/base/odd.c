/* UTF-8: RFC 3629. A text of UTF-16 or UTF-32 without a mark shows by the zeros beside its first
 * character, as RFC 4627, 3 has it for JSON. */
#include "solver/base/odd.h"

#include "solver/base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Ranges of code points that are not seen, or differ from font to font, with the names of those
 * that editors and web pages often put into texts. */
static const struct range {
    int32_t first, last;
    const char *name; /* or NULL */
} ranges[] = {
    {0x00, 0x00, "null"},
    {0x01, 0x08, NULL},
    {0x0b, 0x0c, NULL},
    {0x0e, 0x1f, NULL},
    {0x7f, 0x9f, NULL},
    {0xa0, 0xa0, "no-break space"},
    {0xad, 0xad, "soft hyphen"},
    {0x34f, 0x34f, NULL},
    {0x600, 0x605, NULL},
    {0x61c, 0x61c, NULL},
    {0x6dd, 0x6dd, NULL},
    {0x70f, 0x70f, NULL},
    {0x890, 0x891, NULL},
    {0x8e2, 0x8e2, NULL},
    {0x115f, 0x1160, NULL},
    {0x1680, 0x1680, NULL},
    {0x17b4, 0x17b5, NULL},
    {0x180b, 0x180f, NULL},
    {0x2000, 0x200a, "a typographic space"},
    {0x200b, 0x200b, "zero width space"},
    {0x200c, 0x200c, "zero width non-joiner"},
    {0x200d, 0x200d, "zero width joiner"},
    {0x200e, 0x200e, "left-to-right mark"},
    {0x200f, 0x200f, "right-to-left mark"},
    {0x2028, 0x2028, "line separator"},
    {0x2029, 0x2029, "paragraph separator"},
    {0x202a, 0x202e, "a bidirectional control"},
    {0x202f, 0x202f, "narrow no-break space"},
    {0x205f, 0x205f, NULL},
    {0x2060, 0x2060, "word joiner"},
    {0x2061, 0x206f, NULL},
    {0x2800, 0x2800, "braille pattern blank"},
    {0x3000, 0x3000, "ideographic space"},
    {0x3164, 0x3164, NULL},
    {0xe000, 0xf8ff, "private use"},
    {0xfdd0, 0xfdef, "noncharacter"},
    {0xfe00, 0xfe0f, "a variation selector"},
    {0xfeff, 0xfeff, "byte order mark"},
    {0xffa0, 0xffa0, NULL},
    {0xfff0, 0xfffb, NULL},
    {0xfffd, 0xfffd, "replacement character"},
    {0xfffe, 0xffff, "noncharacter"},
    {0x110bd, 0x110bd, NULL},
    {0x110cd, 0x110cd, NULL},
    {0x13430, 0x1343f, NULL},
    {0x1bca0, 0x1bca3, NULL},
    {0x1d173, 0x1d17a, NULL},
    {0xe0000, 0xe0fff, NULL},
    {0xf0000, 0x10ffff, "private use"},
};

static const struct range *find(int32_t code)
{
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        if (code >= ranges[k].first && code <= ranges[k].last) {
            return &ranges[k];
        }
    }
    return NULL;
}

size_t mech_text_mark(const char *bytes, size_t size)
{
    return size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

const char *mech_text_wide(const char *bytes, size_t size)
{
    if (size < 2) {
        return NULL;
    }
    const bool little = memcmp(bytes, "\xff\xfe", 2) == 0;
    const bool big = memcmp(bytes, "\xfe\xff", 2) == 0;
    const bool zeros = size >= 4 && bytes[2] == '\0' && bytes[3] == '\0';
    if (little || (bytes[0] != '\0' && bytes[1] == '\0')) {
        return zeros ? "UTF-32" : "UTF-16";
    }
    if (size >= 4 && bytes[0] == '\0' && bytes[1] == '\0') {
        return bytes[2] != '\0' || bytes[3] != '\0' ? "UTF-32" : NULL;
    }
    return big || (bytes[0] == '\0' && bytes[1] != '\0') ? "UTF-16" : NULL;
}

int32_t mech_text_code(const char *bytes, size_t size, size_t *length)
{
    const unsigned char *const b = (const unsigned char *)bytes;
    const size_t n = b[0] < 0x80 ? 1 : b[0] < 0xc2 ? 0 : b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;
    static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    *length = 1;
    if (n == 1) {
        return b[0];
    }
    if (n == 0 || n > size || b[0] > 0xf4) {
        return MECH_NO_CODE;
    }
    int32_t code = b[0] & (0xff >> (n + 1));
    for (size_t k = 1; k < n; k++) {
        if ((b[k] & 0xc0) != 0x80) {
            return MECH_NO_CODE;
        }
        code = code << 6 | (b[k] & 0x3f);
    }
    if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
        return MECH_NO_CODE;
    }
    *length = n;
    return code;
}

void mech_text_name(const char *bytes, size_t size, size_t at, struct mech_odd *out)
{
    size_t length = 1;
    *out = (struct mech_odd){.at = at, .line = 1, .column = 1};
    for (size_t k = 0; k < at; k += length) {
        (void)mech_text_code(bytes + k, size - k, &length);
        out->column = bytes[k] == '\n' ? 1 : out->column + 1;
        out->line += bytes[k] == '\n';
    }
    const int32_t code = mech_text_code(bytes + at, size - at, &length);
    const struct range *const range = code >= 0 ? find(code) : NULL;
    if (code < 0) {
        mech_text_format(out->text, sizeof out->text, "the byte 0x%02x (not UTF-8)",
                         (unsigned char)bytes[at]);
    } else if (range && range->name) {
        snprintf(out->text, sizeof out->text, "U+%04" PRIX32 " (%s)", (uint32_t)code, range->name);
    } else {
        snprintf(out->text, sizeof out->text, "U+%04" PRIX32, (uint32_t)code);
    }
}

bool mech_text_odd(const char *bytes, size_t size, struct mech_odd *out)
{
    size_t length = 1;
    for (size_t k = 0; k < size; k += length) {
        const int32_t code = mech_text_code(bytes + k, size - k, &length);
        if (code < 0 || find(code)) {
            mech_text_name(bytes, size, k, out);
            return true;
        }
    }
    return false;
}

bool mech_text_line(FILE *file, char *out, size_t size, size_t *length)
{
    int c = 0;
    *length = 0;
    while (*length + 1 < size && c != '\n' && (c = getc(file)) != EOF) {
        out[(*length)++] = (char)c;
    }
    out[*length] = '\0';
    return *length > 0;
}

bool mech_lines_next(struct mech_lines *l, char *out, size_t size, char **text)
{
    size_t length = 0;
    if (l->wide || !mech_text_line(l->file, out, size, &length)) {
        return false;
    }
    l->count++;
    l->wide = l->count == 1 ? mech_text_wide(out, length) : NULL;
    const size_t mark = l->count == 1 ? mech_text_mark(out, length) : 0;
    if (l->odd.line == 0 && mech_text_odd(out + mark, length - mark, &l->odd)) {
        l->odd.line = l->count;
    }
    *text = out + mark;
    return !l->wide;
}

void mech_lines_explain(const struct mech_lines *l, const char *path, const char *missing,
                        char *out, size_t size)
{
    if (l->count == 0) {
        mech_text_format(out, size, "%s is empty", path);
    } else if (l->wide) {
        mech_text_format(out, size, "%s is %s: save it as UTF-8", path, l->wide);
    } else if (l->odd.line > 0) {
        mech_text_format(out, size, "%s %s; line %d, column %d is %s", path, missing, l->odd.line,
                         l->odd.column, l->odd.text);
    } else {
        mech_text_format(out, size, "%s %s", path, missing);
    }
}

/* Letters of Greek and Cyrillic that look like one of ASCII. */
static bool resembles(int32_t code)
{
    static const int16_t letters[] = {
        0x391, 0x392, 0x395, 0x396, 0x397, 0x399, 0x39a, 0x39c, 0x39d, 0x39f, 0x3a1, 0x3a4, 0x3a5,
        0x3a7, 0x3bd, 0x3bf, 0x3f2, 0x3f3, 0x405, 0x406, 0x408, 0x410, 0x412, 0x415, 0x41a, 0x41c,
        0x41d, 0x41e, 0x420, 0x421, 0x422, 0x423, 0x425, 0x430, 0x435, 0x43e, 0x440, 0x441, 0x443,
        0x445, 0x455, 0x456, 0x458, 0x4ae, 0x4af, 0x4bb, 0x4c0, 0x4cf, 0x501, 0x51b, 0x51d};
    size_t k = 0;

    while (k < sizeof letters / sizeof *letters && letters[k] != code) {
        k++;
    }
    return k < sizeof letters / sizeof *letters || (code >= 0xff01 && code <= 0xff5e);
}

/* The bytes of the word at the beginning: letters, digits, underscores; 0: there is none. `read`:
 * each of its letters is Latin or looks like a Latin one, and some only look like it. */
static size_t word(const char *text, size_t size, bool *read)
{
    size_t at = 0, length = 1;
    bool own = false, like = false;

    for (; at < size; at += length) {
        const int32_t code = mech_text_code(text + at, size - at, &length);
        const bool latin = code == '_' || (code >= '0' && code <= '9') ||
                           (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z') ||
                           (code >= 0xc0 && code <= 0x24f);

        const bool sign = (code >= 0x2000 && code <= 0x2bff) || (code < 0xc0 && !latin);

        if (code < 0 || find(code) || sign) {
            break;
        }
        like = like || resembles(code);
        own = own || !(latin || resembles(code));
    }
    *read = like && !own;
    return at;
}

void mech_text_show(char *out, size_t size, const char *text)
{
    size_t used = 0, length = 1, rest = 0;
    bool read = false;
    for (size_t left = strlen(text); left > 0; left -= length, text += length) {
        char shown[16];
        const int32_t code = mech_text_code(text, left, &length);
        rest = rest > 0 ? rest : word(text, left, &read);
        if (code < 0) {
            snprintf(shown, sizeof shown, "0x%02x", (unsigned char)*text);
        } else if (code < ' ' || find(code) || (rest > 0 && read && resembles(code))) {
            snprintf(shown, sizeof shown, "U+%04" PRIX32, (uint32_t)code);
        } else {
            memcpy(shown, text, length);
            shown[length] = '\0';
        }
        rest -= rest > 0 ? length : 0;
        const size_t n = strlen(shown);
        if (used + n + 1 > size) {
            mech_text_end_cut(out, size, used);
            return;
        }
        memcpy(out + used, shown, n);
        used += n;
    }
    out[used] = '\0';
}
