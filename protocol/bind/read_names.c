/* Words of documents from JSON: strings, choices, references, and lists of structs by name. */
#include "protocol/bind/reader.h"

#include "protocol/wire/json.h"
#include "solver/base/err.h"
#include "solver/base/guess.h"
#include "solver/base/name.h"

#include <stdio.h>
#include <string.h>

/* Copy of a string of bounded length into the document, NULL and a fault otherwise. */
static int copy_string(struct mechp_reader *r, const json_t *value, const char **out)
{
    if (!json_is_string(value)) {
        MECHP_FAULT(r, "must be a string, is %s", mechp_reader_kind(value));
        return 0;
    }
    if (json_string_length(value) > MECHP_BIND_STRING) {
        MECHP_FAULT(r, "is longer than %d bytes", MECHP_BIND_STRING);
        return 0;
    }
    *out = mech_arena_strdup(&r->document->arena, json_string_value(value));
    return *out == NULL ? MECH_NO_MEMORY : 0;
}

void mechp_reader_list(char *list, size_t size, const char *name)
{
    static const char more[] = ", …";
    const size_t used = strlen(list);
    const size_t length = strlen(name) + 2;
    if (used >= sizeof more && strcmp(list + used - (sizeof more - 1), more) == 0) {
        return;
    }
    // whole names, and room for the sign that there are more
    snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "",
             used + length + sizeof more <= size ? name : more + 2);
}

int mechp_read_string(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                      void *at)
{
    return copy_string(r, value, at);
}

int mechp_read_choice(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                      void *at)
{
    if (!json_is_string(value)) {
        MECHP_FAULT(r, "must be a string, is %s", mechp_reader_kind(value));
        return 0;
    }
    for (int32_t i = 0; f->choices[i] != NULL; i++) {
        if (strcmp(f->choices[i], json_string_value(value)) == 0) {
            *(int32_t *)at = i;
            return 0;
        }
    }
    char allowed[160] = "";
    for (int32_t i = 0; f->choices[i] != NULL; i++) {
        mechp_reader_list(allowed, sizeof allowed, f->choices[i]);
    }
    const char *const meant =
        mech_diag_full(r->diag) ? NULL : mech_closest(json_string_value(value), f->choices);
    if (meant != NULL) {
        MECHP_FAULT(r, "unknown value '%.40s', did you mean '%s'? allowed: %s",
                    json_string_value(value), meant, allowed);
        return 0;
    }
    MECHP_FAULT(r, "unknown value '%.64s'; allowed: %s", json_string_value(value), allowed);
    return 0;
}

int mechp_read_ref(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                   void *at)
{
    struct mech_ref *const out = at;
    if (!json_is_string(value)) {
        MECHP_FAULT(r, "must be a name, is %s", mechp_reader_kind(value));
        return 0;
    }
    if (!mech_name_valid(json_string_value(value))) {
        MECHP_FAULT(r, "'%.64s' is not a name: [A-Za-z0-9._-]{1,64}", json_string_value(value));
        return 0;
    }
    out->index = -1;
    return copy_string(r, value, &out->name);
}

int mechp_read_refs(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                    void *at)
{
    struct mech_refs *const out = at;
    if (f->count > 0 && !mechp_reader_array(r, value, f->count, "names")) {
        return 0;
    }
    if (!json_is_array(value)) {
        MECHP_FAULT(r, "must be an array of names, is %s", mechp_reader_kind(value));
        return 0;
    }
    const size_t n = json_array_size(value);
    struct mech_ref *const refs = mech_arena_alloc(&r->document->arena, n, sizeof *refs);
    if (refs == NULL) {
        return MECH_NO_MEMORY;
    }
    *out = (struct mech_refs){.refs = refs, .n = n};
    for (size_t i = 0; i < n; i++) {
        const size_t mark = mech_path_push_index(r->path, i);
        refs[i].index = -1;
        MECH_TRY(mechp_read_ref(r, json_array_get(value, i), f, &refs[i]));
        mech_path_cut(r->path, mark);
    }
    return 0;
}

int mechp_read_struct(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                      void *at)
{
    return mechp_reader_table(r, value, f->table, at, NULL);
}

