/* One field of an item of a live model: read as in a document, in place; what it was is kept until
 * the model is compiled, or by the caller until the change is stored. */
#include "solver/sim/edit.h"
#include "protocol/bind/reader.h"
#include "protocol/bind/writer.h"
#include "solver/base/err.h"
#include "solver/items/series.h"

#include <stdlib.h>
#include <string.h>

struct mechp_edited {
    const struct mechp_edit_query *query; /* while it is applied */
    /* what was there */
    void *at;
    size_t size;
    void *description;             /* [size], NULL: nothing has been changed */
    struct mech_binding *bindings; /* [binding_count], NULL: they have not been changed */
    size_t binding_count;
    uint32_t edits;
};

/* What a query names. */
struct place {
    const char *list;               /* its key in the document */
    size_t index;                   /* in the list */
    const struct mech_table *table; /* NULL: there is none */
    const struct mech_field *field; /* NULL: it has none */
    void *description, *at;         /* of the item, and in it of the field */
};

static struct place place_of(const char *list, size_t index, const struct mech_table *table,
                             void *description, const char *field)
{
    const struct mech_field *const f = mech_table_find(table, field);
    return (struct place){.list = list,
                          .index = index,
                          .table = table,
                          .field = f,
                          .description = description,
                          .at = f != NULL ? (char *)description + f->offset : NULL};
}

static struct place find_place(const struct mech_document *d, const struct mechp_edit_query *q)
{
    const struct mech_items *const lists[] = {
        [MECH_NODE] = &d->nodes, [MECH_OBJECT] = &d->objects, [MECH_MARKER] = &d->markers,
        [MECH_LOAD] = &d->loads, [MECH_SENSOR] = &d->sensors,
    };
    struct mech_interaction *const all = d->interactions.at;
    for (size_t i = 0; q->interaction && i < d->interactions.n; i++) {
        if (strcmp(all[i].name, q->name) == 0) {
            return place_of("interactions", i, &mech_interaction_table, &all[i], q->field);
        }
    }
    const struct mech_items *const items = q->interaction ? NULL : lists[q->category];
    for (size_t i = 0; items != NULL && i < items->n; i++) {
        const struct mech_item *const item = &items->at[i];
        if (strcmp(item->name, q->name) == 0) {
            return place_of(mech_category_name(q->category), i, &item->type->table,
                            item->description, q->field);
        }
    }
    return (struct place){.table = NULL};
}

const struct mech_table *mechp_bind_interaction(const struct mech_sim *sim, const char *name,
                                                struct mech_guess *guess)
{
    const struct mech_structs *const list = &mech_sim_document(sim)->interactions;
    const struct mech_interaction *const all = list->at;
    *guess = (struct mech_guess){.text = name};
    for (size_t i = 0; i < list->n; i++) {
        if (strcmp(all[i].name, name) == 0) {
            return &mech_interaction_table;
        }
        if (i < MECH_GUESS_MOST) {
            mech_guess_try(guess, all[i].name);
        }
    }
    return NULL;
}

/* Bytes of the member when its reader expects it empty; 0: when it takes any. */
static size_t clear_size(const struct mech_field *f)
{
    return f->kind == MECH_VECTOR    ? sizeof(struct mech_vector)
           : f->kind == MECH_MATRIX  ? sizeof(struct mech_mat)
           : f->kind == MECH_VALUES  ? sizeof(struct mech_values)
           : f->kind == MECH_REF     ? sizeof(struct mech_ref)
           : f->kind == MECH_REFS    ? sizeof(struct mech_refs)
           : f->kind == MECH_FORMULA ? sizeof(struct mech_formula)
                                     : 0;
}

/* True when it holds no further structs: those stay as the document says, as do the name and the
 * systems of an interaction. */
static bool is_plain(const struct mechp_edit_query *q, const struct mech_field *f)
{
    if (q->interaction) {
        return (f->flags & MECH_TUNABLE) != 0;
    }
    return f->kind != MECH_STRUCT && f->kind != MECH_STRUCTS && f->kind != MECH_SHARED &&
           f->kind != MECH_ITEMS && f->kind != MECH_VARIANT && f->kind != MECH_PARAMETERS;
}

/* Forget the expressions behind `size` bytes from `from`, which may be NULL when that is 0. */
static void unbind_bytes(struct mech_document *d, const void *from, size_t size)
{
    struct mech_bindings *const b = &d->bindings;
    size_t kept = 0;
    for (size_t i = 0; i < b->n; i++) {
        const uintptr_t target = (uintptr_t)b->at[i].target;
        if (target < (uintptr_t)from || target >= (uintptr_t)from + size) {
            b->at[kept++] = b->at[i];
        }
    }
    b->n = kept;
}

/* The same of n numbers. */
static void unbind(struct mech_document *d, const double *from, size_t n)
{
    unbind_bytes(d, from, n * sizeof *from);
}

/* Forget the expressions of a field: its numbers are in the struct, or in arrays of its own. */
static void unbind_field(struct mech_document *d, const struct mech_field *f, void *at)
{
    static const struct mech_field vector = {.kind = MECH_VECTOR};
    if (f->kind == MECH_REAL || f->kind == MECH_REALS) {
        const double *const x = at;
        unbind(d, x, f->kind == MECH_REALS ? f->count : 1);
    } else if (f->kind == MECH_BOOL) {
        unbind_bytes(d, at, sizeof(bool));
    } else if (f->kind == MECH_VECTOR) {
        const struct mech_vector *const x = at;
        unbind(d, x->x, x->n);
    } else if (f->kind == MECH_MATRIX) {
        const struct mech_mat *const a = at;
        unbind(d, a->values, mech_mat_stored(a));
    } else if (f->kind == MECH_VALUES) {
        const struct mech_values *const x = at;
        unbind(d, x->number, x->n);
        for (size_t i = 0; x->series != NULL && i < x->n; i++) {
            unbind_field(d, &vector, &x->series[i].t);
            unbind_field(d, &vector, &x->series[i].values);
        }
    }
}

