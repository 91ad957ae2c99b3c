/* Euler–Moreau against a literal implementation of its own: the multipliers of random passive
 * systems are found by trying every case of every row,
 *
 *     w = N λ + r,   N = D + h C W⁻¹ B,   r = C W⁻¹ (x + h b) + e,   W = 1 − h A   (θ = γ = 1)
 *
 * three rows of complementarity, two relays, one equality; each step from where the last one led.
 * B = Cᵀ, A and D with nonnegative symmetric parts make the solution unique. */
#include "tests/unit/model.h"

#include <string.h>

enum { STATES = 3, DIODES = 3, RELAYS = 2, ROWS = DIODES + RELAYS + 1, LAWS = 3 };

static const double h = 0.1;
static const int first[LAWS + 1] = {0, DIODES, ROWS - 1, ROWS};

struct circuit {
    double A[STATES][STATES], C[ROWS][STATES], D[ROWS][ROWS], e[ROWS];
};

static double chance(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return (double)(*seed >> 16) / 65536. - 0.5;
}

static int law_of(int row)
{
    return row < DIODES ? 0 : row < ROWS - 1 ? 1 : 2;
}

static struct circuit draw(unsigned seed)
{
    struct circuit c = {.e = {0.}};

    for (int i = 0; i < STATES; i++) {
        c.A[i][i] = -1.;
        for (int j = 0; j < i; j++) {
            c.A[i][j] = 4. * chance(&seed);
            c.A[j][i] = -c.A[i][j];
        }
    }
    for (int i = 0; i < ROWS; i++) {
        c.e[i] = law_of(i) < 2 ? chance(&seed) : 0.;
        for (int j = 0; j < STATES; j++) {
            c.C[i][j] = 2. * chance(&seed);
        }
        c.D[i][i] = law_of(i) < 2 ? 0.01 : 0.;
        /* rows of one relation alone have a D in common */
        for (int j = 0; j < i; j++) {
            c.D[i][j] = law_of(i) == law_of(j) ? chance(&seed) : 0.;
            c.D[j][i] = -c.D[i][j];
        }
    }
    return c;
}

/* --- the literal implementation --------------------------------------------------------------- */

