/* GET /docs: the interface for people, printed from the tables that the daemon itself works with:
 * routes by tag with parameters, bodies, a call by curl, a recorded answer and refusals; error
 * codes. One HTML page without scripts, fonts or anything else from elsewhere. */
#include "protocol/bind/openapi.h"
#include "protocol/wire/codes.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "server/os/ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct mechp_text *w, const char *html)
{
    mechp_text_plain(w, html, strlen(html));
}

/* Text as HTML; text between backticks is code. */
static void text_n(struct mechp_text *w, const char *text, size_t length)
{
    bool code = false;
    for (size_t k = 0; k < length; k++) {
        const char *const entity = mechp_text_entity(text[k]);
        if (text[k] == '`') {
            code = !code;
            put(w, code ? "<code>" : "</code>");
        } else if (entity != NULL) {
            put(w, entity);
        } else {
            mechp_text_plain(w, text + k, 1);
        }
    }
    put(w, code ? "</code>" : "");
}

static void text(struct mechp_text *w, const char *string)
{
    text_n(w, string, strlen(string));
}

/* before, text, after */
static void wrap(struct mechp_text *w, const char *before, const char *string, const char *after)
{
    put(w, before);
    text(w, string);
    put(w, after);
}

static void number(struct mechp_text *w, int value)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%d", value);
    put(w, digits);
}

/* --- a call by curl -------------------------------------------------------------------------- */

/* What stands between slashes; an id as this process assigns it. */
static void part(struct mechp_text *w, const char *at, size_t length, const char *series)
{
    char id[MECHD_ID];
    snprintf(id, sizeof id, "%.*s", (int)length, at);
    if (mechd_id_takes_series(id)) {
        mechd_id_write(id[0], series, mechd_id_number(id[0], id), id);
        text(w, id);
    } else {
        text_n(w, at, length);
    }
}

/* Calls with their addresses. */
static void calls(struct mechp_text *w, const char *at, const char *series)
{
    while (*at != '\0') {
        const size_t n = strcspn(at, "/"), slash = at[n] == '/';
        part(w, at, n, series);
        put(w, slash ? "/" : "");
        at += n + slash;
    }
}

/* The example of a parameter, without the quotes of JSON. */
static void example(struct mechp_text *w, const struct mechp_parameter *p, const char *series)
{
    const size_t quote = p->example[0] == '"';
    part(w, p->example + quote, strlen(p->example) - 2 * quote, series);
}

/* JSON within the apostrophes of a shell. */
static void quoted(struct mechp_text *w, const char *json)
{
    for (size_t n; *json != '\0'; json += n) {
        n = strcspn(json, "'");
        text_n(w, json, n);
        if (json[n] == '\'') {
            put(w, "'\\''");
            n++;
        }
    }
}

/* The call's surroundings, if the row has none: none. */
static const struct mechp_shown *shown_of(const struct mechp_route *r)
{
    static const struct mechp_shown none;
    return r->row->shown != NULL ? r->row->shown : &none;
}

static void write_address(struct mechp_text *w, const struct mechp_route *r, const char *series)
{
    const char *const id = shown_of(r)->id;
    put(w, MECHP_SERVER);
    for (const char *at = r->path; *at != '\0';) {
        const size_t plain = strcspn(at, "{");
        text_n(w, at, plain);
        at += plain;
        if (*at == '{') {
            const size_t n = strcspn(at, "}");
            if (id != NULL && strncmp(at, "{id}", 4) == 0) {
                text(w, id);
            } else {
                example(w, mechp_path_parameter(at + 1, n - 1, r->path), series);
            }
            at += n + 1;
        }
    }
}

/* The name under which a call stores an answer of that type; NULL: it is text. */
static const char *file_of(const char *type)
{
    static const char *const files[][2] = {{"application/vnd.fmi", "model.fmu"},
                                           {"application/vnd.mechd.coupling", "coupling.mechd"},
                                           {"application/vnd.mechd.snapshot", "snapshot.mechd"},
                                           {"application/x-ssp-package", "coupling.ssp"}};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        if (strcmp(type, files[k][0]) == 0) {
            return files[k][1];
        }
    }
    return NULL;
}

