/* HTML of an FMU's documentation. */
#include "protocol/fmi/guide.h"

#include "protocol/fmi/settings.h"
#include "solver/base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
    "body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }\n"
    "table { border-collapse: collapse }\n"
    "th, td { border-bottom: 1px solid #ccc; padding: .2em .8em .2em 0; text-align: left }\n"
    "img { max-width: 100%; border: 1px solid #ccc }\n";

static void put(struct mechp_text *w, const char *text)
{
    mechp_text_plain(w, text, strlen(text));
}

/* Text between tags. */
static void put_text(struct mechp_text *w, const char *text)
{
    for (const char *c = text; *c; c++) {
        const char *const entity = mechp_text_entity(*c);

        mechp_text_plain(w, entity ? entity : c, entity ? strlen(entity) : 1);
    }
}

static void put_cell(struct mechp_text *w, const char *text)
{
    put(w, "<td>");
    put_text(w, text);
    put(w, "</td>");
}

static void put_values(struct mechp_text *w, const double *values, size_t count)
{
    char text[32];

    put(w, "<td>");
    for (size_t i = 0; i < count; i++) {
        put(w, i > 0 ? " " : "");
        mechp_text_plain(w, text, mechp_number_text(values[i], text));
    }
    put(w, "</td>");
}

static int write_variables(const struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                           struct mechp_text *w)
{
    static const char *const causality[] = {"input", "output", "parameter", "time"};
    size_t most = 1;

    for (size_t i = 0; i < layout->n; i++) {
        most = (size_t)layout->at[i].size > most ? (size_t)layout->at[i].size : most;
    }
    double *const values = malloc(most * sizeof *values);
    if (!values) {
        return MECH_NO_MEMORY;
    }
    put(w, "<h2>Variables</h2>\n<table>\n<tr><th>Name</th><th>Causality</th><th>Unit</th>"
           "<th>Values at the start</th><th>Description</th></tr>\n");
    for (size_t i = 0; i < layout->n; i++) {
        const struct mechp_fmi_variable *const v = &layout->at[i];

        put(w, "<tr>");
        put_cell(w, v->name);
        put_cell(w, causality[v->causality]);
        put_cell(w, v->unit);
        mechp_fmi_layout_get(layout, sim, v, values);
        put_values(w, values, (size_t)v->size);
        put_cell(w, v->description);
        put(w, "</tr>\n");
    }
    put(w, "</table>\n");
    free(values);
    return 0;
}

/* What an FMU that connects to a server does, and its settings. */
static void write_settings(const char *server, struct mechp_text *w)
{
    put(w,
        "<h2>Server</h2>\n<p>This FMU connects to the lane of a mechd server at the beginning of "
        "the initialization. There it creates an instance of its model and deletes it at the end, "
        "or steps an instance that exists. If the connection to the server is lost, functions "
        "return an error with a message; the FMU can then be reset, or set to a saved state. No "
        "token is stored in this "
        "file.</p>\n<table>\n<tr><th>Setting</th><th>Default</th><th>Description</th></tr>\n");
    for (size_t k = 0; k < MECHP_FMI_SETTINGS; k++) {
        put(w, "<tr>");
        put_cell(w, mechp_fmi_settings[k].name);
        put_cell(w, k == MECHP_FMI_SETTING_SERVER ? server : mechp_fmi_settings[k].start);
        put_cell(w, mechp_fmi_settings[k].doc);
        put(w, "</tr>\n");
    }
    put(w, "</table>\n");
}

