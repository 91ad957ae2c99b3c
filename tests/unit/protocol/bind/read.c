/* The reader: a model with every kind of field, and each fault with its pointer, all at once. */
#include "protocol/bind/bind.h"

#include "solver/base/err.h"
#include "tests/unit/protocol/bind/documents.h"
#include "tests/unit/unit.h"

#include <math.h>

static const char model[] =
    "{\"mechd\":1,\"name\":\"m\",\"parameters\":{\"m\":1.6,\"k\":4000},"
    "\"nodes\":[{\"name\":\"n\",\"type\":\"Node1D\",\"referenceCoordinates\":[0.5]}],"
    "\"objects\":[{\"name\":\"body\",\"type\":\"Mass1D\",\"node\":\"n\",\"physicsMass\":\"=m\","
    "\"visualization\":{\"color\":[1,0,0,1],\"graphics\":[{\"shape\":\"Sphere\",\"radius\":2}]}},"
    "{\"name\":\"spring\",\"type\":\"CoordinateSpringDamper\",\"markers\":[\"g\",\"x\"],"
    "\"stiffness\":\"=k\",\"damping\":8}],"
    "\"markers\":[{\"name\":\"x\",\"type\":\"MarkerNodeCoordinate\",\"node\":\"n\","
    "\"coordinate\":0.0},{\"name\":\"g\",\"type\":\"MarkerGroundCoordinate\"}],"
    "\"loads\":[{\"name\":\"F\",\"type\":\"LoadCoordinate\",\"marker\":\"x\","
    "\"load\":\"=80*sin(2*pi*t)\"}],"
    "\"sensors\":[{\"name\":\"p\",\"type\":\"SensorBody\",\"object\":\"body\","
    "\"outputVariable\":\"Position\"}],"
    "\"inputs\":[{\"name\":\"force\",\"load\":\"F\"}],"
    "\"outputs\":[{\"name\":\"x\",\"sensor\":\"p\",\"component\":0}],"
    "\"solver\":{\"integrator\":\"GeneralizedAlpha\",\"spectralRadius\":0.5,"
    "\"newton\":{\"maxIterations\":9}}}";

static void a_whole_model_is_read_into_its_structs(void)
{
    struct mech_diag d;
    struct mech_document *doc;
    mech_diag_init(&d);
    CU_ASSERT_EQUAL(read_text(model, "", &d, &doc), 0);
    CU_ASSERT(mech_diag_clean(&d));
    if (doc != NULL) {
        CU_ASSERT_STRING_EQUAL(doc->name, "m");
        CU_ASSERT(doc->parameters.n == 2 && doc->parameters.at[1].value == 4000.);
        CU_ASSERT_STRING_EQUAL(doc->parameters.at[1].name, "k");
        CU_ASSERT(doc->objects.n == 2 && strcmp(doc->objects.at[1].name, "spring") == 0);
        CU_ASSERT_STRING_EQUAL(doc->objects.at[1].type->name, "CoordinateSpringDamper");
        CU_ASSERT_EQUAL(doc->bindings.n, 2);
        CU_ASSERT_EQUAL(doc->solver.spectral_radius, 0.5);
        CU_ASSERT_EQUAL(doc->solver.newton.max_iterations, 9);
        // defaults of what was left out
        CU_ASSERT_EQUAL(doc->solver.newton.relative_tolerance, 1e-8);
        CU_ASSERT_EQUAL(doc->solver.step_size, 1e-3);
        const struct mech_input *const input = doc->inputs.at;
        CU_ASSERT(input->component == -1 && strcmp(input->load.name, "F") == 0);
        CU_ASSERT_PTR_NULL(input->marker.name);
    }
    mech_document_destroy(doc);
    mech_diag_fini(&d);
}

static void bindings_know_text_and_path(void)
{
    struct mech_diag d;
    struct mech_document *doc;
    mech_diag_init(&d);
    // the base stands before faults, not before the document's own paths
    CU_ASSERT_EQUAL(read_text(model, "/model", &d, &doc), 0);
    bool found = false;
    for (size_t i = 0; doc != NULL && i < doc->bindings.n; i++) {
        const struct mech_binding *const b = &doc->bindings.at[i];
        if (strcmp(b->text, "m") == 0) {
            found = true;
            CU_ASSERT_STRING_EQUAL(b->path, "/objects/0/physicsMass");
        }
    }
    CU_ASSERT(found);
    mech_document_destroy(doc);
    mech_diag_fini(&d);
}

