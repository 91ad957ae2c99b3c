#include "protocol/bind/bind.h"
#include "solver/base/interrupt.h"
#include "solver/items/ops.h"
#include "solver/sim/mech.h"
#include "tests/fuzz/generate_part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = 9, TRIES = 3, FOCUS_TRIES = 25, SETTINGS_TRIES = 4, MENDS = 40 };

/* The same with its faults; mech_diag_fini by the caller. */
static bool judged(const json_t *model, struct mech_diag *diag)
{
    struct mech_document *document = NULL;
    mech_diag_init(diag);
    const bool good =
        mechp_bind_read(model, "", diag, &document) == 0 && mech_sim_check(document, diag) == 0;
    mech_document_destroy(document);
    return good;
}

bool generate_accepted(const json_t *model)
{
    struct mech_diag diag;
    const bool good = judged(model, &diag);
    mech_diag_fini(&diag);
    return good;
}

/* Lists that a unit may make longer. */
static const enum mech_category listed[] = {MECH_NODE, MECH_OBJECT, MECH_MARKER, MECH_LOAD,
                                            MECH_SENSOR};
enum { LISTED = sizeof listed / sizeof *listed };

static void lengths(const struct generate *g, size_t n[LISTED])
{
    for (size_t k = 0; k < LISTED; k++) {
        n[k] = json_array_size(json_object_get(g->document, mech_category_name(listed[k])));
    }
}

/* The document as it was before a unit, which is consumed. */
static void go_back(struct generate *g, json_t *before)
{
    json_decref(g->document);
    g->document = before;
}

/* The table of entries of a list of the document, and the type of one of them where it has one. */
static const struct mech_table *table_of(const char *list, const json_t *item,
                                         const struct mech_item_type **type)
{
    const struct mech_field *const f = mech_table_find(&mech_document_table, list);
    *type = NULL;
    for (size_t k = 0; k < LISTED; k++) {
        if (strcmp(mech_category_name(listed[k]), list) == 0) {
            *type = generate_type_of(listed[k], item);
        }
    }
    return *type != NULL ? &(*type)->table : f != NULL && f->kind == MECH_STRUCTS ? f->table : NULL;
}

/* Whether the entry was there before the unit. */
static bool is_old(const char *list, unsigned at, const size_t before[LISTED])
{
    for (size_t k = 0; k < LISTED; k++) {
        if (strcmp(mech_category_name(listed[k]), list) == 0) {
            return at < before[k];
        }
    }
    return false;
}

/* A field of an object, by its table. */
struct place {
    json_t *object;
    const struct mech_table *table;
    const struct mech_field *field; /* NULL: none */
    uint32_t mask;                  /* of markers */
};

/* The field that a path leads to, or one on the way there: `rest` begins with '/'. */
static void descend(struct generate *g, struct place *p, const char *rest)
{
    char key[GENERATE_NAME];
    while (rest != NULL && sscanf(rest, "/%39[^/]", key) == 1) {
        const struct mech_field *const f = mech_table_find(p->table, key);
        json_t *value = json_object_get(p->object, key);
        if (f == NULL) {
            return;
        }
        p->field = f;
        rest = strchr(rest + 1, '/');
        if (rest == NULL || generate_often(g, 20)) {
            return;
        }
        if (f->kind == MECH_STRUCTS || f->kind == MECH_ITEMS) {
            value = json_array_get(value, strtoul(rest + 1, NULL, 10));
            rest = strchr(rest + 1, '/');
        }
        const bool item = f->kind == MECH_ITEMS || f->kind == MECH_VARIANT;
        const struct mech_item_type *const type =
            item ? generate_type_of((enum mech_category)f->target, value) : NULL;
        if (!json_is_object(value) || rest == NULL || (item ? type == NULL : f->table == NULL)) {
            return;
        }
        p->object = value;
        p->table = item ? &type->table : f->table;
        p->mask = 0;
    }
}

/* Draw a setting again, such as /solver/integrator. False: it is none. */
static bool mend_setting(struct generate *g, const char *path)
{
    char name[GENERATE_NAME] = "", key[GENERATE_NAME] = "";
    const int found = sscanf(path, "/%39[^/]/%39[^/]", name, key);
    const struct mech_field *const settings = mech_table_find(&mech_document_table, name);
    if (found < 2 || settings == NULL || settings->kind != MECH_STRUCT) {
        return false;
    }
    const struct mech_field *const f = mech_table_find(settings->table, key);
    if (f == NULL) {
        return false;
    }
    if (json_object_get(g->document, name) == NULL) {
        json_object_set_new(g->document, name, json_object());
    }
    json_object_set_new(json_object_get(g->document, name), key,
                        generate_field(g, f, settings->table, 0));
    return true;
}

