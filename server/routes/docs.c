/* GET /docs: the interface for people, printed from the lists that the daemon itself works with:
 * routes with their ZeroMQ operations, error codes. Plain HTML without scripts. */
#include "protocol/wire/codes.h"
#include "server/plain.h"
#include "server/routes/shapes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void print(struct mechp_text *w, const char *format,
                                                        ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0 && (size_t)n < sizeof text) {
        mechd_plain(w, text, (size_t)n);
    }
}

static void write_routes(struct mechp_text *w)
{
    print(w,
          "<h2>Routes</h2>\n<p>A request body is JSON. Over ZeroMQ the same operations are "
          "<code>{\"op\": \"step\", \"id\": \"i-1\", &hellip;}</code>: what stands in braces in a "
          "path, and query parameters, become keys.</p>\n<table>\n<tr><th>Method<th>Path"
          "<th>Operation<th>What</tr>\n");
    for (int k = 0; mechp_route_at(k) != NULL; k++) {
        const struct mechp_route *r = mechp_route_at(k);
        const struct mechd_operation *o = mechd_operation(r);
        print(w, "<tr><td><code>%s</code><td><code>%s</code><td><code>%s</code><td>%s", r->method,
              r->path, r->operation, r->summary);
        if (o->keys != NULL) {
            print(w, "<br><small>body:");
            for (const char *const *key = o->keys; *key != NULL; key++) {
                print(w, " <code>%s</code>", *key);
            }
            print(w, "</small>");
        }
        if (o->query[0] != NULL) {
            print(w, "<br><small>query:");
            for (int q = 0; q < MECHD_QUERIES && o->query[q] != NULL; q++) {
                print(w, " <code>%s</code>", o->query[q]);
            }
            print(w, "</small>");
        }
        print(w, "</tr>\n");
    }
    print(w, "</table>\n");
}

static void write_codes(struct mechp_text *w)
{
    print(w, "<h2>Errors</h2>\n<p>Every refusal is <code>application/problem+json</code> with "
             "<code>code</code>, and <code>errors</code> as a list of <code>pointer</code> and "
             "<code>message</code>. In a binary frame the number is its <code>status</code>.</p>\n"
             "<table>\n<tr><th>Code<th>Number<th>HTTP<th>Meaning</tr>\n");
    for (int k = 0; mechp_code_at(k) != NULL; k++) {
        const struct mechp_code_info *c = mechp_code_at(k);
        print(w, "<tr id=\"%s\"><td><code>%s</code><td>%d<td>%d<td>%s</tr>\n", c->text, c->text,
              (int)c->code, c->http_status, c->title);
    }
    print(w, "</table>\n");
}

static enum mechd_progress run_docs(struct mechd_call *c)
{
    struct mechp_text *w = &c->text;
    print(w,
          "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n<title>mechd: interface</title>"
          "\n<h1>mechd " MECHD_VERSION ": interface</h1>\n<p>Also as <a href=\"/openapi.json\">"
          "OpenAPI 3.1</a>; types of items, integrators and solvers with their fields: "
          "<a href=\"/v1/types\">/v1/types</a>; ready models: <a href=\"/v1/examples\">"
          "/v1/examples</a>.</p>\n");
    write_routes(w);
    write_codes(w);
    print(w, "</html>\n");
    c->content_type = "text/html; charset=utf-8";
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_DOCS = {.run = run_docs,
                                                     .flags = MECHD_READS | MECHD_OPEN};
