/* POST /v1/problems/solve: a complementarity, friction or mixed problem that stands alone. No
 * instance is involved; it runs in the pool. What does not converge is an error, unless the request
 * says onFailure "accept": then the report has it. */
#include "protocol/bind/bind.h"
#include "protocol/wire/bodies_values.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "solver/sim/problem.h"

#include <stdio.h>

/* memory that the matrices of one request may take */
static const size_t memory_most = (size_t)1 << 30;

static void write_solution(struct mechd_call *c, const struct mech_lone_solution *s)
{
    const struct mechp_body_solve_report report = {
        .solver = s->solver,
        .converged = s->converged,
        .iterations = s->iterations,
        .residual = s->residual,
        .acceptance = s->acceptance,
        .certificate = {s->certificate, (size_t)s->rows}};
    const struct mechp_body_solve_reply body = {.l = {s->l, (size_t)s->rows},
                                                .c = {s->c, (size_t)s->rows},
                                                .w = {s->w, (size_t)s->velocities},
                                                .report = MECHP_INNER(solve_report, &report)};
    MECHP_WRITE(solve_reply, &body, &c->text);
}

/* Faults of the solver have paths in the problem. */
static void take_faults(struct mechd_call *c, const struct mech_diag *found)
{
    for (size_t k = 0; k < found->count; k++) {
        char path[MECH_DIAG_PATH + 16];
        snprintf(path, sizeof path, "/problem%s", found->entries[k].path);
        mech_diag_add(&c->diag, path, "%s", found->entries[k].text);
    }
}

/* Where a certificate shows that there is no solution, the rows in it. */
static void fail_unsolved(struct mechd_call *c, const struct mech_lone_problem *problem,
                          const struct mech_lone_solution *s)
{
    enum { ROWS_TOLD = 12 };
    char rows[16 * (ROWS_TOLD + 1)] = "";
    int told = 0;
    size_t used = 0;
    for (int32_t i = 0; s->certificate != NULL && i < s->rows && told <= ROWS_TOLD; i++) {
        if (s->certificate[i] != 0.) {
            used += (size_t)snprintf(rows + used, sizeof rows - used,
                                     told == ROWS_TOLD ? ", …" : "%s%d", told ? ", " : "", (int)i);
            told++;
        }
    }
    if (told > 0) {
        mechd_fail(c, MECHP_VI_NOT_CONVERGED,
                   told > 1
                       ? "the problem has no solution: its rows %s cannot be satisfied together"
                       : "the problem has no solution: its row %s cannot be satisfied",
                   rows);
        return;
    }
    mechd_fail(c, MECHP_VI_NOT_CONVERGED,
               "acceptance %.3g, residual %.3g after %d iterations of %s, wanted %.3g",
               s->acceptance, s->residual, (int)s->iterations, s->solver, problem->vi.tolerance);
}

static void solve(struct mechd_call *c, const struct mech_lone_problem *problem,
                  struct mech_arena *arena)
{
    struct mech_lone_solution solution;
    struct mech_interrupt interrupt = {.wanted = mechd_call_ends, .context = c};
    struct mech_diag found;
    mech_diag_init(&found);
    const int outcome = mech_lone_problem_solve(problem, arena, &interrupt, &found, &solution);
    if (outcome == 0) {
        write_solution(c, &solution);
    } else if (outcome == MECH_INVALID) {
        take_faults(c, &found);
    } else if (outcome == MECH_VI_NOT_CONVERGED) {
        fail_unsolved(c, problem, &solution);
    } else if (outcome == MECH_SINGULAR) {
        mechd_fail(c, MECHP_SINGULAR, "H, or a diagonal entry of N, is not invertible");
    } else {
        mechd_fail_outcome(c, outcome);
    }
    mech_diag_fini(&found);
}

static enum mechd_progress run_solve(struct mechd_call *c)
{
    struct mechp_body_solve_request in;
    struct mech_document *document = NULL; /* holds what is read */
    MECHP_READ(solve_request, c->body, &c->diag, &in);
    if (in.problem.of == NULL) {
        mech_diag_add(&c->diag, "/problem", "a problem is needed");
        return MECHD_DONE;
    }
    int outcome = mech_document_create(memory_most, &document);
    if (outcome != 0) {
        return mechd_fail_outcome(c, outcome);
    }
    struct mech_lone_problem problem = {.dimension = 0};
    struct mech_path path = {"/problem", sizeof "/problem" - 1};
    mech_table_defaults(&mech_lone_problem_table, &problem);
    outcome = mechp_bind_read_table(in.problem.of, &mech_lone_problem_table, &problem, document,
                                    &path, &c->diag);
    if (outcome < 0) {
        mechd_fail_outcome(c, outcome);
    } else if (document->bindings.n > 0) {
        mech_diag_add(&c->diag, document->bindings.at[0].path,
                      "expressions are allowed only in models");
    }
    if (c->code == MECHP_OK && mech_diag_clean(&c->diag)) {
        solve(c, &problem, &document->arena);
    }
    mech_document_destroy(document);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_SOLVE = {.run = run_solve};
