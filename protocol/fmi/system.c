/* SystemStructure.ssd and its parameter set. */
#include "protocol/fmi/system.h"

#include "protocol/fmi/xml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMESPACE "http://ssp-standard.org/SSP1/SystemStructure"

static const char *const types[] = {"Real", "Integer", "Boolean"};

/* Declaration and root, up to its end. */
static void write_root(struct mechp_text *w, const char *element, const char *prefix,
                       const char *space, const char *name)
{
    static const char declaration[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    char attribute[16];

    mechp_text_plain(w, declaration, sizeof declaration - 1);
    mechp_xml_open(w, 0, element);
    snprintf(attribute, sizeof attribute, "xmlns:%s", prefix);
    mechp_xml_text(w, attribute, space);
    mechp_xml_text(w, "xmlns:ssc", NAMESPACE "Common");
    mechp_xml_text(w, "version", "1.0");
    mechp_xml_text(w, "name", name);
    mechp_xml_text(w, "generationTool", "mechd " MECHD_VERSION);
    mechp_xml_inside(w);
}

/* An element without attributes and what is in it begins. */
static void begin(struct mechp_text *w, int level, const char *element)
{
    mechp_xml_open(w, level, element);
    mechp_xml_inside(w);
}

static void write_connector(const struct mechp_system_connector *c, struct mechp_text *w)
{
    static const char *const kinds[] = {"input", "output", "parameter"};
    char type[16];

    mechp_xml_open(w, 5, "ssd:Connector");
    mechp_xml_text(w, "name", c->name);
    mechp_xml_text(w, "kind", kinds[c->port]);
    mechp_xml_inside(w);
    snprintf(type, sizeof type, "ssc:%s", types[c->type]);
    mechp_xml_open(w, 6, type);
    mechp_xml_close(w);
    mechp_xml_end(w, 5, "ssd:Connector");
}

static void write_component(const struct mechp_system_component *c, struct mechp_text *w)
{
    mechp_xml_open(w, 3, "ssd:Component");
    mechp_xml_text(w, "name", c->name);
    mechp_xml_text(w, "type", "application/x-fmu-sharedlibrary");
    mechp_xml_text(w, "source", c->source);
    mechp_xml_text(w, "implementation", "CoSimulation");
    mechp_xml_inside(w);
    if (c->connector_count > 0) {
        begin(w, 4, "ssd:Connectors");
        for (size_t k = 0; k < c->connector_count; k++) {
            write_connector(&c->connectors[k], w);
        }
        mechp_xml_end(w, 4, "ssd:Connectors");
    }
    mechp_xml_end(w, 3, "ssd:Component");
}

static void write_connection(const struct mechp_system *s, const struct mechp_system_connection *c,
                             struct mechp_text *w)
{
    mechp_xml_open(w, 3, "ssd:Connection");
    mechp_xml_text(w, "startElement", s->components[c->from].name);
    mechp_xml_text(w, "startConnector", c->output);
    mechp_xml_text(w, "endElement", s->components[c->to].name);
    mechp_xml_text(w, "endConnector", c->input);
    mechp_xml_true(w, "suppressUnitConversion", true);
    if (c->factor == 1. && c->offset == 0.) {
        mechp_xml_close(w);
        return;
    }
    mechp_xml_inside(w);
    mechp_xml_open(w, 4, "ssc:LinearTransformation");
    mechp_xml_reals(w, "factor", &c->factor, 1);
    mechp_xml_reals(w, "offset", &c->offset, 1);
    mechp_xml_close(w);
    mechp_xml_end(w, 3, "ssd:Connection");
}

/* Of the description itself. */
static void write_annotations(const struct mechp_system *s, struct mechp_text *w)
{
    begin(w, 1, "ssd:Annotations");
    mechp_xml_open(w, 2, "ssc:Annotation");
    mechp_xml_text(w, "type", "mechd.coupling");
    mechp_xml_inside(w);
    mechp_xml_open(w, 3, "mechd:Coupling");
    mechp_xml_text(w, "xmlns:mechd", "urn:mechd:coupling");
    mechp_xml_text(w, "settings", s->settings);
    mechp_xml_close(w);
    mechp_xml_end(w, 2, "ssc:Annotation");
    mechp_xml_end(w, 1, "ssd:Annotations");
}

void mechp_system_description(const struct mechp_system *s, struct mechp_text *w)
{
    static const char root[] = "ssd:SystemStructureDescription";

    write_root(w, root, "ssd", NAMESPACE "Description", s->name);
    mechp_xml_open(w, 1, "ssd:System");
    mechp_xml_text(w, "name", "system");
    mechp_xml_inside(w);
    begin(w, 2, "ssd:ParameterBindings");
    mechp_xml_open(w, 3, "ssd:ParameterBinding");
    mechp_xml_text(w, "source", MECHP_SYSTEM_VALUES);
    mechp_xml_close(w);
    mechp_xml_end(w, 2, "ssd:ParameterBindings");
    begin(w, 2, "ssd:Elements");
    for (size_t k = 0; k < s->component_count; k++) {
        write_component(&s->components[k], w);
    }
    mechp_xml_end(w, 2, "ssd:Elements");
    if (s->connection_count > 0) {
        begin(w, 2, "ssd:Connections");
        for (size_t k = 0; k < s->connection_count; k++) {
            write_connection(s, &s->connections[k], w);
        }
        mechp_xml_end(w, 2, "ssd:Connections");
    }
    mechp_xml_end(w, 1, "ssd:System");
    mechp_xml_open(w, 1, "ssd:DefaultExperiment");
    mechp_xml_reals(w, "startTime", &s->start_time, 1);
    mechp_xml_close(w);
    write_annotations(s, w);
    mechp_xml_end(w, 0, root);
}

/* One value, by the hierarchical name of its variable. */
static void write_value(const struct mechp_system_component *c,
                        const struct mechp_system_connector *v, struct mechp_text *w)
{
    const size_t length = strlen(c->name) + strlen(v->name) + 2;
    char *const name = malloc(length), type[16], number[24];

    if (!name) {
        w->failed = true;
        return;
    }
    snprintf(name, length, "%s.%s", c->name, v->name);
    snprintf(type, sizeof type, "ssv:%s", types[v->type]);
    mechp_xml_open(w, 2, "ssv:Parameter");
    mechp_xml_text(w, "name", name);
    free(name);
    mechp_xml_inside(w);
    mechp_xml_open(w, 3, type);
    if (v->type == MECHP_SYSTEM_REAL) {
        mechp_xml_reals(w, "value", &v->value, 1);
    } else if (v->type == MECHP_SYSTEM_INTEGER) {
        snprintf(number, sizeof number, "%.0f", v->value);
        mechp_xml_text(w, "value", number);
    } else {
        mechp_xml_text(w, "value", v->value != 0. ? "true" : "false");
    }
    mechp_xml_close(w);
    mechp_xml_end(w, 2, "ssv:Parameter");
}

void mechp_system_values(const struct mechp_system *s, struct mechp_text *w)
{
    static const char root[] = "ssv:ParameterSet";

    write_root(w, root, "ssv", NAMESPACE "ParameterValues", s->name);
    begin(w, 1, "ssv:Parameters");
    for (size_t k = 0; k < s->component_count; k++) {
        for (size_t i = 0; i < s->components[k].connector_count; i++) {
            if (s->components[k].connectors[i].has_value) {
                write_value(&s->components[k], &s->components[k].connectors[i], w);
            }
        }
    }
    mechp_xml_end(w, 1, "ssv:Parameters");
    mechp_xml_end(w, 0, root);
}
