/* States far from where a model begins, and all that reads an instance there. Which numbers go far
 * and how far is drawn: what overflows first depends on the model. The readers are the rows of the
 * routes, each with every word of its queries. */
#include "tests/fuzz/session_part.h"

#include "protocol/wire/row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = SESSION_PATH, STATES = 6, ACCEPTED = 2, DECADES = 309 };

/* The state as it is, with some numbers at one decade, up or down. */
static json_t *far_state(struct session *s, const json_t *now)
{
    static const char *const keys[] = {"q", "v", "x"};
    static const uint32_t shares[] = {100, 60, 25};
    json_t *const body = json_object();
    const double decade = (double)generate_below(&s->g, DECADES);
    const double size = pow(10., generate_often(&s->g, 75) ? decade : -decade);
    const uint32_t share = shares[generate_below(&s->g, 3)];
    for (size_t k = 0; k < 3; k++) {
        const json_t *const old = json_object_get(now, keys[k]);
        const bool goes = generate_often(&s->g, 60);
        json_t *const list = json_array();
        for (size_t i = 0; i < json_array_size(old); i++) {
            const bool far = goes && generate_often(&s->g, share);
            const double value = size * generate_real(&s->g);
            json_array_append(list, json_array_get(old, i));
            if (far && isfinite(value)) {
                json_array_set_new(list, i, json_real(value));
            }
        }
        json_object_set_new(body, keys[k], list);
    }
    return body;
}

/* Whether the instance has taken a far state. */
static bool put_far(struct session *s)
{
    struct session_reply was;
    char path[PATH];
    session_state(s, s->id, &was);
    json_t *const now = was.text != NULL ? json_loads(was.text, 0, NULL) : NULL;
    json_t *const body = far_state(s, now);
    char *const text = json_dumps(body, 0);
    (void)snprintf(path, sizeof path, "/v1/instances/%.200s/state", s->id);
    const int status = session_status(s, "PUT", path, text);
    struct session_reply is;
    session_state(s, s->id, &is);
    if (status >= 400 && !session_same(&was, &is)) {
        session_fault(s, "a state that was refused (%d) is there: %.300s -> %.300s", status,
                      was.text, is.text);
    }
    free(is.text);
    free(was.text);
    free(text);
    json_decref(now);
    json_decref(body);
    return status < 300;
}

/* The k-th value that a query of this type can have, or false. */
static bool query_value(const struct mechp_parameter *p, int k, char value[PATH])
{
    const char *at = p->type;
    if (at[0] != '\'') {
        const char *const example = strcmp(p->type, "boolean") == 0 ? "true" : p->example;
        const size_t quote = example[0] == '"';
        (void)snprintf(value, PATH, "%.*s", (int)(strlen(example) - 2 * quote), example + quote);
        return k == 0;
    }
    for (; k > 0 && at != NULL; k--) {
        at = strchr(at, '|');
        at = at != NULL ? at + 1 : NULL;
    }
    if (at == NULL) {
        return false;
    }
    (void)snprintf(value, PATH, "%.*s", (int)strcspn(at + 1, "'"), at + 1);
    return true;
}

/* One route that reads: plain, and with each value of each of its queries. */
static void ask_reader(struct session *s, const json_t *model, const struct mechp_route *r)
{
    char path[PATH], asked[2 * PATH], value[PATH];
    session_path(s, model, r->path, s->id, path);
    json_t *const tree = session_body(s, r->id, model);
    char *const body = tree != NULL ? json_dumps(tree, 0) : NULL;
    (void)session_status(s, r->method, path, body);
    for (const struct mechp_parameter *p = r->row->query; p != NULL && p->name != NULL; p++) {
        for (int k = 0; query_value(p, k, value); k++) {
            (void)snprintf(asked, sizeof asked, "%s?%s=%.100s", path, p->name, value);
            (void)session_status(s, r->method, asked, body);
        }
    }
    free(body);
    json_decref(tree);
}

void session_far(struct session *s, const json_t *model)
{
    int accepted = 0;
    for (int n = 0; n < STATES && accepted < ACCEPTED; n++) {
        if (!put_far(s)) {
            continue;
        }
        accepted++;
        for (int k = 0; mechp_route_at(k) != NULL; k++) {
            const struct mechp_route *const r = mechp_route_at(k);
            const bool reads = r->row->effect == MECHP_READS || r->row->effect == MECHP_ASKS;
            if (reads && session_usable(r)) {
                ask_reader(s, model, r);
            }
        }
    }
}