/* Read the model with one piece replaced; it must be refused with this fault. */
static void refused(const char *from, const char *to, const char *path, const char *text)
{
    char changed[4096];
    const char *const at = strstr(model, from);
    CU_ASSERT_PTR_NOT_NULL(at);
    if (at == NULL) {
        return;
    }
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - model), model, to, at + strlen(from));
    struct mech_diag d;
    struct mech_document *doc;
    mech_diag_init(&d);
    CU_ASSERT_EQUAL(read_text(changed, "/model", &d, &doc), MECH_INVALID);
    CU_ASSERT_PTR_NULL(doc);
    const bool told = has_fault(&d, path, text);
    CU_ASSERT(told);
    for (size_t i = 0; !told && i < d.count; i++) {
        printf("    found %s: %s\n", d.entries[i].path, d.entries[i].text);
    }
    mech_document_destroy(doc);
    mech_diag_fini(&d);
}

static void every_fault_has_its_pointer_and_reason(void)
{
    refused("\"stiffness\"", "\"stifness\"", "/model/objects/1/stifness",
            "did you mean 'stiffness'?");
    refused("\"parameters\"", "\"a/b~c\"", "/model/a~1b~0c", "unknown key");
    refused("\"Mass1D\"", "\"Mas1D\"", "/model/objects/0/type", "did you mean 'Mass1D'?");
    refused("\"Mass1D\"", "\"Warp\"", "/model/objects/0/type", "allowed: ");
    refused("\"Mass1D\"", "\"Node1D\"", "/model/objects/0/type", "belongs to 'nodes'");
    refused("\"Mass1D\"", "7", "/model/objects/0/type", "must be a string");
    refused("\"type\":\"Mass1D\",", "", "/model/objects/0", "missing key 'type'");
    refused("\"name\":\"body\",", "", "/model/objects/0", "missing key 'name'");
    refused("\"name\":\"body\"", "\"name\":\"a b\"", "/model/objects/0/name", "is not a name");
    refused("\"name\":\"body\"", "\"name\":\"spring\"", "/model/objects/1/name", "is already used");
    refused("\"physicsMass\":\"=m\",", "", "/model/objects/0", "missing key 'physicsMass'");
    refused("\"=m\"", "0", "/model/objects/0/physicsMass", "must be above 0 kg, is 0");
    refused("\"=m\"", "\"m\"", "/model/objects/0/physicsMass", "must be a number, is a string");
    refused("\"=m\"", "\"= \"", "/model/objects/0/physicsMass", "expression is empty");
    refused("\"=m\"", "null", "/model/objects/0/physicsMass", "is null");
    refused("[0.5]", "[0.5,1]", "/model/nodes/0/referenceCoordinates", "must have 1");
    refused("[0.5]", "0.5", "/model/nodes/0/referenceCoordinates", "must be an array");
    refused("[0.5]", "[\"x\"]", "/model/nodes/0/referenceCoordinates/0", "must be a number");
    refused("0.0}", "0.5}", "/model/markers/0/coordinate", "must be an integer");
    // a list that is too long ends behind a whole name
    refused("\"Position\"", "\"Magic\"", "/model/sensors/0/outputVariable", "ContactForce, …");
    refused("\"Position\"", "\"Positon\"", "/model/sensors/0/outputVariable", "mean 'Position'?");
    refused("0.0}", "-1}", "/model/markers/0/coordinate", "must be at least 0");
    refused("[1,0,0,1]", "[1,0,0,2]", "/model/objects/0/visualization/color/3", "at most 1");
    refused("\"Sphere\"", "\"Cone\"", "/model/objects/0/visualization/graphics/0/shape",
            "allowed: Box, Sphere");
    refused("[\"g\",\"x\"]", "[\"g\"]", "/model/objects/1/markers", "must have 2 names");
    refused("[\"g\",\"x\"]", "[\"g\",7]", "/model/objects/1/markers/1", "must be a name");
    refused("\"m\":1.6", "\"2m\":1.6", "/model/parameters/2m", "cannot be used in an expression");
    refused("\"m\":1.6", "\"m\":\"1\"", "/model/parameters/m", "must be a number");
    refused("\"m\":1.6", "\"m\":\"=2*k\"", "/model/parameters/m",
            "is an expression: use it where an item uses");
    refused("\"mechd\":1", "\"mechd\":2", "/model/mechd", "must be at most 1");
    refused("\"mechd\":1,", "", "/model", "missing key 'mechd'");
    refused("\"maxIterations\":9", "\"maxIterations\":1e300", "/model/solver/newton/maxIterations",
            "must be at most");
    refused("{\"name\":\"force\"", "{\"name\":\"\"", "/model/inputs/0/name", "is not a name");
    refused("[{\"name\":\"force\"", "[3,{\"name\":\"force\"", "/model/inputs/0",
            "must be an object, is a number");
    refused("\"nodes\":[", "\"nodes\":[[],", "/model/nodes/0", "must be an object");
    refused("{\"m\":1.6,\"k\":4000}", "7", "/model/parameters",
            "must be an object of names and numbers, is a number");
    refused("\"=k\"", "1,\"springForceUserFunction\":{\"formula\":\"=u\",\"partial\":[1]}",
            "/model/objects/1/springForceUserFunction/partial",
            "must be an object of expressions, is an array");
}

