/* A step of a model by an importer of its FMU, through FMI 3.0 and 2.0, beside the same step by the
 * solver's interface: an input is set, a step is done, outputs are read. The binary is the one of
 * the build, loaded as a tool loads it. */
#include "protocol/bind/bind.h"
#include "protocol/fmi/layout.h"
#include "protocol/fmi/symbols.h"
#include "protocol/wire/json.h"
#include "tests/bench/bench.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 4096 };

/* two masses between springs, a force on the first */
static const char model[] =
    "{\"mechd\":1,\"nodes\":[{\"name\":\"a\",\"type\":\"Node1D\"},{\"name\":\"b\",\"type\":"
    "\"Node1D\"}],\"objects\":[{\"name\":\"ma\",\"type\":\"Mass1D\",\"node\":\"a\","
    "\"physicsMass\":1},{\"name\":\"mb\",\"type\":\"Mass1D\",\"node\":\"b\",\"physicsMass\":2},"
    "{\"name\":\"ka\",\"type\":\"CoordinateSpringDamper\",\"markers\":[\"g\",\"xa\"],"
    "\"stiffness\":1000,\"damping\":1},{\"name\":\"kb\",\"type\":\"CoordinateSpringDamper\","
    "\"markers\":[\"xa\",\"xb\"],\"stiffness\":1000,\"damping\":1}],\"markers\":[{\"name\":\"g\","
    "\"type\":\"MarkerGroundCoordinate\"},{\"name\":\"xa\",\"type\":\"MarkerNodeCoordinate\","
    "\"node\":\"a\",\"coordinate\":0},{\"name\":\"xb\",\"type\":\"MarkerNodeCoordinate\",\"node\":"
    "\"b\",\"coordinate\":0}],\"loads\":[{\"name\":\"f\",\"type\":\"LoadCoordinate\",\"marker\":"
    "\"xa\",\"load\":0}],\"inputs\":[{\"name\":\"f\",\"load\":\"f\"}],\"sensors\":[{\"name\":"
    "\"sa\",\"type\":\"SensorNode\",\"node\":\"a\",\"outputVariable\":\"Coordinates\"},{\"name\":"
    "\"sb\",\"type\":\"SensorNode\",\"node\":\"b\",\"outputVariable\":\"Coordinates\"}],"
    "\"outputs\":[{\"name\":\"a\",\"sensor\":\"sa\",\"component\":0},{\"name\":\"b\",\"sensor\":"
    "\"sb\",\"component\":0}],\"solver\":{\"integrator\":\"GeneralizedAlpha\",\"stepSize\":0.001}}";

static const double size = 1e-3; /* s, of a communication step and of the solver's */

static void fail(const char *what)
{
    (void)fprintf(stderr, "%s\n", what);
    exit(2);
}

/* --- the solver's interface ------------------------------------------------------------------- */

static struct mech_sim *build(void)
{
    struct mechp_json_fault fault;
    struct mech_document *document = NULL;
    struct mech_sim *sim = NULL;
    struct mech_diag diag;
    json_t *json = NULL;

    mech_diag_init(&diag);
    if (mechp_json_parse(model, strlen(model), NULL, &fault, &json) != 0 ||
        mechp_bind_read(json, "", &diag, &document) != 0 ||
        mech_sim_create(document, &diag, &sim) != 0) {
        fail(diag.count > 0 ? diag.entries[0].text : "not a model");
    }
    json_decref(json);
    mech_diag_fini(&diag);
    return sim;
}

static void step_solver(void *context, uint64_t count)
{
    struct mech_sim *const sim = context;
    const struct mech_step_request request = {.kind = MECH_STEP_SIZE, .size = size};
    struct mech_step_report report;
    double out[2] = {0., 0.};

    for (uint64_t i = 0; i < count; i++) {
        const double force = (double)(i & 7);
        if (mech_sim_set_input(sim, 0, &force, 0, NULL) != 0 ||
            mech_sim_step(sim, &request, &report) != 0) {
            fail("a step failed");
        }
        mech_sim_get_output(sim, 0, out);
        mech_sim_get_output(sim, 1, out + 1);
    }
    bench_use(out);
}

/* --- the importer ----------------------------------------------------------------------------- */

struct imported {
    struct mechp_fmi2 fmi2;
    struct mechp_fmi3 fmi3;
    void *component;
    uint32_t force, outputs[2];
    double time;
};

static void no_log_2(void *environment, const char *name, enum mechp_fmi2_status status,
                     const char *category, const char *message, ...)
{
    (void)environment;
    (void)name;
    (void)status;
    (void)category;
    (void)message;
}

/* the struct outlives the component */
static const struct mechp_fmi2_callbacks callbacks = {no_log_2, calloc, free, NULL, NULL};

