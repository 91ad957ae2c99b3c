/* Elements of an XML document that comes from outside, by expat: without a document type, so that
 * there are no entities and nothing is loaded, and with a bound on the depth. Text between elements
 * is passed over, and so are elements that the caller does not know, with all within them.
 *
 *     const struct mechd_xml how = {.open = open, .close = close, .refuse = refuse, .context = &r};
 *     XML_Parser p = XML_ParserCreate(NULL);
 *     MECH_TRY(mechd_xml_read(p, &how, text, size));          open("System"), …, close()
 *     XML_ParserFree(p);
 *
 * Any function ends the reading by XML_StopParser(p, XML_FALSE). owner: one thread. */
#pragma once

#include <expat.h>
#include <stdbool.h>
#include <stddef.h>

enum { MECHD_XML_DEPTH_MOST = 32 /* elements in one another */ };

enum mechd_xml_fault {
    MECHD_XML_SYNTAX, /* it is no XML document */
    MECHD_XML_DEEP,   /* more than DEPTH_MOST elements are open */
    MECHD_XML_TYPE    /* it has a document type */
};

struct mechd_xml {
    void *context; /* of the functions */
    /* An element begins, with attributes as expat has them. False: it is not known. */
    bool (*open)(void *context, const char *name, const char **attributes);
    /* The innermost element that is known ends. */
    void (*close)(void *context);
    /* `text`: what is wrong. Stops the parser. */
    void (*refuse)(void *context, enum mechd_xml_fault fault, const char *text);
};

/* Reads text [size], at most INT_MAX bytes. 0; MECH_NO_MEMORY; 1: a function has stopped it. */
int mechd_xml_read(XML_Parser parser, const struct mechd_xml *how, const char *text, size_t size);