static void write_head(const struct mechp_fmi_layout *layout, const char *name, bool picture,
                       const char *server, struct mechp_text *w)
{
    put(w, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
    put_text(w, name);
    put(w, "</title>\n<style>\n");
    put(w, style);
    put(w, "</style>\n</head>\n<body>\n<h1>");
    put_text(w, name);
    put(w, "</h1>\n<p>A mechanical model as an FMU for co-simulation, FMI ");
    put(w, layout->version == MECHP_FMI_3 ? "3.0" : "2.0");
    put(w, ", written by mechd " MECHD_VERSION);
    put(w, server ? ". It needs a mechd server, which does the computations.</p>\n"
                  : ". It contains the solver and needs no server; it runs on 64-bit Linux with "
                    "glibc 2.28 or later.</p>\n");
    if (picture) {
        put(w, "<p><img src=\"picture.svg\" alt=\"the model at its start\"></p>\n");
    }
}

/* as sources.c describes it */
static const char commands[] =
    "O='-O3 -fPIC -fvisibility=hidden -ffp-contract=off -D_POSIX_C_SOURCE=200809L -I.'\n"
    "V='-DMECHD_VERSION=\"" MECHD_VERSION "\"'\n"
    "c++ -std=c++17 $O \"$V\" -c protocol/wire/number.cpp -o number.o\n"
    "cc -std=c17 $O \"$V\" -shared -o NAME.so $(find . -name '*.c') number.o \\\n"
    "    -llapacke -lopenblas -lklu -lcholmod -ljansson -lstdc++ -lm\n";

static void write_steps(const struct mechp_fmi_layout *layout, double size, struct mechp_text *w)
{
    char text[32];

    put(w, "<h2>Steps</h2>\n<p>A communication step may have any size; within it the solver steps "
           "by ");
    mechp_text_plain(w, text, mechp_number_text(size, text));
    put(w, " s at most. States can be saved, restored and serialized. Parameters that are set "
           "before the end of the initialization affect the initial state, later ones only the "
           "model. An input that is not set has the value that the model itself gives it.");
    if (layout->version == MECHP_FMI_3) {
        put(w, " With event mode, steps can return early at impacts, contacts and other events. "
               "The intermediate update is called after each internal step.");
    }
    put(w, "</p>\n");
}

/* How the binary is built of them. */
static void write_sources(struct mechp_text *w)
{
    put(w,
        "<h2>Sources</h2>\n<p>The folder <code>sources</code> contains mechd's part of the binary, "
        "with a build description. It needs these libraries, which are not included: OpenBLAS with "
        "LAPACKE, SuiteSparse (KLU, CHOLMOD) and Jansson, in Debian the packages libopenblas-dev, "
        "liblapacke-dev, libsuitesparse-dev and libjansson-dev. With another BLAS the last digits "
        "of results differ. To build the binary NAME in that folder:</p>\n<pre>");
    put_text(w, commands);
    put(w, "</pre>\n");
}

static void write_licenses(bool libraries, struct mechp_text *w)
{
    put(w, "<h2>Licenses</h2>\n<p><a href=\"licenses/LICENSE.txt\">mechd</a>");
    put(w, libraries ? ", <a href=\"licenses/libraries.txt\">the libraries in the binary</a>" : "");
    put(w, "</p>\n</body>\n</html>\n");
}

static int write(const struct mechp_fmi_layout *layout, const struct mech_sim *sim, bool picture,
                 const char *server, struct mechp_text *w)
{
    const char *const name = mech_sim_document(sim)->name;

    write_head(layout, name ? name : "model", picture, server, w);
    const int code = write_variables(layout, sim, w);
    if (server) {
        write_settings(server, w);
    }
    write_steps(layout, mech_sim_step_size(sim), w);
    if (!server) {
        write_sources(w);
    }
    write_licenses(!server, w);
    return code ? code : w->failed ? MECH_NO_MEMORY : 0;
}

int mechp_fmi_guide(const struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                    const struct mechp_fmi_about *about, struct mechp_text *w)
{
    return write(layout, sim, false, about->server, w);
}

int mechp_fmi_guide_with_picture(const struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                                 const struct mechp_fmi_about *about, struct mechp_text *w)
{
    return write(layout, sim, true, about->server, w);
}
