/* The model descriptions of FMI 2.0 and 3.0. */
#include "protocol/fmi/description.h"

#include "protocol/fmi/settings.h"
#include "protocol/fmi/unit.h"
#include "protocol/fmi/xml.h"
#include "solver/base/err.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 2.0 has names of its own for these categories, which importers know (2.0.5, 2.2.4) */
const struct mechp_fmi_category mechp_fmi_categories[] = {
    {"logEvents", "events of a step: contacts, impacts, ends of joints"},
    {"logStatusWarning", "functions that return a warning"},
    {"logStatusDiscard", "steps and values that are refused"},
    {"logStatusError", "functions that return an error"},
    {"logStatusFatal", "functions that return a fatal error"},
    {NULL, NULL},
};

struct writer {
    const struct mechp_fmi_layout *layout;
    const struct mech_sim *sim;
    const struct mechp_fmi_about *about;
    struct mechp_text *w;
    double *values; /* room for those of any variable */
};

static bool is_3(const struct writer *s)
{
    return s->layout->version == MECHP_FMI_3;
}

static void write_head(const struct writer *s)
{
    static const char declaration[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

    mechp_text_plain(s->w, declaration, sizeof declaration - 1);
    mechp_xml_open(s->w, 0, "fmiModelDescription");
    mechp_xml_text(s->w, "fmiVersion", is_3(s) ? "3.0" : "2.0");
    mechp_xml_text(s->w, "modelName", s->about->name ? s->about->name : "model");
    mechp_xml_text(s->w, is_3(s) ? "instantiationToken" : "guid", s->about->token);
    mechp_xml_text(s->w, "generationTool", "mechd " MECHD_VERSION);
    mechp_xml_text(s->w, "variableNamingConvention", "flat");
    mechp_xml_inside(s->w);
}

static void write_sources(const struct writer *s)
{
    mechp_xml_open(s->w, 2, "SourceFiles");
    mechp_xml_inside(s->w);
    for (const char *const *path = s->about->sources; *path; path++) {
        mechp_xml_open(s->w, 3, "File");
        mechp_xml_text(s->w, "name", *path);
        mechp_xml_close(s->w);
    }
    mechp_xml_end(s->w, 2, "SourceFiles");
}

static void write_interface(const struct writer *s)
{
    const struct mechp_fmi_abilities *const can = &s->about->can;
    const bool three = is_3(s);

    mechp_xml_open(s->w, 1, "CoSimulation");
    mechp_xml_text(s->w, "modelIdentifier", s->about->identifier);
    mechp_xml_true(s->w, "canHandleVariableCommunicationStepSize", can->variable_step);
    mechp_xml_true(s->w, three ? "canGetAndSetFMUState" : "canGetAndSetFMUstate", can->state);
    mechp_xml_true(s->w, three ? "canSerializeFMUState" : "canSerializeFMUstate",
                   can->serialized_state);
    mechp_xml_true(s->w, three ? "providesDirectionalDerivatives" : "providesDirectionalDerivative",
                   can->directional_derivatives);
    mechp_xml_true(s->w, "providesAdjointDerivatives", three && can->adjoint_derivatives);
    mechp_xml_true(s->w, "canInterpolateInputs", !three && can->input_derivatives);
    if (can->output_derivatives > 0) {
        mechp_xml_integer(s->w, "maxOutputDerivativeOrder", can->output_derivatives);
    }
    mechp_xml_true(s->w, "providesIntermediateUpdate", three && can->updates);
    mechp_xml_true(s->w, "canReturnEarlyAfterIntermediateUpdate", three && can->updates);
    mechp_xml_true(s->w, "hasEventMode", three && can->event_mode);
    mechp_xml_true(s->w, "mightReturnEarlyFromDoStep", three && can->event_mode);
    if (three || !s->about->sources) {
        mechp_xml_close(s->w);
        return;
    }
    mechp_xml_inside(s->w);
    write_sources(s);
    mechp_xml_end(s->w, 1, "CoSimulation");
}

/* --- units ------------------------------------------------------------------------------------ */

/* whether an earlier variable has this unit */
static bool is_repeated(const struct mechp_fmi_layout *layout, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (strcmp(layout->at[i].unit, layout->at[at].unit) == 0) {
            return true;
        }
    }
    return false;
}

static void write_unit(const struct writer *s, const char *unit)
{
    int exponents[MECHP_FMI_BASE_UNITS];

    mechp_xml_open(s->w, 2, "Unit");
    mechp_xml_text(s->w, "name", unit);
    if (!mechp_fmi_unit(unit, strlen(unit), exponents)) {
        mechp_xml_close(s->w);
        return;
    }
    mechp_xml_inside(s->w);
    mechp_xml_open(s->w, 3, "BaseUnit");
    for (int k = 0; k < MECHP_FMI_BASE_UNITS; k++) {
        if (exponents[k] != 0) {
            mechp_xml_integer(s->w, mechp_fmi_base_units[k], exponents[k]);
        }
    }
    mechp_xml_close(s->w);
    mechp_xml_end(s->w, 2, "Unit");
}