static void all_faults_are_reported_at_once_with_dangling_names(void)
{
    struct mech_diag d;
    struct mech_document *doc;
    mech_diag_init(&d);
    CU_ASSERT_EQUAL(
        read_text("{\"mechd\":1,\"gravity\":[0,0],\"zzz\":1,"
                  "\"objects\":[{\"name\":\"a\",\"type\":\"Mass1D\",\"node\":\"nowhere\","
                  "\"physicsMass\":-1},{\"name\":\"a\",\"type\":\"CoordinateSpringDamper\","
                  "\"markers\":[\"p\",\"q\"]}],\"inputs\":[{\"name\":\"i\",\"load\":\"L\"}]}",
                  "", &d, &doc),
        MECH_INVALID);
    CU_ASSERT(has_fault(&d, "/gravity", "must have 3 numbers, has 2"));
    CU_ASSERT(has_fault(&d, "/zzz", "unknown key"));
    CU_ASSERT(has_fault(&d, "/objects/0/physicsMass", "must be above 0"));
    CU_ASSERT(has_fault(&d, "/objects/1/name", "is already used"));
    CU_ASSERT(has_fault(&d, "/objects/0/node", "'nowhere'"));
    CU_ASSERT(has_fault(&d, "/objects/1/markers/0", "'p'"));
    CU_ASSERT(has_fault(&d, "/objects/1/markers/1", "'q'"));
    CU_ASSERT(has_fault(&d, "/inputs/0/load", "'L'"));
    CU_ASSERT_EQUAL(d.total, 8);
    mech_diag_fini(&d);
}

/* Faults of the solver stand beside the reader's when the document is whole but for those. */
static void faults_of_reader_and_solver_are_reported_together(void)
{
    struct mech_diag d;
    struct mech_document *doc;
    mech_diag_init(&d);
    CU_ASSERT_EQUAL(read_text("{\"mechd\":1,\"gravty\":[0,0,0],"
                              "\"nodes\":[{\"name\":\"n\",\"type\":\"Node1D\"},"
                              "{\"name\":\"bare\",\"type\":\"Node1D\"}],"
                              "\"objects\":[{\"name\":\"b\",\"type\":\"Mass1D\",\"node\":\"n\","
                              "\"physicsMass\":-1}],"
                              "\"solver\":{\"stepSize\":0,\"integrator\":\"Magic\"}}",
                              "/model", &d, &doc),
                    MECH_INVALID);
    CU_ASSERT(has_fault(&d, "/model/gravty", "did you mean 'gravity'?"));
    CU_ASSERT(has_fault(&d, "/model/objects/0/physicsMass", "must be above 0"));
    CU_ASSERT(has_fault(&d, "/model/solver/stepSize", "must be above 0"));
    CU_ASSERT(has_fault(&d, "/model/solver/integrator", "Magic"));
    CU_ASSERT(has_fault(&d, "/model/nodes/1", "singular mass"));
    CU_ASSERT_EQUAL(d.total, 5);
    mech_diag_fini(&d);
    // what follows from a fault is not reported: the mass that was refused makes no singular one
    mech_diag_init(&d);
    CU_ASSERT_EQUAL(
        read_text("{\"mechd\":1,\"nodes\":[{\"name\":\"n\",\"type\":\"Node1D\"}],\"objects\":["
                  "{\"name\":\"b\",\"type\":\"Mass1D\",\"node\":\"n\",\"physicsMass\":0}]}",
                  "", &d, &doc),
        MECH_INVALID);
    CU_ASSERT_EQUAL(d.total, 1);
    mech_diag_fini(&d);
}