static void *load(struct imported *x, enum mechp_fmi_version version)
{
    char path[PATH];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);

    path[n > 0 ? n : 0] = '\0';
    if (!strrchr(path, '/')) {
        fail("/proc/self/exe cannot be read");
    }
    strcpy(strrchr(path, '/'), "/../../clients/fmu/mechd-model.so");
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fail(dlerror());
    }
    const struct mechp_fmi_symbol *s =
        version == MECHP_FMI_2 ? mechp_fmi2_symbols : mechp_fmi3_symbols;
    char *const functions = version == MECHP_FMI_2 ? (char *)&x->fmi2 : (char *)&x->fmi3;
    for (; s->name; s++) {
        void *const function = dlsym(library, s->name);
        memcpy(functions + s->offset, &function, sizeof function);
    }
    return library;
}

/* The model in a folder of its own, as an archive's resources are. */
static void write_model(char folder[64], char path[PATH])
{
    if (!mkdtemp(folder)) {
        fail("no folder for the model");
    }
    (void)snprintf(path, PATH, "%s/model.json", folder);
    FILE *const file = fopen(path, "wb");
    if (!file || fwrite(model, 1, strlen(model), file) != strlen(model) || fclose(file) != 0) {
        fail("the model cannot be written");
    }
}

static uint32_t reference(const struct mechp_fmi_layout *layout, const char *name)
{
    for (size_t i = 0; i < layout->n; i++) {
        if (strcmp(layout->at[i].name, name) == 0) {
            return layout->at[i].reference;
        }
    }
    fail("no such variable");
    return 0;
}

static void start(struct imported *x, enum mechp_fmi_version version, const char *token,
                  const char *folder)
{
    char place[96];
    bool ok = false;

    (void)snprintf(place, sizeof place, "%s%s/", version == MECHP_FMI_2 ? "file://" : "", folder);
    if (version == MECHP_FMI_2) {
        x->component =
            x->fmi2.Instantiate("one", MECHP_FMI2_CO_SIMULATION, token, place, &callbacks, 0, 0);
        ok = x->component && x->fmi2.SetupExperiment(x->component, 0, 0., 0., 0, 0.) == 0 &&
             x->fmi2.EnterInitializationMode(x->component) == 0 &&
             x->fmi2.ExitInitializationMode(x->component) == 0;
    } else {
        x->component = x->fmi3.InstantiateCoSimulation("one", token, place, false, false, false,
                                                       false, NULL, 0, NULL, NULL, NULL);
        ok = x->component &&
             x->fmi3.EnterInitializationMode(x->component, false, 0., 0., false, 0.) == 0 &&
             x->fmi3.ExitInitializationMode(x->component) == 0;
    }
    if (!ok) {
        fail("the FMU does not start");
    }
}

static void open_fmu(struct imported *x, enum mechp_fmi_version version, const struct mech_sim *sim)
{
    char folder[64] = "/tmp/mechd-bench-XXXXXX", path[PATH], token[MECHP_FMI_TOKEN];
    struct mechp_fmi_layout layout;

    *x = (struct imported){.time = 0.};
    (void)load(x, version);
    write_model(folder, path);
    if (mechp_fmi_layout_init(&layout, sim, version) != 0) {
        fail("no memory");
    }
    mechp_fmi_layout_token(&layout, model, strlen(model), token);
    x->outputs[0] = reference(&layout, "a");
    x->outputs[1] = reference(&layout, "b");
    x->force = reference(&layout, "f");
    start(x, version, token, folder);
    mechp_fmi_layout_fini(&layout);
    (void)unlink(path);
    (void)rmdir(folder);
}

static void step_2(void *context, uint64_t count)
{
    struct imported *const x = context;
    double out[2] = {0., 0.};

    for (uint64_t i = 0; i < count; i++) {
        const double force = (double)(i & 7);
        if (x->fmi2.SetReal(x->component, &x->force, 1, &force) != 0 ||
            x->fmi2.DoStep(x->component, x->time, size, 1) != 0 ||
            x->fmi2.GetReal(x->component, x->outputs, 2, out) != 0) {
            fail("a step failed");
        }
        x->time += size;
    }
    bench_use(out);
}

static void step_3(void *context, uint64_t count)
{
    struct imported *const x = context;
    double out[2] = {0., 0.};
    bool event, terminate, early;

    for (uint64_t i = 0; i < count; i++) {
        const double force = (double)(i & 7);
        if (x->fmi3.SetFloat64(x->component, &x->force, 1, &force, 1) != 0 ||
            x->fmi3.DoStep(x->component, x->time, size, true, &event, &terminate, &early,
                           &x->time) != 0 ||
            x->fmi3.GetFloat64(x->component, x->outputs, 2, out, 2) != 0) {
            fail("a step failed");
        }
    }
    bench_use(out);
}

int main(int argc, char **argv)
{
    struct imported two, three;
    struct mech_sim *const sim = build();

    bench_begin("fmu", argc, argv);
    open_fmu(&two, MECHP_FMI_2, sim);
    open_fmu(&three, MECHP_FMI_3, sim);
    bench_compare("two coordinates, FMI 2.0", step_2, &two, step_solver, sim);
    bench_compare("two coordinates, FMI 3.0", step_3, &three, step_solver, sim);
    two.fmi2.FreeInstance(two.component);
    three.fmi3.FreeInstance(three.component);
    mech_sim_destroy(sim);
    return bench_end();
}
