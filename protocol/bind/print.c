/* Documents printed from the tables, laid out for people; a test compares the committed copies. */
#include "protocol/bind/bind.h"
#include "protocol/wire/codes.h"
#include "solver/base/err.h"

#include <stdio.h>
#include <string.h>

/* Text that is no JSON, as it is. */
static void plain(struct mechp_text *w, const char *text, size_t length)
{
    w->comma[w->depth] = false;
    mechp_text_raw(w, text, length);
}

/* Markdown: number, HTTP status, code, meaning. */
static void print_errors(struct mechp_text *w)
{
    static const char head[] = "| number | HTTP | code | meaning |\n|---|---|---|---|\n";
    plain(w, head, sizeof head - 1);
    for (int i = 0; mechp_code_at(i) != NULL; i++) {
        const struct mechp_code_info *const c = mechp_code_at(i);
        char line[256];
        const int n = snprintf(line, sizeof line, "| %d | %d | `%s` | %s |\n", (int)c->code,
                               c->http_status, c->text, c->title);
        plain(w, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
    }
}

int mechp_bind_print(const char *what, struct mechp_text *w)
{
    static const struct {
        const char *name;
        void (*write)(struct mechp_text *w);
    } documents[] = {
        {"openapi", mechp_bind_openapi},
        {"schema", mechp_bind_schema},
        {"types", mechp_bind_types},
    };
    if (strcmp(what, "errors") == 0) {
        print_errors(w);
        return 0;
    }
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        if (strcmp(what, documents[i].name) == 0) {
            struct mechp_text compact;
            mechp_text_init(&compact, NULL, 0);
            documents[i].write(&compact);
            w->failed = w->failed || compact.failed;
            if (!w->failed) {
                mechp_text_pretty(w, compact.bytes, compact.length);
                plain(w, "\n", 1);
            }
            mechp_text_fini(&compact);
            return 0;
        }
    }
    return MECH_NOT_FOUND;
}