/* Names of a list's members are names, and no two are the same. */
static int check_struct_names(struct mechp_reader *r, const struct mech_field *f,
                              const struct mech_structs *list)
{
    const struct mech_field *const name = mech_table_find(f->table, "name");
    struct mech_names names;
    if (name == NULL || name->kind != MECH_STRING) {
        return 0;
    }
    MECH_TRY(mech_names_init(&names, &r->document->arena, list->n));
    for (size_t i = 0; i < list->n; i++) {
        const char *const *const text =
            (const char *const *)(const void *)((const char *)list->at + i * f->table->size +
                                                name->offset);
        if (*text == NULL) {
            continue;
        }
        const size_t mark = mech_path_push_index(r->path, i);
        (void)mech_path_push(r->path, "name");
        if (!mech_name_valid(*text)) {
            MECHP_FAULT(r, "'%.64s' is not a name: [A-Za-z0-9._-]{1,64}", *text);
        } else if (mech_names_add(&names, *text, (int32_t)i) != 0) {
            MECHP_FAULT(r, "the name '%s' is already used by element %d", *text,
                        (int)mech_names_find(&names, *text));
        }
        mech_path_cut(r->path, mark);
    }
    return 0;
}

int mechp_read_structs(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                       void *at)
{
    struct mech_structs *const out = at;
    if (!json_is_array(value)) {
        MECHP_FAULT(r, "must be an array, is %s", mechp_reader_kind(value));
        return 0;
    }
    const size_t n = json_array_size(value);
    char *const list = mech_arena_alloc(&r->document->arena, n, f->table->size);
    if (list == NULL) {
        return MECH_NO_MEMORY;
    }
    *out = (struct mech_structs){.at = list, .n = n};
    for (size_t i = 0; i < n; i++) {
        const size_t mark = mech_path_push_index(r->path, i);
        mech_table_defaults(f->table, list + i * f->table->size);
        MECH_TRY(mechp_reader_table(r, json_array_get(value, i), f->table,
                                    list + i * f->table->size, NULL));
        mech_path_cut(r->path, mark);
    }
    return check_struct_names(r, f, out);
}

/* A name, or the struct itself, which then has none. */
int mechp_read_shared(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                      void *at)
{
    struct mech_shared *const out = at;
    struct mech_ref ref = {.name = NULL};
    if (json_is_object(value)) {
        return mechp_reader_table(r, value, f->table, out + 1, NULL);
    }
    if (!json_is_string(value)) {
        MECHP_FAULT(r, "must be a name or an object, is %s", mechp_reader_kind(value));
        return 0;
    }
    MECH_TRY(mechp_read_ref(r, value, f, &ref));
    out->name = ref.name;
    return 0;
}

/* A parameter is used in expressions: a letter or underscore, then letters, digits, underscores. */
static bool is_identifier(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    const size_t length = strlen(text);
    return length > 0 && length <= MECH_NAME_MAX && strspn(text, letters) == length &&
           (text[0] < '0' || text[0] > '9');
}

int mechp_read_parameters(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                          void *at)
{
    struct mech_parameters *const out = at;
    if (!json_is_object(value)) {
        MECHP_FAULT(r, "must be an object of names and numbers, is %s", mechp_reader_kind(value));
        return 0;
    }
    struct mech_parameter *const list =
        mech_arena_alloc(&r->document->arena, json_object_size(value), sizeof *list);
    if (list == NULL) {
        return MECH_NO_MEMORY;
    }
    *out = (struct mech_parameters){.at = list};
    for (void *i = json_object_iter((json_t *)(uintptr_t)value); i != NULL;
         i = json_object_iter_next((json_t *)(uintptr_t)value, i)) {
        const char *const name = json_object_iter_key(i);
        const size_t mark = mech_path_push(r->path, name);
        if (!is_identifier(name)) {
            MECHP_FAULT(r, "'%.64s' cannot be used in an expression: [A-Za-z_][A-Za-z0-9_]{0,63}",
                        name);
        }
        list[out->n].name = mech_arena_strdup(&r->document->arena, name);
        if (list[out->n].name == NULL) {
            return MECH_NO_MEMORY;
        }
        const json_t *const number = json_object_iter_value(i);
        if (json_is_string(number) && json_string_value(number)[0] == '=') {
            MECHP_FAULT(r, MECHP_NO_EXPRESSION);
        } else {
            (void)mechp_reader_plain(r, number, f, &list[out->n].value);
        }
        out->n++;
        mech_path_cut(r->path, mark);
    }
    return 0;
}
