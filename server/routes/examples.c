/* GET /v1/examples and /v1/examples/{name}. */
#include "server/examples/examples.h"

#include "protocol/wire/json.h"
#include "server/routes/shapes.h"

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

/* The name within the model, for people. */
static void write_title(const struct mechd_example *example, struct mechp_text *w)
{
    struct mechp_json_fault fault;
    json_t *model = NULL;
    if (mechp_json_parse(example->text, example->size, NULL, &fault, &model) == 0) {
        mechp_text_key(w, "title");
        mechp_text_string(w, json_string_value(json_object_get(model, "name")));
    }
    json_decref(model);
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
        write_title(&mechd_examples[k], &c->text);
        mechp_text_end(&c->text);
    }
    mechp_text_end(&c->text);
    mechp_text_key(&c->text, "next");
    mechp_text_null(&c->text);
    mechp_text_end(&c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_EXAMPLES = {.run = run_examples,
                                                         .flags = MECHD_READS | MECHD_IN_POOL};

static enum mechd_progress run_example(struct mechd_call *c)
{
    const char *name = mechd_call_value(c, "name");
    const struct mechd_example *example = mechd_example_find(name);
    if (example == NULL) {
        return mechd_fail(c, MECHP_NOT_FOUND, "there is no example %.64s", name);
    }
    mechp_text_raw(&c->text, example->text, example->size);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_EXAMPLE = {.run = run_example, .flags = MECHD_READS};
