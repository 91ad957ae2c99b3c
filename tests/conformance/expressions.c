/* From documents to simulations: what expressions give is held to the range of its field, at
 * creation and when a parameter changes, and a matrix steps to the same bits in whatever form it
 * was written.
 */
#include "protocol/bind/bind.h"

#include "solver/base/err.h"
#include "solver/sim/mech.h"
#include "tests/unit/protocol/bind/documents.h"
#include "tests/unit/unit.h"

#include <stdarg.h>

/* A simulation from text; NULL when it was refused. */
__attribute__((format(printf, 2, 3))) static struct mech_sim *create(struct mech_diag *d,
                                                                     const char *format, ...)
{
    static char text[65536];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct mech_document *doc;
    struct mech_sim *sim = NULL;
    if (read_text(text, "", d, &doc) != 0) {
        return NULL;
    }
    if (mech_sim_create(doc, d, &sim) != 0) {
        mech_document_destroy(doc);
        return NULL;
    }
    return sim;
}

static const char oscillator[] =
    "{\"mechd\":1,\"parameters\":{\"m\":%s},\"nodes\":[{\"name\":\"n\",\"type\":\"Node1D\","
    "\"initialVelocities\":[1]}],\"objects\":[{\"name\":\"b\",\"type\":\"Mass1D\",\"node\":\"n\","
    "\"physicsMass\":\"%s\"}]}";

