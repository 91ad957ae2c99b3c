/* Bodies as structs: the writer and the reader. */
#include "protocol/wire/body.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum mechp_holds mechp_member_holds(const struct mechp_member *m)
{
    return mechp_place_holds(m->field);
}

size_t mechp_member_offset(const struct mechp_member *m)
{
    return mechp_place_offset(m->field);
}

/* The member of the struct as a pointer to one of its type. */
static const void *place(const struct mechp_member *m, const void *body)
{
    return (const char *)body + mechp_member_offset(m);
}

static bool is_absent(const struct mechp_member *m, const void *at)
{
    switch (mechp_member_holds(m)) {
    case MECHP_HOLDS_DOUBLE:
        return isnan(*(const double *)at);
    case MECHP_HOLDS_INTEGER:
        return *(const int64_t *)at == INT64_MIN;
    case MECHP_HOLDS_UNSIGNED:
        return *(const uint64_t *)at == MECHP_ABSENT;
    case MECHP_HOLDS_BOOL:
        return !*(const bool *)at;
    case MECHP_HOLDS_FLAG:
        return *(const bool *const *)at == NULL;
    case MECHP_HOLDS_TEXT:
        return *(const char *const *)at == NULL;
    case MECHP_HOLDS_NUMBERS:
        return ((const struct mechp_numbers *)at)->at == NULL;
    case MECHP_HOLDS_WRITTEN:
        return ((const struct mechp_written *)at)->write == NULL;
    case MECHP_HOLDS_INNER:
        return ((const struct mechp_inner *)at)->of == NULL;
    case MECHP_HOLDS_PART:
        return ((const struct mechp_part *)at)->given == NULL &&
               ((const struct mechp_part *)at)->written.write == NULL;
    case MECHP_HOLDS_TREE:
        return *(const json_t *const *)at == NULL;
    case MECHP_HOLDS_OBJECT:
        return ((const struct mechp_object *)at)->of == NULL &&
               ((const struct mechp_object *)at)->inner.of == NULL;
    case MECHP_HOLDS_LIST:
        return ((const struct mechp_list *)at)->of == NULL &&
               ((const struct mechp_list *)at)->items.write == NULL;
    case MECHP_HOLDS_WORD:
    case MECHP_HOLDS_WHICH:
    case MECHP_HOLDS_LISTED:
    case MECHP_HOLDS_NOTHING:
    default:
        return true;
    }
}

/* A part of a request: the struct or the function in its place, or as it was read. */
static void write_part(const json_t *of, const struct mechp_inner *inner,
                       const struct mechp_written *items, struct mechp_text *w)
{
    if (inner != NULL && inner->of != NULL) {
        mechp_body_write(inner->shape, inner->of, w);
    } else if (items != NULL && items->write != NULL) {
        items->write(items->of, w);
    } else if (of != NULL) {
        mechp_json_write(of, w);
    } else {
        mechp_text_null(w);
    }
}

static void write_value(const struct mechp_member *m, const void *at, struct mechp_text *w)
{
    const struct mechp_numbers *const numbers = at;
    const struct mechp_inner *const inner = at;
    const struct mechp_written *const written = at;
    const struct mechp_part *const part = at;
    const struct mechp_object *const object = at;
    const struct mechp_list *const list = at;
    switch (mechp_member_holds(m)) {
    case MECHP_HOLDS_DOUBLE:
        // the type is searched for null only where that matters
        if (isfinite(*(const double *)at) || strstr(m->type, "null") == NULL) {
            mechp_text_number(w, *(const double *)at);
        } else {
            mechp_text_null(w);
        }
        break;
    case MECHP_HOLDS_INTEGER:
        if (*(const int64_t *)at == INT64_MIN) {
            mechp_text_null(w);
        } else {
            mechp_text_integer(w, *(const int64_t *)at);
        }
        break;
    case MECHP_HOLDS_UNSIGNED:
        mechp_text_unsigned(w, *(const uint64_t *)at);
        break;
    case MECHP_HOLDS_BOOL:
        mechp_text_bool(w, *(const bool *)at);
        break;
    case MECHP_HOLDS_FLAG:
        mechp_text_bool(w, **(const bool *const *)at);
        break;
    case MECHP_HOLDS_TEXT:
        mechp_text_string(w, *(const char *const *)at);
        break;
    case MECHP_HOLDS_NUMBERS:
        mechp_text_numbers(w, numbers->at, numbers->count);
        break;
    case MECHP_HOLDS_WRITTEN:
        written->write(written->of, w);
        break;
    case MECHP_HOLDS_PART:
        write_part(part->given, NULL, &part->written, w);
        break;
    case MECHP_HOLDS_INNER:
        if (inner->of != NULL) {
            mechp_body_write(inner->shape, inner->of, w);
        } else {
            mechp_text_null(w);
        }
        break;
    case MECHP_HOLDS_TREE:
        write_part(*(const json_t *const *)at, NULL, NULL, w);
        break;
    case MECHP_HOLDS_OBJECT:
        write_part(object->of, &object->inner, NULL, w);
        break;
    case MECHP_HOLDS_LIST:
        write_part(list->of, NULL, &list->items, w);
        break;
    case MECHP_HOLDS_WORD:
    case MECHP_HOLDS_WHICH:
    case MECHP_HOLDS_LISTED:
    case MECHP_HOLDS_NOTHING:
    default:
        mechp_text_null(w);
    }
}

