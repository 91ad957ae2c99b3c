/* XML text, written straight into a growing buffer (protocol/wire/text.h): elements are opened,
 * given attributes, and closed in order; everything is escaped. The caller keeps the nesting.
 * owner: one thread.
 *
 *     mechp_xml_open(&w, 1, "Unit");
 *     mechp_xml_text(&w, "name", "N m");
 *     mechp_xml_close(&w);                  <Unit name="N m"/>
 */
#pragma once

#include "protocol/wire/text.h"

/* "<name" on a line of its own, indented by two spaces a level. */
void mechp_xml_open(struct mechp_text *w, int level, const char *name);
/* Characters that XML does not allow become spaces. */
void mechp_xml_text(struct mechp_text *w, const char *attribute, const char *value);
void mechp_xml_true(struct mechp_text *w, const char *attribute, bool value); /* if it is true */
void mechp_xml_integer(struct mechp_text *w, const char *attribute, int64_t value);
/* Finite values, divided by spaces, shortest text that reads back to the same double. */
void mechp_xml_reals(struct mechp_text *w, const char *attribute, const double *values,
                     size_t count);
void mechp_xml_close(struct mechp_text *w);                            /* "/>" */
void mechp_xml_inside(struct mechp_text *w);                           /* ">" */
void mechp_xml_end(struct mechp_text *w, int level, const char *name); /* "</name>" */
