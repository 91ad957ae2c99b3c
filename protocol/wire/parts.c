#include "protocol/wire/parts.h"

#include "protocol/frame/frame.h"
#include "solver/base/err.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "MECHPART";

enum {
    VERSION = 1,
    /* bytes in a tree (json_guard.c) of a number, and of a list, with their place in a list */
    TREE_VALUE = 48,
    TREE_ROW = 144
};

static uint64_t get(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int k = bytes - 1; k >= 0; k--) {
        value = value << 8 | at[k];
    }
    return value;
}

static size_t size_of(const struct mechp_parts *p, size_t k)
{
    return (size_t)get(p->sizes + 8 * k, 8);
}

bool mechp_parts_are(const void *bytes, size_t size)
{
    return size >= sizeof magic - 1 && memcmp(bytes, magic, sizeof magic - 1) == 0;
}

static int refuse(struct mechp_json_fault *fault, enum mechp_code code, const char *text)
{
    *fault = (struct mechp_json_fault){.code = code};
    snprintf(fault->text, sizeof fault->text, "%s", text);
    return MECH_INVALID;
}

int mechp_parts_open(const void *bytes, size_t size, const struct mechp_json_limits *limits,
                     struct mechp_parts *out, struct mechp_json_fault *fault)
{
    const unsigned char *const at = bytes;
    if (size < MECHP_PARTS_HEADER || !mechp_parts_are(bytes, size) || get(at + 8, 4) != VERSION) {
        return refuse(
            fault, MECHP_MALFORMED_REQUEST,
            "a body with parts must begin with a header of 24 bytes: MECHPART, version 1");
    }
    const uint64_t count = get(at + 12, 4), json = get(at + 16, 8);
    if (count > MECHP_PARTS_MOST) {
        return refuse(fault, MECHP_MALFORMED_REQUEST, "at most 1024 parts");
    }
    size_t left = size - MECHP_PARTS_HEADER;
    if (left < 8 * count || json > left - 8 * count) {
        return refuse(fault, MECHP_MALFORMED_REQUEST, "the body is shorter than its parts");
    }
    *out = (struct mechp_parts){.count = (size_t)count,
                                .json_size = (size_t)json,
                                .sizes = at + MECHP_PARTS_HEADER,
                                .most = limits->tree};
    out->json = (const char *)(out->sizes + 8 * count);
    out->values = (const unsigned char *)out->json + json;
    left -= (size_t)(8 * count + json);
    for (size_t k = 0; k < out->count; k++) {
        const uint64_t part = get(out->sizes + 8 * k, 8);
        if (part > left || part % 8 != 0) {
            return refuse(fault, MECHP_MALFORMED_REQUEST,
                          part % 8 != 0 ? "a part is not a whole number of float64"
                                        : "the body is shorter than its parts");
        }
        left -= (size_t)part;
        out->tree += (size_t)part / 8 * TREE_VALUE;
    }
    if (left > 0) {
        return refuse(fault, MECHP_MALFORMED_REQUEST, "there are bytes after the last part");
    }
    if (out->tree > limits->tree) {
        return refuse(fault, MECHP_BODY_TOO_LARGE, "the parts have more numbers than are accepted");
    }
    return 0;
}

/* --- expansion -------------------------------------------------------------------------------- */

struct expansion {
    const struct mechp_parts *parts;
    struct mech_diag *diag;
    struct mech_path path;
    size_t tree; /* of all numbers, and of the rows up to here */
    bool used[MECHP_PARTS_MOST];
};

static double value_at(const unsigned char *at, size_t k)
{
    double value = 0.;
    mechp_frame_get_values(at + 8 * k, &value, 1);
    return value;
}