static void expressions_are_held_to_the_range_of_their_field(void)
{
    static const struct {
        const char *m, *mass;
        bool good;
    } cases[] = {
        {"2", "=m", true},        {"2", "=m-2", false},      {"-1", "=m", false},
        {"2", "=1/(m-2)", false}, {"2", "=sqrt(-m)", false}, {"2", "=nothing", false},
        {"2", "=m*(", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mech_diag d;
        mech_diag_init(&d);
        struct mech_sim *const sim = create(&d, oscillator, cases[i].m, cases[i].mass);
        CU_ASSERT_EQUAL(sim != NULL, cases[i].good);
        CU_ASSERT(cases[i].good || has_fault(&d, "/objects/0/physicsMass", ""));
        mech_sim_destroy(sim);
        mech_diag_fini(&d);
    }
}

static void every_number_of_a_matrix_and_of_the_settings_may_be_one(void)
{
    static const struct {
        const char *r;
        bool good;
    } cases[] = {{"0.5", true}, {"1.5", false}, {"-0.5", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mech_diag d;
        mech_diag_init(&d);
        struct mech_sim *const sim =
            create(&d,
                   "{\"mechd\":1,\"parameters\":{\"r\":%s},\"objects\":[{\"name\":\"s\",\"type\":"
                   "\"LagrangianLinearTIDS\",\"M\":{\"diag\":[\"=1+r\"]},\"K\":[[\"=r*r\"]],"
                   "\"q0\":[2],\"v0\":[0]}],\"solver\":{\"spectralRadius\":\"=r\"}}",
                   cases[i].r);
        CU_ASSERT_EQUAL(sim != NULL, cases[i].good);
        CU_ASSERT(cases[i].good || has_fault(&d, "/solver/spectralRadius", ""));
        if (sim != NULL) {
            // half of 0.25 × 2²
            CU_ASSERT_EQUAL(mech_sim_energy(sim), 0.5);
        }
        mech_sim_destroy(sim);
        mech_diag_fini(&d);
    }
}

static void a_parameter_that_leaves_the_range_changes_nothing(void)
{
    struct mech_diag d;
    mech_diag_init(&d);
    struct mech_sim *const sim = create(&d, oscillator, "2", "=m");
    CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
    const int32_t index = mech_sim_variable_find(sim, MECH_PARAMETER, "m");
    const double before = mech_sim_energy(sim);
    CU_ASSERT_EQUAL(before, 1.);
    CU_ASSERT_EQUAL(mech_sim_set_parameters(sim, 1, &index, &(const double){-1.}, &d),
                    MECH_INVALID);
    CU_ASSERT(has_fault(&d, "/objects/0/physicsMass", "out of range"));
    CU_ASSERT_EQUAL(mech_sim_get_parameter(sim, index), 2.);
    CU_ASSERT_EQUAL(mech_sim_energy(sim), before);
    mech_diag_fini(&d);
    mech_diag_init(&d);
    CU_ASSERT_EQUAL(mech_sim_set_parameters(sim, 1, &index, &(const double){4.}, &d), 0);
    CU_ASSERT_EQUAL(mech_sim_energy(sim), 2.);
    mech_sim_destroy(sim);
    mech_diag_fini(&d);
}

enum { N = 12 };

/* The stiffness of a chain of N masses in written form `form`, with 1000 for k or as
 * expressions. */
static void write_stiffness(int form, bool expressions, char *out)
{
    const char *const k = expressions ? "\"=k\"" : "1000";
    const char *const kk = expressions ? "\"=2*k\"" : "2000";
    const char *const minus = expressions ? "\"=-k\"" : "-1000";
    out += sprintf(out, "%s",
                   form == 0   ? "["
                   : form == 1 ? "{\"banded\":{\"lower\":1,\"upper\":1,\"rows\":["
                               : "{\"shape\":[12,12],\"coo\":[");
    for (int i = 0; i < N; i++) {
        const char *const middle = i == N - 1 ? k : kk;
        out += sprintf(out, "%s%s", i > 0 ? "," : "", form == 2 ? "" : "[");
        for (int j = form == 0 ? 0 : i - 1; j < (form == 0 ? N : i + 2); j++) {
            const bool inside = j >= 0 && j < N;
            const char *const value = !inside                    ? "0"
                                      : i == j                   ? middle
                                      : j == i - 1 || j == i + 1 ? minus
                                                                 : "0";
            if (form == 2 && inside) {
                out +=
                    sprintf(out, "%s[%d,%d,%s]", j > (i > 0 ? i - 1 : 0) ? "," : "", i, j, value);
            } else if (form != 2) {
                out += sprintf(out, "%s%s", j > (form == 0 ? 0 : i - 1) ? "," : "", value);
            }
        }
        out += sprintf(out, "%s", form == 2 ? "" : "]");
    }
    sprintf(out, "%s", form == 0 ? "]" : form == 1 ? "]}}" : "]}");
}

static void a_matrix_steps_to_the_same_bits_in_every_written_form(void)
{
    double first[2 * N] = {0.};
    for (int run = 0; run < 6; run++) {
        char stiffness[8192];
        struct mech_diag d;
        write_stiffness(run % 3, run >= 3, stiffness);
        mech_diag_init(&d);
        struct mech_sim *const sim =
            create(&d,
                   "{\"mechd\":1,\"parameters\":{\"k\":1000},\"objects\":[{\"name\":\"s\",\"type\":"
                   "\"LagrangianLinearTIDS\",\"M\":{\"diag\":[1,1,1,1,1,1,1,1,1,1,1,1]},\"K\":%s,"
                   "\"q0\":[0,0,0,0,0,0,0,0,0,0,0,0.1],\"v0\":[1,0,0,0,0,0,0,0,0,0,0,0]}],"
                   "\"solver\":{\"integrator\":\"GeneralizedAlpha\",\"stepSize\":0.01}}",
                   stiffness);
        for (size_t i = 0; sim == NULL && i < d.count; i++) {
            printf("    form %d: %s %s\n", run, d.entries[i].path, d.entries[i].text);
        }
        CU_ASSERT_PTR_NOT_NULL_FATAL(sim);
        const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 50};
        struct mech_step_report report;
        struct mech_state_view view;
        double now[2 * N];
        CU_ASSERT_EQUAL(mech_sim_step(sim, &r, &report), 0);
        mech_sim_state(sim, &view);
        memcpy(now, view.q, N * sizeof *now);
        memcpy(now + N, view.v, N * sizeof *now);
        if (run == 0) {
            memcpy(first, now, sizeof now);
            CU_ASSERT(now[3] != 0.);
        }
        CU_ASSERT_EQUAL(memcmp(first, now, sizeof now), 0);
        mech_sim_destroy(sim);
        mech_diag_fini(&d);
    }
}

UNIT_TESTS(UNIT_TEST(expressions_are_held_to_the_range_of_their_field),
           UNIT_TEST(every_number_of_a_matrix_and_of_the_settings_may_be_one),
           UNIT_TEST(a_parameter_that_leaves_the_range_changes_nothing),
           UNIT_TEST(a_matrix_steps_to_the_same_bits_in_every_written_form))