static void write_curl(struct mechp_text *w, const struct mechp_route *r, const char *series)
{
    const struct mechp_shown *const set = shown_of(r);
    const struct mechp_row *const row = r->row;
    const struct mechp_shape *const body = row->body;
    const char *const usual = body != NULL && body->name != NULL ? "POST" : "GET";
    put(w, "<pre class=\"curl\">");
    calls(w, set->before == NULL ? "" : set->before, series);
    put(w, "curl ");
    if (strcmp(r->method, usual) != 0) {
        wrap(w, "-X ", r->method, " ");
    }
    if (row->content != NULL && strcmp(row->content, "text/event-stream") == 0) {
        put(w, "-N ");
    } else if (row->content != NULL && file_of(row->content) != NULL) {
        wrap(w, "-o ", file_of(row->content), " ");
    }
    put(w, (row->traits & MECHP_LIVE) != 0 ? "--max-time 2 " : "");
    wrap(w, "", set->options == NULL ? "" : set->options, "");
    if (set->body != NULL) {
        put(w, set->body);
    } else if (body != NULL && body->name != NULL) {
        put(w, "--json '");
        quoted(w, body->example == NULL ? "{}" : body->example);
        put(w, "' ");
    }
    write_address(w, r, series);
    wrap(w, "", set->after == NULL ? "" : set->after, "</pre>\n");
}

/* --- one route ------------------------------------------------------------------------------- */

/* A parameter of the path or the query. */
static void write_row(struct mechp_text *w, const struct mechp_parameter *p)
{
    wrap(w, "<tr><td><code>", p->name, "</code>");
    wrap(w, "<td>", p->doc, "");
    wrap(w, " <small>", p->type, "</small></tr>\n");
}

static void write_parameters(struct mechp_text *w, const struct mechp_route *r)
{
    if (mechp_query_count(r->row) == 0 && strchr(r->path, '{') == NULL) {
        return;
    }
    put(w, "<h4>Parameters of path and query</h4>\n<table>\n");
    for (const char *at = strchr(r->path, '{'); at != NULL; at = strchr(at + 1, '{')) {
        write_row(w, mechp_path_parameter(at + 1, strcspn(at, "}") - 1, r->path));
    }
    for (int q = 0; q < mechp_query_count(r->row); q++) {
        write_row(w, &r->row->query[q]);
    }
    put(w, "</table>\n");
}

static void write_body(struct mechp_text *w, const struct mechp_route *r)
{
    const struct mechp_row *const row = r->row;
    const struct mechp_shape *const s = row->body;
    if (s == NULL || s->name == NULL) {
        return;
    }
    put(w, row->optional ? "<h4>Body (optional)</h4>\n" : "<h4>Body</h4>\n");
    put(w, "<table>\n");
    for (const struct mechp_member *m = s->members; m->name != NULL; m++) {
        wrap(w, "<tr><td><code>", m->name, "</code><td>");
        wrap(w, mechp_member_required(m) ? "<b>required.</b> " : "", m->doc, "");
        wrap(w, " <small>", m->type, "</small></tr>\n");
    }
    put(w, "</table>\n");
}

static void write_answer(struct mechp_text *w, const struct mechp_route *r)
{
    const struct mechp_row *const row = r->row;
    const char *const recorded = mechp_recorded("reply", r->symbol);
    if (row->content != NULL) {
        wrap(w, "<p class=\"forms\">Response: <code>", row->content, "");
        wrap(w, row->also == NULL ? "" : " ", row->also == NULL ? "" : row->also, "</code></p>\n");
    }
    if (recorded != NULL) {
        wrap(w, "<details><summary>Example of a response</summary><pre>", recorded,
             "</pre></details>\n");
    }
}

static void write_refusals(struct mechp_text *w, const struct mechp_route *r)
{
    int codes[MECHP_ROUTE_CODES];
    const size_t n = mechp_route_codes(r, codes);
    put(w, "<details><summary>Errors</summary><p>");
    for (size_t k = 0; k < n; k++) {
        const char *const name = mechp_code(codes[k])->text;
        wrap(w, "<a href=\"#", name, "\">");
        wrap(w, "", name, "</a> ");
    }
    put(w, "</p></details>\n");
}

