/* What requests for instances begin with and bring: the model, labels, time to live. */
#include "clients/cli/cli.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A comma, unless it is the first member of an object. */
static void separate(struct mechc_bytes *b)
{
    if (!b->failed && b->length > 0 && b->at[b->length - 1] != '{') {
        mechc_bytes_text(b, ",");
    }
}

int mechctl_add_traits(struct mechctl *m)
{
    const char *label = mechctl_option(m, "label"), *const ttl = mechctl_option(m, "ttl");
    struct mechc_bytes *const b = &m->body;
    if (label) {
        separate(b);
        mechc_bytes_text(b, "\"labels\":{");
        for (const char *comma = ""; *label; comma = ",") {
            char word[256];
            const size_t all = strcspn(label, ","), name = strcspn(label, "=,");
            mechc_bytes_text(b, comma);
            snprintf(word, sizeof word, "%.*s", (int)name, label);
            mechc_bytes_string(b, word);
            const size_t start = name < all ? name + 1 : all;
            snprintf(word, sizeof word, "%.*s", (int)(all - start), label + start);
            mechc_bytes_text(b, ":");
            mechc_bytes_string(b, word);
            label += all + (label[all] == ',');
        }
        mechc_bytes_text(b, "}");
    }
    double seconds = 0.;
    const int code = mechctl_number(m, "ttl", &seconds);
    if (ttl) {
        separate(b);
        mechc_bytes_text(b, "\"ttl\":");
        mechc_bytes_number(b, seconds);
    }
    return code;
}

int mechctl_add_model(struct mechctl *m, const char *example)
{
    if (example) {
        mechc_bytes_text(&m->body, "{\"example\":");
        mechc_bytes_string(&m->body, example);
        return MECHCTL_DONE;
    }
    m->file = m->arguments[0];
    m->prefix = "/model";
    mechc_bytes_text(&m->body, "{\"model\":");
    m->lead = (int)m->body.length;
    return mechctl_read_file(m->file, &m->body);
}

/* RFC 4648, section 4. */
static void add_base64(struct mechc_bytes *out, const char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const size_t have = size - i < 3 ? size - i : 3;
        uint32_t group = 0;
        for (size_t k = 0; k < 3; k++) {
            group = group << 8 | (k < have ? (uint8_t)bytes[i + k] : 0u);
        }
        char text[4];
        for (size_t k = 0; k < 4; k++) {
            text[k] = k <= have ? digits[group >> (18 - 6 * k) & 63u] : '=';
        }
        mechc_bytes_add(out, text, sizeof text);
    }
}

int mechctl_add_snapshot(struct mechctl *m, const char *path)
{
    mechc_bytes_clear(&m->held);
    const int code = mechctl_read_file(path, &m->held);
    if (code == MECHCTL_DONE) {
        mechc_bytes_text(&m->body, "{\"snapshot\":\"");
        add_base64(&m->body, m->held.at, m->held.length);
        mechc_bytes_text(&m->body, "\"");
    }
    return code;
}
