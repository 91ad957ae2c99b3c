/* One model in several units, for tests: the same document, its numbers in other units
 * (scaling.h), and what comes of both, each value divided by what its unit asks for.
 *
 *     static void my_model(const char *name, const char *text)
 *     {
 *         scaled_compare(&(struct scaled_case){.name = name, .text = text, .steps = 20});
 *     }
 *
 * Compared are the outputs of the model and all output variables of its nodes and objects that
 * have a unit. MECHD_TESTS_VERBOSE: values that differ, and reasons of what fails. */
#pragma once

#include "solver/sim/analysis.h"
#include "tests/unit/model.h"
#include "tests/verify/scaling.h"

enum { SCALED_MOST = 40000, SCALED_ITEM = 16, SCALED_MODES = 6 };

/* Units; products with powers of four are exact, and their roots. */
struct scaled_units {
    const char *name;
    double kg, m, s;
};
static const struct scaled_units scaled_units[] = {
    {"4^-20 kg", 0x1p-40, 1., 1.},     {"4^20 kg", 0x1p40, 1., 1.},
    {"4^-20 m", 1., 0x1p-40, 1.},      {"4^20 m", 1., 0x1p40, 1.},
    {"4^-8 s", 1., 1., 0x1p-16},       {"4^8 s", 1., 1., 0x1p16},
    {"4^20 kg m", 0x1p40, 0x1p40, 1.}, {"4^-20 kg m", 0x1p-40, 0x1p-40, 1.},
    {"g mm ms", 1e3, 1e3, 1e3},        {"t km h", 1e-3, 1e-3, 1. / 3600.},
    {"1e-12 kg", 1e-12, 1., 1.},       {"1e12 kg", 1e12, 1., 1.},
    {"1e-12 m", 1., 1e-12, 1.},        {"1e12 m", 1., 1e12, 1.},
};
enum { SCALED_UNITS = sizeof scaled_units / sizeof *scaled_units };

/* Values of one state, each with its class (one unit) and its factor, 0: not compared. */
struct scaled_run {
    double value[SCALED_MOST], factor[SCALED_MOST];
    int unit[SCALED_MOST];
    bool held[SCALED_MOST]; /* forces that may hold joints, and accelerations beside them */
    size_t n;
    double h; /* s, of the document */
    uint64_t iterations, vi_iterations;
    int code;
    char reason[160];
};

struct scaled_case {
    const char *name, *text, *integrator; /* NULL: the document's */
    uint64_t steps;
    bool only_masses; /* lengths and times count in its tolerances */
};

static inline bool scaled_verbose(void)
{
    return getenv("MECHD_TESTS_VERBOSE") != NULL;
}

/* A document's simulation in other units, by this integrator (NULL: its own); NULL: refused. */
static inline struct mech_sim *scaled_sim(const char *text, struct scaling *by,
                                          const char *integrator)
{
    struct mech_document *document = NULL;
    struct mech_sim *s = NULL;
    struct mech_diag diag;
    json_t *const value = json_loads(text, 0, NULL);

    mech_diag_init(&diag);
    const int code = value ? mechp_bind_read(value, "", &diag, &document) : MECH_INVALID;
    json_decref(value);
    if (code == 0) {
        if (integrator) {
            document->solver.integrator = integrator;
        }
        scaling_apply(by, document);
        if (mech_sim_create(document, &diag, &s)) {
            mech_document_destroy(document);
            s = NULL;
        }
    }
    for (size_t i = 0; i < diag.count && !s && scaled_verbose(); i++) {
        fprintf(stderr, "%s: %s\n", diag.entries[i].path, diag.entries[i].text);
    }
    mech_diag_fini(&diag);
    return s;
}

/* --- values ----------------------------------------------------------------------------------- */

/* The first output variable with that unit: values with one unit are one class. */
static inline int scaled_class(const char *unit)
{
    int v = 0;

    while (v < MECH_OUTPUT_COUNT) {
        const char *const of = mech_output_unit((enum mech_output)v);

        if (unit && of && strcmp(unit, of) == 0) {
            break;
        }
        v++;
    }
    return v;
}

