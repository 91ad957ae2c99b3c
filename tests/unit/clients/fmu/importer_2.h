/* The importer for FMI 2.0, beside importer.h: the FMU's binary of this build, resources by a URI.
 *
 *     struct imported_2 f;
 *     import_2(&f, "slider-crank");
 *     void *const c = instantiate_2(&f);
 *     f.fmi2.DoStep(c, …);
 *     forget_import(&f.base);
 */
#pragma once

#include "tests/unit/clients/fmu/importer.h"

#include <stdarg.h>

struct imported_2 {
    struct imported base; /* its layout is that of 2.0 */
    struct mechp_fmi2 fmi2;
    struct mechp_fmi2_callbacks callbacks;
    char uri[128];
};

static inline void take_message_2(void *environment, const char *name,
                                  enum mechp_fmi2_status status, const char *category,
                                  const char *message, ...)
{
    struct imported *const f = environment;
    va_list arguments;
    CU_ASSERT_STRING_EQUAL(name, "one");
    CU_ASSERT_STRING_EQUAL(category, status == MECHP_FMI2_ERROR     ? "logStatusError"
                                     : status == MECHP_FMI2_DISCARD ? "logStatusDiscard"
                                                                    : "logEvents");
    f->messages++;
    va_start(arguments, message);
    CU_ASSERT_STRING_EQUAL(message, "%s");
    snprintf(f->text, sizeof f->text, "%s", va_arg(arguments, const char *));
    va_end(arguments);
}

static inline void import_2(struct imported_2 *f, const char *name)
{
    char path[1024];

    f->base = import_example(name);
    mechp_fmi_layout_fini(&f->base.layout);
    CU_ASSERT_EQUAL_FATAL(mechp_fmi_layout_init(&f->base.layout, f->base.sim, MECHP_FMI_2), 0);
    snprintf(path, sizeof path, "%s/model.json", f->base.folder);
    char *const text = example_text(path);
    mechp_fmi_layout_token(&f->base.layout, text, strlen(text), f->base.token);
    free(text);
    for (const struct mechp_fmi_symbol *s = mechp_fmi2_symbols; s->name; s++) {
        void *const function = dlsym(f->base.library, s->name);
        CU_ASSERT_EQUAL(function == NULL, s->group == MECHP_FMI_EXCHANGE);
        memcpy((char *)&f->fmi2 + s->offset, &function, sizeof function);
    }
    f->callbacks = (struct mechp_fmi2_callbacks){take_message_2, calloc, free, NULL, &f->base};
    /* "%6d" is m */
    snprintf(f->uri, sizeof f->uri, "file:///t%%6dp/%s", f->base.folder + strlen("/tmp/"));
}

static inline void *instantiate_2(struct imported_2 *f)
{
    void *const c = f->fmi2.Instantiate("one", MECHP_FMI2_CO_SIMULATION, f->base.token, f->uri,
                                        &f->callbacks, 0, 1);
    if (!c) {
        fprintf(stderr, "%s\n", f->base.text);
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(c);
    return c;
}

static inline void initialize_2(const struct imported_2 *f, void *c, double start)
{
    CU_ASSERT_EQUAL(f->fmi2.SetupExperiment(c, 0, 0., start, 0, 0.), MECHP_FMI2_OK);
    CU_ASSERT_EQUAL(f->fmi2.EnterInitializationMode(c), MECHP_FMI2_OK);
    CU_ASSERT_EQUAL(f->fmi2.ExitInitializationMode(c), MECHP_FMI2_OK);
}
