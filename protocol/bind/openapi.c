/* OpenAPI 3.1 of the daemon, printed from routes.def, codes.def, the shapes of bodies and the
 * schemas of models. One operation a route: path parameters from the template, the body, the reply,
 * and for each HTTP status the codes that it can come with.
 */
#include "protocol/bind/schema.h"
#include "protocol/bind/shapes.h"
#include "protocol/wire/codes.h"
#include "protocol/wire/routes.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char prefix[] = "#/components/schemas/";

/* --- types ----------------------------------------------------------------------------------- */

static void write_type(struct mechp_text *w, const char *type, size_t length);

/* A single type without "|", "[]" or "{}", as members. */
static void base_type(struct mechp_text *w, const char *type, size_t length)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, type);
    if (name[0] == '@') {
        char ref[96];
        snprintf(ref, sizeof ref, "%s%s", prefix, name + 1);
        mechp_schema_text(w, "$ref", ref);
    } else if (name[0] == '\'') {
        mechp_text_key(w, "const");
        mechp_text_string_n(w, name + 1, strlen(name) - 2);
    } else if (strcmp(name, "any") != 0) {
        mechp_schema_text(w, "type", name);
    }
}

/* True when all alternatives are constants: an enumeration. */
static bool all_constants(const char *type, size_t length)
{
    bool start = true;
    bool all = true;
    for (size_t i = 0; i < length; i++) {
        all = all && (!start || type[i] == '\'');
        start = type[i] == '|';
    }
    return all && length > 0 && type[length - 1] == '\'';
}

static void alternatives(struct mechp_text *w, const char *type, size_t length)
{
    const bool enumeration = all_constants(type, length);
    if (enumeration) {
        mechp_schema_text(w, "type", "string");
    }
    mechp_text_key(w, enumeration ? "enum" : "anyOf");
    mechp_text_array(w);
    size_t start = 0;
    while (start < length) {
        const char *const bar = memchr(type + start, '|', length - start);
        const size_t end = bar == NULL ? length : (size_t)(bar - type);
        if (enumeration) {
            mechp_text_string_n(w, type + start + 1, end - start - 2);
        } else {
            mechp_text_object(w);
            write_type(w, type + start, end - start);
            mechp_text_end(w);
        }
        start = end + 1;
    }
    mechp_text_end(w);
}

/* A type of the small language (shapes.h) as members of the open schema. */
static void write_type(struct mechp_text *w, const char *type, size_t length)
{
    if (memchr(type, '|', length) != NULL) {
        alternatives(w, type, length);
        return;
    }
    const bool array = length > 2 && memcmp(type + length - 2, "[]", 2) == 0;
    const bool map = length > 2 && memcmp(type + length - 2, "{}", 2) == 0;
    if (!array && !map) {
        base_type(w, type, length);
        return;
    }
    mechp_schema_text(w, "type", array ? "array" : "object");
    mechp_text_key(w, array ? "items" : "additionalProperties");
    mechp_text_object(w);
    write_type(w, type, length - 2);
    mechp_text_end(w);
}

static void schema_member(struct mechp_text *w, const char *type, size_t length)
{
    mechp_text_key(w, "schema");
    mechp_text_object(w);
    write_type(w, type, length);
    mechp_text_end(w);
}

static void write_shape(struct mechp_text *w, const struct mechp_shape *s)
{
    mechp_text_key(w, s->name);
    mechp_text_object(w);
    mechp_schema_text(w, "description", s->doc);
    mechp_schema_text(w, "type", "object");
    mechp_text_key(w, "properties");
    mechp_text_object(w);
    for (const struct mechp_shape_member *m = s->members; m->name != NULL; m++) {
        mechp_text_key(w, m->name);
        mechp_text_object(w);
        mechp_schema_text(w, "description", m->doc);
        write_type(w, m->type, strlen(m->type));
        mechp_text_end(w);
    }
    mechp_text_end(w);
    mechp_text_key(w, "required");
    mechp_text_array(w);
    for (const struct mechp_shape_member *m = s->members; m->name != NULL; m++) {
        if (m->required) {
            mechp_text_string(w, m->name);
        }
    }
    mechp_text_end(w);
    if (s->request) {
        mechp_text_key(w, "additionalProperties");
        mechp_text_bool(w, false);
    }
    mechp_text_end(w);
}

/* --- operations ------------------------------------------------------------------------------ */

static void parameter(struct mechp_text *w, const char *name, size_t length, const char *in,
                      const char *type, size_t type_length)
{
    mechp_text_object(w);
    mechp_text_key(w, "name");
    mechp_text_string_n(w, name, length);
    mechp_schema_text(w, "in", in);
    mechp_text_key(w, "required");
    mechp_text_bool(w, strcmp(in, "path") == 0);
    schema_member(w, type, type_length);
    mechp_text_end(w);
}