/* Place for n values of a unit; NULL or "": not compared. */
static inline double *scaled_add(struct scaled_run *out, const struct scaling *by, const char *unit,
                                 size_t n, bool joints)
{
    const bool noisy = unit && (unit[0] == 'N' || strstr(unit, "/s^2"));
    const int class = scaled_class(unit) + (by->angle ? MECH_OUTPUT_COUNT + 1 : 0);
    double *const at = out->value + out->n;

    CU_ASSERT_FATAL(out->n + n <= SCALED_MOST);
    for (size_t k = 0; k < n; k++, out->n++) {
        out->unit[out->n] = class;
        out->held[out->n] = noisy && joints;
        out->factor[out->n] = unit && unit[0] ? scaling_element(by, unit, k, n) : 0.;
    }
    return at;
}

/* Whether an item acts on coordinates that are slopes: their forces are in N m. */
static inline bool scaled_on_slope(const struct mech_document *d, const struct mech_item *item)
{
    const struct mech_refs *const refs = scaling_member(item, "markers");
    bool found = false;

    for (size_t i = 0; strncmp(item->type->name, "Coordinate", 10) == 0 && i < refs->n; i++) {
        const struct mech_item *const m = scaling_find(&d->markers, refs->refs[i].name);
        const struct mech_ref *const node = m ? scaling_member(m, "node") : NULL;
        const struct mech_item *const n = node ? scaling_find(&d->nodes, node->name) : NULL;

        found = found || (n && strstr(n->type->name, "Slope"));
    }
    return found;
}

/* Coordinates have units by their node. */
static inline const char *scaled_unit_of(const struct mech_item *item, enum mech_output variable)
{
    const bool one = strcmp(item->type->name, "NodeGenericODE1") == 0;
    const bool two =
        strcmp(item->type->name, "NodeGenericODE2") == 0 || strcmp(item->type->name, "Node1D") == 0;

    switch (variable) {
    case MECH_OUTPUT_COORDINATES:
        return one ? "1" : two ? "m" : NULL;
    case MECH_OUTPUT_COORDINATES_T:
        return one ? "1/s" : two ? "m/s" : NULL;
    default:
        return mech_output_unit(variable);
    }
}

static inline void scaled_items(const struct mech_sim *s, const struct scaling *by,
                                enum mech_category category, const struct mech_items *items,
                                struct scaled_run *out)
{
    const bool joints = mech_sim_sizes(s).lambda > 0;

    for (size_t i = 0; i < items->n; i++) {
        const struct mech_item *const item = &items->at[i];
        const uint32_t all = item->name ? mech_sim_item_outputs(s, category, item->name) : 0;
        struct scaling of = *by;

        if (scaled_on_slope(by->document, item)) {
            continue;
        }
        of.angle = scaling_on_angle(by->document, item);
        for (int v = 0; v < MECH_OUTPUT_COUNT; v++) {
            const char *const unit = scaled_unit_of(item, (enum mech_output)v);
            const struct mech_item_query query = {category, item->name, (enum mech_output)v,
                                                  MECH_CURRENT, NULL};
            double values[SCALED_ITEM];
            size_t n = 0;

            if (!(all & 1u << v) || !unit || !unit[0] ||
                mech_sim_item_output(s, &query, SCALED_ITEM, values, &n) || n > SCALED_ITEM) {
                continue;
            }
            memcpy(scaled_add(out, &of, unit, n, joints), values, n * sizeof *values);
        }
    }
}

/* Outputs of the model, then those of its items. */
static inline void scaled_values(const struct mech_sim *s, const struct scaling *by,
                                 struct scaled_run *out)
{
    const size_t n = mech_sim_output_size(s);

