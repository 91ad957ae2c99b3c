/* Documents from JSON: a walk over the keys of each object and the fields of its table. All faults
 * are collected; the walk continues after each. Defaults are in place before a table is read.
 */
#include "protocol/bind/reader.h"

#include "protocol/wire/json.h"
#include "solver/base/err.h"
#include "solver/base/guess.h"
#include "solver/items/unknown.h"

#include <stdio.h>
#include <string.h>

/* Memory that a document may take: room for what the JSON limits let through. */
static const size_t document_limit = (size_t)512 << 20;

static mechp_read_kind *const readers[] = {
    [MECH_BOOL] = mechp_read_bool,       [MECH_INT] = mechp_read_int,
    [MECH_REAL] = mechp_read_real,       [MECH_REALS] = mechp_read_reals,
    [MECH_VECTOR] = mechp_read_vector,   [MECH_MATRIX] = mechp_read_matrix,
    [MECH_STRING] = mechp_read_string,   [MECH_CHOICE] = mechp_read_choice,
    [MECH_REF] = mechp_read_ref,         [MECH_REFS] = mechp_read_refs,
    [MECH_VALUES] = mechp_read_values,   [MECH_FORMULA] = mechp_read_formula,
    [MECH_STRUCT] = mechp_read_struct,   [MECH_STRUCTS] = mechp_read_structs,
    [MECH_SHARED] = mechp_read_shared,   [MECH_ITEMS] = mechp_read_items,
    [MECH_VARIANT] = mechp_read_variant, [MECH_PARAMETERS] = mechp_read_parameters,
};

/* --- tables ---------------------------------------------------------------------------------- */

/* A fault for a key that no field has, with the nearest one. */
static void unknown_key(struct mechp_reader *r, const char *key, const struct mech_table *table)
{
    const char *names[64] = {NULL};
    for (size_t i = 0; i < table->count && i < 63; i++) {
        names[i] = table->fields[i].name;
    }
    const char *const meant = mech_diag_full(r->diag) ? NULL : mech_closest(key, names);
    const size_t mark = mech_path_push(r->path, key);
    if (meant != NULL) {
        MECHP_FAULT(r, "unknown key '%.64s', did you mean '%s'?", key, meant);
    } else {
        MECHP_FAULT(r, "unknown key '%.64s' in %s", key, table->name);
    }
    r->harmless++;
    mech_path_cut(r->path, mark);
}

int mechp_reader_field(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                       void *at)
{
    return readers[f->kind](r, value, f, at);
}

int mechp_reader_table(struct mechp_reader *r, const json_t *object, const struct mech_table *table,
                       void *at, const char *item)
{
    if (!json_is_object(object)) {
        MECHP_FAULT(r, "must be an object, is %s", mechp_reader_kind(object));
        return 0;
    }
    // what is there, in the order it was written
    for (void *i = json_object_iter((json_t *)(uintptr_t)object); i != NULL;
         i = json_object_iter_next((json_t *)(uintptr_t)object, i)) {
        const char *const key = json_object_iter_key(i);
        if (item != NULL && (strcmp(key, "name") == 0 || strcmp(key, item) == 0)) {
            continue;
        }
        const struct mech_field *const f = mech_table_find(table, key);
        if (f == NULL) {
            unknown_key(r, key, table);
            continue;
        }
        const size_t mark = mech_path_push(r->path, key);
        MECH_TRY(readers[f->kind](r, json_object_iter_value(i), f, (char *)at + f->offset));
        mech_path_cut(r->path, mark);
    }
    // what is missing
    for (size_t i = 0; i < table->count; i++) {
        const struct mech_field *const f = &table->fields[i];
        if ((f->flags & MECH_REQUIRED) != 0 && json_object_get(object, f->name) == NULL) {
            MECHP_FAULT(r, "missing key '%s'", f->name);
        }
    }
    return 0;
}

int mechp_bind_read_table(const json_t *object, const struct mech_table *table, void *at,
                          struct mech_document *document, struct mech_path *path,
                          struct mech_diag *diag)
{
    struct mechp_reader r = {.document = document, .path = path, .diag = diag};
    return mechp_reader_table(&r, object, table, at, NULL);
}

/* --- documents ------------------------------------------------------------------------------- */

/* Length of the item's part of a path, or of a member of another object: two steps. */
static size_t item_length(const char *path)
{
    const char *const second = *path == '\0' ? NULL : strchr(path + 1, '/');
    return second == NULL ? strlen(path) : 1 + (size_t)(second - path) + strcspn(second + 1, "/");
}

/* True when a fault of the reader is in the item of this path: what else is wrong with it may
 * follow from that. */
static bool is_known(const struct mechp_reader *r, const char *path)
{
    const size_t length = item_length(path);
    for (size_t i = 0; i < r->diag->count; i++) {
        const char *const other = r->diag->entries[i].path;
        if (strlen(other) >= r->base && item_length(other + r->base) == length &&
            strncmp(other + r->base, path, length) == 0) {
            return true;
        }
    }
    return false;
}

/* What the solver finds in a document that is faulty but whole. */
static int check_rest(struct mechp_reader *r)
{
    struct mech_diag more;
    mech_diag_init(&more);
    const int code = mech_sim_check(r->document, &more);
    for (size_t i = 0; i < more.count && code >= 0; i++) {
        if (!is_known(r, more.entries[i].path)) {
            char path[2 * MECH_DIAG_PATH];
            snprintf(path, sizeof path, "%.*s%s", (int)r->base, r->path->text,
                     more.entries[i].path);
            mech_diag_add(r->diag, path, "%s", more.entries[i].text);
        }
    }
    mech_diag_fini(&more);
    return code < 0 ? code : 0;
}

int mechp_bind_read(const json_t *model, const char *base, struct mech_diag *diag,
                    struct mech_document **out)
{
    *out = NULL;
    struct mech_document *document;
    MECH_FOLD(mech_document_create(document_limit, &document));
    struct mech_path path = {.length = 0};
    snprintf(path.text, sizeof path.text, "%s", base);
    path.length = strlen(path.text);
    struct mechp_reader r = {
        .document = document, .path = &path, .diag = diag, .base = path.length};
    const size_t before = diag->total;
    int code = mechp_reader_table(&r, model, &mech_document_table, document, NULL);
    if (code == 0 && diag->total > before) {
        code = mechp_reader_dangling(&r);
        if (code == 0 && diag->total == before + r.harmless) {
            code = check_rest(&r);
        }
        code = code == 0 ? mech_document_unknown(document, base, &document->arena, diag) : code;
        code = code == 0 ? MECH_INVALID : code;
    }
    if (code != 0) {
        mech_document_destroy(document);
        return code;
    }
    *out = document;
    return 0;
}
