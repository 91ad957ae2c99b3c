/* GET …/contacts: where the shapes of two bodies touched in the last internal step, and what they
 * did to each other. A shape without a name is called by its place in the body's geometry. */
#include "protocol/wire/bodies.h"
#include "server/call/shapes.h"

static void write_shape(const char *name, int32_t place, struct mechp_text *w)
{
    if (name != NULL) {
        mechp_text_string(w, name);
    } else {
        mechp_text_integer(w, place);
    }
}

static void write_bodies(const void *of, struct mechp_text *w)
{
    const struct mech_contact_view *const at = of;
    mechp_text_array(w);
    mechp_text_string(w, at->of[0].body);
    mechp_text_string(w, at->of[1].body);
    mechp_text_end(w);
}

static void write_shapes(const void *of, struct mechp_text *w)
{
    const struct mech_contact_view *const at = of;
    mechp_text_array(w);
    write_shape(at->of[0].shape, at->of[0].place, w);
    write_shape(at->of[1].shape, at->of[1].place, w);
    mechp_text_end(w);
}

static void write_contact(const struct mech_contact_view *at, struct mechp_text *w)
{
    double along = 0.;
    for (int k = 0; k < 3; k++) {
        along += at->normal[k] * at->force[k];
    }
    const struct mechp_body_contact body = {.bodies = {write_bodies, at},
                                            .shapes = {write_shapes, at},
                                            .point = {at->point, 3},
                                            .normal = {at->normal, 3},
                                            .gap = at->gap,
                                            .normal_force = along,
                                            .force = {at->force, 3},
                                            .impulse = {at->impulse, 3},
                                            .couple = {at->couple, 3}};
    MECHP_WRITE(contact, &body, w);
}

static void write_items(const void *of, struct mechp_text *w)
{
    const struct mech_sim *const sim = of;
    mechp_text_array(w);
    for (size_t i = 0; i < mech_sim_contacts(sim); i++) {
        struct mech_contact_view at;
        mech_sim_contact(sim, i, &at);
        write_contact(&at, w);
    }
    mechp_text_end(w);
}

static enum mechd_progress run_contacts(struct mechd_call *c)
{
    const struct mech_sim *const sim = c->job.instance->sim;
    const struct mechp_body_contact_list body = {mech_sim_time(sim), {write_items, sim}};
    MECHP_WRITE(contact_list, &body, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_CONTACTS = {.run = run_contacts};