static void write_route(struct mechp_text *w, const struct mechp_route *r, const char *series)
{
    wrap(w, "<article id=\"", r->symbol, "\">\n<h3><b class=\"");
    wrap(w, "", r->method, "\">");
    wrap(w, "", r->method, "</b> <code>");
    wrap(w, "", r->path, "</code></h3>\n<p>");
    wrap(w, "<strong>", r->summary, ".</strong> ");
    wrap(w, "", r->row->doc, "</p>\n<p class=\"with\">");
    wrap(w, "scope: ", mechp_scope_names[mechp_route_scope(r)], "");
    if (r->operation[0] != '\0') {
        wrap(w, " &middot; over ZeroMQ: <code>", r->operation, "</code>");
    }
    put(w, "</p>\n");
    write_curl(w, r, series);
    write_parameters(w, r);
    write_body(w, r);
    write_answer(w, r);
    write_refusals(w, r);
    put(w, "</article>\n");
}

/* --- the page -------------------------------------------------------------------------------- */

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1d2430;--soft:#5b6675;--line:#dfe4ea;--back:#fff;"
    "--box:#f4f6f9;--link:#0b5cad}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#dde3ea;--soft:#98a4b3;--line:#303945;"
    "--back:#14181e;--box:#1d232b;--link:#7db8f5}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back)}\n"
    "a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}\n"
    "main{max-width:56rem;padding:1rem 2rem 6rem;margin-left:17rem}\n"
    "nav{position:fixed;top:0;bottom:0;width:17rem;overflow:auto;padding:1rem;font-size:13px;"
    "background:var(--box);border-right:1px solid var(--line)}\n"
    "nav summary{cursor:pointer;font-weight:600}nav a{display:block;margin-left:1rem;"
    "overflow-wrap:anywhere}\n"
    "code,pre{font:13px/1.45 ui-monospace,monospace}h3 code{font-size:15px;"
    "overflow-wrap:anywhere}\n"
    "h2{margin-top:3rem;border-bottom:2px solid var(--line)}\n"
    "h4{margin:.8rem 0 0;font-size:13px;color:var(--soft)}\n"
    "article{padding:.5rem 0 1rem;border-bottom:1px solid var(--line)}article p{margin:.4rem 0}\n"
    "h3{margin:.6rem 0 .2rem}h3 b{font:600 12px ui-monospace,monospace;color:#fff;"
    "background:#66707d;border-radius:4px;padding:2px 6px}\n"
    ".GET{background:#2c6e49!important}.POST{background:#0b5cad!important}"
    ".PUT,.PATCH{background:#8a5a00!important}.DELETE{background:#a3262a!important}\n"
    "pre{background:var(--box);border:1px solid var(--line);border-radius:6px;padding:.6rem;"
    "margin:.5rem 0;white-space:pre-wrap;overflow-wrap:anywhere;max-height:20rem;overflow:auto}\n"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;"
    "padding:.2rem .8rem .2rem 0;border-top:1px solid var(--line);overflow-wrap:anywhere}"
    "article td:first-child{width:12rem}\n"
    "small,.with,.forms{color:var(--soft);font-size:13px}summary{cursor:pointer}"
    "tr:target,article:target{background:var(--box)}\n"
    "@media(max-width:60rem){nav{position:static;width:auto;border:0}"
    "main{margin:0;padding:1rem}article td:first-child{width:8rem}}\n";

/* Sorts routes so that each finds what those before it have made: in the order of their paths, at
 * each path what creates before what reads, and what deletes after everything below the path. */
static int follows(const void *one, const void *other)
{
    static const char *const methods[] = {"POST", "PUT", "GET", "PATCH"};
    char keys[2][128];
    for (int k = 0; k < 2; k++) {
        const struct mechp_route *const *const r = k == 0 ? one : other;
        // below any byte of a path, and above
        char rank = 1;
        while (rank <= 4 && strcmp((*r)->method, methods[rank - 1]) != 0) {
            rank++;
        }
        snprintf(keys[k], sizeof keys[k], "%s%c", (*r)->path, rank <= 4 ? rank : '\x7f');
    }
    return strcmp(keys[0], keys[1]);
}

static void sort_routes(const struct mechp_route *routes[MECHP_ROUTES])
{
    for (int k = 0; k < MECHP_ROUTES; k++) {
        routes[k] = mechp_route_at(k);
    }
    qsort(routes, MECHP_ROUTES, sizeof *routes, follows);
}

static bool is_of(const struct mechp_route *r, const struct mechp_tag *tag)
{
    return strcmp(r->row->tag, tag->name) == 0;
}

