/* GET …/contacts: where the shapes of two bodies touched in the last internal step, and what they
 * did to each other. A shape without a name is called by its place in the body's geometry. */
#include "server/call/shapes.h"

static void write_shape(const char *name, int32_t place, struct mechp_text *w)
{
    if (name != NULL) {
        mechp_text_string(w, name);
    } else {
        mechp_text_integer(w, place);
    }
}

static void write_vector(const char *key, const double *x, struct mechp_text *w)
{
    mechp_text_key(w, key);
    mechp_text_numbers(w, x, 3);
}

static void write_contact(const struct mech_contact_view *at, struct mechp_text *w)
{
    double along = 0.;
    for (int k = 0; k < 3; k++) {
        along += at->normal[k] * at->force[k];
    }
    mechp_text_object(w);
    mechp_text_key(w, "bodies");
    mechp_text_array(w);
    mechp_text_string(w, at->of[0].body);
    mechp_text_string(w, at->of[1].body);
    mechp_text_end(w);
    mechp_text_key(w, "shapes");
    mechp_text_array(w);
    write_shape(at->of[0].shape, at->of[0].place, w);
    write_shape(at->of[1].shape, at->of[1].place, w);
    mechp_text_end(w);
    write_vector("point", at->point, w);
    write_vector("normal", at->normal, w);
    mechp_text_key(w, "gap");
    mechp_text_number(w, at->gap);
    mechp_text_key(w, "normalForce");
    mechp_text_number(w, along);
    write_vector("force", at->force, w);
    write_vector("impulse", at->impulse, w);
    write_vector("couple", at->couple, w);
    mechp_text_end(w);
}

static enum mechd_progress run_contacts(struct mechd_call *c)
{
    const struct mech_sim *sim = c->job.instance->sim;
    mechp_text_object(&c->text);
    mechp_text_key(&c->text, "time");
    mechp_text_number(&c->text, mech_sim_time(sim));
    mechp_text_key(&c->text, "items");
    mechp_text_array(&c->text);
    for (size_t i = 0; i < mech_sim_contacts(sim); i++) {
        struct mech_contact_view at;
        mech_sim_contact(sim, i, &at);
        write_contact(&at, &c->text);
    }
    mechp_text_end(&c->text);
    mechp_text_key(&c->text, "next");
    mechp_text_null(&c->text);
    mechp_text_end(&c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_CONTACTS = {.run = run_contacts};