/* Draw again what is at the place of a fault: a setting, a field, or one of its item; a node
 * that nothing gives a mass gets an object, or goes. */
static void mend(struct generate *g, const char *path, const size_t before[LISTED])
{
    char list[GENERATE_NAME] = "", key[GENERATE_NAME] = "";
    unsigned at = 0;
    if (mend_setting(g, path)) {
        return;
    }
    const struct mech_item_type *type = NULL;
    const int found = sscanf(path, "/%39[^/]/%u/%39[^/]", list, &at, key);
    json_t *const item = json_array_get(json_object_get(g->document, list), at);
    const struct mech_table *const table = table_of(list, item, &type);
    if (found < 2 || item == NULL || table == NULL || table->count == 0 ||
        is_old(list, at, before)) {
        return;
    }
    const char *const name = json_string_value(json_object_get(item, "name"));
    const bool node = found == 2 && type != NULL && type->category == MECH_NODE && name != NULL;
    if (node && generate_often(g, 40)) {
        json_array_remove(json_object_get(g->document, list), at);
        return;
    }
    if (node && generate_often(g, 70)) {
        (void)snprintf(g->wanted, sizeof g->wanted, "%s", name);
        (void)generate_item(g, generate_any_type(g, MECH_OBJECT, 0));
        g->wanted[0] = 0;
        return;
    }
    struct place place = {
        .object = item, .table = table, .mask = type != NULL ? generate_markers(g, type) : 0};
    if (found == 3) {
        descend(g, &place, strchr(strchr(path + 1, '/') + 1, '/'));
    }
    if (place.field == NULL) {
        place.field = &table->fields[generate_below(g, (uint32_t)table->count)];
    }
    const struct mech_field *const f = place.field;
    if (strcmp(f->name, "name") == 0) {
        return;
    }
    if ((f->flags & MECH_REQUIRED) == 0 && generate_often(g, 30)) {
        json_object_del(place.object, f->name);
        return;
    }
    json_object_set_new(place.object, f->name, generate_field(g, f, place.table, place.mask));
}

/* Small numbers in the text of a refusal are mostly the sizes that it asks for. */
static void take_hints(struct generate *g, const char *text)
{
    g->hint_count = 0;
    for (const char *p = text; *p != 0 && g->hint_count < GENERATE_HINTS; p++) {
        const bool digit = *p >= '1' && *p <= '9',
                   inside = p > text && p[-1] >= '.' && p[-1] <= 'z';
        if (digit && !inside && !(p[1] >= '.' && p[1] <= '9')) {
            g->hints[g->hint_count++] = (uint32_t)(*p - '0');
        }
    }
    const bool told = g->hint_count > 0 && generate_often(g, 50);
    g->size = told ? (int32_t)g->hints[g->hint_count - 1]
                   : 1 + (int32_t)generate_below(g, GENERATE_SIZES - 1);
}

/* Whether the document is accepted, if need be after some of it was drawn again. */
static bool mended(struct generate *g, const size_t before[LISTED])
{
    for (int k = 0; k < MENDS; k++) {
        struct mech_diag diag;
        const bool good = judged(g->document, &diag);
        if (!good && diag.count > 0) {
            const struct mech_diag_entry *const e =
                &diag.entries[generate_below(g, (uint32_t)diag.count)];
            take_hints(g, e->text);
            mend(g, e->path, before);
            g->hint_count = 0;
        }
        mech_diag_fini(&diag);
        if (good) {
            return true;
        }
    }
    return false;
}

/* An item with what it needs. False: the document is as before. */
static bool add_unit(struct generate *g, const struct mech_item_type *type, int tries)
{
    size_t before[LISTED];
    lengths(g, before);
    for (int k = 0; k < tries; k++) {
        json_t *const copy = json_deep_copy(g->document);
        g->size = 1 + (int32_t)generate_below(g, GENERATE_SIZES - 1);
        if (generate_item(g, type) != NULL && mended(g, before)) {
            json_decref(copy);
            return true;
        }
        go_back(g, copy);
    }
    return false;
}