    out->n = 0;
    out->h = mech_sim_step_size(s);
    for (size_t i = 0; i < mech_sim_variable_count(s, MECH_OUTPUT_VARIABLE); i++) {
        struct mech_variable v;

        mech_sim_variable(s, MECH_OUTPUT_VARIABLE, i, &v);
        scaled_add(out, by, v.unit, (size_t)v.size, mech_sim_sizes(s).lambda > 0);
    }
    CU_ASSERT_EQUAL_FATAL(out->n, n);
    mech_sim_get_outputs(s, out->value);
    scaled_items(s, by, MECH_NODE, &by->document->nodes, out);
    scaled_items(s, by, MECH_OBJECT, &by->document->objects, out);
}

static inline void scaled_run(struct mech_sim *s, const struct scaling *by, uint64_t steps,
                              struct scaled_run *out)
{
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = steps};
    struct mech_step_report report = {.iterations = 0};

    out->code = mech_sim_step(s, &r, &report);
    out->iterations = report.iterations;
    out->vi_iterations = report.vi_iterations;
    snprintf(out->reason, sizeof out->reason, "%s", out->code ? report.reason : "");
    scaled_values(s, by, out);
}

/* --- differences ------------------------------------------------------------------------------ */

/* In that share of 1e-9, of forces that hold joints at index 3, g = 0: the rounding of g over h².
 * At h = 1 ms, 2 m and 1 kg, 4 ε L m/h² is 2e-9 N beside some newtons; λ alternates, and of each of
 * the 20 steps most of that is still there at the end. */
static const double scaled_forces = 50.;

enum { SCALED_CLASSES = 2 * MECH_OUTPUT_COUNT + 2 };

/* The largest of the values with the same unit; of rates at least what some roundings of lengths
 * or angles are in one step of that size, of torques those of a force times a length. */
static inline void scaled_sizes(const struct scaled_run *a, double h, double *size)
{
    const double share = 1e9 * 0x1p-51;

    for (int i = 0; i < SCALED_CLASSES; i++) {
        size[i] = 0.;
    }
    for (size_t i = 0; i < a->n; i++) {
        size[a->unit[i]] = fmax(size[a->unit[i]], fabs(a->value[i]));
    }
    const double length = size[scaled_class("m")], force = size[scaled_class("N")];
    const struct {
        const char *unit;
        double least;
    } rates[] = {{"m/s", length / h},
                 {"m/s^2", length / (h * h)},
                 {"rad", 1.},
                 {"rad/s", 1. / h},
                 {"rad/s^2", 1. / (h * h)}};
    const int torque = scaled_class("N m");

    size[torque] = fmax(size[torque], share * force * length);
    for (size_t i = 0; i < sizeof rates / sizeof *rates && h > 0.; i++) {
        double *const at = &size[scaled_class(rates[i].unit)];

        *at = fmax(*at, share * rates[i].least);
    }
}

/* The largest difference, relative to those sizes. */
static inline double scaled_difference(const struct scaled_run *a, const struct scaled_run *b)
{
    double size[SCALED_CLASSES], most = 0.;

    scaled_sizes(a, a->h, size);
    for (size_t i = 0; i < a->n; i++) {
        const double share = a->held[i] ? 1. / scaled_forces : 1.;
        const double off = share * fabs(b->value[i] / b->factor[i] - a->value[i]);

        if (b->factor[i] == 0. || off == 0. || (isnan(a->value[i]) && isnan(b->value[i]))) {
            continue;
        }
        if (scaled_verbose() && !(off <= 1e-9 * size[a->unit[i]])) {
            fprintf(stderr, "value %zu, unit %d: %.17g, %.17g; largest %.3g\n", i, a->unit[i],
                    a->value[i], b->value[i] / b->factor[i], size[a->unit[i]]);
        }
        most = fmax(most, isnan(off) ? HUGE_VAL : off / size[a->unit[i]]);
    }
    return most;
}

/* --- steps ------------------------------------------------------------------------------------ */

static struct scaled_run scaled_here, scaled_there, scaled_nudged;