/* Path parameters of the template, then those of the query. */
static void write_parameters(struct mechp_text *w, const char *path, const char *query)
{
    mechp_text_key(w, "parameters");
    mechp_text_array(w);
    for (const char *at = strchr(path, '{'); at != NULL; at = strchr(at + 1, '{')) {
        parameter(w, at + 1, strcspn(at, "}") - 1, "path", "@Name", 5);
    }
    while (query != NULL && *query != '\0') {
        const size_t name = strcspn(query, ":");
        const size_t type = strcspn(query + name + 1, " ");
        parameter(w, query, name, "query", query + name + 1, type);
        query += name + 1 + type;
        query += *query == ' ' ? 1 : 0;
    }
    mechp_text_end(w);
}

/* Example of the shape that a type refers to first, or NULL. */
static const char *example_of(const char *type)
{
    const size_t length = strcspn(type, "|");
    for (const struct mechp_shape *s = mechp_shapes; s->name != NULL; s++) {
        if (type[0] == '@' && strlen(s->name) == length - 1 &&
            strncmp(s->name, type + 1, length - 1) == 0) {
            return s->example;
        }
    }
    return NULL;
}

static void write_request(struct mechp_text *w, const struct mechp_route_doc *d)
{
    mechp_text_key(w, "requestBody");
    mechp_text_object(w);
    mechp_text_key(w, "required");
    mechp_text_bool(w, !d->optional);
    mechp_text_key(w, "content");
    mechp_text_object(w);
    mechp_text_key(w, "application/json");
    mechp_text_object(w);
    schema_member(w, d->request, strlen(d->request));
    const char *const example = example_of(d->request);
    if (example != NULL) {
        mechp_text_key(w, "example");
        mechp_text_raw(w, example, strlen(example));
    }
    mechp_text_end(w);
    if (d->takes != NULL) {
        mechp_text_key(w, d->takes);
        mechp_text_object(w);
        mechp_text_end(w);
    }
    mechp_text_end(w);
    mechp_text_end(w);
}

/* Other media types of a reply, as bytes or text. */
static void write_others(struct mechp_text *w, const char *types)
{
    for (const char *at = types; at != NULL && *at != '\0';) {
        char type[64];
        const size_t length = strcspn(at, " ");
        snprintf(type, sizeof type, "%.*s", (int)length, at);
        mechp_text_key(w, type);
        mechp_text_object(w);
        if (strncmp(type, "text/", 5) == 0) {
            schema_member(w, "string", 6);
        }
        mechp_text_end(w);
        at += length + (at[length] == ' ');
    }
}

static void write_success(struct mechp_text *w, const struct mechp_route_doc *d)
{
    char status[16];
    snprintf(status, sizeof status, "%d", d->status);
    mechp_text_key(w, status);
    mechp_text_object(w);
    mechp_schema_text(w, "description",
                      d->status == 201   ? "created"
                      : d->status == 202 ? "accepted"
                      : d->status == 204 ? "done, nothing to say"
                                         : "success");
    if (d->status == 201) {
        static const char location[] = "{\"Location\":{\"description\":\"where it is now\","
                                       "\"schema\":{\"type\":\"string\"}}}";
        mechp_text_key(w, "headers");
        mechp_text_raw(w, location, sizeof location - 1);
    }
    if (d->content != NULL) {
        mechp_text_key(w, "content");
        mechp_text_object(w);
        mechp_text_key(w, d->content);
        mechp_text_object(w);
        if (d->reply != NULL) {
            schema_member(w, d->reply, strlen(d->reply));
        } else if (strncmp(d->content, "text/", 5) == 0) {
            schema_member(w, "string", 6);
        }
        mechp_text_end(w);
        write_others(w, d->also);
        mechp_text_end(w);
    }
    mechp_text_end(w);
}

/* Codes that a route can answer with, by what kind of route it is. */
static size_t collect_codes(const struct mechp_route *route, const struct mechp_route_doc *d,
                            int codes[32])
{
    size_t n = 0;
    const bool get = strcmp(route->method, "GET") == 0;
    const bool instance = strncmp(route->path, "/v1/instances/{id}", 18) == 0;
    codes[n++] = MECHP_MALFORMED_REQUEST;
    if (d->request != NULL) {
        codes[n++] = MECHP_MALFORMED_JSON;
        codes[n++] = MECHP_INVALID_REQUEST;
        codes[n++] = MECHP_BODY_TOO_LARGE;
        codes[n++] = MECHP_MEDIA_TYPE;
    }
    if (strchr(route->path, '{') != NULL) {
        codes[n++] = instance ? MECHP_INSTANCE_NOT_FOUND : MECHP_NOT_FOUND;
    }
    if (instance && strchr(route->path + 18, '{') != NULL) {
        codes[n++] = MECHP_NOT_FOUND;
    }
    if (instance) {
        codes[n++] = MECHP_QUEUE_FULL;
    }
    if (instance && !get) {
        codes[n++] = MECHP_RUN_IN_PROGRESS;
        codes[n++] = MECHP_FOREIGN_LEASE;
        codes[n++] = MECHP_REVISION_MISMATCH;
    }
    for (const int *code = d->codes; code != NULL && *code != 0 && n < 30; code++) {
        codes[n++] = *code;
    }
    codes[n++] = MECHP_INTERNAL;
    codes[n++] = MECHP_DRAINING;
    return n;
}

