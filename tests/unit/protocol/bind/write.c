/* The writer: defaults left out, expressions kept, matrices by their form, bits kept. */
#include "protocol/bind/bind.h"

#include "tests/unit/protocol/bind/documents.h"
#include "tests/unit/unit.h"

/* Read and write; the text must be this. */
static void written(const char *text, const char *expected)
{
    struct mech_diag d;
    struct mech_document *doc;
    mech_diag_init(&d);
    CU_ASSERT_EQUAL_FATAL(read_text(text, "", &d, &doc), 0);
    char *const back = write_text(doc);
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    CU_ASSERT_STRING_EQUAL(back, expected);
    if (strcmp(back, expected) != 0) {
        printf("    %s\n", back);
    }
    free(back);
    mech_document_destroy(doc);
    mech_diag_fini(&d);
}

static void defaults_are_left_out(void)
{
    written(
        "{\"mechd\":1,\"gravity\":[0,0,0],\"solver\":{\"stepSize\":1e-3,\"theta\":0.5,"
        "\"newton\":{\"maxIterations\":25,\"modified\":false},\"vi\":{\"onFailure\":\"error\"}}}",
        "{\"mechd\":1}");
    written(
        "{\"mechd\":1,\"solver\":{\"newton\":{\"modified\":true},\"vi\":{\"type\":\"lemke\"}}}",
        "{\"mechd\":1,\"solver\":{\"newton\":{\"modified\":true},\"vi\":{\"type\":\"lemke\"}}}");
    // minus zero is not the default
    written("{\"mechd\":1,\"gravity\":[0,0,-0.0]}", "{\"gravity\":[0,0,-0.0],\"mechd\":1}");
}

static void empty_lists_stay_lists(void)
{
    written("{\"mechd\":1,\"nodes\":[],\"parameters\":{},\"inputs\":[]}",
            "{\"inputs\":[],\"mechd\":1,\"nodes\":[],\"parameters\":{}}");
}

static void expressions_are_written_as_they_were(void)
{
    written(
        "{\"mechd\":1,\"parameters\":{\"k\":1},\"objects\":[{\"name\":\"s\",\"type\":"
        "\"CoordinateSpringDamper\",\"markers\":[\"a\",\"b\"],\"stiffness\":\"= k * 2 \","
        "\"springForceUserFunction\":{\"formula\":\"=k*u^3\",\"partial\":{\"u\":\"=3*k*u^2\"}}}]}",
        "{\"mechd\":1,\"objects\":[{\"name\":\"s\",\"type\":\"CoordinateSpringDamper\","
        "\"markers\":[\"a\",\"b\"],\"springForceUserFunction\":{\"formula\":\"=k*u^3\","
        "\"partial\":{\"u\":\"=3*k*u^2\"}},\"stiffness\":\"= k * 2 \"}],"
        "\"parameters\":{\"k\":1}}");
    // an expression that happens to give the default is still written
    written("{\"mechd\":1,\"gravity\":[0,0,\"=0\"]}", "{\"gravity\":[0,0,\"=0\"],\"mechd\":1}");
}

#define SYSTEM(matrix)                                                                             \
    "{\"mechd\":1,\"objects\":[{\"name\":\"s\",\"type\":\"LagrangianLinearTIDS\",\"M\":" matrix    \
    "}]}"

static void matrices_are_written_by_their_stored_form(void)
{
    written(SYSTEM("[[1,0],[0,2]]"), SYSTEM("{\"diag\":[1,2]}"));
    written(SYSTEM("[[1,2],[0,2]]"), SYSTEM("[[1,2],[0,2]]"));
    written(SYSTEM("{\"shape\":[2,2],\"coo\":[]}"), SYSTEM("{\"shape\":[2,2],\"coo\":[]}"));
    written(SYSTEM("{\"shape\":[9,9],\"coo\":[[8,0,3],[0,0,\"=k\"]]}"),
            SYSTEM("{\"shape\":[9,9],\"coo\":[[0,0,\"=k\"],[8,0,3]]}"));
    written(
        SYSTEM("{\"banded\":{\"lower\":0,\"upper\":1,\"rows\":[[1,2],[3,4],[5,6],[7,8],[9,1],[2,3],"
               "[4,5],[6,7],[8,9],[1]]}}"),
        SYSTEM("{\"banded\":{\"lower\":0,\"upper\":1,\"rows\":[[1,2],[3,4],[5,6],[7,8],[9,1],[2,3],"
               "[4,5],[6,7],[8,9],[1,0]]}}"));
}

static void numbers_keep_their_bits(void)
{
    written("{\"mechd\":1,\"parameters\":{\"a\":0.1,\"b\":4.9e-324,\"c\":1.7976931348623157e308,"
            "\"d\":100000000000000000000,\"e\":-0,\"f\":0.30000000000000004}}",
            "{\"mechd\":1,\"parameters\":{\"a\":0.1,\"b\":5e-324,\"c\":1.7976931348623157e+308,"
            "\"d\":1e+20,\"e\":-0.0,\"f\":0.30000000000000004}}");
}

UNIT_TESTS(UNIT_TEST(defaults_are_left_out), UNIT_TEST(empty_lists_stay_lists),
           UNIT_TEST(expressions_are_written_as_they_were),
           UNIT_TEST(matrices_are_written_by_their_stored_form), UNIT_TEST(numbers_keep_their_bits))