static void write_units(const struct writer *s)
{
    mechp_xml_open(s->w, 1, "UnitDefinitions");
    mechp_xml_inside(s->w);
    for (size_t i = 0; i < s->layout->n; i++) {
        if (s->layout->at[i].unit[0] && !is_repeated(s->layout, i)) {
            write_unit(s, s->layout->at[i].unit);
        }
    }
    mechp_xml_end(s->w, 1, "UnitDefinitions");
}

static void write_categories(const struct writer *s)
{
    mechp_xml_open(s->w, 1, "LogCategories");
    mechp_xml_inside(s->w);
    for (const struct mechp_fmi_category *c = mechp_fmi_categories; c->name; c++) {
        mechp_xml_open(s->w, 2, "Category");
        mechp_xml_text(s->w, "name", c->name);
        mechp_xml_text(s->w, "description", c->description);
        mechp_xml_close(s->w);
    }
    mechp_xml_end(s->w, 1, "LogCategories");
}

static void write_experiment(const struct writer *s)
{
    const double start = mech_sim_time(s->sim), size = mech_sim_step_size(s->sim);

    mechp_xml_open(s->w, 1, "DefaultExperiment");
    mechp_xml_reals(s->w, "startTime", &start, 1);
    mechp_xml_reals(s->w, "stepSize", &size, 1);
    mechp_xml_close(s->w);
}

/* --- variables -------------------------------------------------------------------------------- */

static bool has_start(const struct mechp_fmi_variable *v)
{
    return v->causality == MECH_INPUT || v->causality == MECH_PARAMETER;
}

/* attributes that both versions have at the variable */
static void write_common(const struct writer *s, const struct mechp_fmi_variable *v)
{
    static const char *const causality[] = {"input", "output", "parameter", "independent"};
    static const char *const variability[] = {"continuous", "discrete", "tunable"};

    mechp_xml_text(s->w, "name", v->name);
    mechp_xml_integer(s->w, "valueReference", v->reference);
    mechp_xml_text(s->w, "description", v->description);
    mechp_xml_text(s->w, "causality", causality[v->causality]);
    mechp_xml_text(s->w, "variability", variability[v->variability]);
    if (v->causality == MECH_PARAMETER) {
        mechp_xml_text(s->w, "initial", "exact");
    } else if (v->causality == MECH_OUTPUT_VARIABLE) {
        mechp_xml_text(s->w, "initial", "calculated");
    }
}

static void write_values(const struct writer *s, const struct mechp_fmi_variable *v)
{
    if (v->unit[0]) {
        mechp_xml_text(s->w, "unit", v->unit);
    }
    if (isfinite(v->min)) {
        mechp_xml_reals(s->w, "min", &v->min, 1);
    }
    if (isfinite(v->max)) {
        mechp_xml_reals(s->w, "max", &v->max, 1);
    }
    if (v->nominal > 0.) {
        mechp_xml_reals(s->w, "nominal", &v->nominal, 1);
    }
    if (has_start(v)) {
        mechp_fmi_layout_get(s->layout, s->sim, v, s->values);
        mechp_xml_reals(s->w, "start", s->values, (size_t)v->size);
    }
}

static void write_scalar(const struct writer *s, const struct mechp_fmi_variable *v)
{
    mechp_xml_open(s->w, 2, "ScalarVariable");
    write_common(s, v);
    mechp_xml_inside(s->w);
    mechp_xml_open(s->w, 3, "Real");
    write_values(s, v);
    mechp_xml_close(s->w);
    mechp_xml_end(s->w, 2, "ScalarVariable");
}

static void write_float(const struct writer *s, const struct mechp_fmi_variable *v)
{
    mechp_xml_open(s->w, 2, "Float64");
    write_common(s, v);
    mechp_xml_true(s->w, "intermediateUpdate", s->about->can.updates && mechp_fmi_has_update(v));
    write_values(s, v);
    if (v->scalar) {
        mechp_xml_close(s->w);
        return;
    }
    mechp_xml_inside(s->w);
    mechp_xml_open(s->w, 3, "Dimension");
    mechp_xml_integer(s->w, "start", v->size);
    mechp_xml_close(s->w);
    mechp_xml_end(s->w, 2, "Float64");
}