/* One response for each HTTP status, naming its codes. */
static void write_failures(struct mechp_text *w, const int *codes, size_t n)
{
    for (int status = 400; status < 600; status++) {
        char text[600] = "";
        size_t used = 0;
        for (size_t i = 0; i < n; i++) {
            const struct mechp_code_info *const info = mechp_code(codes[i]);
            const bool again = strstr(text, info->text) != NULL;
            if (info->http_status == status && !again && used + 100 < sizeof text) {
                used += (size_t)snprintf(text + used, sizeof text - used, "%s`%s`",
                                         used > 0 ? ", " : "", info->text);
            }
        }
        if (used == 0) {
            continue;
        }
        char key[16];
        snprintf(key, sizeof key, "%d", status);
        mechp_text_key(w, key);
        mechp_text_object(w);
        mechp_schema_text(w, "description", text);
        mechp_text_key(w, "content");
        mechp_text_object(w);
        mechp_text_key(w, "application/problem+json");
        mechp_text_object(w);
        schema_member(w, "@Problem", 8);
        mechp_text_end(w);
        mechp_text_end(w);
        mechp_text_end(w);
    }
}

/* "GET_STATE" as "getState". */
static void camel(const char *symbol, char *out, size_t size)
{
    size_t used = 0;
    bool upper = false;
    for (; *symbol != '\0' && used + 1 < size; symbol++) {
        if (*symbol == '_') {
            upper = true;
            continue;
        }
        out[used++] = (char)(upper ? *symbol : tolower((unsigned char)*symbol));
        upper = false;
    }
    out[used] = '\0';
}

#define MECHP_ROUTE(symbol, method, path, operation, summary) #symbol,
static const char *const symbols[] = {
#include "protocol/wire/routes.def"
};
#undef MECHP_ROUTE

static const char *tag_of(const char *path)
{
    if (strncmp(path, "/v1/instances", 13) == 0) {
        return "instances";
    }
    return strncmp(path, "/v1", 3) == 0 ? "server" : "operation";
}