void mechp_body_members(const struct mechp_shape *shape, const void *body, struct mechp_text *w)
{
    for (const struct mechp_member *m = shape->members; m->name != NULL; m++) {
        const void *const at = place(m, body);
        if (mechp_member_required(m) || !is_absent(m, at)) {
            mechp_text_key_plain(w, m->name);
            write_value(m, at, w);
        }
    }
}

void mechp_body_write(const struct mechp_shape *shape, const void *body, struct mechp_text *w)
{
    mechp_text_object(w);
    mechp_body_members(shape, body, w);
    mechp_text_end(w);
}

/* --- reading ---------------------------------------------------------------------------------- */

static const bool yes_or_no[] = {false, true};

/* The whole number of a type, and behind it: read for every request, so without strtoll. */
static const char *whole_of(const char *at, int64_t *value)
{
    const bool below = *at == '-';
    *value = 0;
    for (at += below; *at >= '0' && *at <= '9'; at++) {
        *value = 10 * *value + (*at - '0');
    }
    *value = below ? -*value : *value;
    return at;
}

/* The range of an integer, "integer 1..9" or "integer 1..". */
static void range_of(const char *type, int64_t *least, int64_t *most)
{
    const char *at = strchr(type, ' ');
    if (at != NULL) {
        at = whole_of(at + 1, least);
        if (at[2] != '\0') {
            (void)whole_of(at + 2, most);
        }
    }
}

static int64_t read_integer(const struct mechp_member *m, const struct mechp_json_in *in,
                            int64_t least)
{
    int64_t most = INT64_MAX, value = INT64_MIN;
    range_of(m->type, &least, &most);
    (void)mechp_json_integer_in(in, m->name, least, most, &value);
    return value;
}

static int read_word(const struct mechp_member *m, const struct mechp_json_in *in,
                     const json_t *value)
{
    const char *const text = json_string_value(value);
    const int place = text != NULL ? mechp_type_word(m->type, text) : MECHP_NO_WORD;
    if (place >= 0) {
        return place;
    }
    char words[160];
    struct mech_path path = {.length = 0};
    snprintf(path.text, sizeof path.text, "%s", in->base);
    path.length = strlen(path.text);
    (void)mech_path_push(&path, m->name);
    mech_diag_add(in->diag, path.text, "expected %s",
                  mechp_type_words(m->type, words, sizeof words));
    return MECHP_ODD_WORD;
}

static void read_which(const struct mechp_member *m, const struct mechp_json_in *in,
                       const json_t *value, struct mechp_which *which)
{
    which->name = json_string_value(value);
    if (which->name == NULL) {
        which->number = read_integer(m, in, 1);
    }
}

static const bool *read_flag(const struct mechp_member *m, const struct mechp_json_in *in)
{
    bool value = false;
    return mechp_json_bool_in(in, m->name, &value) ? &yes_or_no[value] : NULL;
}