/* a x = b by Gauss and Jordan, x where b was; [n][n + 1] with b behind */
static bool eliminate(int n, double a[][ROWS + 1])
{
    for (int k = 0; k < n; k++) {
        int best = k;

        for (int i = k + 1; i < n; i++) {
            best = fabs(a[i][k]) > fabs(a[best][k]) ? i : best;
        }
        if (fabs(a[best][k]) < 1e-12) {
            return false;
        }
        for (int j = 0; j <= n; j++) {
            const double t = a[k][j];

            a[k][j] = a[best][j];
            a[best][j] = t;
        }
        for (int i = 0; i < n; i++) {
            const double factor = i == k ? 0. : a[i][k] / a[k][k];

            for (int j = k; j <= n; j++) {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    for (int i = 0; i < n; i++) {
        a[i][n] /= a[i][i];
    }
    return true;
}

/* x [STATES] := W⁻¹ x */
static void divide(const struct circuit *c, double *x)
{
    double a[STATES][ROWS + 1] = {{0.}};

    for (int i = 0; i < STATES; i++) {
        for (int j = 0; j < STATES; j++) {
            a[i][j] = (i == j) - h * c->A[i][j];
        }
        a[i][STATES] = x[i];
    }
    CU_ASSERT_FATAL(eliminate(STATES, a));
    for (int i = 0; i < STATES; i++) {
        x[i] = a[i][STATES];
    }
}

/* Whether (w, λ) of a row suits its case: at its lower bound, free, at its upper one. */
static bool suits(int row, int kind, double w, double lambda)
{
    static const double off = 1e-12;

    if (kind != 1) {
        return kind == 0 ? w >= -off : w <= off;
    }
    return law_of(row) == 0 ? lambda >= -off : law_of(row) == 1 ? fabs(lambda) <= 1. + off : true;
}

static bool try_one(double N[ROWS][ROWS], const double *r, const int *kind, double *lambda)
{
    double a[ROWS][ROWS + 1];
    bool good = true;

    for (int i = 0; i < ROWS; i++) {
        const double bound = kind[i] == 2 ? 1. : law_of(i) == 1 ? -1. : 0.;

        for (int j = 0; j < ROWS; j++) {
            a[i][j] = kind[i] == 1 ? N[i][j] : i == j;
        }
        a[i][ROWS] = kind[i] == 1 ? -r[i] : bound;
    }
    if (!eliminate(ROWS, a)) {
        return false;
    }
    for (int i = 0; i < ROWS && good; i++) {
        double w = r[i];

        lambda[i] = a[i][ROWS];
        for (int j = 0; j < ROWS; j++) {
            w += N[i][j] * a[j][ROWS];
        }
        good = suits(i, kind[i], w, lambda[i]);
    }
    return good;
}

static bool try_all(double N[ROWS][ROWS], const double *r, double *lambda)
{
    static const int kinds[LAWS][3] = {{0, 1, -1}, {0, 1, 2}, {1, -1, -1}};
    int cases = 1;

    for (int i = 0; i < ROWS; i++) {
        cases *= 3;
    }
    for (int c = 0; c < cases; c++) {
        int kind[ROWS];
        bool real = true;

        for (int i = 0, rest = c; i < ROWS; i++, rest /= 3) {
            kind[i] = kinds[law_of(i)][rest % 3];
            real = real && kind[i] >= 0;
        }
        if (real && try_one(N, r, kind, lambda)) {
            return true;
        }
    }
    return false;
}

/* One step from x, to the end of which b belongs; x and λ there. */
static void step_literally(const struct circuit *c, const double *b, double *x, double *lambda)
{
    double W[ROWS][STATES], N[ROWS][ROWS], r[ROWS];

    for (int i = 0; i < STATES; i++) {
        x[i] += h * b[i];
    }
    divide(c, x);
    for (int k = 0; k < ROWS; k++) {
        memcpy(W[k], c->C[k], sizeof W[k]);
        divide(c, W[k]);
    }
    for (int i = 0; i < ROWS; i++) {
        r[i] = c->e[i];
        for (int j = 0; j < STATES; j++) {
            r[i] += c->C[i][j] * x[j];
        }
        for (int k = 0; k < ROWS; k++) {
            N[i][k] = c->D[i][k];
            for (int j = 0; j < STATES; j++) {
                N[i][k] += h * c->C[i][j] * W[k][j];
            }
        }
    }
    CU_ASSERT_FATAL(try_all(N, r, lambda));
    for (int k = 0; k < ROWS; k++) {
        for (int i = 0; i < STATES; i++) {
            x[i] += h * W[k][i] * lambda[k];
        }
    }
}

/* --- the same as a model ---------------------------------------------------------------------- */

/* "[[…], …]" of n × m numbers, a(i, j) = at[i row + j column] */
static void print_matrix(char *text, size_t size, const double *at, const int n[2],
                         const int stride[2])
{
    size_t end = (size_t)snprintf(text, size, "[");

    for (int i = 0; i < n[0]; i++) {
        for (int j = 0; j < n[1]; j++) {
            end += (size_t)snprintf(text + end, size - end, "%s%.17g%s",
                                    j   ? ","
                                    : i ? ",["
                                        : "[",
                                    at[i * stride[0] + j * stride[1]], j + 1 < n[1] ? "" : "]");
        }
    }
    snprintf(text + end, size - end, "]");
}

static void print_law(const struct circuit *c, int law, char *text, size_t size)
{
    static const char *const laws[LAWS] = {"Complementarity", "Relay", "Equality"};
    const int f = first[law], rows = first[law + 1] - f;
    char C[512], B[512], D[512], e[256];

    print_matrix(C, sizeof C, c->C[f], (const int[]){rows, STATES}, (const int[]){STATES, 1});
    print_matrix(B, sizeof B, c->C[f], (const int[]){STATES, rows}, (const int[]){1, STATES});
    print_matrix(D, sizeof D, &c->D[f][f], (const int[]){rows, rows}, (const int[]){ROWS, 1});
    print_matrix(e, sizeof e, c->e + f, (const int[]){1, rows}, (const int[]){0, 1});
    e[strlen(e) - 1] = '\0';
    snprintf(text, size,
             "%s{'name': 'i%d', 'systems': ['s'], 'relation': {'type': 'FirstOrderLinearTIR',"
             "'C': %s, 'B': %s, 'D': %s, 'e': %s}, 'law': {'type': '%s'}}",
             law ? "," : "", law, C, B, D, e + 1, laws[law]);
}

static struct mech_sim *model(const struct circuit *c, const char *solver)
{
    char A[512], law[LAWS][2048], text[8192];

    print_matrix(A, sizeof A, c->A[0], (const int[]){STATES, STATES}, (const int[]){STATES, 1});
    for (int k = 0; k < LAWS; k++) {
        print_law(c, k, law[k], sizeof law[k]);
    }
    snprintf(text, sizeof text,
             "{'mechd': 1, 'objects': [{'name': 's', 'type': 'FirstOrderLinearTIDS', 'A': %s,"
             "'b': [2, '=3*cos(5*t)', -1], 'x0': [0.3, -0.2, 0.1]}], 'interactions': [%s%s%s],"
             "'solver': {'integrator': 'EulerMoreau', 'theta': 1, 'stepSize': 0.1%s}}",
             A, law[0], law[1], law[2], solver);
    return model_of(text);
}

static void compare(const char *solver, double tolerance)
{
    int conducts = 0, saturates = 0, slides = 0;

    for (unsigned seed = 1; seed <= 20; seed++) {
        const struct circuit c = draw(77u * seed);
        struct mech_sim *const s = model(&c, solver);

        for (int step = 1; step <= 10; step++) {
            const double b[] = {2., 3. * cos(5. * h * step), -1.};
            double x[STATES], lambda[ROWS];

            memcpy(x, model_state(s).x, sizeof x);
            step_literally(&c, b, x, lambda);
            CU_ASSERT_EQUAL_FATAL(model_steps(s, 1), 0);
            for (int i = 0; i < STATES; i++) {
                CHECK_NEAR(model_state(s).x[i], x[i], tolerance);
            }
            for (int i = 0; i < ROWS; i++) {
                CHECK_NEAR(model_state(s).impulse[i], lambda[i], 100. * tolerance);
                conducts += law_of(i) == 0 && lambda[i] > 1e-6;
                saturates += law_of(i) == 1 && fabs(lambda[i]) > 0.999;
                slides += law_of(i) == 1 && fabs(lambda[i]) < 0.999;
            }
        }
        mech_sim_destroy(s);
    }
    CU_ASSERT(conducts > 50 && saturates > 50 && slides > 20);
}

static void steps_are_those_found_by_trying_all_cases(void)
{
    compare("", 1e-11);
}

/* alone, so that no other solver mends what relays as two pairs would miss */
static void pivoting_alone_finds_the_same(void)
{
    compare(", 'vi': {'type': 'lemke'}", 1e-11);
}

static void the_nonsmooth_newton_method_finds_the_same(void)
{
    compare(", 'vi': {'type': 'semismooth', 'tolerance': 1e-12}", 1e-9);
}

/* y = C x + D λ + e < 0 whatever λ ≥ 0 is: the law is named, and not the one beside it */
static void laws_that_no_multiplier_meets_are_named(void)
{
    static const char *const relations[] = {"'C': [[0]], 'B': [[0]], 'D': [[0]], 'e': [-1]",
                                            "'C': [[1]], 'B': [[0]], 'D': [[0]], 'e': [-2]",
                                            "'C': [[0]], 'B': [[0]], 'D': [[-1]], 'e': [-1]",
                                            "'C': [[1]], 'B': [[-1]], 'D': [[0]], 'e': [-2]"};
    static const char *const solvers[] = {"", ", 'vi': {'type': 'psor'}",
                                          ", 'vi': {'type': 'semismooth'}"};

    for (int k = 0; k < 12; k++) {
        const struct mech_step_request one = {.kind = MECH_STEP_COUNT, .count = 1};
        struct mech_step_report report = {.steps = 0};
        char text[1024];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'objects': [{'name': 's', 'type': 'FirstOrderLinearTIDS', 'A':"
                 "[[-1]], 'x0': [1]}], 'interactions': [{'name': 'good', 'systems': ['s'],"
                 "'relation': {'type': 'FirstOrderLinearTIR', 'C': [[0]], 'B': [[0]], 'D': [[1]],"
                 "'e': [-1]}, 'law': {'type': 'Complementarity'}}, {'name': 'blocked', 'systems':"
                 "['s'], 'relation': {'type': 'FirstOrderLinearTIR', %s}, 'law': {'type':"
                 "'Complementarity'}}], 'solver': {'integrator': 'EulerMoreau', 'stepSize': 0.01"
                 "%s}}",
                 relations[k % 4], solvers[k / 4]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(mech_sim_step(s, &one, &report), MECH_VI_NOT_CONVERGED);
        CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "no multipliers satisfy the laws"));
        CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "\"blocked\""));
        CU_ASSERT_PTR_NULL(strstr(report.reason, "\"good\""));
        CU_ASSERT_EQUAL(mech_sim_time(s), 0.);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(laws_that_no_multiplier_meets_are_named),
           UNIT_TEST(steps_are_those_found_by_trying_all_cases),
           UNIT_TEST(pivoting_alone_finds_the_same),
           UNIT_TEST(the_nonsmooth_newton_method_finds_the_same))
