/* Packs and checks snapshot containers; decodes base64. */
#include "server/instance/container.h"

#include "protocol/bind/bind.h"
#include "solver/base/hash.h"

#include <stdlib.h>
#include <string.h>

static const char magic[8] = {'M', 'C', 'H', 'D', 'S', 'N', 'A', 'P'};

static void put_u64(unsigned char *at, uint64_t value)
{
    for (int k = 0; k < 8; k++) {
        at[k] = (unsigned char)(value >> (8 * k));
    }
}

static uint64_t get_u64(const unsigned char *at)
{
    uint64_t value = 0;
    for (int k = 7; k >= 0; k--) {
        value = value << 8 | at[k];
    }
    return value;
}

void *mechd_container_write(const struct mechd_container *parts, size_t *size)
{
    const size_t content = parts->model_size + parts->state_size;
    unsigned char *bytes = calloc(1, MECHD_CONTAINER_HEADER + content);
    if (bytes == NULL) {
        return NULL;
    }
    unsigned char *model = bytes + MECHD_CONTAINER_HEADER;
    memcpy(model, parts->model, parts->model_size);
    memcpy(model + parts->model_size, parts->state, parts->state_size);
    memcpy(bytes, magic, sizeof magic);
    bytes[8] = 1;
    put_u64(bytes + 16, parts->model_size);
    put_u64(bytes + 24, parts->state_size);
    put_u64(bytes + 32, mech_hash(model, content, parts->model_size));
    *size = MECHD_CONTAINER_HEADER + content;
    return bytes;
}

void *mechd_container_of_state(const struct mechd_instance *i, const void *state, size_t state_size,
                               size_t *size)
{
    struct mechp_text model;
    mechp_text_init(&model, NULL, 0);
    mechp_bind_write(mech_sim_document(i->sim), &model);
    const struct mechd_container parts = {
        .model = model.bytes, .model_size = model.length, .state = state, .state_size = state_size};
    void *bytes = model.failed ? NULL : mechd_container_write(&parts, size);
    mechp_text_fini(&model);
    return bytes;
}

void *mechd_container_of(const struct mechd_instance *i, size_t *size)
{
    void *state = malloc(mechd_engine_snapshot_size(&i->engine));
    if (state == NULL) {
        return NULL;
    }
    const size_t state_size = mechd_engine_snapshot_write(&i->engine, state);
    void *bytes = mechd_container_of_state(i, state, state_size, size);
    free(state);
    return bytes;
}

int mechd_container_read(const void *bytes, size_t size, struct mechd_container *parts)
{
    const unsigned char *at = bytes;
    static const unsigned char version[8] = {1};
    if (size < MECHD_CONTAINER_HEADER || memcmp(at, magic, sizeof magic) != 0 ||
        memcmp(at + 8, version, sizeof version) != 0) {
        return MECH_MISMATCH;
    }

    // the two sizes fill the rest exactly
    const uint64_t content = size - MECHD_CONTAINER_HEADER;
    const uint64_t model_size = get_u64(at + 16);
    const uint64_t state_size = get_u64(at + 24);
    if (model_size > content || state_size != content - model_size) {
        return MECH_MISMATCH;
    }
    const unsigned char *model = at + MECHD_CONTAINER_HEADER;
    if (mech_hash(model, content, model_size) != get_u64(at + 32)) {
        return MECH_MISMATCH;
    }
    *parts = (struct mechd_container){.model = (const char *)model,
                                      .model_size = model_size,
                                      .state = model + model_size,
                                      .state_size = state_size};
    return 0;
}

/* Value of one character, 64 for padding, −1 for what is not base64. */
static int sextet(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
           : c == '='             ? 64
                                  : -1;
}

char *mechd_base64_encode(const void *bytes, size_t size)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *const from = bytes;
    char *const out = malloc(size / 3 * 4 + 5);
    char *at = out;
    for (size_t k = 0; out != NULL && k < size; k += 3) {
        const size_t left = size - k;
        const uint32_t group = (uint32_t)from[k] << 16 |
                               (left > 1 ? (uint32_t)from[k + 1] << 8 : 0) |
                               (left > 2 ? (uint32_t)from[k + 2] : 0);
        *at++ = letters[group >> 18];
        *at++ = letters[group >> 12 & 63];
        *at++ = left > 1 ? letters[group >> 6 & 63] : '=';
        *at++ = left > 2 ? letters[group & 63] : '=';
    }
    if (out != NULL) {
        *at = '\0';
    }
    return out;
}

unsigned char *mechd_base64_decode(const char *text, size_t length, size_t *size)
{
    unsigned char *out = malloc(length / 4 * 3 + 3);
    size_t n = 0;
    uint32_t group = 0;
    int have = 0;
    int padding = 0;
    for (size_t k = 0; out != NULL && k < length; k++) {
        if (strchr(" \t\r\n", text[k]) != NULL && text[k] != '\0') {
            continue;
        }
        const int value = sextet(text[k]);
        if (value < 0 || (padding > 0 && value != 64)) {
            free(out);
            return NULL;
        }
        padding += value == 64;
        group = group << 6 | (value == 64 ? 0u : (uint32_t)value);
        if (++have == 4) {
            out[n++] = (unsigned char)(group >> 16);
            out[n++] = (unsigned char)(group >> 8);
            out[n++] = (unsigned char)group;
            have = 0;
            group = 0;
        }
    }
    if (out != NULL && (have != 0 || padding > 2 || n < (size_t)padding)) {
        free(out);
        return NULL;
    }
    *size = n - (size_t)padding;
    return out;
}