void mechp_put_absent(enum mechp_holds holds, void *at)
{
    switch (holds) {
    case MECHP_HOLDS_DOUBLE:
        *(double *)at = (double)NAN;
        break;
    case MECHP_HOLDS_INTEGER:
        *(int64_t *)at = INT64_MIN;
        break;
    case MECHP_HOLDS_UNSIGNED:
        *(uint64_t *)at = MECHP_ABSENT;
        break;
    case MECHP_HOLDS_BOOL:
        *(bool *)at = false;
        break;
    case MECHP_HOLDS_WORD:
        *(int *)at = MECHP_NO_WORD;
        break;
    case MECHP_HOLDS_FLAG:
        *(const bool **)at = NULL;
        break;
    case MECHP_HOLDS_TEXT:
        *(const char **)at = NULL;
        break;
    case MECHP_HOLDS_TREE:
        *(const json_t **)at = NULL;
        break;
    case MECHP_HOLDS_OBJECT:
        *(struct mechp_object *)at = (struct mechp_object){NULL, {NULL, NULL}};
        break;
    case MECHP_HOLDS_LIST:
        *(struct mechp_list *)at = (struct mechp_list){NULL, {NULL, NULL}};
        break;
    case MECHP_HOLDS_NUMBERS:
        *(struct mechp_numbers *)at = (struct mechp_numbers){NULL, 0};
        break;
    case MECHP_HOLDS_WRITTEN:
        *(struct mechp_written *)at = (struct mechp_written){NULL, NULL};
        break;
    case MECHP_HOLDS_INNER:
        *(struct mechp_inner *)at = (struct mechp_inner){NULL, NULL};
        break;
    case MECHP_HOLDS_PART:
        *(struct mechp_part *)at = (struct mechp_part){.given = NULL};
        break;
    case MECHP_HOLDS_WHICH:
        *(struct mechp_which *)at = (struct mechp_which){INT64_MIN, NULL};
        break;
    case MECHP_HOLDS_LISTED:
        *(struct mechp_listed *)at = (struct mechp_listed){NULL, NULL};
        break;
    case MECHP_HOLDS_NOTHING:
    default:
        break;
    }
}

/* A value that is there into its place, which is absent so far. */
static void read_value(const struct mechp_member *m, const struct mechp_json_in *in,
                       const json_t *value, void *at)
{
    switch (mechp_member_holds(m)) {
    case MECHP_HOLDS_DOUBLE:
        (void)mechp_json_number_in(in, m->name, at);
        break;
    case MECHP_HOLDS_INTEGER:
        *(int64_t *)at = read_integer(m, in, -INT64_MAX);
        break;
    case MECHP_HOLDS_UNSIGNED: {
        const int64_t read = read_integer(m, in, 0);
        *(uint64_t *)at = read >= 0 ? (uint64_t)read : MECHP_ABSENT;
        break;
    }
    case MECHP_HOLDS_BOOL:
        (void)mechp_json_bool_in(in, m->name, at);
        break;
    case MECHP_HOLDS_FLAG:
        *(const bool **)at = read_flag(m, in);
        break;
    case MECHP_HOLDS_TEXT:
        (void)mechp_json_string_in(in, m->name, at);
        break;
    case MECHP_HOLDS_WORD:
        *(int *)at = read_word(m, in, value);
        break;
    case MECHP_HOLDS_TREE:
        *(const json_t **)at = value;
        break;
    case MECHP_HOLDS_PART:
        ((struct mechp_part *)at)->given = value;
        break;
    case MECHP_HOLDS_OBJECT:
        (void)mechp_json_object_in(in, m->name, &((struct mechp_object *)at)->of);
        break;
    case MECHP_HOLDS_LIST:
        (void)mechp_json_array_in(in, m->name, &((struct mechp_list *)at)->of);
        break;
    case MECHP_HOLDS_WHICH:
        read_which(m, in, value, at);
        break;
    case MECHP_HOLDS_LISTED:
    case MECHP_HOLDS_NUMBERS:
    case MECHP_HOLDS_WRITTEN:
    case MECHP_HOLDS_INNER:
    case MECHP_HOLDS_NOTHING:
    default:
        break;
    }
}

/* Null is a value of its own where the type has it, but in a part of the tree. */
static bool is_null(const struct mechp_member *m, const json_t *value)
{
    const enum mechp_holds holds = mechp_member_holds(m);
    return json_is_null(value) && holds != MECHP_HOLDS_TREE && holds != MECHP_HOLDS_PART &&
           strstr(m->type, "null") != NULL;
}

void mechp_body_read(const struct mechp_shape *shape, const struct mechp_json_in *in, void *body)
{
    for (const struct mechp_member *m = shape->members; m->name != NULL; m++) {
        const json_t *const value = json_object_get(in->object, m->name);
        void *const at = (char *)body + mechp_member_offset(m);
        mechp_put_absent(mechp_member_holds(m), at);
        if (value != NULL && !is_null(m, value)) {
            read_value(m, in, value, at);
        }
    }
}

void mechp_body_peek(const struct mechp_shape *shape, const json_t *object, void *body)
{
    struct mech_diag none;
    mech_diag_init(&none);
    mechp_body_read(shape, &(const struct mechp_json_in){object, "", &none}, body);
    mech_diag_fini(&none);
}
