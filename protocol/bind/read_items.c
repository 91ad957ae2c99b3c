/* Items of documents from JSON: the type's name picks the table; names are checked and unique in
 * their list. After a faulty reading, references are looked up by name, so that all faults are
 * reported at once.
 */
#include "protocol/bind/reader.h"

#include "protocol/wire/json.h"
#include "solver/base/err.h"
#include "solver/base/guess.h"
#include "solver/base/name.h"

#include <stdio.h>
#include <string.h>

/* "allowed: a, b, c" of a category, cut where it gets too long. */
static void list_types(enum mech_category category, char *out, size_t size)
{
    for (const struct mech_item_type *const *t = mech_item_types; *t != NULL; t++) {
        if ((*t)->category == category) {
            mechp_reader_list(out, size, (*t)->name);
        }
    }
}

/* A fault for a type that the category does not have, with what was probably meant. */
static void unknown_type(struct mechp_reader *r, enum mech_category category, const char *name)
{
    const char *names[128] = {NULL};
    size_t n = 0;
    for (const struct mech_item_type *const *t = mech_item_types; *t != NULL; t++) {
        if ((*t)->category == category && n < 127) {
            names[n++] = (*t)->name;
        } else if (strcmp((*t)->name, name) == 0) {
            MECHP_FAULT(r, "'%s' belongs to '%s', not to '%s'", name,
                        mech_category_name((*t)->category), mech_category_name(category));
            return;
        }
    }
    char allowed[160] = "";
    list_types(category, allowed, sizeof allowed);
    const char *const meant = mech_diag_full(r->diag) ? NULL : mech_closest(name, names);
    if (meant != NULL) {
        MECHP_FAULT(r, "unknown type '%.40s', did you mean '%s'? allowed: %s", name, meant,
                    allowed);
    } else {
        MECHP_FAULT(r, "unknown type '%.40s'; allowed: %s", name, allowed);
    }
}

/* The item's type; a fault if there is none. */
static const struct mech_item_type *find_type(struct mechp_reader *r, const json_t *object,
                                              enum mech_category category)
{
    const char *const key = mech_category_key(category);
    const json_t *const type = json_object_get(object, key);
    if (type == NULL) {
        MECHP_FAULT(r, "missing key '%s'", key);
        return NULL;
    }
    const struct mech_item_type *found = NULL;
    const size_t mark = mech_path_push(r->path, key);
    if (!json_is_string(type)) {
        MECHP_FAULT(r, "must be a string, is %s", mechp_reader_kind(type));
    } else {
        found = mech_item_type_find(category, json_string_value(type));
        if (found == NULL) {
            unknown_type(r, category, json_string_value(type));
        }
    }
    mech_path_cut(r->path, mark);
    return found;
}

/* Type and description. */
static int read_description(struct mechp_reader *r, const json_t *value,
                            enum mech_category category, struct mech_item *out)
{
    if (!json_is_object(value)) {
        MECHP_FAULT(r, "must be an object, is %s", mechp_reader_kind(value));
        return 0;
    }
    const struct mech_item_type *const type = find_type(r, value, category);
    if (type == NULL) {
        return 0;
    }
    out->type = type;
    out->description = mech_arena_alloc(&r->document->arena, 1, type->table.size);
    if (out->description == NULL) {
        return MECH_NO_MEMORY;
    }
    mech_table_defaults(&type->table, out->description);
    return mechp_reader_table(r, value, &type->table, out->description,
                              mech_category_key(category));
}

int mechp_read_variant(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                       void *at)
{
    // a nested item has no name
    if (json_object_get(value, "name") != NULL) {
        const size_t mark = mech_path_push(r->path, "name");
        MECHP_FAULT(r, "unknown key 'name'");
        mech_path_cut(r->path, mark);
    }
    return read_description(r, value, (enum mech_category)f->target, at);
}

/* The item's name, if it is a good one; known names grow by it. */
static int read_name(struct mechp_reader *r, const json_t *object, const struct mech_field *f,
                     struct mech_names *names, size_t i, struct mech_item *out)
{
    const json_t *const value = json_object_get(object, "name");
    if (value == NULL) {
        if ((f->flags & MECH_NAMELESS) == 0) {
            MECHP_FAULT(r, "missing key 'name'");
        }
        return 0;
    }
    const size_t mark = mech_path_push(r->path, "name");
    if (!json_is_string(value)) {
        MECHP_FAULT(r, "must be a string, is %s", mechp_reader_kind(value));
    } else if (!mech_name_valid(json_string_value(value))) {
        MECHP_FAULT(r, "'%.64s' is not a name: [A-Za-z0-9._-]{1,64}", json_string_value(value));
    } else {
        out->name = mech_arena_strdup(&r->document->arena, json_string_value(value));
        if (out->name == NULL) {
            return MECH_NO_MEMORY;
        }
        if (mech_names_add(names, out->name, (int32_t)i) != 0) {
            MECHP_FAULT(r, "the name '%s' is already used by element %d", out->name,
                        (int)mech_names_find(names, out->name));
        }
    }
    mech_path_cut(r->path, mark);
    return 0;
}

