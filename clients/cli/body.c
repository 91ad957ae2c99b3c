/* What requests for instances begin with and bring: the model, labels, time to live. */
#include "clients/cli/cli.h"

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
