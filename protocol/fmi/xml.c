/* XML 1.0 text. */
#include "protocol/fmi/xml.h"

#include <stdio.h>
#include <string.h>

static void put(struct mechp_text *w, const char *text)
{
    mechp_text_plain(w, text, strlen(text));
}

static void start(struct mechp_text *w, int level)
{
    for (int i = 0; i < level; i++) {
        put(w, "  ");
    }
}

static void name_of(struct mechp_text *w, const char *attribute)
{
    put(w, " ");
    put(w, attribute);
    put(w, "=\"");
}

void mechp_xml_open(struct mechp_text *w, int level, const char *name)
{
    start(w, level);
    put(w, "<");
    put(w, name);
}

/* Bytes of what is no character of XML 1.0 (section 2.2) at this place, 0: it is one. Texts are
 * UTF-8, which has no surrogates. */
static size_t odd(const char *c)
{
    const bool last = c[0] == '\xef' && c[1] == '\xbf' && (c[2] == '\xbe' || c[2] == '\xbf');
    const bool control = (unsigned char)*c < 0x20 && *c != '\t' && *c != '\n' && *c != '\r';

    return last ? 3 : control ? 1 : 0;
}

/* the entity of a character of an attribute, or NULL: it stands for itself */
static const char *entity(char c)
{
    switch (c) {
    case '\t':
        return "&#9;";
    case '\n':
        return "&#10;";
    case '\r':
        return "&#13;";
    default:
        return mechp_text_entity(c);
    }
}

void mechp_xml_text(struct mechp_text *w, const char *attribute, const char *value)
{
    name_of(w, attribute);
    for (const char *c = value; *c;) {
        const size_t none = odd(c);
        const char *const e = none ? " " : entity(*c);

        if (e) {
            put(w, e);
        } else {
            mechp_text_plain(w, c, 1);
        }
        c += none ? none : 1;
    }
    put(w, "\"");
}

void mechp_xml_true(struct mechp_text *w, const char *attribute, bool value)
{
    if (value) {
        mechp_xml_text(w, attribute, "true");
    }
}

void mechp_xml_integer(struct mechp_text *w, const char *attribute, int64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)value);
    mechp_xml_text(w, attribute, text);
}

void mechp_xml_reals(struct mechp_text *w, const char *attribute, const double *values,
                     size_t count)
{
    name_of(w, attribute);
    for (size_t i = 0; i < count; i++) {
        char text[33] = " ";
        const size_t n = mechp_number_text(values[i], text + 1);

        mechp_text_plain(w, text + (i == 0), n + (i > 0));
    }
    put(w, "\"");
}

void mechp_xml_close(struct mechp_text *w)
{
    put(w, "/>\n");
}

void mechp_xml_inside(struct mechp_text *w)
{
    put(w, ">\n");
}

void mechp_xml_end(struct mechp_text *w, int level, const char *name)
{
    start(w, level);
    put(w, "</");
    put(w, name);
    put(w, ">\n");
}
