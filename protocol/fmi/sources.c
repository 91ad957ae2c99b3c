/* The folder sources of an FMU. */
#include "protocol/fmi/sources.h"

#include "protocol/fmi/xml.h"
#include "solver/base/err.h"

#include <stdio.h>
#include <string.h>

const char *const mechp_fmi_libraries[] = {
    "lapacke",           "openblas", "klu",    "btf",     "amd", "colamd", "cholmod",
    "suitesparseconfig", "jansson",  "stdc++", "pthread", "m",   NULL};

static bool is_cpp(const char *path)
{
    const char *const end = strrchr(path, '.');

    return end && strcmp(end, ".cpp") == 0;
}

static void define(struct mechp_text *w, const char *name, const char *value)
{
    mechp_xml_open(w, 3, "PreprocessorDefinition");
    mechp_xml_text(w, "name", name);
    mechp_xml_text(w, "value", value);
    mechp_xml_close(w);
}

/* The files of one language. */
static void write_set(struct mechp_text *w, bool cpp)
{
    mechp_xml_open(w, 2, "SourceFileSet");
    mechp_xml_text(w, "name", cpp ? "C++" : "C");
    mechp_xml_text(w, "language", cpp ? "C++17" : "C17");
    mechp_xml_text(w, "compiler", cpp ? "g++" : "gcc");
    mechp_xml_text(w, "compilerOptions", "-O3 -fPIC -fvisibility=hidden -ffp-contract=off");
    mechp_xml_inside(w);
    for (const char *const *path = mechp_fmi_compiled; *path; path++) {
        if (is_cpp(*path) == cpp) {
            mechp_xml_open(w, 3, "SourceFile");
            mechp_xml_text(w, "name", *path);
            mechp_xml_close(w);
        }
    }
    define(w, "MECHD_VERSION", "\"" MECHD_VERSION "\"");
    define(w, "_POSIX_C_SOURCE", "200809L");
    mechp_xml_open(w, 3, "IncludeDirectory");
    mechp_xml_text(w, "name", ".");
    mechp_xml_close(w);
    mechp_xml_end(w, 2, "SourceFileSet");
}

int mechp_fmi_build_description(const char *identifier, struct mechp_text *w)
{
    static const char declaration[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

    mechp_text_plain(w, declaration, sizeof declaration - 1);
    mechp_xml_open(w, 0, "fmiBuildDescription");
    mechp_xml_text(w, "fmiVersion", "3.0");
    mechp_xml_inside(w);
    mechp_xml_open(w, 1, "BuildConfiguration");
    mechp_xml_text(w, "modelIdentifier", identifier);
    mechp_xml_inside(w);
    write_set(w, false);
    write_set(w, true);
    for (const char *const *name = mechp_fmi_libraries; *name; name++) {
        mechp_xml_open(w, 2, "Library");
        mechp_xml_text(w, "name", *name);
        mechp_xml_true(w, "external", true);
        mechp_xml_close(w);
    }
    mechp_xml_end(w, 1, "BuildConfiguration");
    mechp_xml_end(w, 0, "fmiBuildDescription");
    return w->failed ? MECH_NO_MEMORY : 0;
}

/* Its bytes are constant: they go into the text behind its head. */
static int add_source(const struct mechp_fmi_source *s, struct mechp_zip *zip)
{
    const struct mechp_packed packed = {
        .stored = s->stored, .size = s->size, .crc = s->crc, .deflated = true};
    char path[MECHP_ZIP_NAME];

    snprintf(path, sizeof path, "sources/%s", s->path);
    MECH_TRY(mechp_zip_head(zip, path, &packed));
    mechp_text_plain(zip->w, (const char *)mechp_fmi_source_bytes + s->at, s->stored);
    return zip->w->failed ? MECH_NO_MEMORY : 0;
}

int mechp_fmi_add_sources(const char *identifier, struct mechp_zip *zip)
{
    struct mechp_text w;

    mechp_text_init(&w, NULL, 0);
    int code = mechp_fmi_build_description(identifier, &w);
    code = code ? code : mechp_zip_add(zip, "sources/buildDescription.xml", w.bytes, w.length);
    mechp_text_fini(&w);
    for (size_t i = 0; code == 0 && i < mechp_fmi_source_count; i++) {
        code = add_source(&mechp_fmi_sources[i], zip);
    }
    return code;
}
