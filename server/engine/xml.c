/* Elements by expat, and how deep they are. */
#include "server/engine/xml.h"

#include "solver/base/err.h"
#include "solver/base/odd.h"
#include "solver/base/text.h"

#include <stdio.h>
#include <string.h>

struct reading {
    XML_Parser parser;
    const struct mechd_xml *how;
    size_t depth;   /* elements that are open and known */
    size_t skipped; /* those that are open within one that is not, and itself */
};

/* Expat still ends elements that are open when it is stopped. */
static bool is_stopped(const struct reading *r)
{
    XML_ParsingStatus status;
    XML_GetParsingStatus(r->parser, &status);
    return status.parsing == XML_FINISHED;
}

static void on_start(void *context, const char *name, const char **attributes)
{
    struct reading *const r = context;
    if (is_stopped(r)) {
        return;
    }
    if (r->depth + r->skipped >= MECHD_XML_DEPTH_MOST) {
        char text[64];
        mech_text_format(text, sizeof text, "elements are more than %d deep",
                         (int)MECHD_XML_DEPTH_MOST);
        r->how->refuse(r->how->context, MECHD_XML_DEEP, text);
    } else if (r->skipped == 0 && r->how->open(r->how->context, name, attributes)) {
        r->depth++;
    } else {
        r->skipped++;
    }
}

static void on_end(void *context, const char *name)
{
    struct reading *const r = context;
    (void)name;
    if (is_stopped(r)) {
        return;
    }
    if (r->skipped > 0) {
        r->skipped--;
    } else {
        r->depth--;
        r->how->close(r->how->context);
    }
}

static void on_document_type(void *context, const char *name, const char *system,
                             const char *public, int internal)
{
    const struct reading *const r = context;
    (void)name;
    (void)system;
    (void)public;
    (void)internal;
    r->how->refuse(r->how->context, MECHD_XML_TYPE, "a document type is not allowed");
}

static bool is_blank(const char *text, size_t size)
{
    size_t k = mech_text_mark(text, size);
    while (k < size && strchr(" \t\r\n", text[k]) != NULL && text[k] != '\0') {
        k++;
    }
    return k == size;
}

/* A fault of the text; the character at its place, if that is not seen. */
static void refuse_text(const struct reading *r, const char *fault, const char *text, size_t size)
{
    const XML_Index at = XML_GetCurrentByteIndex(r->parser);
    const size_t mark = mech_text_mark(text, size);
    char words[128];
    size_t length = 0;
    snprintf(words, sizeof words, "%s", fault);
    if (is_blank(text, size)) {
        snprintf(words, sizeof words, "the document is empty");
    } else if (at >= (XML_Index)mark && (size_t)at < size && mech_text_wide(text, size) == NULL) {
        const size_t left = size - (size_t)at;
        const int32_t code = mech_text_code(text + at, left, &length);
        if (code > '~' || code < ' ') {
            struct mech_odd odd;
            mech_text_name(text + mark, size - mark, (size_t)at - mark, &odd);
            snprintf(words, sizeof words, "column %d: %s is not allowed here", odd.column,
                     odd.text);
        }
    }
    r->how->refuse(r->how->context, MECHD_XML_SYNTAX, words);
}

int mechd_xml_read(XML_Parser parser, const struct mechd_xml *how, const char *text, size_t size)
{
    struct reading r = {.parser = parser, .how = how};
    XML_SetUserData(parser, &r);
    XML_SetElementHandler(parser, on_start, on_end);
    XML_SetStartDoctypeDeclHandler(parser, on_document_type);
    if (XML_Parse(parser, text, (int)size, XML_TRUE) == XML_STATUS_OK) {
        return 0;
    }
    const enum XML_Error error = XML_GetErrorCode(parser);
    if (error == XML_ERROR_NO_MEMORY) {
        return MECH_NO_MEMORY;
    }
    if (error != XML_ERROR_ABORTED) {
        refuse_text(&r, XML_ErrorString(error), text, size);
    }
    return 1;
}