/* What some roundings of the document's numbers change: no other units can change less. */
static inline double scaled_rounding(const struct scaled_case *c)
{
    double most = 0.;

    for (uint32_t seed = 1; seed <= 3; seed++) {
        struct scaling off = {.kg = 1., .m = 1., .s = 1., .nudge = seed};
        struct mech_sim *const s = scaled_sim(c->text, &off, c->integrator);

        if (s) {
            scaled_run(s, &off, c->steps, &scaled_nudged);
            most = fmax(most,
                        scaled_nudged.code ? 0. : scaled_difference(&scaled_here, &scaled_nudged));
        }
        mech_sim_destroy(s);
    }
    return most;
}

static inline void scaled_compare_in(const struct scaled_case *c, const struct scaled_units *units)
{
    struct scaling by = {.kg = units->kg, .m = units->m, .s = units->s};
    struct mech_sim *const other = scaled_sim(c->text, &by, c->integrator);
    const char *const scheme = c->integrator ? c->integrator : "";

    CU_ASSERT(other != NULL);
    if (!other) {
        fprintf(stderr, "%s, %s, %s: refused\n", c->name, scheme, units->name);
        return;
    }
    scaled_run(other, &by, c->steps, &scaled_there);
    const double off =
        scaled_here.code || scaled_there.code ? 0. : scaled_difference(&scaled_here, &scaled_there);
    bool same = scaled_here.code == scaled_there.code && off <= 1e-9;
    const double rounding = same || scaled_here.code != scaled_there.code ? 0. : scaled_rounding(c);

    same = same || (scaled_here.code == scaled_there.code && off <= fmin(10. * rounding, 1e-5));
    CU_ASSERT(same);
    if (!same) {
        fprintf(stderr,
                "%s, %s, %s: off by %.3g, rounding %.3g; codes %d %d, iterations %d %d, sweeps %d "
                "%d %s%s\n",
                c->name, scheme, units->name, off, rounding, scaled_here.code, scaled_there.code,
                (int)scaled_here.iterations, (int)scaled_there.iterations,
                (int)scaled_here.vi_iterations, (int)scaled_there.vi_iterations, scaled_here.reason,
                scaled_there.reason);
    }
    mech_sim_destroy(other);
}

/* One model by one integrator in all units. */
static inline void scaled_compare(const struct scaled_case *c)
{
    struct scaling si = {.kg = 1., .m = 1., .s = 1.};
    struct mech_sim *const s = scaled_sim(c->text, &si, c->integrator);

    if (!s) {
        return; /* not for this scheme */
    }
    scaled_run(s, &si, c->steps, &scaled_here);
    for (size_t k = 0; k < SCALED_UNITS; k++) {
        if (!c->only_masses || (scaled_units[k].m == 1. && scaled_units[k].s == 1.)) {
            scaled_compare_in(c, &scaled_units[k]);
        }
    }
    mech_sim_destroy(s);
}

/* --- statics ---------------------------------------------------------------------------------- */

/* At rest an acceleration is a residual over a mass, which iterations leave. */
static inline void scaled_at_rest(struct scaled_run *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const bool is = r->unit[i] % (MECH_OUTPUT_COUNT + 1) == scaled_class("m/s^2") ||
                        r->unit[i] % (MECH_OUTPUT_COUNT + 1) == scaled_class("rad/s^2");

        r->factor[i] = is ? 0. : r->factor[i];
    }
}

