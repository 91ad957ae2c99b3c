/* Elements by expat, and how deep they are. */
#include "server/engine/xml.h"

#include "solver/base/err.h"
#include "solver/base/odd.h"
#include "solver/base/text.h"

#include <string.h>
#include <strings.h>

struct reading {
    XML_Parser parser;
    const struct mechd_xml *how;
    size_t depth;   /* elements that are open and known */
    size_t skipped; /* those that are open within one that is not, and itself */
    bool coded;     /* the document names a coding that is not UTF-8 */
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
        mech_text_format(text, sizeof text, "elements are nested more than %d deep",
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

static void on_declaration(void *context, const char *version, const char *coding, int standalone)
{
    struct reading *const r = context;
    (void)version;
    (void)standalone;
    r->coded = coding != NULL && strcasecmp(coding, "UTF-8") != 0;
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

/* Whether the fault is the character at its place. */
static bool is_of_character(enum XML_Error error)
{
    return error == XML_ERROR_SYNTAX || error == XML_ERROR_INVALID_TOKEN ||
           error == XML_ERROR_PARTIAL_CHAR || error == XML_ERROR_JUNK_AFTER_DOC_ELEMENT;
}

/* A fault of the text; the character at its place, if that is not ASCII or is not seen, and the
 * text is UTF-8. */
static void refuse_text(const struct reading *r, enum XML_Error error, const char *text,
                        size_t size)
{
    const XML_Index at = XML_GetCurrentByteIndex(r->parser);
    const size_t mark = mech_text_mark(text, size);
    const char *words = XML_ErrorString(error);
    char odd_words[MECH_ODD_TEXT + 64];
    if (is_blank(text, size)) {
        words = "the document is empty";
    } else if (is_of_character(error) && !r->coded && mech_text_wide(text, size) == NULL &&
               at >= (XML_Index)mark && (size_t)at < size) {
        const unsigned char c = (unsigned char)text[at];
        struct mech_odd odd;
        mech_text_name(text + mark, size - mark, (size_t)at - mark, &odd);
        mech_text_format(odd_words, sizeof odd_words, "column %d: %s is not allowed here",
                         odd.column, odd.text);
        words = c > '~' || (c < ' ' && !is_blank(text + at, 1)) ? odd_words : words;
    }
    r->how->refuse(r->how->context, MECHD_XML_SYNTAX, words);
}

int mechd_xml_read(XML_Parser parser, const struct mechd_xml *how, const char *text, size_t size)
{
    struct reading r = {.parser = parser, .how = how};
    XML_SetUserData(parser, &r);
    XML_SetElementHandler(parser, on_start, on_end);
    XML_SetXmlDeclHandler(parser, on_declaration);
    XML_SetStartDoctypeDeclHandler(parser, on_document_type);
    if (XML_Parse(parser, text, (int)size, XML_TRUE) == XML_STATUS_OK) {
        return 0;
    }
    const enum XML_Error error = XML_GetErrorCode(parser);
    if (error == XML_ERROR_NO_MEMORY) {
        return MECH_NO_MEMORY;
    }
    if (error != XML_ERROR_ABORTED) {
        refuse_text(&r, error, text, size);
    }
    return 1;
}
