/* Texts of programs outside, as they are shown to people. */
#include "server/call/outside.h"

#include "solver/base/odd.h"

#include <stdio.h>
#include <string.h>

enum { ONE = 16 /* bytes of a character, or of its name */ };

/* The character of [length] bytes, or its name; code MECH_NO_CODE: the byte is no UTF-8. */
static void show(const char *at, size_t length, int32_t code, char out[ONE])
{
    struct mech_odd odd;
    if (code == MECH_NO_CODE) {
        snprintf(out, ONE, "<0x%02X>", (unsigned)(unsigned char)*at);
    } else if (code < 0x20 || mech_text_odd(at, length, &odd)) {
        snprintf(out, ONE, "<U+%04X>", (unsigned)code);
    } else {
        memcpy(out, at, length);
        out[length] = '\0';
    }
}

const char *mechd_outside_quote(const char *text, size_t text_size, char *out, size_t size)
{
    static const char quote[] = "\"", cut[] = "…\"";
    const size_t most = size - 1 < MECHD_OUTSIDE_TEXT ? size - 1 : MECHD_OUTSIDE_TEXT;
    size_t at = 0, used = 0;
    out[0] = '\0';
    if (text == NULL || text_size == 0) {
        return out;
    }
    memcpy(out, quote, sizeof quote);
    used = sizeof quote - 1;
    while (at < text_size) {
        char one[ONE];
        size_t length = 1;
        const int32_t code = mech_text_code(text + at, text_size - at, &length);
        show(text + at, length, code, one);
        if (used + strlen(one) + sizeof cut > most) {
            memcpy(out + used, cut, sizeof cut);
            return out;
        }
        memcpy(out + used, one, strlen(one) + 1);
        used += strlen(one);
        at += length;
    }
    memcpy(out + used, quote, sizeof quote);
    return out;
}