/* One struct of a list of the document, such as inputs. */
static bool add_struct(struct generate *g, const struct mech_field *f, int tries)
{
    size_t before[LISTED];
    lengths(g, before);
    for (int k = 0; k < tries; k++) {
        char name[GENERATE_NAME];
        json_t *const copy = json_deep_copy(g->document);
        json_t *const list = generate_list_of(g, f->name);
        g->size = 1 + (int32_t)generate_below(g, GENERATE_SIZES - 1);
        json_t *const value = generate_table(g, f->table, 0);
        (void)snprintf(name, sizeof name, "i%d", g->serial++);
        if (mech_table_find(f->table, "name") != NULL) {
            json_object_set_new(value, "name", json_string(name));
        }
        json_array_append_new(list, value);
        if (mended(g, before)) {
            json_decref(copy);
            return true;
        }
        go_back(g, copy);
    }
    return false;
}

/* Settings, which stay when they fit the model; else those that a unit wanted do. */
static void add_settings(struct generate *g, const struct mech_field *f)
{
    json_t *const wanted = json_deep_copy(json_object_get(g->document, f->name));
    for (int k = 0; k < SETTINGS_TRIES; k++) {
        json_object_set_new(g->document, f->name, generate_field(g, f, &mech_document_table, 0));
        json_t *const settings = json_object_get(g->document, f->name);
        if (f->table == &mech_settings_table) {
            static const double steps[] = {1e-4, 1e-3, 1e-3, 1e-2, 0.1};
            json_object_set_new(settings, "stepSize", json_real(steps[generate_below(g, 5)]));
            json_t *const adaptive = json_object_get(settings, "adaptive");
            // a million substeps that lead nowhere take a minute, and say no more than 10,000
            if (json_is_object(adaptive)) {
                json_object_set_new(adaptive, "minimumStepSize", json_real(1e-5));
            }
        }
        if (generate_accepted(g->document)) {
            json_decref(wanted);
            return;
        }
    }
    json_object_del(g->document, f->name);
    if (wanted != NULL) {
        json_object_set_new(g->document, f->name, wanted);
    }
}

/* Everything of the document that is no list of named items. */
static void add_rest(struct generate *g, bool structs)
{
    for (size_t k = 0; k < mech_document_table.count; k++) {
        const struct mech_field *const f = &mech_document_table.fields[k];
        if (structs && f->kind == MECH_STRUCTS) {
            for (uint32_t n = generate_below(g, 3); n > 0; n--) {
                (void)add_struct(g, f, TRIES);
            }
        } else if (!structs && (f->kind == MECH_STRUCT || f->kind == MECH_REALS) &&
                   generate_often(g, 60)) {
            add_settings(g, f);
        }
    }
}

/* Where items of a category stand in those of a type, or NULL. */
static const struct mech_field *nest_of(const struct mech_item_type *type,
                                        enum mech_category category)
{
    for (size_t k = 0; k < type->table.count; k++) {
        const struct mech_field *const f = &type->table.fields[k];
        if (f->kind == MECH_ITEMS && f->target == (int)category) {
            return f;
        }
    }
    return NULL;
}

/* An object with items of a category that stand in objects, such as shapes. */
static void add_holder(struct generate *g, enum mech_category category)
{
    const struct mech_item_type *type = generate_any_type(g, MECH_OBJECT, 0);
    size_t before[LISTED];
    lengths(g, before);
    while (nest_of(type, category) == NULL) {
        type = generate_any_type(g, MECH_OBJECT, 0);
    }
    json_t *const copy = json_deep_copy(g->document);
    const char *const name = generate_item(g, type);
    const struct mech_field *const f = nest_of(type, category);
    json_t *const list = json_object_get(g->document, mech_category_name(MECH_OBJECT));
    json_t *const item = json_array_get(list, json_array_size(list) - 1);
    if (name != NULL) {
        json_object_set_new(item, f->name, generate_field(g, f, &type->table, 0));
    }
    if (name != NULL && mended(g, before)) {
        json_decref(copy);
    } else {
        go_back(g, copy);
    }
}

/* The list of structs in which a nested type can stand. */
static void add_nested(struct generate *g, const struct mech_item_type *type)
{
    for (int k = 0; k < FOCUS_TRIES && generate_count(g->document, type) == 0; k++) {
        if (type->category == MECH_SHAPE) {
            add_holder(g, type->category);
        } else {
            for (size_t i = 0; i < mech_document_table.count; i++) {
                const struct mech_field *const f = &mech_document_table.fields[i];
                if (f->table == &mech_interaction_table) {
                    (void)add_struct(g, f, 1);
                }
            }
        }
    }
}

