/* GET /v1/examples and /v1/examples/{name}. */
#include "server/examples/examples.h"

#include "protocol/wire/bodies.h"
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

/* With the name within the model, for people. False: no memory to read it. */
static bool write_example(const struct mechd_example *example, struct mechp_text *w)
{
    struct mechp_json_fault fault;
    json_t *model = NULL;
    if (mechp_json_parse(example->text, example->size, NULL, &fault, &model) != 0) {
        return false;
    }
    const struct mechp_body_example body = {
        .name = example->name, .title = json_string_value(json_object_get(model, "name"))};
    MECHP_WRITE(example, &body, w);
    json_decref(model);
    return true;
}

static void write_items(const void *of, struct mechp_text *w)
{
    struct mechd_call *const *const c = of;
    mechp_text_array(w);
    for (size_t k = 0; k < mechd_example_count && (*c)->code == MECHP_OK; k++) {
        if (!write_example(&mechd_examples[k], w)) {
            mechd_fail(*c, MECHP_OUT_OF_MEMORY, "no memory for the titles");
        }
    }
    mechp_text_end(w);
}

static enum mechd_progress run_examples(struct mechd_call *c)
{
    const struct mechp_body_example_list body = {{write_items, &c}};
    MECHP_WRITE(example_list, &body, &c->text);
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