static void a_model_that_is_no_object_is_refused(void)
{
    static const char *const texts[] = {"[]", "7", "\"x\"", "null", "true"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct mech_diag d;
        struct mech_document *doc;
        mech_diag_init(&d);
        CU_ASSERT_EQUAL(read_text(texts[i], "/model", &d, &doc), MECH_INVALID);
        CU_ASSERT(has_fault(&d, "/model", "must be an object"));
        mech_diag_fini(&d);
    }
}

static void expressions_are_bounded_in_length_and_number(void)
{
    // 4097 characters
    char *const text = malloc(400000);
    struct mech_diag d;
    struct mech_document *doc;
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    char *at = text + sprintf(text, "{\"mechd\":1,\"gravity\":[\"=");
    memset(at, '1', 4097);
    strcpy(at + 4097, "\",0,0]}");
    mech_diag_init(&d);
    CU_ASSERT_EQUAL(read_text(text, "", &d, &doc), MECH_INVALID);
    CU_ASSERT(has_fault(&d, "/gravity/0", "longer than 4096"));
    mech_diag_fini(&d);
    // 20,001 of them: one fault, not thousands
    at = text + sprintf(text, "{\"mechd\":1,\"objects\":[{\"name\":\"s\",\"type\":"
                              "\"LagrangianLinearTIDS\",\"M\":{\"diag\":[1]},\"q0\":[0],\"v0\":[0],"
                              "\"Fext\":[");
    for (int i = 0; i < 20010; i++) {
        at += sprintf(at, "%s\"=t\"", i > 0 ? "," : "");
    }
    strcpy(at, "]}]}");
    mech_diag_init(&d);
    CU_ASSERT_EQUAL(read_text(text, "", &d, &doc), MECH_INVALID);
    CU_ASSERT(has_fault(&d, "/objects/0/Fext/20000", "more than 20000 expressions"));
    CU_ASSERT_EQUAL(d.total, 1);
    mech_diag_fini(&d);
    free(text);
}

/* `count` expressions of `length` bytes each as the forces on one system. */
static char *forces(size_t count, size_t length)
{
    char *const text = malloc(count * (length + 4) + 200);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    char *at = text + sprintf(text, "{\"mechd\":1,\"objects\":[{\"name\":\"s\",\"type\":"
                                    "\"LagrangianLinearTIDS\",\"M\":{\"diag\":[1]},\"q0\":[0],"
                                    "\"v0\":[0],\"Fext\":[");
    for (size_t i = 0; i < count; i++) {
        at += sprintf(at, "%s\"=", i > 0 ? "," : "");
        memset(at, '1', length);
        at += length;
        *at++ = '"';
    }
    strcpy(at, "]}]}");
    return text;
}

static void expressions_are_bounded_in_length_together(void)
{
    // 500 of 4,000 bytes are 2 MB; what is wrong with them is only their number
    struct mech_diag d;
    struct mech_document *doc;
    char *text = forces(500, 4000);
    mech_diag_init(&d);
    read_text(text, "", &d, &doc);
    CU_ASSERT(!has_fault(&d, "/objects/0/Fext/499", "longer than"));
    mech_document_destroy(doc);
    mech_diag_fini(&d);
    free(text);
    // one fault for all that follow
    text = forces(510, 4000);
    mech_diag_init(&d);
    CU_ASSERT_EQUAL(read_text(text, "", &d, &doc), MECH_INVALID);
    CU_ASSERT(has_fault(&d, "/objects/0/Fext/500", "are longer than 2000000 bytes"));
    CU_ASSERT_EQUAL(d.total, 1);
    mech_diag_fini(&d);
    free(text);
}

UNIT_TESTS(UNIT_TEST(a_whole_model_is_read_into_its_structs),
           UNIT_TEST(bindings_know_text_and_path),
           UNIT_TEST(every_fault_has_its_pointer_and_reason),
           UNIT_TEST(all_faults_are_reported_at_once_with_dangling_names),
           UNIT_TEST(faults_of_reader_and_solver_are_reported_together),
           UNIT_TEST(a_model_that_is_no_object_is_refused),
           UNIT_TEST(expressions_are_bounded_in_length_and_number),
           UNIT_TEST(expressions_are_bounded_in_length_together))
