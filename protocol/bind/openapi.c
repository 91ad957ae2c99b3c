/* OpenAPI 3.1 of the daemon, printed from routes.def, codes.def, the shapes of bodies and the
 * schemas of models: the document around the operations (openapi_routes.c). Examples of answers are
 * what a daemon has answered (mechp_recorded).
 */
#include "protocol/bind/openapi.h"

#include "protocol/bind/schema.h"
#include "protocol/wire/codes.h"
#include "protocol/wire/wants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "#/components/schemas/";

/* --- types ----------------------------------------------------------------------------------- */

/* Of a number, " 1..9" or " 1..", as members; "": none. */
static void range(struct mechp_text *w, const char *text)
{
    const char *const most = strstr(text, "..");
    if (text[0] != '\0') {
        mechp_text_member_number(w, "minimum", strtod(text, NULL));
    }
    if (most != NULL && most[2] != '\0') {
        mechp_text_member_number(w, "maximum", strtod(most + 2, NULL));
    }
}

/* A single type without "|", "[]" or "{}", as members. */
static void base_type(struct mechp_text *w, const char *type, size_t length)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, type);
    if (name[0] == '@') {
        char ref[96];
        snprintf(ref, sizeof ref, "%s%s", prefix, name + 1);
        mechp_text_member_string(w, "$ref", ref);
    } else if (name[0] == '\'') {
        mechp_text_member_string(w, "type", "string");
        mechp_text_key(w, "const");
        mechp_text_string_n(w, name + 1, strlen(name) - 2);
    } else if (strcmp(name, "any") != 0) {
        const size_t word = strcspn(name, " ");
        mechp_text_key(w, "type");
        mechp_text_string_n(w, name, word);
        range(w, name + word);
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

/* A type of the small language (wire/row.h) as members of the open schema. */
static void write_type(struct mechp_text *w, const char *type, size_t length);

static void alternatives(struct mechp_text *w, const char *type, size_t length)
{
    const bool enumeration = all_constants(type, length);
    if (enumeration) {
        mechp_text_member_string(w, "type", "string");
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
    mechp_text_member_string(w, "type", array ? "array" : "object");
    mechp_text_key(w, array ? "items" : "additionalProperties");
    mechp_text_object(w);
    write_type(w, type, length - 2);
    mechp_text_end(w);
}

void mechp_openapi_schema(struct mechp_text *w, const char *type, size_t length)
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
    mechp_text_member_string(w, "description", s->doc);
    mechp_text_member_string(w, "type", "object");
    mechp_text_key(w, "properties");
    mechp_text_object(w);
    for (const struct mechp_member *m = s->members; m->name != NULL; m++) {
        mechp_text_key(w, m->name);
        mechp_text_object(w);
        mechp_text_member_string(w, "description", m->doc);
        write_type(w, m->type, strlen(m->type));
        mechp_text_end(w);
    }
    mechp_text_end(w);
    mechp_text_key(w, "required");
    mechp_text_array(w);
    for (const struct mechp_member *m = s->members; m->name != NULL; m++) {
        if (mechp_member_required(m)) {
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

/* --- the document ---------------------------------------------------------------------------- */

/* What is returned there beside outputs. */
static void write_wants(struct mechp_text *w, const char *name, enum mechp_wanted of)
{
    char doc[512] = "";
    for (int want = 0; want < MECHP_WANT_MEMBERS; want++) {
        const char *const one = mechp_want_name(want, of);
        const size_t n = strlen(doc);
        if (one != NULL) {
            snprintf(doc + n, sizeof doc - n, "%s%s: %s", n > 0 ? "; " : "", one,
                     mechp_want_doc(want, of));
        }
    }
    w->failed = w->failed || strlen(doc) == sizeof doc - 1; // cut
    mechp_text_key(w, name);
    mechp_text_object(w);
    mechp_text_member_string(w, "description", doc);
    mechp_text_member_string(w, "type", "string");
    mechp_text_key(w, "enum");
    mechp_text_array(w);
    for (int want = 0; want < MECHP_WANT_MEMBERS; want++) {
        if (mechp_want_name(want, of) != NULL) {
            mechp_text_string(w, mechp_want_name(want, of));
        }
    }
    mechp_text_end(w);
    mechp_text_end(w);
}

/* A value, what an input takes, its derivatives, what evaluate gives, and the problem. */
static void write_common(struct mechp_text *w)
{
    static const struct {
        const char *name;
        const char *json;
    } common[] = {
        {"Value", "{\"description\":\"A number, or a list with one number for each "
                  "component.\",\"anyOf\":[{\"type\":\"number\"},{\"type\":\"array\",\"items\":{"
                  "\"type\":\"number\"}}]}"},
        {"InputValue",
         "{\"description\":\"A value, or null for the value that the model "
         "has.\",\"anyOf\":[{\"$ref\":\"#/components/schemas/Value\"},{\"type\":\"null\"}]}"},
        {"Derivatives", "{\"description\":\"The first time derivative as a number, or a list of "
                        "the first and second time derivative, each a "
                        "value.\",\"anyOf\":[{\"type\":\"number\"},{\"type\":\"array\","
                        "\"maxItems\":2,\"items\":{\"$ref\":\"#/components/schemas/Value\"}}]}"},
        {"Problem",
         "{\"description\":\"The reason why a request was refused (RFC "
         "9457).\",\"type\":\"object\",\"properties\":{\"type\":{\"type\":\"string\"},\"title\":{"
         "\"type\":\"string\"},\"status\":{\"type\":\"integer\"},\"code\":{\"$ref\":\"#/components/"
         "schemas/Code\"},\"number\":{\"description\":\"number of the code, as in `status` of "
         "binary "
         "frames\",\"type\":\"integer\"},\"detail\":{\"type\":\"string\"},\"errors\":{\"type\":"
         "\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"pointer\":{\"description\":"
         "\"JSON pointer (RFC 6901) into the "
         "request\",\"type\":\"string\"},\"message\":{\"type\":\"string\"}},\"required\":["
         "\"pointer\",\"message\"]}},\"moreErrors\":{\"description\":\"number of errors beyond "
         "those listed\",\"type\":\"integer\"},\"report\":{\"description\":\"report of the step, "
         "or of the step of a coupling, that "
         "failed\",\"anyOf\":[{\"$ref\":\"#/components/schemas/Report\"},{\"$ref\":\"#/components/"
         "schemas/CouplingReport\"}]},\"quota\":{\"description\":\"the quota that is used "
         "up\",\"type\":\"object\",\"properties\":{\"which\":{\"type\":\"string\"},\"used\":{"
         "\"type\":\"number\"},\"limit\":{\"type\":\"number\"}},\"required\":[\"which\",\"used\","
         "\"limit\"]}},\"required\":[\"type\",\"title\",\"status\",\"code\",\"number\"]}"},
    };
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
        mechp_text_key(w, common[i].name);
        mechp_text_raw(w, common[i].json, strlen(common[i].json));
    }
    write_wants(w, "CouplingWant", MECHP_WANTED_COUPLING);
    write_wants(w, "StepWant", MECHP_WANTED_STEP);
    mechp_text_key(w, "Want");
    mechp_text_object(w);
    mechp_text_member_string(w, "description", "A quantity that POST …/evaluate can return.");
    mechp_text_member_string(w, "type", "string");
    mechp_text_key(w, "enum");
    mechp_text_array(w);
    for (const char *const *name = mech_want_names; *name != NULL; name++) {
        mechp_text_string(w, *name);
    }
    mechp_text_end(w);
    mechp_text_end(w);
    mechp_text_key(w, "Code");
    mechp_text_object(w);
    mechp_text_member_string(w, "description", "Stable code of an error.");
    mechp_text_member_string(w, "type", "string");
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

/* Headers of requests, by the name of the component. */
static const char header_parameters[] =
    "{\"IfMatch\":{\"name\":\"If-Match\",\"in\":\"header\",\"required\":false,\"description\":"
    "\"ETag that the instance must have, or a list of ETags, or `*`. With `*` in place of the "
    "revision, as in `\\\"6b02756300001.*\\\"`, any revision of this instance matches, and of no "
    "other under the same id. If it has none of them, the request is refused with "
    "412.\",\"schema\":{\"type\":\"string\"},\"example\":\"*\"},\"IdempotencyKey\":{\"name\":"
    "\"Idempotency-Key\",\"in\":\"header\",\"required\":false,\"description\":\"The request is "
    "executed once for this key (with this token, method and path); for 24 hours a repetition "
    "returns the first response. Only successful responses are "
    "stored.\",\"schema\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":255},\"example\":"
    "\"a4c0f1\"},\"Prefer\":{\"name\":\"Prefer\",\"in\":\"header\",\"required\":false,"
    "\"description\":\"`respond-async`: a request that cannot be answered immediately returns 202 "
    "and continues in the "
    "background.\",\"schema\":{\"type\":\"string\"},\"example\":\"respond-async\"},\"Lease\":{"
    "\"name\":\"Lease\",\"in\":\"header\",\"required\":false,\"description\":\"Number of the lease "
    "that the client holds. While the instance has an owner, requests that change it are refused "
    "with 409 unless they carry the owner's "
    "lease.\",\"schema\":{\"type\":\"string\",\"pattern\":\"^[0-9]+$\"},\"example\":\"0\"},"
    "\"IfNoneMatch\":{\"name\":\"If-None-Match\",\"in\":\"header\",\"required\":false,"
    "\"description\":\"ETag of the client's cached "
    "copy.\",\"schema\":{\"type\":\"string\"},\"example\":\"\\\"0\\\"\"},\"Traceparent\":{\"name\":"
    "\"traceparent\",\"in\":\"header\",\"required\":false,\"description\":\"W3C trace context; "
    "recorded in the access "
    "log.\",\"schema\":{\"type\":\"string\"},\"example\":\"00-4bf92f3577b34da6a3ce929d0e0e4736-"
    "00f067aa0ba902b7-01\"}}";

/* Headers, the token, and what any route answers when the server fails. */
static void write_components(struct mechp_text *w)
{
    static const char headers[] =
        "{\"ETag\":{\"description\":\"`incarnation.revision` of the instance. The incarnation "
        "differs for every instance, also under the same id; the revision increases with every "
        "acknowledged "
        "change.\",\"schema\":{\"type\":\"string\"}},\"FileETag\":{\"description\":\"Computed from "
        "the content of the "
        "file.\",\"schema\":{\"type\":\"string\"}},\"Location\":{\"description\":\"URL of the "
        "resource.\",\"schema\":{\"type\":\"string\"}},\"PreferenceApplied\":{\"description\":\"`"
        "respond-async`: the preference was "
        "applied.\",\"schema\":{\"type\":\"string\"}},\"RetryAfter\":{\"description\":\"Seconds to "
        "wait before a "
        "retry.\",\"schema\":{\"type\":\"integer\"}},\"Traceparent\":{\"description\":\"The "
        "request's trace with a span of this server, or a new "
        "trace.\",\"schema\":{\"type\":\"string\"}},\"WwwAuthenticate\":{\"description\":\"`Bearer`"
        ".\",\"schema\":{\"type\":\"string\"}}}";
    static const char accepted[] =
        "{\"description\":\"The request continues in the background, as the client preferred; "
        "Location is the URL of its "
        "status.\",\"headers\":{\"Location\":{\"$ref\":\"#/components/headers/"
        "Location\"},\"Preference-Applied\":{\"$ref\":\"#/components/headers/"
        "PreferenceApplied\"},\"traceparent\":{\"$ref\":\"#/components/headers/"
        "Traceparent\"}},\"content\":{\"application/json\":{\"schema\":{\"$ref\":\"#/components/"
        "schemas/"
        "Operation\"},\"example\":{\"id\":\"o-1\",\"operation\":\"step\",\"state\":\"running\"}}}}";
    static const char unmodified[] =
        "{\"description\":\"The client's cached copy is "
        "current.\",\"headers\":{\"ETag\":{\"$ref\":\"#/components/headers/"
        "FileETag\"},\"traceparent\":{\"$ref\":\"#/components/headers/Traceparent\"}}}";
    static const char failure[] =
        "{\"description\":\"The server failed: `internal-error` or `out-of-memory`. Nothing was "
        "changed.\",\"content\":{\"application/problem+json\":{\"schema\":{\"$ref\":\"#/components/"
        "schemas/Problem\"}}}}";
    static const char security[] =
        "{\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\",\"description\":\"A token of the "
        "server's token file. Each scope includes the ones before it: `read` changes nothing; "
        "`step` creates, steps, changes and deletes instances; `fmu` uploads FMUs; `admin` changes "
        "the server. A server without a token file requires no token.\"}}";
    mechp_openapi_raw(w, "parameters", header_parameters);
    mechp_openapi_raw(w, "headers", headers);
    mechp_text_key(w, "responses");
    mechp_text_object(w);
    mechp_openapi_raw(w, "Accepted", accepted);
    mechp_openapi_raw(w, "NotModified", unmodified);
    mechp_openapi_raw(w, "Failure", failure);
    mechp_openapi_refusals(w);
    mechp_text_end(w);
    mechp_openapi_raw(w, "securitySchemes", security);
    mechp_text_key(w, "examples");
    mechp_text_object(w);
    for (int i = 0; mechp_code_at(i) != NULL; i++) {
        const struct mechp_code_info *const info = mechp_code_at(i);
        const char *const recorded = mechp_recorded("problem", info->text);
        if (recorded != NULL && mechp_openapi_refuses((int)info->code)) {
            mechp_text_key(w, info->text);
            mechp_text_object(w);
            mechp_text_member_string(w, "summary", info->title);
            mechp_openapi_raw(w, "value", recorded);
            mechp_text_end(w);
        }
    }
    mechp_text_end(w);
}

static void write_tags(struct mechp_text *w)
{
    mechp_text_key(w, "tags");
    mechp_text_array(w);
    for (const struct mechp_tag *tag = mechp_tags; tag->name != NULL; tag++) {
        mechp_text_object(w);
        mechp_text_member_string(w, "name", tag->name);
        mechp_text_member_string(w, "description", tag->doc);
        mechp_text_end(w);
    }
    mechp_text_end(w);
}

void mechp_bind_openapi(struct mechp_text *w)
{
    static const char info[] =
        "{\"title\":\"mechd\",\"version\":\"" MECHD_VERSION
        "\",\"summary\":\"Co-simulation of mechanics\",\"description\":\"Hosts instances of "
        "multibody, linear and nonsmooth models and steps them. Units are SI units, angles are in "
        "radians.\\n\\nIn a model, a string that begins with `=` is an expression in the "
        "parameters; it is allowed wherever an item takes a number: `\\\"stiffness\\\": "
        "\\\"=2*k\\\"`; expressions of loads may also use the time `t`. Parameters themselves are "
        "numbers.\\n\\nEvery refused request returns a problem (RFC 9457) with a stable `code`; "
        "all errors of a body are reported together, each with its JSON pointer. HEAD is supported "
        "wherever GET is. An unknown path returns 404 (`route-not-found`), an unsupported method "
        "405 (`method-not-allowed`, with `Allow`). A request that does not arrive in time returns "
        "408 (`request-timeout`); beyond the limit of connections, every route except the probes "
        "returns 503 (`too-many-connections`). GET and DELETE take no body. Text of 8 KiB or more "
        "is compressed for clients that accept gzip.\\n\\nRoutes with `x-zeromq-operation` are "
        "also available as JSON over ZeroMQ and the lane, under that "
        "name.\",\"license\":{\"name\":\"MIT\",\"identifier\":\"MIT\"}}";
    static const char servers[] = "[{\"url\":\"/\",\"description\":\"This server\"}]";
    mechp_text_object(w);
    mechp_text_member_string(w, "openapi", "3.1.0");
    mechp_openapi_raw(w, "info", info);
    mechp_openapi_raw(w, "servers", servers);
    write_tags(w);
    mechp_openapi_paths(w);
    mechp_text_key(w, "components");
    mechp_text_object(w);
    write_components(w);
    mechp_text_key(w, "schemas");
    mechp_text_object(w);
    write_common(w);
    for (int i = 0; mechp_shape_at(i) != NULL; i++) {
        write_shape(w, mechp_shape_at(i));
    }
    mechp_schema_definitions(w, prefix);
    mechp_schema_problem(w, prefix);
    mechp_text_end(w);
    mechp_text_end(w);
    mechp_text_end(w);
}