/* Keep what is there: the description, and which numbers come from expressions. */
static int save(struct mechp_edited *e, struct mech_document *d, const struct place *place)
{
    const struct mech_bindings *const b = &d->bindings;
    e->at = place->description;
    e->size = place->table->size;
    void *const description = malloc(e->size);
    e->bindings = malloc(b->n * sizeof *b->at + 1);
    if (description == NULL || e->bindings == NULL) {
        free(description);
        return MECH_NO_MEMORY;
    }
    memcpy(description, e->at, e->size);
    if (b->n > 0) {
        memcpy(e->bindings, b->at, b->n * sizeof *b->at);
    }
    e->binding_count = b->n;
    e->description = description;
    return 0;
}

static int apply(struct mech_document *d, void *context, struct mech_diag *diag)
{
    struct mechp_edited *const e = context;
    const struct mechp_edit_query *const q = e->query;
    struct mech_path path = {.length = 0};
    const struct place place = find_place(d, q);
    const struct mech_field *const f = place.field;
    if (f == NULL) {
        return MECH_NOT_FOUND;
    }
    if (!is_plain(q, f)) {
        mech_diag_add(diag, "", "%s cannot be changed in the model of an instance", f->name);
        return MECH_INVALID;
    }
    MECH_TRY(save(e, d, &place));
    (void)mech_path_push(&path, place.list);
    (void)mech_path_push_index(&path, place.index);
    (void)mech_path_push(&path, q->field);
    unbind_field(d, f, place.at);
    memset(place.at, 0, clear_size(f));
    const size_t before = diag->total;
    MECH_TRY(mechp_reader_field(&(struct mechp_reader){.document = d, .path = &path, .diag = diag},
                                q->value, f, place.at));
    return diag->total > before ? MECH_INVALID : 0;
}

static void undo(struct mech_document *d, void *context)
{
    const struct mechp_edited *const e = context;
    if (e->description != NULL) {
        memcpy(e->at, e->description, e->size);
    }
    if (e->description != NULL && e->bindings != NULL) {
        for (size_t k = 0; k < e->binding_count; k++) {
            d->bindings.at[k] = e->bindings[k]; /* there is room: as many were there before */
        }
        d->bindings.n = e->binding_count;
    }
}

/* Bindings that the edit has not changed are not kept. */
static void keep_changes(struct mechp_edited *e, const struct mech_bindings *now)
{
    const bool same = e->binding_count == now->n &&
                      (now->n == 0 || memcmp(e->bindings, now->at, now->n * sizeof *now->at) == 0);
    if (same) {
        free(e->bindings);
        e->bindings = NULL;
    }
}

void mechp_edited_destroy(struct mechp_edited *e)
{
    if (e != NULL) {
        free(e->description);
        free(e->bindings);
        free(e);
    }
}

bool mechp_edited_covers(const struct mechp_edited *older, const struct mechp_edited *newer)
{
    return older->at == newer->at && newer->bindings == NULL;
}

/* Whether states carry the field: they know whether an object with multipliers acts, unless that
 * follows parameters, before or from here on. */
static bool is_carried(const struct mech_sim *sim, const struct mechp_edit_query *q)
{
    const struct mech_document *const d = mech_sim_document(sim);
    const struct place place = find_place(d, q);
    return place.field != NULL && !q->interaction && q->category == MECH_OBJECT &&
           json_is_boolean(q->value) && strcmp(q->field, "active") == 0 &&
           mech_sim_is_joint(sim, place.index) && mech_document_binding(d, place.at) == NULL;
}

int mechp_bind_edit(struct mech_sim *sim, const struct mechp_edit_query *query,
                    struct mech_diag *diag, struct mechp_edited **before)
{
    struct mechp_edited *const e = calloc(1, sizeof *e);
    if (e == NULL) {
        return MECH_NO_MEMORY;
    }
    e->query = query;
    e->edits = mech_sim_edits(sim);
    const struct mech_edit edit = {.apply = apply,
                                   .undo = undo,
                                   .context = e,
                                   .carried = is_carried(sim, query),
                                   .closed = query->assembled};
    const int code = mech_sim_edit(sim, &edit, diag);
    if (code == 0 && before != NULL) {
        keep_changes(e, &mech_sim_document(sim)->bindings);
        *before = e;
    } else {
        mechp_edited_destroy(e);
    }
    return code;
}

void mechp_bind_edit_undo(struct mech_sim *sim, struct mechp_edited *before)
{
    mech_sim_edit_undo(sim, &(struct mech_edit){.undo = undo, .context = before}, before->edits);
}

void mechp_bind_write_field(const struct mech_sim *sim, const struct mechp_edit_query *query,
                            struct mechp_text *w)
{
    const struct mech_document *const d = mech_sim_document(sim);
    const struct place place = find_place(d, query);
    struct mechp_writer writer = {.document = d, .w = w};
    if (place.field == NULL || !is_plain(query, place.field)) {
        mechp_text_null(w);
    } else {
        mechp_writer_field(&writer, place.field, place.at, NULL);
    }
}