int mechp_read_items(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                     void *at)
{
    struct mech_items *const out = at;
    if (!json_is_array(value)) {
        MECHP_FAULT(r, "must be an array, is %s", mechp_reader_kind(value));
        return 0;
    }
    const size_t n = json_array_size(value);
    struct mech_item *const list = mech_arena_alloc(&r->document->arena, n, sizeof *list);
    struct mech_names names;
    if (list == NULL) {
        return MECH_NO_MEMORY;
    }
    MECH_FOLD(mech_names_init(&names, &r->document->arena, n));
    *out = (struct mech_items){.at = list, .n = n};
    for (size_t i = 0; i < n; i++) {
        const size_t mark = mech_path_push_index(r->path, i);
        const json_t *const item = json_array_get(value, i);
        if (json_is_object(item)) {
            MECH_TRY(read_name(r, item, f, &names, i, &list[i]));
        }
        MECH_TRY(read_description(r, item, (enum mech_category)f->target, &list[i]));
        mech_path_cut(r->path, mark);
    }
    return 0;
}

/* --- references of a faulty document --------------------------------------------------------- */

struct known {
    struct mech_names names[MECH_CATEGORIES];
};

static void check_ref(struct mechp_reader *r, const struct known *k, const struct mech_field *f,
                      const struct mech_ref *ref)
{
    if (ref->name != NULL && mech_names_find(&k->names[f->target], ref->name) < 0) {
        const enum mech_category category = (enum mech_category)f->target;
        const struct mech_items *const all =
            mech_diag_full(r->diag) ? NULL : mech_document_items(r->document, category);
        struct mech_guess g;
        MECHP_FAULT(r, "there is no '%s' among the %s%s", ref->name, mech_category_name(category),
                    mech_items_hint(&g, ref->name, all));
    }
}

static void check_table(struct mechp_reader *r, const struct known *k,
                        const struct mech_table *table, const void *at)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct mech_field *const f = &table->fields[i];
        const void *const member = (const char *)at + f->offset;
        const size_t mark = mech_path_push(r->path, f->name);
        if (f->kind == MECH_REF) {
            check_ref(r, k, f, member);
        } else if (f->kind == MECH_REFS) {
            const struct mech_refs *const refs = member;
            for (size_t j = 0; j < refs->n; j++) {
                const size_t inner = mech_path_push_index(r->path, j);
                check_ref(r, k, f, &refs->refs[j]);
                mech_path_cut(r->path, inner);
            }
        } else if (f->kind == MECH_STRUCTS) {
            const struct mech_structs *const list = member;
            for (size_t j = 0; j < list->n; j++) {
                const size_t inner = mech_path_push_index(r->path, j);
                check_table(r, k, f->table, (const char *)list->at + j * f->table->size);
                mech_path_cut(r->path, inner);
            }
        } else if (f->kind == MECH_ITEMS) {
            const struct mech_items *const list = member;
            for (size_t j = 0; j < list->n; j++) {
                const size_t inner = mech_path_push_index(r->path, j);
                if (list->at[j].description != NULL) {
                    check_table(r, k, &list->at[j].type->table, list->at[j].description);
                }
                mech_path_cut(r->path, inner);
            }
        }
        mech_path_cut(r->path, mark);
    }
}

int mechp_reader_dangling(struct mechp_reader *r)
{
    struct known k;
    memset(&k, 0, sizeof k);
    // names of each list; lists without items know none
    for (int c = 0; c < MECH_CATEGORIES; c++) {
        const struct mech_items *const items =
            mech_document_items(r->document, (enum mech_category)c);
        MECH_FOLD(mech_names_init(&k.names[c], &r->document->arena, items == NULL ? 0 : items->n));
        for (size_t i = 0; items != NULL && i < items->n; i++) {
            if (items->at[i].name != NULL) {
                (void)mech_names_add(&k.names[c], items->at[i].name, (int32_t)i);
            }
        }
    }
    check_table(r, &k, &mech_document_table, r->document);
    return 0;
}
