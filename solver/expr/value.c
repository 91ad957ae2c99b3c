/* Values of expressions: one switch an operation, the top of the stack in a register; for several
 * members each operation is a loop over 16 of them. */
#include "solver/expr/program.h"

enum { LANES = 16 };

double mech_expr_value(const struct mech_expr *e)
{
    return mech_expr_at(e, e->values);
}

/* Variable k is values[stride*k]. */
static inline double run(const struct mech_expr_code *c, const double *values, size_t stride)
{
    double stack[MECH_EXPR_DEPTH];
    double *s = stack;
    double x = 0.;

    for (;; c++) {
        switch (c->op) {
        case MECH_EXPR_NUMBER:
            *s++ = x;
            x = c->b;
            break;
#define LOAD(symbol, value, by_x, by_xx, moves)                                                    \
    case MECH_EXPR_##symbol:                                                                       \
        *s++ = x;                                                                                  \
        x = mech_expr_load(MECH_EXPR_##symbol, c, values[stride * (size_t)c->at]);                 \
        break;
#include "solver/expr/loads.def"
#undef LOAD
        case MECH_EXPR_IF:
            c += x == 0. ? c->at : 0;
            x = *--s;
            break;
        case MECH_EXPR_ELSE:
            c += c->at;
            break;
        case MECH_EXPR_END_IF:
            break;
#define ONE(symbol, value, by_x, by_xx)                                                            \
    case MECH_EXPR_##symbol:                                                                       \
        x = value;                                                                                 \
        break;
#define TWO(symbol, value)                                                                         \
    case MECH_EXPR_##symbol: {                                                                     \
        const double a = *--s, b = x;                                                              \
        x = value;                                                                                 \
        break;                                                                                     \
    }
#include "solver/expr/operations.def"
#undef ONE
#undef TWO
        default:
            return x;
        }
    }
}

double mech_expr_at(const struct mech_expr *e, const double *values)
{
    return run(e->code, values, 1);
}

/* Of 16 members, values as in `run`. */
static void run_lanes(const struct mech_expr_code *c, const double *values, size_t stride,
                      double y[LANES])
{
    double stack[MECH_EXPR_SHALLOW][LANES];
    double(*s)[LANES] = stack; // behind the top
    const double *v;

    for (;; c++) {
        switch (c->op) {
        case MECH_EXPR_NUMBER:
            for (int i = 0; i < LANES; i++) {
                s[0][i] = c->b;
            }
            s++;
            break;
#define LOAD(symbol, value, by_x, by_xx, moves)                                                    \
    case MECH_EXPR_##symbol:                                                                       \
        v = values + stride * (size_t)c->at;                                                       \
        for (int i = 0; i < LANES; i++) {                                                          \
            s[0][i] = mech_expr_load(MECH_EXPR_##symbol, c, v[i]);                                 \
        }                                                                                          \
        s++;                                                                                       \
        break;
#include "solver/expr/loads.def"
#undef LOAD
        case MECH_EXPR_IF:
        case MECH_EXPR_ELSE:
            break;
        case MECH_EXPR_END_IF:
            s -= 2;
            for (int i = 0; i < LANES; i++) {
                s[-1][i] = s[-1][i] == 0. ? s[1][i] : s[0][i];
            }
            break;
#define ONE(symbol, value, by_x, by_xx)                                                            \
    case MECH_EXPR_##symbol:                                                                       \
        for (int i = 0; i < LANES; i++) {                                                          \
            const double x = s[-1][i];                                                             \
            s[-1][i] = value;                                                                      \
        }                                                                                          \
        break;
#define TWO(symbol, value)                                                                         \
    case MECH_EXPR_##symbol:                                                                       \
        s--;                                                                                       \
        for (int i = 0; i < LANES; i++) {                                                          \
            const double a = s[-1][i], b = s[0][i];                                                \
            s[-1][i] = value;                                                                      \
        }                                                                                          \
        break;
#include "solver/expr/operations.def"
#undef ONE
#undef TWO
        default:
            for (int i = 0; i < LANES; i++) {
                y[i] = stack[0][i];
            }
            return;
        }
    }
}

void mech_expr_values(const struct mech_expr *e, size_t n, const double *values, size_t stride,
                      double *y)
{
    size_t i = 0;

    if (e->breadth <= MECH_EXPR_SHALLOW) {
        for (; i + LANES <= n; i += LANES) {
            run_lanes(e->code, values + i, stride, y + i);
        }
    }
    for (; i < n; i++) {
        y[i] = run(e->code, values + i, stride);
    }
}
