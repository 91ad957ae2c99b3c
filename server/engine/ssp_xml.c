/* Trees by expat, whose names are "namespace|name". */
#include "server/engine/ssp_xml.h"

#include "server/engine/fmu_attributes.h"
#include "server/engine/xml.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static const char separator = '|';

static const struct {
    const char *uri;
    enum mechd_ssp_space space;
} spaces[] = {
    {"http://ssp-standard.org/SSP1/SystemStructureDescription", MECHD_SSP_SSD},
    {"http://ssp-standard.org/SSP1/SystemStructureCommon", MECHD_SSP_SSC},
    {"http://ssp-standard.org/SSP1/SystemStructureParameterValues", MECHD_SSP_SSV},
    {"http://ssp-standard.org/SSP1/SystemStructureParameterMapping", MECHD_SSP_SSM},
    {"http://ssp-standard.org/SSP1/SystemStructureSignalDictionary", MECHD_SSP_SSB},
    {"urn:mechd:coupling", MECHD_SSP_MECHD},
};

struct reading {
    XML_Parser parser;
    struct mech_arena *arena;
    struct mech_diag *diag;
    const char *file;
    struct mechd_ssp_element *root, *open;
    int outcome;
};

/* Ends the reading with a fault; the first one is kept. */
static void refuse(struct reading *r, const char *text)
{
    char path[MECH_DIAG_PATH] = "/";
    if (r->outcome == 0) {
        r->outcome = 1;
        mech_text_copy(path + 1, sizeof path - 1, r->file);
        mech_diag_add(r->diag, path, "line %d: %s", (int)XML_GetCurrentLineNumber(r->parser), text);
        (void)XML_StopParser(r->parser, XML_FALSE);
    }
}

/* The namespace of an expanded name, and the name within it. */
static enum mechd_ssp_space split(const char *expanded, const char **name)
{
    const char *const bar = strrchr(expanded, separator);
    *name = bar != NULL ? bar + 1 : expanded;
    for (size_t k = 0; bar != NULL && k < sizeof spaces / sizeof *spaces; k++) {
        const size_t length = strlen(spaces[k].uri);
        if ((size_t)(bar - expanded) == length && memcmp(expanded, spaces[k].uri, length) == 0) {
            return spaces[k].space;
        }
    }
    return MECHD_SSP_NONE;
}

/* False: refused. */
static bool copy_attributes(struct reading *r, const char **from, struct mechd_ssp_element *e)
{
    size_t count = 0;
    while (from[count] != NULL) {
        count++;
    }
    e->attributes = mech_arena_alloc(r->arena, count + 1, sizeof *e->attributes);
    size_t n = 0;
    for (size_t k = 0; k < count && e->attributes != NULL; k += 2) {
        // those of other namespaces are of vendors
        if (strchr(from[k], separator) != NULL) {
            continue;
        }
        if (strlen(from[k + 1]) > MECHD_SSP_TEXT_MOST) {
            refuse(r, "an attribute is longer than is allowed");
            return false;
        }
        e->attributes[n] = mech_arena_strdup(r->arena, from[k]);
        e->attributes[n + 1] = mech_arena_strdup(r->arena, from[k + 1]);
        if (e->attributes[n] == NULL || e->attributes[n + 1] == NULL) {
            e->attributes = NULL;
            break;
        }
        n += 2;
    }
    if (e->attributes == NULL) {
        refuse(r, "the documents take more memory than they may");
    }
    return e->attributes != NULL;
}

static bool open_element(void *context, const char *expanded, const char **attributes)
{
    struct reading *const r = context;
    const char *name = NULL;
    const enum mechd_ssp_space space = split(expanded, &name);
    if (space == MECHD_SSP_NONE && r->root != NULL) {
        return false;
    }
    struct mechd_ssp_element *const e = mech_arena_alloc(r->arena, 1, sizeof *e);
    char *const own = mech_arena_strdup(r->arena, name);
    if (e == NULL || own == NULL) {
        refuse(r, "the documents take more memory than they may");
        return false;
    }
    *e = (struct mechd_ssp_element){.name = own,
                                    .space = space,
                                    .parent = r->open,
                                    .file = r->file,
                                    .line = (int)XML_GetCurrentLineNumber(r->parser)};
    if (!copy_attributes(r, attributes, e)) {
        return false;
    }
    if (r->open == NULL) {
        r->root = e;
    } else {
        *(r->open->last != NULL ? &r->open->last->next : &r->open->first) = e;
        r->open->last = e;
    }
    r->open = e;
    return true;
}

