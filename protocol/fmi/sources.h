/* The sources of an FMU's binary, which build it where there is none: the files that are compiled
 * and those that they include, packed as an archive stores them, and sources/buildDescription.xml.
 * The libraries below are not among them: the builder has them, as Debian's packages are called
 * libopenblas-dev, liblapacke-dev, libsuitesparse-dev and libjansson-dev.
 *
 * Constant data, written by sources.py. Source: FMI 3.0.2, section 2.4.10; FMI 2.0.5, section 2.3,
 * where the file has version 3.0 too, and modelDescription.xml lists what is compiled.
 */
#pragma once

#include "protocol/fmi/zip.h"

struct mechp_fmi_source {
    const char *path;  /* within the folder sources */
    size_t at, stored; /* bytes of mechp_fmi_source_bytes, deflated */
    size_t size;       /* of the file */
    uint32_t crc;
};

extern const struct mechp_fmi_source mechp_fmi_sources[]; /* [mechp_fmi_source_count] by path */
extern const size_t mechp_fmi_source_count;
extern const unsigned char mechp_fmi_source_bytes[];
extern const char *const mechp_fmi_compiled[];  /* paths of those that are compiled, then NULL */
extern const char *const mechp_fmi_libraries[]; /* names that a linker knows, then NULL */

/* Append sources/buildDescription.xml. 0; MECH_NO_MEMORY. */
int mechp_fmi_build_description(const char *identifier, struct mechp_text *w);

/* Add all files of the folder sources. 0; MECH_NO_MEMORY; MECH_INVALID: see mechp_zip_add. */
int mechp_fmi_add_sources(const char *identifier, struct mechp_zip *zip);
