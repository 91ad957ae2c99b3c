/* GET /v1/examples and /v1/examples/{name}. */
#include "server/examples/examples.h"

#include "protocol/wire/json.h"
#include "server/call/shapes.h"
#include "solver/base/guess.h"

#include <string.h>

const struct mechd_example *mechd_example_find(const char *name)
{
    for (size_t k = 0; k < mechd_example_count; k++) {
        if (strcmp(mechd_examples[k].name, name) == 0) {
            return &mechd_examples[k];
        }
    }
    return NULL;
}

const char *mechd_example_closest(const char *name)
{
    struct mech_guess g = {.text = name};
    for (size_t k = 0; k < mechd_example_count; k++) {
        mech_guess_try(&g, mechd_examples[k].name);
    }
    return mech_guess_result(&g);
}

/* The name within the model, for people. False: no memory to read it. */
static bool write_title(const struct mechd_example *example, struct mechp_text *w)
{
    struct mechp_json_fault fault;
    json_t *model = NULL;
    if (mechp_json_parse(example->text, example->size, NULL, &fault, &model) != 0) {
        return false;
    }
    mechp_text_key(w, "title");
    mechp_text_string(w, json_string_value(json_object_get(model, "name")));
    json_decref(model);
    return true;
}

static enum mechd_progress run_examples(struct mechd_call *c)
{
    mechp_text_object(&c->text);
    mechp_text_key(&c->text, "items");
    mechp_text_array(&c->text);
    for (size_t k = 0; k < mechd_example_count; k++) {
        mechp_text_object(&c->text);
        mechp_text_key(&c->text, "name");
        mechp_text_string(&c->text, mechd_examples[k].name);
        if (!write_title(&mechd_examples[k], &c->text)) {
            return mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the titles");
        }
        mechp_text_end(&c->text);
    }
    mechp_text_end(&c->text);
    mechp_text_key(&c->text, "next");
    mechp_text_null(&c->text);
    mechp_text_end(&c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_EXAMPLES = {.run = run_examples};

static enum mechd_progress run_example(struct mechd_call *c)
{
    const char *name = mechd_call_value(c, "name");
    const struct mechd_example *example = mechd_example_find(name);
    if (example == NULL) {
        const char *const meant = mechd_example_closest(name);
        return mechd_fail(c, MECHP_NOT_FOUND, "there is no example %.64s%s%s%s", name,
                          meant != NULL ? ", did you mean " : "", meant != NULL ? meant : "",
                          meant != NULL ? "?" : "");
    }
    mechp_text_raw(&c->text, example->text, example->size);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_EXAMPLE = {.run = run_example};
