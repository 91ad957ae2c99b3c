/* Results by the solver's own steps; the manifest by FMI-LS-REF 1.0.0-alpha.1. */
#include "protocol/fmi/results.h"

#include "protocol/fmi/xml.h"
#include "solver/base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct mechp_text *w, const char *text)
{
    mechp_text_plain(w, text, strlen(text));
}

static bool is_output(const struct mechp_fmi_variable *v)
{
    return v->causality == MECH_OUTPUT_VARIABLE;
}

static void write_names(const struct mechp_fmi_layout *layout, struct mechp_text *w)
{
    char element[24];

    put(w, "time");
    for (size_t i = 0; i < layout->n; i++) {
        const struct mechp_fmi_variable *const v = &layout->at[i];

        for (int32_t k = 0; is_output(v) && k < v->size; k++) {
            put(w, ",");
            put(w, v->name);
            if (!v->scalar) {
                snprintf(element, sizeof element, "[%d]", (int)k + 1);
                put(w, element);
            }
        }
    }
    put(w, "\n");
}

static void put_number(struct mechp_text *w, double value)
{
    char text[32];

    mechp_text_plain(w, text, mechp_number_text(value, text));
}

static void write_row(const struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                      double *values, struct mechp_text *w)
{
    put_number(w, mech_sim_time(sim));
    for (size_t i = 0; i < layout->n; i++) {
        const struct mechp_fmi_variable *const v = &layout->at[i];

        if (is_output(v)) {
            mechp_fmi_layout_get(layout, sim, v, values);
        }
        for (int32_t k = 0; is_output(v) && k < v->size; k++) {
            put(w, ",");
            put_number(w, values[k]);
        }
    }
    put(w, "\n");
}

/* Rows end where a step fails by the model, or with the work. 0, MECH_NO_MEMORY, MECH_CANCELLED. */
static int write_rows(const struct mechp_fmi_layout *layout, struct mech_sim *sim, double *values,
                      struct mechp_text *w)
{
    const struct mech_sizes sizes = mech_sim_sizes(sim);
    const uint64_t most = MECHP_FMI_RESULT_WORK / (1 + (uint64_t)(sizes.q + sizes.x));
    uint64_t iterations = 0;
    const struct mech_step_request request = {.kind = MECH_STEP_SIZE,
                                              .size = 10. * mech_sim_step_size(sim)};
    struct mech_step_report report;

    write_names(layout, w);
    write_row(layout, sim, values, w);
    for (int k = 0; k < MECHP_FMI_RESULT_STEPS && iterations <= most; k++) {
        const int code = mech_sim_step(sim, &request, &report);
        if (code != 0) {
            return code < 0 || code == MECH_CANCELLED ? code : 0;
        }
        write_row(layout, sim, values, w);
        iterations += report.iterations + report.vi_iterations;
    }
    return w->failed ? MECH_NO_MEMORY : 0;
}

int mechp_fmi_results(enum mechp_fmi_version version, struct mech_sim *sim, struct mechp_text *w)
{
    const struct mech_sizes sizes = mech_sim_sizes(sim);
    const size_t n = mech_sim_output_size(sim);
    struct mechp_fmi_layout layout;

    if (n == 0 || sizes.q + sizes.x > MECHP_FMI_RESULT_MOST) {
        return 0;
    }
    void *const start = malloc(mech_sim_saved_size(sim));
    double *const values = calloc(n, sizeof *values);
    int code = mechp_fmi_layout_init(&layout, sim, version);
    code = code == 0 && (!start || !values) ? MECH_NO_MEMORY : code;
    if (code == 0) {
        mech_sim_save(sim, start);
        code = write_rows(&layout, sim, values, w);
        const int back = mech_sim_restore(sim, start);
        code = code == 0 ? back : code;
    }
    mechp_fmi_layout_fini(&layout);
    free(start);
    free(values);
    return code;
}

static void write_related(struct mechp_text *w, const char *type, const char *source,
                          const char *role, const char *description)
{
    mechp_xml_open(w, 1, "Related");
    mechp_xml_text(w, "type", type);
    mechp_xml_text(w, "source", source);
    mechp_xml_text(w, "role", role);
    mechp_xml_text(w, "description", description);
    mechp_xml_close(w);
}

void mechp_fmi_results_manifest(struct mechp_text *w)
{
    put(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    mechp_xml_open(w, 0, "fmiReferences");
    mechp_xml_text(w, "xmlns:fmi-ls", "http://fmi-standard.org/fmi-ls-manifest");
    mechp_xml_text(w, "fmi-ls:fmi-ls-name", "org.fmi-standard.fmi-ls-ref");
    mechp_xml_text(w, "fmi-ls:fmi-ls-version", "1.0.0-alpha.1");
    mechp_xml_text(w, "fmi-ls:fmi-ls-description",
                   "Layered Standard providing information on related files included in an FMU.");
    mechp_xml_inside(w);
    write_related(w, "text/csv", "results.csv", "result",
                  "outputs at each communication step of ten steps of the solver, no inputs set");
    write_related(w, "application/json", "../../resources/model.json", "model",
                  "the model from which this FMU was made");
    mechp_xml_end(w, 0, "fmiReferences");
}