static void write_operation(struct mechp_text *w, const struct mechp_route *route)
{
    const struct mechp_route_doc *const d = mechp_route_doc((int)route->id);
    char method[16];
    char id[64];
    snprintf(method, sizeof method, "%s", route->method);
    for (char *c = method; *c != '\0'; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
    camel(symbols[route->id], id, sizeof id);
    mechp_text_key(w, method);
    mechp_text_object(w);
    mechp_schema_text(w, "operationId", id);
    mechp_schema_text(w, "summary", route->summary);
    mechp_text_key(w, "tags");
    mechp_text_array(w);
    mechp_text_string(w, tag_of(route->path));
    mechp_text_end(w);
    if (route->operation[0] != '\0') {
        mechp_schema_text(w, "x-zeromq-operation", route->operation);
    }
    write_parameters(w, route->path, d->query);
    if (d->request != NULL && strcmp(route->method, "GET") != 0) {
        write_request(w, d);
    }
    mechp_text_key(w, "responses");
    mechp_text_object(w);
    write_success(w, d);
    int codes[32];
    write_failures(w, codes, collect_codes(route, d, codes));
    mechp_text_end(w);
    mechp_text_end(w);
}

static void write_paths(struct mechp_text *w)
{
    mechp_text_key(w, "paths");
    mechp_text_object(w);
    const char *open = "";
    // routes of one path stand together
    for (int i = 0; mechp_route_at(i) != NULL; i++) {
        const struct mechp_route *const route = mechp_route_at(i);
        if (strcmp(route->path, open) != 0) {
            if (open[0] != '\0') {
                mechp_text_end(w);
            }
            mechp_text_key(w, route->path);
            mechp_text_object(w);
            open = route->path;
        }
        write_operation(w, route);
    }
    if (open[0] != '\0') {
        mechp_text_end(w);
    }
    mechp_text_end(w);
}

/* --- the document ---------------------------------------------------------------------------- */

/* A value, what an input takes, its derivatives, what evaluate gives, and the problem. */
static void write_common(struct mechp_text *w)
{
    static const struct {
        const char *name;
        const char *json;
    } common[] = {
        {"Value", "{\"description\":\"A number, or one for each component.\","
                  "\"anyOf\":[{\"type\":\"number\"},{\"type\":\"array\",\"items\":{\"type\":"
                  "\"number\"}}]}"},
        {"InputValue",
         "{\"description\":\"A value, or null: given back to the model.\","
         "\"anyOf\":[{\"$ref\":\"#/components/schemas/Value\"},{\"type\":\"null\"}]}"},
        {"Derivatives", "{\"description\":\"First and second time derivative, each a value.\","
                        "\"anyOf\":[{\"type\":\"number\"},{\"type\":\"array\",\"maxItems\":2,"
                        "\"items\":{\"$ref\":\"#/components/schemas/Value\"}}]}"},
        {"Problem",
         "{\"description\":\"Why a request was refused (RFC 9457).\",\"type\":\"object\","
         "\"properties\":{\"type\":{\"type\":\"string\"},\"title\":{\"type\":\"string\"},"
         "\"status\":{\"type\":\"integer\"},\"code\":{\"$ref\":\"#/components/schemas/Code\"},"
         "\"number\":{\"description\":\"the status of binary frames\",\"type\":\"integer\"},"
         "\"detail\":{\"type\":\"string\"},\"errors\":{\"type\":\"array\",\"items\":{\"type\":"
         "\"object\",\"properties\":{\"pointer\":{\"description\":\"RFC 6901\",\"type\":"
         "\"string\"},\"message\":{\"type\":\"string\"}},\"required\":[\"pointer\",\"message\"]}},"
         "\"moreErrors\":{\"description\":\"faults beyond those listed\",\"type\":\"integer\"},"
         "\"report\":{\"$ref\":\"#/components/schemas/Report\"}},"
         "\"required\":[\"type\",\"title\",\"status\",\"code\",\"number\"]}"},
    };
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
        mechp_text_key(w, common[i].name);
        mechp_text_raw(w, common[i].json, strlen(common[i].json));
    }
    mechp_text_key(w, "Want");
    mechp_text_object(w);
    mechp_schema_text(w, "description", "A quantity of evaluate.");
    mechp_schema_text(w, "type", "string");
    mechp_text_key(w, "enum");
    mechp_text_array(w);
    for (const char *const *name = mech_want_names; *name != NULL; name++) {
        mechp_text_string(w, *name);
    }
    mechp_text_end(w);
    mechp_text_end(w);
    mechp_text_key(w, "Code");
    mechp_text_object(w);
    mechp_schema_text(w, "description", "What went wrong.");
    mechp_schema_text(w, "type", "string");
    mechp_text_key(w, "enum");
    mechp_text_array(w);
    for (int i = 0; mechp_code_at(i) != NULL; i++) {
        if (mechp_code_at(i)->code != MECHP_OK) {
            mechp_text_string(w, mechp_code_at(i)->text);
        }
    }
    mechp_text_end(w);
    mechp_text_end(w);
}

void mechp_bind_openapi(struct mechp_text *w)
{
    static const char info[] =
        "{\"title\":\"mechd\",\"version\":\"" MECHD_VERSION "\",\"summary\":"
        "\"Co-simulation of mechanics\",\"description\":\"Multibody, linear and nonsmooth models "
        "as instances that are stepped. SI units, radians. Errors are problems (RFC 9457) with a "
        "stable code. The same operations are reached as JSON over ZeroMQ.\",\"license\":{\"name\":"
        "\"MIT\",\"identifier\":\"MIT\"}}";
    static const char servers[] = "[{\"url\":\"/\",\"description\":\"this server\"}]";
    static const char tags[] =
        "[{\"name\":\"instances\",\"description\":\"Instances of models and what is done with "
        "them\"},{\"name\":\"server\",\"description\":\"What this server knows\"},{\"name\":"
        "\"operation\",\"description\":\"Page, documents, probes\"}]";
    mechp_text_object(w);
    mechp_schema_text(w, "openapi", "3.1.0");
    mechp_text_key(w, "info");
    mechp_text_raw(w, info, sizeof info - 1);
    mechp_text_key(w, "servers");
    mechp_text_raw(w, servers, sizeof servers - 1);
    mechp_text_key(w, "security");
    mechp_text_raw(w, "[]", 2);
    mechp_text_key(w, "tags");
    mechp_text_raw(w, tags, sizeof tags - 1);
    write_paths(w);
    mechp_text_key(w, "components");
    mechp_text_object(w);
    mechp_text_key(w, "schemas");
    mechp_text_object(w);
    write_common(w);
    for (const struct mechp_shape *s = mechp_shapes; s->name != NULL; s++) {
        write_shape(w, s);
    }
    mechp_schema_definitions(w, prefix);
    mechp_schema_problem(w, prefix);
    mechp_text_end(w);
    mechp_text_end(w);
    mechp_text_end(w);
}
