/* Values of variables by type, their directional derivatives, and those by time. 3.0 has a function
 * for each type of value. 2.0 has three: its booleans and enumerations are int, and are converted
 * in place of the elements on the wire. */
#include "server/engine/fmu_binary.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* bytes of an element; 0: the type has no numbers */
static const size_t elements[MECHD_FMU_TYPES] = {
#define MECHD_FMU_TYPE(symbol, name2, name3, low, high)
#define MECHD_FMU_NUMBER(symbol, name2, name3, low, high, element, function)                       \
    [MECHD_FMU_##symbol] = sizeof(element),
#include "server/engine/fmu_types.def"
};

size_t mechd_binary_element(enum mechd_fmu_type type)
{
    return type < MECHD_FMU_TYPES ? elements[type] : 0;
}

static int lacks(struct mechd_binary *b, const char *name)
{
    return mechd_binary_fault(b, MECHD_FMU_LACKS, 0, name);
}

/* Calls the function of that name with values of that type, and returns from where it stands. */
#define CALL_THREE(b, v, function, type)                                                           \
    do {                                                                                           \
        if ((b)->three.function == NULL) {                                                         \
            return lacks((b), "fmi3" #function);                                                   \
        }                                                                                          \
        const int status = (int)(b)->three.function((b)->component, (v)->references, (v)->n,       \
                                                    (type *)(v)->elements, (v)->count);            \
        return mechd_binary_judge((b), status, "fmi3" #function);                                  \
    } while (0)

static int get_three(struct mechd_binary *b, const struct mechd_binary_values *v)
{
    switch (v->type) {
#define MECHD_FMU_NUMBER(symbol, name2, name3, low, high, element, function)                       \
    case MECHD_FMU_##symbol:                                                                       \
        CALL_THREE(b, v, Get##function, element);
#include "server/engine/fmu_types.def"
    default:
        return lacks(b, "values of this type");
    }
}

static int set_three(struct mechd_binary *b, const struct mechd_binary_values *v)
{
    switch (v->type) {
#define MECHD_FMU_NUMBER(symbol, name2, name3, low, high, element, function)                       \
    case MECHD_FMU_##symbol:                                                                       \
        CALL_THREE(b, v, Set##function, const element);
#include "server/engine/fmu_types.def"
    default:
        return lacks(b, "values of this type");
    }
}
#undef MECHD_FMU_TYPE

/* --- 2.0 -------------------------------------------------------------------------------------- */

/* Elements of booleans and enumerations as int, and back. */
static void narrow(const struct mechd_binary_values *v, int *out)
{
    for (size_t k = 0; k < v->count; k++) {
        const int64_t value = v->type == MECHD_FMU_BOOLEAN ? ((const bool *)v->elements)[k]
                                                           : ((const int64_t *)v->elements)[k];
        out[k] = (int)value;
    }
}

static void widen(const struct mechd_binary_values *v, const int *in)
{
    for (size_t k = 0; k < v->count; k++) {
        if (v->type == MECHD_FMU_BOOLEAN) {
            ((bool *)v->elements)[k] = in[k] != 0;
        } else {
            ((int64_t *)v->elements)[k] = in[k];
        }
    }
}

static bool fits(const struct mechd_binary_values *v)
{
    for (size_t k = 0; v->type == MECHD_FMU_ENUMERATION && k < v->count; k++) {
        const int64_t value = ((const int64_t *)v->elements)[k];
        if (value < INT_MIN || value > INT_MAX) {
            return false;
        }
    }
    return true;
}

static int get_ints(struct mechd_binary *b, const struct mechd_binary_values *v)
{
    const bool boolean = v->type == MECHD_FMU_BOOLEAN;
    const char *const name = boolean ? "fmi2GetBoolean" : "fmi2GetInteger";
    enum mechp_fmi2_status (*const call)(void *, const unsigned[], size_t, int[]) =
        boolean ? b->two.GetBoolean : b->two.GetInteger;
    if (call == NULL) {
        return lacks(b, name);
    }
    int *const values = calloc(v->count + 1, sizeof *values);
    if (values == NULL) {
        return mechd_binary_fault(b, MECHD_FMU_REFUSED, 0, "no memory for values");
    }
    const int status = (int)call(b->component, v->references, v->n, values);
    const int rc = mechd_binary_judge(b, status, name);
    if (rc == 0) {
        widen(v, values);
    }
    free(values);
    return rc;
}

static int set_ints(struct mechd_binary *b, const struct mechd_binary_values *v)
{
    const bool boolean = v->type == MECHD_FMU_BOOLEAN;
    const char *const name = boolean ? "fmi2SetBoolean" : "fmi2SetInteger";
    enum mechp_fmi2_status (*const call)(void *, const unsigned[], size_t, const int[]) =
        boolean ? b->two.SetBoolean : b->two.SetInteger;
    if (call == NULL) {
        return lacks(b, name);
    }
    if (!fits(v)) {
        return mechd_binary_fault(b, MECHD_FMU_REFUSED, 0, "an integer beyond 32 bits");
    }
    int *const values = calloc(v->count + 1, sizeof *values);
    if (values == NULL) {
        return mechd_binary_fault(b, MECHD_FMU_REFUSED, 0, "no memory for values");
    }
    narrow(v, values);
    const int status = (int)call(b->component, v->references, v->n, values);
    free(values);
    return mechd_binary_judge(b, status, name);
}

/* One call of 2.0, whose values are as on the wire. */
#define CALL_TWO(b, v, function, type)                                                             \
    do {                                                                                           \
        if ((b)->two.function == NULL) {                                                           \
            return lacks((b), "fmi2" #function);                                                   \
        }                                                                                          \
        const int status = (int)(b)->two.function((b)->component, (v)->references, (v)->n,         \
                                                  (type *)(v)->elements);                          \
        return mechd_binary_judge((b), status, "fmi2" #function);                                  \
    } while (0)

static int get_two(struct mechd_binary *b, const struct mechd_binary_values *v)
{
    switch (v->type) {
    case MECHD_FMU_FLOAT64:
        CALL_TWO(b, v, GetReal, double);
    case MECHD_FMU_INT32:
        CALL_TWO(b, v, GetInteger, int);
    case MECHD_FMU_BOOLEAN:
    case MECHD_FMU_ENUMERATION:
        return get_ints(b, v);
    default:
        return lacks(b, "values of this type");
    }
}

static int set_two(struct mechd_binary *b, const struct mechd_binary_values *v)
{
    switch (v->type) {
    case MECHD_FMU_FLOAT64:
        CALL_TWO(b, v, SetReal, const double);
    case MECHD_FMU_INT32:
        CALL_TWO(b, v, SetInteger, const int);
    case MECHD_FMU_BOOLEAN:
    case MECHD_FMU_ENUMERATION:
        return set_ints(b, v);
    default:
        return lacks(b, "values of this type");
    }
}

int mechd_binary_get(struct mechd_binary *b, const struct mechd_binary_values *v)
{
    return b->version == MECHD_FMI_2 ? get_two(b, v) : get_three(b, v);
}

int mechd_binary_set(struct mechd_binary *b, const struct mechd_binary_values *v)
{
    return b->version == MECHD_FMI_2 ? set_two(b, v) : set_three(b, v);
}

int mechd_binary_derive(struct mechd_binary *b, const struct mechd_binary_direction *d)
{
    if (b->version == MECHD_FMI_3) {
        MECHD_BINARY_NEED(b, b->three.GetDirectionalDerivative, "fmi3GetDirectionalDerivative");
        return mechd_binary_judge(b,
                                  (int)b->three.GetDirectionalDerivative(
                                      b->component, d->unknowns, d->n_unknowns, d->knowns,
                                      d->n_knowns, d->seed, d->seed_count, d->out, d->out_count),
                                  "fmi3GetDirectionalDerivative");
    }
    if (d->seed_count != d->n_knowns || d->out_count != d->n_unknowns) {
        return mechd_binary_fault(b, MECHD_FMU_NO_QUESTION, 0, "arrays of version 2.0");
    }
    MECHD_BINARY_NEED(b, b->two.GetDirectionalDerivative, "fmi2GetDirectionalDerivative");
    return mechd_binary_judge(b,
                              (int)b->two.GetDirectionalDerivative(b->component, d->unknowns,
                                                                   d->n_unknowns, d->knowns,
                                                                   d->n_knowns, d->seed, d->out),
                              "fmi2GetDirectionalDerivative");
}

int mechd_binary_adjoin(struct mechd_binary *b, const struct mechd_binary_direction *d)
{
    MECHD_BINARY_NEED(b, b->three.GetAdjointDerivative, "fmi3GetAdjointDerivative");
    return mechd_binary_judge(b,
                              (int)b->three.GetAdjointDerivative(
                                  b->component, d->unknowns, d->n_unknowns, d->knowns, d->n_knowns,
                                  d->seed, d->seed_count, d->out, d->out_count),
                              "fmi3GetAdjointDerivative");
}

/* orders [n] are ones */
static int rates_by(struct mechd_binary *b, const uint32_t *references, size_t n, const int *orders,
                    double *out, size_t count)
{
    if (b->version == MECHD_FMI_3) {
        MECHD_BINARY_NEED(b, b->three.GetOutputDerivatives, "fmi3GetOutputDerivatives");
        return mechd_binary_judge(
            b, (int)b->three.GetOutputDerivatives(b->component, references, n, orders, out, count),
            "fmi3GetOutputDerivatives");
    }
    if (count != n) {
        return mechd_binary_fault(b, MECHD_FMU_NO_QUESTION, 0, "arrays of version 2.0");
    }
    MECHD_BINARY_NEED(b, b->two.GetRealOutputDerivatives, "fmi2GetRealOutputDerivatives");
    return mechd_binary_judge(
        b, (int)b->two.GetRealOutputDerivatives(b->component, references, n, orders, out),
        "fmi2GetRealOutputDerivatives");
}

int mechd_binary_output_rates(struct mechd_binary *b, const uint32_t *references, size_t n,
                              double *out, size_t count)
{
    int *const orders = calloc(n + 1, sizeof *orders);
    if (orders == NULL) {
        return mechd_binary_fault(b, MECHD_FMU_REFUSED, 0, "no memory for derivatives");
    }
    for (size_t k = 0; k < n; k++) {
        orders[k] = 1;
    }
    const int rc = rates_by(b, references, n, orders, out, count);
    free(orders);
    return rc;
}