/* A text that is set before the initialization ends. */
static void write_setting(const struct writer *s, uint32_t k)
{
    const char *const element = is_3(s) ? "String" : "ScalarVariable";
    const bool lane = k == MECHP_FMI_SETTING_SERVER;

    mechp_xml_open(s->w, 2, element);
    mechp_xml_text(s->w, "name", mechp_fmi_settings[k].name);
    mechp_xml_integer(s->w, "valueReference", MECHP_FMI_SETTING_REFERENCE + k);
    mechp_xml_text(s->w, "description", mechp_fmi_settings[k].doc);
    mechp_xml_text(s->w, "causality", "parameter");
    mechp_xml_text(s->w, "variability", "fixed");
    mechp_xml_text(s->w, "initial", "exact");
    mechp_xml_inside(s->w);
    mechp_xml_open(s->w, 3, is_3(s) ? "Start" : "String");
    mechp_xml_text(s->w, is_3(s) ? "value" : "start",
                   lane ? s->about->server : mechp_fmi_settings[k].start);
    mechp_xml_close(s->w);
    mechp_xml_end(s->w, 2, element);
}

static void write_variables(const struct writer *s)
{
    mechp_xml_open(s->w, 1, "ModelVariables");
    mechp_xml_inside(s->w);
    for (size_t i = 0; i < s->layout->n; i++) {
        (is_3(s) ? write_float : write_scalar)(s, &s->layout->at[i]);
    }
    /* behind all others, whose places in 2.0 remain */
    for (uint32_t k = 0; s->about->server && k < MECHP_FMI_SETTINGS; k++) {
        write_setting(s, k);
    }
    mechp_xml_end(s->w, 1, "ModelVariables");
}

/* --- structure -------------------------------------------------------------------------------- */

/* How the structure names the i-th variable: 2.0 by its place from 1 on, 3.0 by its reference. */
static int64_t place_of(const struct writer *s, size_t i)
{
    return is_3(s) ? (int64_t)s->layout->at[i].reference : (int64_t)i + 1;
}

/* The inputs that set parameters, as the dependencies of an output that no other acts on. */
static void write_dependencies(const struct writer *s)
{
    static const char separator[] = " ";
    bool first = true;
    char place[24];

    mechp_text_plain(s->w, " dependencies=\"", 15);
    for (size_t i = 0; i < s->layout->n; i++) {
        if (s->layout->at[i].variability == MECHP_FMI_DISCRETE) {
            const int n = snprintf(place, sizeof place, "%s%lld", first ? "" : separator,
                                   (long long)place_of(s, i));
            mechp_text_plain(s->w, place, (size_t)n);
            first = false;
        }
    }
    mechp_text_plain(s->w, "\"", 1);
}

static void write_unknown(const struct writer *s, const char *element, int level, size_t i,
                          bool at_start)
{
    mechp_xml_open(s->w, level, element);
    mechp_xml_integer(s->w, is_3(s) ? "valueReference" : "index", place_of(s, i));
    /* at the start everything follows from the parameters */
    if (!at_start && !s->layout->at[i].direct) {
        write_dependencies(s);
    }
    mechp_xml_close(s->w);
}

static void write_unknowns(const struct writer *s, const char *element, int level, bool at_start)
{
    for (size_t i = 0; i < s->layout->n; i++) {
        if (s->layout->at[i].causality == MECH_OUTPUT_VARIABLE) {
            write_unknown(s, element, level, i, at_start);
        }
    }
}

static bool has_outputs(const struct mechp_fmi_layout *layout)
{
    for (size_t i = 0; i < layout->n; i++) {
        if (layout->at[i].causality == MECH_OUTPUT_VARIABLE) {
            return true;
        }
    }
    return false;
}

/* 2.0: a list within an element, which may not be empty */
static void write_list(const struct writer *s, const char *list, bool at_start)
{
    if (has_outputs(s->layout)) {
        mechp_xml_open(s->w, 2, list);
        mechp_xml_inside(s->w);
        write_unknowns(s, "Unknown", 3, at_start);
        mechp_xml_end(s->w, 2, list);
    }
}

static void write_structure(const struct writer *s)
{
    mechp_xml_open(s->w, 1, "ModelStructure");
    mechp_xml_inside(s->w);
    if (is_3(s)) {
        write_unknowns(s, "Output", 2, false);
        write_unknowns(s, "InitialUnknown", 2, true);
    } else {
        write_list(s, "Outputs", false);
        write_list(s, "InitialUnknowns", true);
    }
    mechp_xml_end(s->w, 1, "ModelStructure");
}

int mechp_fmi_description(const struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                          const struct mechp_fmi_about *about, struct mechp_text *w)
{
    struct writer s = {layout, sim, about, w, NULL};
    size_t most = 1;

    for (size_t i = 0; i < layout->n; i++) {
        most = (size_t)layout->at[i].size > most ? (size_t)layout->at[i].size : most;
    }
    s.values = malloc(most * sizeof *s.values);
    if (!s.values) {
        return MECH_NO_MEMORY;
    }
    write_head(&s);
    write_interface(&s);
    write_units(&s);
    write_categories(&s);
    write_experiment(&s);
    write_variables(&s);
    write_structure(&s);
    mechp_xml_end(w, 0, "fmiModelDescription");
    free(s.values);
    return w->failed ? MECH_NO_MEMORY : 0;
}