static void close_element(void *context)
{
    struct reading *const r = context;
    r->open = r->open->parent;
}

static void refuse_document(void *context, enum mechd_xml_fault fault, const char *text)
{
    (void)fault;
    refuse(context, text);
}

struct mechd_ssp_element *mechd_ssp_parse(const char *text, size_t size, const char *file,
                                          struct mech_arena *arena, struct mech_diag *diag,
                                          int *outcome)
{
    struct reading r = {.arena = arena, .diag = diag, .file = file};
    const struct mechd_xml how = {
        .context = &r, .open = open_element, .close = close_element, .refuse = refuse_document};
    *outcome = MECH_NO_MEMORY;
    r.parser = XML_ParserCreateNS(NULL, separator);
    if (r.parser == NULL) {
        return NULL;
    }
    if (size > MECHD_SSP_SIZE_MOST) {
        refuse(&r, "the document is larger than is allowed");
    } else if (mechd_xml_read(r.parser, &how, text, size) < 0) {
        r.outcome = MECH_NO_MEMORY;
    }
    XML_ParserFree(r.parser);
    *outcome = r.outcome;
    return r.outcome == 0 ? r.root : NULL;
}

/* --- what is in a tree ------------------------------------------------------------------------ */

bool mechd_ssp_is(const struct mechd_ssp_element *e, enum mechd_ssp_space space, const char *name)
{
    return e != NULL && e->space == space && strcmp(e->name, name) == 0;
}

static const struct mechd_ssp_element *from(const struct mechd_ssp_element *e,
                                            enum mechd_ssp_space space, const char *name)
{
    while (e != NULL && !mechd_ssp_is(e, space, name)) {
        e = e->next;
    }
    return e;
}

const struct mechd_ssp_element *mechd_ssp_child(const struct mechd_ssp_element *e,
                                                enum mechd_ssp_space space, const char *name)
{
    return e != NULL ? from(e->first, space, name) : NULL;
}

const struct mechd_ssp_element *mechd_ssp_sibling(const struct mechd_ssp_element *after)
{
    return from(after->next, after->space, after->name);
}

const char *mechd_ssp_attribute(const struct mechd_ssp_element *e, const char *name,
                                const char *otherwise)
{
    const char *const value = mechd_fmu_attribute(e->attributes, name);
    return value != NULL ? value : otherwise;
}

void mechd_ssp_fault(struct mech_diag *diag, const struct mechd_ssp_element *e, const char *format,
                     ...)
{
    char path[MECH_DIAG_PATH] = "/", text[MECH_DIAG_TEXT];
    va_list list;
    va_start(list, format);
    mech_text_format_list(text, sizeof text, format, list);
    va_end(list);
    mech_text_copy(path + 1, sizeof path - 1, e->file);
    mech_diag_add(diag, path, "line %d: %s", e->line, text);
}

bool mechd_ssp_required(const struct mechd_ssp_element *e, const char *name, struct mech_diag *diag,
                        const char **out)
{
    const char *const value = mechd_ssp_attribute(e, name, NULL);
    if (value == NULL || value[0] == '\0') {
        mechd_ssp_fault(diag, e, "%.64s: the attribute %s is missing", e->name, name);
        return false;
    }
    *out = value;
    return true;
}

bool mechd_ssp_number(const struct mechd_ssp_element *e, const char *name, struct mech_diag *diag,
                      double *out)
{
    const char *const value = mechd_ssp_attribute(e, name, NULL), *at = value;
    double number = 0., more = 0.;
    if (value == NULL) {
        return true;
    }
    if (mechd_fmu_next_number(&at, &number) != 1 || mechd_fmu_next_number(&at, &more) != 0 ||
        !isfinite(number)) {
        mechd_ssp_fault(diag, e, "%s: \"%.64s\" is not a finite number", name, value);
        return false;
    }
    *out = number;
    return true;
}

bool mechd_ssp_bool(const struct mechd_ssp_element *e, const char *name, struct mech_diag *diag,
                    bool *out)
{
    const char *const value = mechd_ssp_attribute(e, name, NULL);
    if (value == NULL) {
        return true;
    }
    *out = strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
    if (!*out && strcmp(value, "false") != 0 && strcmp(value, "0") != 0) {
        mechd_ssp_fault(diag, e, "%s: \"%.64s\" is not true or false", name, value);
        return false;
    }
    return true;
}