static void write_contents(struct mechp_text *w, const struct mechp_route *const *routes)
{
    put(w, "<nav>\n<a href=\"#top\">mechd " MECHD_VERSION "</a>\n");
    for (const struct mechp_tag *tag = mechp_tags; tag->name != NULL; tag++) {
        wrap(w, "<details><summary>", tag->name, "</summary>\n");
        for (int k = 0; k < MECHP_ROUTES; k++) {
            const struct mechp_route *const r = routes[k];
            if (is_of(r, tag)) {
                wrap(w, "<a href=\"#", r->symbol, "\">");
                wrap(w, "", r->summary, "</a>\n");
            }
        }
        put(w, "</details>\n");
    }
    put(w, "<a href=\"#errors\">Errors</a>\n</nav>\n");
}

static void write_routes(const struct mechd_service *s, struct mechp_text *w,
                         const struct mechp_route *const *routes)
{
    for (const struct mechp_tag *tag = mechp_tags; tag->name != NULL; tag++) {
        wrap(w, "<h2 id=\"tag-", tag->name, "\">");
        wrap(w, "", tag->name, "</h2>\n");
        wrap(w, "<p>", tag->doc, "</p>\n");
        for (int k = 0; k < MECHP_ROUTES; k++) {
            if (is_of(routes[k], tag)) {
                write_route(w, routes[k], s->host.series);
            }
        }
    }
}

static void write_codes(struct mechp_text *w)
{
    put(w, "<h2 id=\"errors\">Errors</h2>\n<p>Every error response is "
           "<code>application/problem+json</code> with <code>code</code> and, if the error "
           "concerns values of the request, <code>errors</code>, a list of <code>pointer</code> "
           "and <code>message</code>. In a binary frame the number is the "
           "<code>status</code>.</p>\n<table>\n<tr><th>Code<th>Number<th>HTTP<th>Meaning</tr>\n");
    for (int k = 0; mechp_code_at(k) != NULL; k++) {
        const struct mechp_code_info *const c = mechp_code_at(k);
        wrap(w, "<tr id=\"", c->text, "\"><td><code>");
        wrap(w, "", c->text, "</code><td>");
        number(w, (int)c->code);
        put(w, "<td>");
        number(w, c->http_status);
        wrap(w, "<td>", c->title, "</tr>\n");
    }
    put(w, "</table>\n");
}

static enum mechd_progress run_docs(struct mechd_call *c)
{
    struct mechp_text *const w = &c->text;
    const struct mechp_route *routes[MECHP_ROUTES];
    sort_routes(routes);
    put(w, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
           "<link rel=\"icon\" href=\"/assets/icon.svg\" type=\"image/svg+xml\">\n"
           "<title>mechd: interface</title>\n<style>\n");
    put(w, style);
    put(w, "</style>\n</head>\n<body id=\"top\">\n");
    write_contents(w, routes);
    put(w, "<main>\n<h1>mechd " MECHD_VERSION ": interface</h1>\n"
           "<p>Also available as <a href=\"/openapi.json\">OpenAPI 3.1</a>. Types of items, "
           "integrators and solvers with their fields: <a href=\"/v1/types\">/v1/types</a>; "
           "example models: <a href=\"/v1/examples\">/v1/examples</a>.</p>\n"
           "<p>A string that begins with <code>=</code> is an expression in the parameters, "
           "wherever an item of a model takes a number: <code>\"stiffness\": \"=2*k\"</code>; that "
           "of a load may use the time <code>t</code>.</p>\n"
           "<p>A request body is JSON. Over ZeroMQ the same operation is a message such as "
           "<code>{\"op\": \"step\", \"id\": \"i-1\", \"size\": 0.01}</code>: its keys are "
           "<code>op</code>, those of the body, and the parameters of path and query. If the "
           "server requires tokens, add <code>-H \"Authorization: Bearer $TOKEN\"</code> to each "
           "call, with a token that has the scope named at the route.</p>\n"
           "<p>Types: <code>@Instance</code> is the schema of that name in OpenAPI, "
           "<code>number[]</code> a list of numbers, <code>number{}</code> an object with a number "
           "for each name, <code>'a'|'b'</code> one of these words.</p>\n"
           "<p>On a newly started server the calls work from top to bottom: <a "
           "href=\"#CREATE_AS\">one of them</a> creates an instance called <code>rig</code>, which "
           "the others use, and ids such as <code>r-1</code> are the first that the server "
           "assigns.</p>\n");
    write_routes(c->service, w, routes);
    write_codes(w);
    put(w, "</main>\n</body>\n</html>\n");
    c->content_type = "text/html; charset=utf-8";
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_DOCS = {.run = run_docs};