/* A list of `count` numbers. NULL: no memory, or a fault. */
static json_t *list_of(struct expansion *x, const unsigned char *at, size_t count)
{
    json_t *const list = json_array();
    for (size_t k = 0; list != NULL && k < count; k++) {
        const double value = value_at(at, k);
        if (!isfinite(value)) {
            const size_t mark = mech_path_push_index(&x->path, k);
            mech_diag_add(x->diag, x->path.text, "must be a finite number");
            mech_path_cut(&x->path, mark);
        }
        if (!isfinite(value) || json_array_append_new(list, json_real(value)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* Lists of `cols` numbers. NULL: as above. */
static json_t *rows_of(struct expansion *x, const unsigned char *at, const size_t shape[2])
{
    json_t *const rows = json_array();
    for (size_t k = 0; rows != NULL && k < shape[0]; k++) {
        const size_t mark = mech_path_push_index(&x->path, k);
        json_t *const row = list_of(x, at + 8 * k * shape[1], shape[1]);
        mech_path_cut(&x->path, mark);
        if (row == NULL || json_array_append_new(rows, row) != 0) {
            json_decref(rows);
            return NULL;
        }
    }
    return rows;
}

/* The shape, of `count` numbers. False: a fault. */
static bool read_shape(struct expansion *x, const json_t *shape, size_t count, size_t out[2])
{
    const double rows = json_number_value(json_array_get(shape, 0));
    const double cols = json_number_value(json_array_get(shape, 1));
    const bool whole = json_array_size(shape) == 2 && rows >= 1. && cols >= 1. &&
                       rows <= (double)count && cols <= (double)count && rows == floor(rows) &&
                       cols == floor(cols);
    out[0] = whole ? (size_t)rows : 0;
    out[1] = whole ? (size_t)cols : 0;
    const bool fits = whole && rows * cols == (double)count;
    const bool room = fits && out[0] <= (x->parts->most - x->tree) / TREE_ROW;
    if (room) {
        x->tree += out[0] * TREE_ROW;
        return true;
    }
    const size_t mark = mech_path_push(&x->path, "shape");
    if (fits) {
        mech_diag_add(x->diag, x->path.text, "the matrix has more rows than are accepted");
    } else if (json_array_size(shape) == 2 && json_is_number(json_array_get(shape, 0)) &&
               json_is_number(json_array_get(shape, 1))) {
        mech_diag_add(x->diag, x->path.text,
                      "the shape is %.17g times %.17g, but the part has %zu numbers", rows, cols,
                      count);
    } else {
        mech_diag_add(x->diag, x->path.text, "must be two integers, rows and columns");
    }
    mech_path_cut(&x->path, mark);
    return false;
}

/* What the object stands for; NULL: a fault, or no memory. */
static json_t *part_of(struct expansion *x, const json_t *object)
{
    static const char *const keys[] = {"part", "shape", NULL};
    const size_t before = x->diag->total;
    const json_t *const shape = json_object_get(object, "shape");
    int64_t k = 0;
    mechp_json_only(object, x->path.text, keys, x->diag);
    const double number = json_number_value(json_object_get(object, "part"));
    if (number >= 0. && number < (double)x->parts->count && number == floor(number)) {
        k = (int64_t)number;
    } else {
        const size_t mark = mech_path_push(&x->path, "part");
        mech_diag_add(x->diag, x->path.text, "there are %zu parts, numbered from 0",
                      x->parts->count);
        mech_path_cut(&x->path, mark);
        return NULL;
    }
    if (x->used[k]) {
        const size_t mark = mech_path_push(&x->path, "part");
        mech_diag_add(x->diag, x->path.text, "part %d is used elsewhere", (int)k);
        mech_path_cut(&x->path, mark);
    }
    x->used[k] = true;
    size_t offset = 0;
    for (size_t n = 0; n < (size_t)k; n++) {
        offset += size_of(x->parts, n);
    }
    const unsigned char *const at = x->parts->values + offset;
    const size_t count = size_of(x->parts, (size_t)k) / 8;
    size_t sizes[2];
    if ((shape != NULL && !read_shape(x, shape, count, sizes)) || x->diag->total != before) {
        return NULL;
    }
    return shape != NULL ? rows_of(x, at, sizes) : list_of(x, at, count);
}

static bool is_part(const json_t *value)
{
    return json_is_object(value) && json_is_number(json_object_get(value, "part")) &&
           (json_object_size(value) == 1 || json_object_get(value, "shape") != NULL);
}

static int walk(struct expansion *x, json_t *value);

/* What takes the place of a member or element, at the current path. 0, with *out NULL where it
 * stays; or no memory. */
static int visit(struct expansion *x, json_t *value, json_t **out)
{
    *out = NULL;
    if (!is_part(value)) {
        return walk(x, value);
    }
    const size_t before = x->diag->total;
    *out = part_of(x, value);
    return *out != NULL || x->diag->total != before ? 0 : MECH_NO_MEMORY;
}

static int walk(struct expansion *x, json_t *value)
{
    json_t *other = NULL;
    for (void *at = json_object_iter(value); at != NULL; at = json_object_iter_next(value, at)) {
        const size_t mark = mech_path_push(&x->path, json_object_iter_key(at));
        MECH_TRY(visit(x, json_object_iter_value(at), &other));
        mech_path_cut(&x->path, mark);
        if (other != NULL && json_object_iter_set_new(value, at, other) != 0) {
            return MECH_NO_MEMORY;
        }
    }
    for (size_t k = 0; json_is_array(value) && k < json_array_size(value); k++) {
        json_t *const element = json_array_get(value, k);
        if (!json_is_array(element) && !json_is_object(element)) {
            continue;
        }
        const size_t mark = mech_path_push_index(&x->path, k);
        MECH_TRY(visit(x, element, &other));
        mech_path_cut(&x->path, mark);
        if (other != NULL && json_array_set_new(value, k, other) != 0) {
            return MECH_NO_MEMORY;
        }
    }
    return 0;
}

int mechp_parts_expand(const struct mechp_parts *p, json_t **root, struct mech_diag *d)
{
    struct expansion x = {.parts = p, .diag = d, .tree = p->tree};
    const size_t before = d->total;
    json_t *other = NULL;
    MECH_TRY(visit(&x, *root, &other));
    if (other != NULL) {
        json_decref(*root);
        *root = other;
    }
    for (size_t k = 0; k < p->count && d->total == before; k++) {
        if (!x.used[k]) {
            mech_diag_add(d, "", "part %zu is not used", k);
        }
    }
    return d->total == before ? 0 : MECH_INVALID;
}
