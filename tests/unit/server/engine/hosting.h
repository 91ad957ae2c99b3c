/* For tests of the engine `fmu`: the tests' FMU as it is uploaded, and instances of it.
 *
 *     const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
 *     CU_ASSERT_EQUAL(step(&e, 0.5), 0);                          … output(&e) …
 *     mechd_engine_destroy(&e);
 */
#pragma once

#include "server/engine/fmu_engine.h"
#include "tests/fmus/controller.h"
#include "tests/unit/server/zip.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef MECH_TESTS_HOST /* the build gives them to programs with `hosted` in units.def */
#define MECH_TESTS_HOST ""
#define MECH_TESTS_CONTROLLER ""
#define MECH_TESTS_MEMORY 0
#endif

enum { U, GAIN = 0, FIXED = 1, MOOD = 2 };

/* Its description as of a version, with the abilities and the default experiment given. */
static inline const char *describe(enum mechd_fmi_version version, const char *abilities,
                                   const char *experiment)
{
    static char xml[4096];
    const bool two = version == MECHD_FMI_2;
    const char *const open = two ? "<ScalarVariable" : "<Float64";
    char u[320], y[400], gain[320], more[640];
    (void)snprintf(u, sizeof u, "%s name=\"u\" valueReference=\"1\" causality=\"input\" %s", open,
                   two ? "><Real start=\"0\"/></ScalarVariable>"
                       : "intermediateUpdate=\"true\" start=\"0\"/>");
    const char *const end = two ? "><Real/></ScalarVariable>" : "/>";
    (void)snprintf(y, sizeof y,
                   "%s name=\"y\" valueReference=\"2\" causality=\"output\" %s%s"
                   "%s name=\"sets\" valueReference=\"6\" causality=\"output\" %s",
                   open, two ? "" : "intermediateUpdate=\"true\" ", end, open, end);
    (void)snprintf(gain, sizeof gain,
                   "%s name=\"gain\" valueReference=\"3\" causality=\"parameter\" "
                   "variability=\"tunable\" %s",
                   open,
                   two ? "><Real start=\"1\" max=\"100\"/></ScalarVariable>"
                       : "start=\"1\" max=\"100\"/>");
    (void)snprintf(more, sizeof more,
                   "%s name=\"on\" valueReference=\"4\" causality=\"parameter\" "
                   "variability=\"fixed\" %s%s name=\"mood\" valueReference=\"5\" "
                   "causality=\"parameter\" variability=\"tunable\" %s",
                   two ? open : "<Boolean",
                   two ? "><Boolean start=\"true\"/></ScalarVariable>" : "start=\"true\"/>",
                   two ? open : "<Int32",
                   two ? "><Integer start=\"0\"/></ScalarVariable>" : "start=\"0\"/>");
    (void)snprintf(xml, sizeof xml,
                   "<fmiModelDescription fmiVersion=\"%s\" modelName=\"controller\" %s=\"%s\">"
                   "<CoSimulation modelIdentifier=\"controller\" %s/>"
                   "<DefaultExperiment %s/>"
                   "<ModelVariables>%s%s%s%s</ModelVariables>"
                   "</fmiModelDescription>",
                   two ? "2.0" : "3.0", two ? "guid" : "instantiationToken", CONTROLLER_TOKEN,
                   abilities, experiment, u, y, gain, more);
    return xml;
}

static const char all_of_3[] = "canHandleVariableCommunicationStepSize=\"true\" "
                               "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"";
static const char all_of_2[] = "canHandleVariableCommunicationStepSize=\"true\"";

