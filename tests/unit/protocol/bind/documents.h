/* Reading and writing documents in tests. */
#pragma once

#include "protocol/bind/bind.h"
#include "protocol/wire/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Read a model from text; faults go to d. Returns what mechp_bind_read does, or 99: not JSON. */
static inline int read_text(const char *text, const char *base, struct mech_diag *d,
                            struct mech_document **out)
{
    struct mechp_json_fault fault;
    json_t *root;
    *out = NULL;
    if (mechp_json_parse(text, strlen(text), NULL, &fault, &root) != 0) {
        return 99;
    }
    const int code = mechp_bind_read(root, base, d, out);
    json_decref(root);
    return code;
}

/* The document as text (malloc'd, closed by NUL), or NULL. */
static inline char *write_text(const struct mech_document *document)
{
    struct mechp_text w;
    size_t length;
    mechp_text_init(&w, NULL, 0);
    mechp_bind_write(document, &w);
    char *const bytes = mechp_text_take(&w, &length);
    char *const text = bytes == NULL ? NULL : malloc(length + 1);
    if (text != NULL) {
        memcpy(text, bytes, length);
        text[length] = '\0';
    }
    free(bytes);
    return text;
}

/* True when a fault stands at that path with that text in its message. */
static inline bool has_fault(const struct mech_diag *d, const char *path, const char *text)
{
    for (size_t i = 0; i < d->count; i++) {
        if (strcmp(d->entries[i].path, path) == 0 && strstr(d->entries[i].text, text) != NULL) {
            return true;
        }
    }
    return false;
}