static inline void scaled_rest(const char *name, const char *text)
{
    const struct mech_statics_query query = {.request = {.load_steps = 1}, .keep = true};
    struct scaling si = {.kg = 1., .m = 1., .s = 1.};
    struct mech_sim *const s = scaled_sim(text, &si, NULL);
    struct mech_statics_report report;

    if (!s) {
        return;
    }
    scaled_here.code = mech_sim_statics(s, &query, &report);
    scaled_values(s, &si, &scaled_here);
    for (size_t k = 0; k < SCALED_UNITS; k++) {
        const struct scaled_units *const units = &scaled_units[k];
        struct scaling by = {.kg = units->kg, .m = units->m, .s = units->s};
        struct mech_sim *const other = scaled_sim(text, &by, NULL);

        /* K and G are in one matrix: of 2^80 times the size K makes it singular */
        if (!other || units->kg * units->m == 0x1p80) {
            mech_sim_destroy(other);
            continue;
        }
        scaled_there.code = mech_sim_statics(other, &query, &report);
        scaled_values(other, &by, &scaled_there);
        scaled_at_rest(&scaled_there);
        /* what has no rest, or more than one, is refused in words that rounding may change */
        const double off = scaled_here.code || scaled_there.code
                               ? 0.
                               : scaled_difference(&scaled_here, &scaled_there);
        const bool same = scaled_here.code || (!scaled_there.code && off <= 1e-9);

        CU_ASSERT(same);
        if (!same) {
            fprintf(stderr, "statics of %s, %s: off by %.3g; codes %d %d %s\n", name, units->name,
                    off, scaled_here.code, scaled_there.code,
                    scaled_there.code ? report.reason : "");
        }
        mech_sim_destroy(other);
    }
    mech_sim_destroy(s);
}

/* --- modes ------------------------------------------------------------------------------------ */

/* Of the largest λ, and over a step: double ones at 0 are found at a root of the rounding. */
static const double scaled_still = 1e-6, scaled_in_a_step = 1e-4;

/* |λ| and |Re λ| of the lowest ones but those at rest, times `second`, into out [2 SCALED_MODES];
 * how many, or −1. */
static inline int scaled_modes(const struct mech_sim *s, bool damped, double second, double *out)
{
    struct mech_modes modes;
    const int code = mech_sim_modes((struct mech_sim *)(uintptr_t)s, SCALED_MODES, damped, &modes);
    int count = code ? -1 : 0;
    double most = scaled_in_a_step / (scaled_still * mech_sim_step_size(s));

    for (int i = 0; i < modes.count && !code; i++) {
        most = fmax(most, sqrt(fabs(modes.modes[i].square)));
    }
    for (int i = 0; i < modes.count && !code; i++) {
        const struct mech_mode *const mode = &modes.modes[i];

        if (sqrt(fabs(mode->square)) > scaled_still * most) {
            out[2 * count] = sqrt(fabs(mode->square)) * second;
            out[2 * count + 1] = fabs(mode->re) * second;
            count++;
        }
    }
    mech_modes_fini(&modes);
    return count;
}

/* The largest difference of two lists, relative to the largest number. */
static inline double scaled_apart(const double *a, const double *b, int n)
{
    double size = 0., off = 0.;

    for (int i = 0; i < n; i++) {
        size = fmax(size, fabs(a[i]));
        off = fmax(off, fabs(a[i] - b[i]));
    }
    return off > 0. ? off / size : 0.;
}

static inline void scaled_vibrate(const char *name, const char *text)
{
    struct scaling si = {.kg = 1., .m = 1., .s = 1.};
    struct mech_sim *const s = scaled_sim(text, &si, NULL);

    for (int damped = 0; damped < 2 && s; damped++) {
        double a[2 * SCALED_MODES], b[2 * SCALED_MODES];
        const int n = scaled_modes(s, damped, 1., a);

        for (size_t k = 0; k < SCALED_UNITS && n >= 0; k++) {
            const struct scaled_units *const units = &scaled_units[k];
            struct scaling by = {.kg = units->kg, .m = units->m, .s = units->s};
            struct mech_sim *const other = scaled_sim(text, &by, NULL);
            const int m = other ? scaled_modes(other, damped, units->s, b) : n;
            const double off = other && n == m ? scaled_apart(a, b, 2 * n) : 0.;

            CU_ASSERT(n == m && off <= 1e-9);
            if (n != m || off > 1e-9) {
                fprintf(stderr, "%s modes of %s, %s: off by %.3g, %d %d\n",
                        damped ? "damped" : "undamped", name, units->name, off, n, m);
            }
            mech_sim_destroy(other);
        }
    }
    mech_sim_destroy(s);
}
