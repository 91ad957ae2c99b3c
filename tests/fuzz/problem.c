/* Problems that stand alone, of any numbers: what is reported as solved has finite numbers and a
 * residual within its tolerance, the same twice.
 *
 * An input: rows, form (N and r, or H, G, f, b), sets, solver, then the numbers. They go through
 * the reader of requests, which refuses what the solvers are not made for. */
#include "solver/sim/problem.h"
#include "protocol/bind/bind.h"
#include "protocol/wire/json.h"
#include "solver/base/err.h"
#include "solver/sim/mech.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 9, VELOCITIES = 6, TOLERANCES = 3 };

static double finite(struct fuzz_bytes *b)
{
    const double value = fuzz_real(b);
    return isfinite(value) ? value : 0.;
}

static void put_vector(struct mechp_text *w, const char *key, struct fuzz_bytes *b, uint32_t n)
{
    mechp_text_key(w, key);
    mechp_text_array(w);
    for (uint32_t k = 0; k < n; k++) {
        mechp_text_number(w, finite(b));
    }
    mechp_text_end(w);
}

/* A matrix; `symmetric`: the lower triangle is the upper's. */
static void put_matrix(struct mechp_text *w, const char *key, struct fuzz_bytes *b,
                       const uint32_t size[2], bool symmetric)
{
    double a[ROWS][ROWS];
    mechp_text_key(w, key);
    mechp_text_array(w);
    for (uint32_t i = 0; i < size[0]; i++) {
        mechp_text_array(w);
        for (uint32_t j = 0; j < size[1]; j++) {
            a[i][j] = symmetric && j < i ? a[j][i] : finite(b);
            mechp_text_number(w, a[i][j]);
        }
        mechp_text_end(w);
    }
    mechp_text_end(w);
}

/* Sets that fill the rows more or less. */
static void put_sets(struct mechp_text *w, struct fuzz_bytes *b, uint32_t rows)
{
    static const struct {
        const char *name;
        uint32_t rows;
    } kinds[] = {{"unilateral", 1}, {"bilateral", 1}, {"box", 1},
                 {"cone", 3},       {"planeCone", 2}, {"rolling", 6}};
    static const char *const keys[] = {"mu", "spinning", "rolling", "lower", "upper"};
    uint32_t done = 0;
    mechp_text_key(w, "sets");
    mechp_text_array(w);
    while (done < rows) {
        const uint32_t kind = fuzz_below(b, 6);
        mechp_text_object(w);
        mechp_text_key(w, "kind");
        mechp_text_string(w, kinds[kind].name);
        const unsigned which = fuzz_u8(b);
        for (unsigned k = 0; k < 5; k++) {
            if ((which >> k & 1) != 0) {
                mechp_text_key(w, keys[k]);
                mechp_text_number(w, k < 3 ? fabs(finite(b)) : finite(b));
            }
        }
        mechp_text_end(w);
        done += kinds[kind].rows;
    }
    mechp_text_end(w);
}

static void put_solver(struct mechp_text *w, struct fuzz_bytes *b)
{
    static const double tolerances[TOLERANCES] = {1e-10, 1e-6, 1e-2};
    const char *doc = NULL;
    size_t count = 0;
    while (mech_vi_solver(count, &doc) != NULL) {
        count++;
    }
    const size_t pick = fuzz_u8(b) % (count + 1);
    mechp_text_key(w, "solver");
    mechp_text_object(w);
    if (pick < count) {
        mechp_text_key(w, "type");
        mechp_text_string(w, mech_vi_solver(pick, &doc));
    }
    mechp_text_key(w, "tolerance");
    mechp_text_number(w, tolerances[fuzz_below(b, TOLERANCES)]);
    mechp_text_key(w, "maxIterations");
    mechp_text_integer(w, 200);
    mechp_text_end(w);
}

static void put_problem(struct mechp_text *w, struct fuzz_bytes *b)
{
    const uint32_t m = 1 + fuzz_below(b, ROWS), n = 1 + fuzz_below(b, VELOCITIES);
    const unsigned form = fuzz_u8(b);
    mechp_text_object(w);
    if ((form & 1) == 0) {
        put_matrix(w, "N", b, (const uint32_t[]){m, m}, (form & 2) == 0);
        put_vector(w, "r", b, m);
    } else {
        put_matrix(w, "H", b, (const uint32_t[]){n, n}, (form & 2) == 0);
        put_matrix(w, "G", b, (const uint32_t[]){m, n}, false);
        put_vector(w, "f", b, n);
        put_vector(w, "b", b, m);
    }
    if ((form & 4) != 0) {
        put_sets(w, b, m);
    } else if ((form & 8) != 0) {
        put_vector(w, "mu", b, m / 3);
    }
    if ((form & 16) != 0) {
        put_vector(w, "l", b, m);
    }
    if ((form & 32) != 0) {
        mechp_text_key(w, "friction");
        mechp_text_string(w, "associated");
    }
    put_solver(w, b);
    mechp_text_end(w);
}

/* Solve twice and compare. */
static void solve(const struct mech_lone_problem *p, struct mech_arena *arena)
{
    struct mech_lone_solution s[2];
    int code[2];
    for (int k = 0; k < 2; k++) {
        struct mech_diag diag;
        mech_diag_init(&diag);
        code[k] = mech_lone_problem_solve(p, arena, NULL, &diag, &s[k]);
        if (code[k] == MECH_INVALID && mech_diag_clean(&diag)) {
            fuzz_fail("refused without a fault");
        }
        mech_diag_fini(&diag);
    }
    if (code[0] != code[1]) {
        fuzz_fail("two outcomes of one problem");
    }
    if (code[0] != 0) {
        return;
    }
    if (!s[0].converged || !(s[0].residual <= p->vi.tolerance) ||
        memcmp(s[0].l, s[1].l, (size_t)s[0].rows * sizeof(double)) != 0) {
        fuzz_fail("not solved, or not the same twice");
    }
    for (int32_t k = 0; k < s[0].rows; k++) {
        if (!isfinite(s[0].l[k]) || !isfinite(s[0].c[k])) {
            fuzz_fail("a solution that is not finite");
        }
    }
    for (int32_t k = 0; k < s[0].velocities; k++) {
        if (!isfinite(s[0].w[k])) {
            fuzz_fail("velocities that are not finite");
        }
    }
}

static void read_and_solve(const char *text, size_t size)
{
    struct mechp_json_fault fault;
    struct mech_document *document = NULL;
    struct mech_diag diag;
    json_t *root = NULL;
    if (mechp_json_parse(text, size, NULL, &fault, &root) != 0) {
        fuzz_fail("the request is no JSON");
    }
    mech_diag_init(&diag);
    struct mech_lone_problem problem = {.dimension = 0};
    struct mech_path path = {"/problem", sizeof "/problem" - 1};
    mech_table_defaults(&mech_lone_problem_table, &problem);
    if (mech_document_create((size_t)1 << 26, &document) == 0 &&
        mechp_bind_read_table(root, &mech_lone_problem_table, &problem, document, &path, &diag) ==
            0 &&
        mech_diag_clean(&diag)) {
        solve(&problem, &document->arena);
    }
    mech_document_destroy(document);
    mech_diag_fini(&diag);
    json_decref(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes b = {data, size};
    struct mechp_text w;
    mechp_text_init(&w, NULL, 0);
    put_problem(&w, &b);
    if (!w.failed) {
        read_and_solve(w.bytes, w.length);
    }
    mechp_text_fini(&w);
    return 0;
}