/* Whether its items stand in a list of the document. */
static bool has_list(enum mech_category category)
{
    for (size_t k = 0; k < LISTED; k++) {
        if (listed[k] == category) {
            return true;
        }
    }
    return false;
}

json_t *generate_model(struct generate *g, const struct mech_item_type *focus)
{
    static const enum mech_category order[] = {MECH_OBJECT, MECH_OBJECT, MECH_MARKER,
                                               MECH_OBJECT, MECH_LOAD,   MECH_SENSOR};
    g->document = json_pack("{s:i,s:{s:f}}", "mechd", 1, "parameters", "p0", 2.);
    g->wild = generate_often(g, 10);
    if (focus != NULL && has_list(focus->category) && focus->category != MECH_NODE) {
        (void)add_unit(g, focus, FOCUS_TRIES);
    }
    for (uint32_t n = 1 + generate_below(g, UNITS); n > 0; n--) {
        (void)add_unit(g, generate_any_type(g, order[generate_below(g, 6)], 0), TRIES);
    }
    add_rest(g, true);
    if (focus != NULL && !has_list(focus->category)) {
        g->prefer = focus;
        add_nested(g, focus);
        g->prefer = NULL;
    }
    for (int k = 0; focus != NULL && focus->category == MECH_NODE && k < FOCUS_TRIES &&
                    generate_count(g->document, focus) == 0;
         k++) {
        (void)add_unit(g, k % 4 == 0 ? focus : generate_any_type(g, MECH_OBJECT, 0), 1);
    }
    add_rest(g, false);
    json_t *const model = g->document;
    g->document = NULL;
    return model;
}

int generate_count(json_t *model, const struct mech_item_type *type)
{
    int n = 0;
    const char *key = NULL;
    json_t *value = NULL;
    size_t k = 0;
    if (json_is_array(model)) {
        json_array_foreach(model, k, value)
        {
            n += generate_count(value, type);
        }
    } else if (json_is_object(model)) {
        n += generate_type_of(type->category, model) == type;
        json_object_foreach(model, key, value)
        {
            n += generate_count(value, type);
        }
    }
    return n;
}

/* Numbers of a value, by a factor. */
static void scale(json_t *value, double by)
{
    size_t k = 0;
    json_t *entry = NULL;
    if (json_is_real(value)) {
        (void)json_real_set(value, by * json_real_value(value));
    }
    json_array_foreach(value, k, entry)
    {
        scale(entry, by);
    }
}

/* A shape of the type, whose lengths are 64ths of a metre, up to half of one. */
static json_t *small_shape(struct generate *g, const struct mech_item_type *type)
{
    json_t *const shape = generate_loose_item(g, type);
    for (size_t k = 0; k < type->table.count; k++) {
        const struct mech_field *const f = &type->table.fields[k];
        if (f->unit != NULL && strcmp(f->unit, "m") == 0) {
            scale(json_object_get(shape, f->name), 1. / 8.);
        }
    }
    return shape;
}

json_t *generate_shape(struct generate *g)
{
    g->document = json_pack("{s:i}", "mechd", 1);
    for (int k = 0; k < FOCUS_TRIES; k++) {
        json_t *const shape = small_shape(g, generate_any_type(g, MECH_SHAPE, 0));
        json_t *const model = json_pack(
            "{s:i,s:{s:s},s:[{s:s,s:s}],s:[{s:s,s:s,s:s,s:f,s:[f,f,f,f,f,f],s:[O]}]}", "mechd", 1,
            "solver", "integrator", "MoreauJean", "nodes", "name", "n", "type",
            "NodeRigidBodyRotVecLG", "objects", "name", "body", "type", "RigidBody", "node", "n",
            "physicsMass", 1., "physicsInertia", 0.1, 0.1, 0.1, 0., 0., 0., "geometry", shape);
        const bool good = generate_accepted(model);
        json_decref(model);
        if (good && strcmp(json_string_value(json_object_get(shape, "shape")), "Plane") != 0) {
            json_decref(g->document);
            g->document = NULL;
            return shape;
        }
        json_decref(shape);
    }
    json_decref(g->document);
    g->document = NULL;
    return json_pack("{s:s,s:f}", "shape", "Sphere", "radius", 0.1);
}
