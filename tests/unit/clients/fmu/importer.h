/* A small importer: loads the FMU's binary of this build as any tool does, and keeps resources in a
 * folder of its own.
 *
 *     struct imported f = import_example("slider-crank");
 *     void *const i = instantiate(&f, false, false);
 *     f.fmi3.DoStep(i, …);
 *     forget_import(&f);
 */
#pragma once

#include "protocol/fmi/layout.h"
#include "protocol/fmi/symbols.h"
#include "tests/verify/example.h"

#include <dlfcn.h>
#include <unistd.h>

struct imported {
    void *library;
    struct mechp_fmi3 fmi3;
    char folder[64];
    char token[MECHP_FMI_TOKEN];
    struct mech_sim *sim; /* the same model, by the interface of the solver */
    struct mechp_fmi_layout layout;
    int messages;   /* of the FMU */
    char text[512]; /* the last one */
};

static inline void take_message(void *environment, enum mechp_fmi3_status status,
                                const char *category, const char *message)
{
    struct imported *const f = environment;
    (void)status;
    (void)category;
    f->messages++;
    snprintf(f->text, sizeof f->text, "%s", message);
}

/* clients/fmu/mechd-model.so of the build in which this program is */
static inline void *load_binary(void)
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
    CU_ASSERT_FATAL(n > 0);
    path[n] = '\0';
    strcpy(strrchr(path, '/'), "/../clients/fmu/mechd-model.so");
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(library);
    return library;
}

/* Of the document in `text`. */
static inline struct imported import_text(const char *text)
{
    struct imported f = {.library = load_binary(), .folder = "/tmp/mechd-fmu-XXXXXX"};
    char path[1024];
    struct mech_diag diag;

    for (const struct mechp_fmi_symbol *s = mechp_fmi3_symbols; s->name; s++) {
        void *const function = dlsym(f.library, s->name);
        CU_ASSERT_PTR_NOT_NULL(function);
        memcpy((char *)&f.fmi3 + s->offset, &function, sizeof function);
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(f.folder));
    snprintf(path, sizeof path, "%s/model.json", f.folder);
    FILE *const file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
    mech_diag_init(&diag);
    if (model_read(text, &diag, &f.sim) != 0) {
        fprintf(stderr, "%s: %s\n", diag.entries[0].path, diag.entries[0].text);
        CU_FAIL_FATAL("not a model");
    }
    mech_diag_fini(&diag);
    CU_ASSERT_EQUAL_FATAL(mechp_fmi_layout_init(&f.layout, f.sim, MECHP_FMI_3), 0);
    mechp_fmi_layout_token(&f.layout, text, strlen(text), f.token);
    return f;
}

static inline struct imported import_example(const char *name)
{
    char path[1024];

    snprintf(path, sizeof path, "%s/../server/examples/%s.json", MECH_TESTS_FOLDER, name);
    char *const text = example_text(path);
    const struct imported f = import_text(text);
    free(text);
    return f;
}

static inline void *instantiate(struct imported *f, bool event_mode, bool early_return)
{
    char folder[80];
    snprintf(folder, sizeof folder, "%s/", f->folder);
    void *const i =
        f->fmi3.InstantiateCoSimulation("one", f->token, folder, false, true, event_mode,
                                        early_return, NULL, 0, f, take_message, NULL);
    if (!i) {
        fprintf(stderr, "%s\n", f->text);
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(i);
    return i;
}

static inline void initialize(const struct imported *f, void *i)
{
    CU_ASSERT_EQUAL(f->fmi3.EnterInitializationMode(i, false, 0., 0., false, 0.), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(f->fmi3.ExitInitializationMode(i), MECHP_FMI3_OK);
}

static inline const struct mechp_fmi_variable *variable(const struct imported *f, const char *name)
{
    for (size_t k = 0; k < f->layout.n; k++) {
        if (strcmp(f->layout.at[k].name, name) == 0) {
            return &f->layout.at[k];
        }
    }
    CU_FAIL_FATAL("no such variable");
    return NULL;
}

static inline double get_one(const struct imported *f, void *i, const char *name)
{
    double value = NAN;
    CU_ASSERT_EQUAL(f->fmi3.GetFloat64(i, &variable(f, name)->reference, 1, &value, 1),
                    MECHP_FMI3_OK);
    return value;
}

static inline enum mechp_fmi3_status set_one(const struct imported *f, void *i, const char *name,
                                             double value)
{
    return f->fmi3.SetFloat64(i, &variable(f, name)->reference, 1, &value, 1);
}

static inline enum mechp_fmi3_status do_step(const struct imported *f, void *i, double time,
                                             double size, double *last)
{
    bool event, terminate, early;
    return f->fmi3.DoStep(i, time, size, false, &event, &terminate, &early, last);
}

static inline void forget_import(struct imported *f)
{
    char path[96];
    mechp_fmi_layout_fini(&f->layout);
    mech_sim_destroy(f->sim);
    snprintf(path, sizeof path, "%s/model.json", f->folder);
    unlink(path);
    rmdir(f->folder);
    dlclose(f->library);
}