/* An uploaded FMU of this description and library. */
static inline struct mechd_fmu_package *package_from(enum mechd_fmi_version version,
                                                     const char *xml, const char *from,
                                                     const char *identifier)
{
    static struct zip z;
    static char library[ZIP_MOST / 2];
    char path[64];
    FILE *const in = fopen(from, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    const size_t n = fread(library, 1, sizeof library, in);
    (void)fclose(in);
    CU_ASSERT_FATAL(n > 0 && n < sizeof library);
    memset(&z, 0, sizeof z);
    zip_add(&z, (struct zip_file){.path = "modelDescription.xml", .bytes = xml});
    (void)snprintf(path, sizeof path, "binaries/%s/%s.so", mechd_fmu_platform(version), identifier);
    zip_add(&z, (struct zip_file){.path = path, .bytes = library, .size = n});
    zip_end(&z);
    struct mechd_fmu_package *p = NULL;
    struct mech_diag diag;
    mech_diag_init(&diag);
    const int rc = mechd_fmu_package_open(z.bytes, z.size, "/tmp", &p, &diag);
    if (rc != 0) {
        (void)fprintf(stderr, "%d %s\n", rc, diag.count > 0 ? diag.entries[0].text : "");
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    mech_diag_fini(&diag);
    return p;
}

static inline struct mechd_fmu_package *package_of(enum mechd_fmi_version version, const char *xml)
{
    return package_from(version, xml, MECH_TESTS_CONTROLLER, "controller");
}

static inline struct mechd_fmu_package *package(enum mechd_fmi_version version,
                                                const char *abilities)
{
    return package_of(version, describe(version, abilities, "startTime=\"1\" stepSize=\"0.5\""));
}

static inline struct mechd_engine made(struct mechd_fmu_package *p, uint64_t ms)
{
    const struct mechd_fmu_settings settings = {
        .program = MECH_TESTS_HOST, .memory = MECH_TESTS_MEMORY, .call_ms = ms};
    struct mechd_engine e = {NULL, NULL};
    struct mech_diag diag;
    mech_diag_init(&diag);
    (void)signal(SIGPIPE, SIG_IGN);
    CU_ASSERT_EQUAL(mechd_engine_of_fmu(p, &settings, &e, &diag), 0);
    mech_diag_fini(&diag);
    CU_ASSERT_PTR_NOT_NULL_FATAL(e.self);
    return e;
}

/* Begun with u = 1; the caller destroys it. */
static inline struct mechd_engine begun(enum mechd_fmi_version version, const char *abilities)
{
    struct mechd_fmu_package *const p = package(version, abilities);
    const struct mechd_engine e = made(p, 0);
    struct mech_diag diag;
    mech_diag_init(&diag);
    CU_ASSERT(mechd_engine_fmu_start(&e, MECH_INPUT, U, (const double[]){1.}, "", &diag));
    mech_diag_fini(&diag);
    const int rc = mechd_engine_fmu_begin(&e);
    if (rc != 0) {
        (void)fprintf(stderr, "%d %s\n", rc, mechd_engine_refusal(&e));
    }
    CU_ASSERT_EQUAL_FATAL(rc, 0);
    mechd_fmu_package_unref(p);
    return e;
}

static inline double output(const struct mechd_engine *e)
{
    double both[2] = {NAN, NAN};
    mechd_engine_get_outputs(e, both);
    return both[0];
}

/* How often its input has been set. */
static inline double sets(const struct mechd_engine *e)
{
    double both[2] = {NAN, NAN};
    mechd_engine_get_outputs(e, both);
    return both[1];
}

static struct mech_step_report report;

static inline int run(const struct mechd_engine *e, const struct mech_step_request *r)
{
    bool done = false;
    int rc = mechd_engine_step_begin(e, r, &report);
    while (rc == 0 && !done) {
        rc = mechd_engine_step_advance(e, 1, &done);
    }
    if (rc == 0) {
        mechd_engine_step_finish(e);
    }
    return rc;
}

static inline int step(const struct mechd_engine *e, double size)
{
    return run(e, &(struct mech_step_request){.kind = MECH_STEP_SIZE, .size = size});
}

static inline int set_parameter(const struct mechd_engine *e, int32_t index, double value)
{
    struct mech_diag diag;
    mech_diag_init(&diag);
    const int rc = mechd_engine_set_parameters(e, 1, &index, &value, &diag);
    mech_diag_fini(&diag);
    return rc;
}

static inline int set_input(const struct mechd_engine *e, double value)
{
    struct mech_diag diag;
    mech_diag_init(&diag);
    const int rc = mechd_engine_set_inputs(
        e, &(struct mech_input_change){.index = U, .values = &value}, 1, &diag);
    mech_diag_fini(&diag);
    return rc;
}
