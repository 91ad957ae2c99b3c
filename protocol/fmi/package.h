/* The archive of an FMU of a model: all files of it, of which the binary comes last and is packed
 * beforehand, because it is large and the same in all of them.
 *
 *   modelDescription.xml
 *   terminalsAndIcons/terminalsAndIcons.xml
 *                                      ports, where the model has some
 *   resources/model.json               the model, which the binary reads
 *   documentation/index.html           variables with units and descriptions, and the picture
 *   documentation/picture.svg
 *   documentation/licenses/…
 *   extra/org.fmi-standard.fmi-ls-ref/ reference results and their manifest
 *   sources/…                          what builds the binary, and buildDescription.xml
 *   binaries/win64/NAME.dll            of one that connects to a server, where it has been built
 *   binaries/linux64/NAME.so           2.0; in 3.0 binaries/x86_64-linux/NAME.so
 *
 * An FMU that connects to a server has resources/proxy.json too (table.h), and no libraries.
 *
 * The same content gives the same bytes. Source: FMI 2.0.5, section 2.3; FMI 3.0.2, section 2.5.
 */
#pragma once

#include "protocol/fmi/layout.h"
#include "protocol/fmi/zip.h"

enum { MECHP_FMI_IDENTIFIER = 64 };

/* Of an FMU that connects to a server. */
struct mechp_fmi_proxy {
    const char *server;                 /* the lane that is the default, or "" */
    const struct mechp_packed *windows; /* its binary for Windows, or NULL */
};

struct mechp_fmi_content {
    enum mechp_fmi_version version;
    const char *document; /* [document_size] JSON, as it is stored */
    size_t document_size;
    const struct mech_sim *sim;          /* of that document, fresh */
    const char *picture;                 /* an SVG image, or NULL */
    const char *results;                 /* [results_size] mechp_fmi_results */
    size_t results_size;                 /* 0: there are none */
    const struct mechp_packed *binary;   /* clients/fmu */
    const struct mechp_fmi_proxy *proxy; /* NULL: the solver is in the binary */
};

/* The name of the binary without extension, and of the archive: that of the model, up to the first
 * of ":;,(", in letters, digits and '_', as a C identifier; "model" where it has none. */
void mechp_fmi_identifier(const struct mech_sim *sim, char identifier[MECHP_FMI_IDENTIFIER]);

/* All up to the bytes of the binary, which the caller sends behind zip->w; then `past` of the zip
 * is increased by their number, and mechp_zip_end writes the rest. Large: zip is the caller's,
 * zeroed but for w. 0; MECH_NO_MEMORY; MECH_INVALID: larger than an archive can be. */
int mechp_fmi_package(const struct mechp_fmi_content *content, struct mechp_zip *zip);

/* The token of that content's description. */
int mechp_fmi_package_token(const struct mechp_fmi_content *content, char token[MECHP_FMI_TOKEN]);

/* Texts, closed by NUL: of mechd, and of all libraries in the binary. */
extern const char mechp_fmi_license[], mechp_fmi_licenses[];
