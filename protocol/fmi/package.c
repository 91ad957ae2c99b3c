/* The files of an FMU in their order. */
#include "protocol/fmi/package.h"

#include "protocol/fmi/description.h"
#include "protocol/fmi/guide.h"
#include "protocol/fmi/results.h"
#include "protocol/fmi/sources.h"
#include "protocol/fmi/table.h"
#include "protocol/fmi/terminals.h"
#include "solver/base/err.h"
#include "solver/base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RESULTS "extra/org.fmi-standard.fmi-ls-ref/"

/* as clients/fmu has them */
static const struct mechp_fmi_abilities abilities = {.state = true,
                                                     .serialized_state = true,
                                                     .directional_derivatives = true,
                                                     .adjoint_derivatives = true,
                                                     .variable_step = true,
                                                     .input_derivatives = true,
                                                     .output_derivatives = 1,
                                                     .event_mode = true,
                                                     .updates = true};

static const char *platform(enum mechp_fmi_version version)
{
#if defined(__aarch64__)
    (void)version;
    return "aarch64-linux";
#else
    return version == MECHP_FMI_2 ? "linux64" : "x86_64-linux";
#endif
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void mechp_fmi_identifier(const struct mech_sim *sim, char identifier[MECHP_FMI_IDENTIFIER])
{
    const char *const name = mech_sim_document(sim)->name;
    size_t n = 0;

    for (const char *c = name ? name : ""; *c && n < MECHP_FMI_IDENTIFIER - 1; c++) {
        if (n > 0 && strchr(":;,(", *c)) {
            break;
        }
        const bool digit = *c >= '0' && *c <= '9';

        if (n == 0 && digit) {
            identifier[n++] = '_';
        }
        if (is_letter(*c) || digit) {
            identifier[n++] = *c;
        } else if (n > 0 && identifier[n - 1] != '_') {
            identifier[n++] = '_';
        }
    }
    while (n > 0 && identifier[n - 1] == '_') {
        n--;
    }
    identifier[n] = '\0';
    if (n == 0) {
        snprintf(identifier, MECHP_FMI_IDENTIFIER, "model");
    }
}

/* An FMU that connects to a server is another one than that with the solver. */
static void token_of(const struct mechp_fmi_content *content, const struct mechp_fmi_layout *layout,
                     char token[MECHP_FMI_TOKEN])
{
    char digits[9];

    mechp_fmi_layout_token(layout, content->document, content->document_size, token);
    if (content->proxy) {
        const uint64_t h = mech_hash(token, MECHP_FMI_TOKEN, 4);

        snprintf(digits, sizeof digits, "%08" PRIx64, h >> 32);
        memcpy(token + 1, digits, sizeof digits - 1);
    }
}

int mechp_fmi_package_token(const struct mechp_fmi_content *content, char token[MECHP_FMI_TOKEN])
{
    struct mechp_fmi_layout layout;
    const int code = mechp_fmi_layout_init(&layout, content->sim, content->version);

    if (code == 0) {
        token_of(content, &layout, token);
    }
    mechp_fmi_layout_fini(&layout);
    return code;
}

struct subject {
    const struct mechp_fmi_layout *layout;
    const struct mech_sim *sim;
    const struct mechp_fmi_about *about;
};

typedef int write_file(const struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                       const struct mechp_fmi_about *about, struct mechp_text *w);

/* What `write` writes, as a file; none if it writes nothing. */
static int add_written(struct mechp_zip *zip, const char *path, const struct subject *of,
                       write_file *write)
{
    struct mechp_text w;

    mechp_text_init(&w, NULL, 0);
    int code = write(of->layout, of->sim, of->about, &w);
    code = code ? code : w.failed ? MECH_NO_MEMORY : 0;
    code = code || w.length == 0 ? code : mechp_zip_add(zip, path, w.bytes, w.length);
    mechp_text_fini(&w);
    return code;
}

static int write_terminals(const struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                           const struct mechp_fmi_about *about, struct mechp_text *w)
{
    (void)about;
    return mechp_fmi_terminals(layout, sim, w);
}

static int write_table(const struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                       const struct mechp_fmi_about *about, struct mechp_text *w)
{
    return mechp_fmi_table(layout, sim, about->token, about->server, w);
}

static int add_text(struct mechp_zip *zip, const char *path, const char *text)
{
    return mechp_zip_add(zip, path, text, strlen(text));
}

/* By FMI-LS-REF. */
static int add_results(struct mechp_zip *zip, const struct mechp_fmi_content *content)
{
    struct mechp_text w;

    mechp_text_init(&w, NULL, 0);
    mechp_fmi_results_manifest(&w);
    int code = w.failed ? MECH_NO_MEMORY : 0;
    code = code ? code : mechp_zip_add(zip, RESULTS "fmi-ls-manifest.xml", w.bytes, w.length);
    code = code
               ? code
               : mechp_zip_add(zip, RESULTS "results.csv", content->results, content->results_size);
    mechp_text_fini(&w);
    return code;
}

static int add_all(const struct mechp_fmi_content *content, const struct mechp_fmi_layout *layout,
                   struct mechp_zip *zip)
{
    const struct mechp_fmi_proxy *const proxy = content->proxy;
    char token[MECHP_FMI_TOKEN], identifier[MECHP_FMI_IDENTIFIER], path[MECHP_ZIP_NAME];
    const struct mechp_fmi_about about = {.name = mech_sim_document(content->sim)->name,
                                          .identifier = identifier,
                                          .token = token,
                                          .sources = proxy ? NULL : mechp_fmi_compiled,
                                          .can = abilities,
                                          .server = proxy ? proxy->server : NULL};
    const struct subject of = {layout, content->sim, &about};

    token_of(content, layout, token);
    mechp_fmi_identifier(content->sim, identifier);
    MECH_TRY(add_written(zip, "modelDescription.xml", &of, mechp_fmi_description));
    MECH_TRY(add_written(zip, "terminalsAndIcons/terminalsAndIcons.xml", &of, write_terminals));
    MECH_TRY(mechp_zip_add(zip, "resources/model.json", content->document, content->document_size));
    if (proxy) {
        MECH_TRY(add_written(zip, "resources/proxy.json", &of, write_table));
    }
    MECH_TRY(add_written(zip, "documentation/index.html", &of,
                         content->picture ? mechp_fmi_guide_with_picture : mechp_fmi_guide));
    if (content->picture) {
        MECH_TRY(add_text(zip, "documentation/picture.svg", content->picture));
    }
    MECH_TRY(add_text(zip, "documentation/licenses/LICENSE.txt", mechp_fmi_license));
    if (!proxy) {
        MECH_TRY(add_text(zip, "documentation/licenses/libraries.txt", mechp_fmi_licenses));
    }
    if (content->results_size > 0) {
        MECH_TRY(add_results(zip, content));
    }
    if (!proxy) {
        MECH_TRY(mechp_fmi_add_sources(identifier, zip));
    }
    if (proxy && proxy->windows) {
        snprintf(path, sizeof path, "binaries/%s/%s.dll",
                 content->version == MECHP_FMI_2 ? "win64" : "x86_64-windows", identifier);
        MECH_TRY(mechp_zip_put(zip, path, proxy->windows));
    }
    snprintf(path, sizeof path, "binaries/%s/%s.so", platform(content->version), identifier);
    return mechp_zip_head(zip, path, content->binary);
}

int mechp_fmi_package(const struct mechp_fmi_content *content, struct mechp_zip *zip)
{
    struct mechp_fmi_layout layout;
    int code = mechp_fmi_layout_init(&layout, content->sim, content->version);

    code = code ? code : add_all(content, &layout, zip);
    mechp_fmi_layout_fini(&layout);
    return code;
}
