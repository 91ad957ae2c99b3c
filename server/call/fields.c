/* PUT …/objects/{name}/fields/{field}: change a field of a live object, node, marker, load, sensor
 * or interaction. The model is made anew from the changed document, and goes on from the present
 * state. */
#include "protocol/bind/bind.h"
#include "protocol/wire/bodies_values.h"
#include "protocol/wire/json.h"
#include "server/call/query.h"
#include "server/call/shapes.h"
#include "solver/sim/edit.h"

#include <string.h>

/* Of the words of `category` the one behind those of the categories. */
enum { INTERACTIONS = MECH_SENSOR + 1 };

/* The impulse of a joint that has been taken up. */
static struct mechp_numbers impulse_of(const struct mech_sim *sim,
                                       const struct mechp_edit_query *query)
{
    const struct mech_items *const objects = &mech_sim_document(sim)->objects;
    const double *impulse = NULL;
    int32_t n = 0;
    const bool object = !query->interaction && query->category == MECH_OBJECT;
    for (size_t k = 0; k < objects->n && object && n == 0; k++) {
        n = strcmp(objects->at[k].name, query->name) == 0 ? mech_sim_taken(sim, k, &impulse) : 0;
    }
    return (struct mechp_numbers){n > 0 ? impulse : NULL, (size_t)n};
}

/* A field as it is now. */
struct shown {
    const struct mech_sim *sim;
    const struct mechp_edit_query *query;
};

static void write_field(const void *of, struct mechp_text *w)
{
    const struct shown *const s = of;
    mechp_bind_write_field(s->sim, s->query, w);
}

/* The fields of what is asked for; NULL: there is none, refused. */
static const struct mech_table *find_table(struct mechd_call *c,
                                           const struct mechp_edit_query *query)
{
    if (!query->interaction) {
        const struct mech_item *const item = mechd_item(c, query->category, query->name);
        return item != NULL ? &item->type->table : NULL;
    }
    struct mech_guess g;
    const struct mech_table *const table =
        mechp_bind_interaction(c->job.instance->sim, query->name, &g);
    if (table == NULL) {
        mechd_fail(c, MECHP_NOT_FOUND, "there is no %.64s in interactions%s", query->name,
                   mech_guess_hint(&g));
    }
    return table;
}

static enum mechd_progress run_set_field(struct mechd_call *c)
{
    struct mech_sim *sim = c->job.instance->sim;
    struct mechp_body_set_field_request in;
    MECHP_READ(set_field_request, c->body, &c->diag, &in);
    struct mechp_query_item asked = {.category = in.category};
    if (in.category == MECHP_NO_WORD) {
        MECHD_ASK(item, c, &asked);
    }
    const int category = asked.category == MECHP_NO_WORD ? (int)MECH_OBJECT : asked.category;
    const struct mechp_edit_query query = {.name = mechd_call_value(c, "name"),
                                           .field = mechd_call_value(c, "field"),
                                           .value = in.value,
                                           .category = (enum mech_category)category,
                                           .interaction = category == INTERACTIONS,
                                           .assembled = in.positions == 1};
    if (query.value == NULL) {
        mech_diag_add(&c->diag, "/value", "a value is needed");
    }
    if (mechd_call_faulty(c)) {
        return MECHD_DONE;
    }
    const struct mech_table *const table = find_table(c, &query);
    if (table == NULL) {
        return MECHD_DONE;
    }
    const int outcome = mechd_durable_edit(c->job.instance, &query, &c->diag);
    if (outcome == MECH_NOT_FOUND) {
        struct mech_guess g;
        return mechd_fail(
            c, MECHP_NOT_FOUND, "%.64s has no field %.64s%s", query.name, query.field,
            mech_hint(&g, query.field, table->fields, table->count, sizeof *table->fields));
    }
    if (outcome != 0) {
        return outcome == MECH_INVALID ? MECHD_DONE : mechd_fail_outcome(c, outcome);
    }
    mechd_instance_changed(c->job.instance, 0);
    const struct shown shown = {sim, &query};
    const struct mechp_body_set_field body = {.time = mech_sim_time(sim),
                                              .name = query.name,
                                              .field = query.field,
                                              .value = {write_field, &shown},
                                              .impulse = impulse_of(sim, &query)};
    MECHP_WRITE(set_field, &body, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_SET_FIELD = {.run = run_set_field};
