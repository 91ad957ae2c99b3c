/* What requests begin with: a model, a document, a snapshot; and files as they are. */
#include "clients/cli/cli.h"

#include "solver/base/words.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int mechctl_add_items(const char *option, const char *list, struct mechc_bytes *b)
{
    char *const copy = mechc_copy(list);
    char *at = copy, *item = NULL;
    const char *why = "out of memory", *comma = "";
    int code = copy ? 1 : -1;
    mechc_bytes_text(b, "[");
    while (code > 0 && (code = mech_item_next(&at, &item, &why)) > 0) {
        mechc_bytes_text(b, comma);
        mechc_bytes_string(b, item);
        comma = ",";
    }
    mechc_bytes_text(b, "]");
    free(copy);
    return code < 0 ? mechctl_usage("--%s: %s", option, why) : MECHCTL_DONE;
}

/* There is no file of that name: perhaps an example was meant. */
static void propose_example(struct mechctl *m, const char *name)
{
    if (!m->lane && !strpbrk(name, "/.") && access(name, F_OK) != 0 &&
        mechctl_is_there(m, "examples", name)) {
        fprintf(stderr, "mechctl: there is an example of that name: --example %s\n", name);
    }
}

int mechctl_add_model(struct mechctl *m, const char *example)
{
    if (example) {
        mechc_bytes_text(&m->body, "{\"example\":");
        mechc_bytes_string(&m->body, example);
        return MECHCTL_DONE;
    }
    const int code = mechctl_add_document(m, "model", "/model");
    if (code != MECHCTL_DONE) {
        propose_example(m, m->arguments[0]);
    }
    return code;
}

int mechctl_add_document(struct mechctl *m, const char *key, const char *place)
{
    m->file = m->arguments[0];
    m->prefix = place;
    mechc_bytes_text(&m->body, "{");
    mechc_bytes_string(&m->body, key);
    mechc_bytes_text(&m->body, ":");
    m->lead = (int)m->body.length;
    return mechctl_read_json(m->file, &m->body);
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
    const int code = mechctl_read_content(path, &m->held);
    if (code == MECHCTL_DONE) {
        mechc_bytes_text(&m->body, "{\"snapshot\":\"");
        add_base64(&m->body, m->held.at, m->held.length);
        mechc_bytes_text(&m->body, "\"");
    }
    return code;
}

int mechctl_upload(struct mechctl *m, const char *path, const char *file, const char *type)
{
    int code = mechctl_read_content(file, &m->body);
    if (code != MECHCTL_DONE) {
        return code;
    }
    struct mechc_json reply;
    struct mechc_reply r;
    code = mechctl_request(m,
                           &(struct mechc_request){.method = "POST",
                                                   .path = path,
                                                   .body = m->body.at,
                                                   .size = m->body.length,
                                                   .type = type},
                           &r);
    if (code != MECHCTL_DONE) {
        return code;
    }
    return mechc_json_open(r.body, r.size, &reply) ? mechctl_print_id(m, reply) : MECHCTL_FAILED;
}

int mechctl_download(struct mechctl *m, const char *path, const char *file)
{
    struct mechc_reply r;
    const int code = mechctl_request(m, &(struct mechc_request){.method = "GET", .path = path}, &r);
    return code != MECHCTL_DONE ? code : mechctl_save(m, file, r.body, r.size);
}
