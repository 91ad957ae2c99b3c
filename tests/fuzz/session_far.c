/* States far from where a model begins, and all that reads an instance there. Which numbers go far
 * is drawn; how far is sought: the farthest that is accepted, and then for some of the readers
 * whose status is another one there the places where it changes, as what overflows first does so
 * just before. The readers are the rows of the routes, each with every word of its queries. */
#include "tests/fuzz/session_part.h"

#include "protocol/wire/row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = SESSION_PATH, DECADES = 307, HALVINGS = 12, READERS = 200, SOUGHT = 12 };

/* A direction: the same numbers of the state go there at every distance. */
struct far {
    struct generate numbers; /* which, and their digits */
    json_t *from;            /* the state before */
    double sign;             /* of the exponent */
};

struct reader {
    const char *method;
    char path[2 * PATH];
    char *body;
    int near, far; /* status at a distance of no decades, and at the farthest */
};

/* The state as it is, with some numbers so many decades away. */
static json_t *far_state(const struct far *f, double decades)
{
    static const char *const keys[] = {"q", "v", "x"};
    static const uint32_t shares[] = {100, 60, 25};
    struct generate g = f->numbers;
    json_t *const body = json_object();
    const double size = pow(10., f->sign * decades);
    const uint32_t share = shares[generate_below(&g, 3)];
    for (size_t k = 0; k < 3; k++) {
        const json_t *const old = json_object_get(f->from, keys[k]);
        const bool goes = generate_often(&g, 60);
        json_t *const list = json_array();
        for (size_t i = 0; i < json_array_size(old); i++) {
            const bool far = goes && generate_often(&g, share);
            const double value = size * generate_real(&g);
            json_array_append(list, json_array_get(old, i));
            if (far && isfinite(value)) {
                json_array_set_new(list, i, json_real(value));
            }
        }
        json_object_set_new(body, keys[k], list);
    }
    return body;
}

/* The status with which the instance takes a far state, or does not. */
static int put_far(struct session *s, const struct far *f, double decades)
{
    struct session_reply was;
    char path[PATH];
    session_state(s, s->id, &was);
    json_t *const body = far_state(f, decades);
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
    json_decref(body);
    return status;
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

/* What one route that reads is asked: plain, and with each value of each of its queries. */
static size_t list_route(struct session *s, const json_t *model, const struct mechp_route *r,
                         struct reader readers[READERS], size_t n)
{
    char path[PATH], value[PATH];
    session_path(s, model, r->path, s->id, path);
    json_t *const tree = session_body(s, r->id, model);
    char *const body = tree != NULL ? json_dumps(tree, 0) : NULL;
    const size_t first = n;
    if (n < READERS) {
        (void)snprintf(readers[n++].path, sizeof readers->path, "%s", path);
    }
    for (const struct mechp_parameter *p = r->row->query; p != NULL && p->name != NULL; p++) {
        for (int k = 0; query_value(p, k, value) && n < READERS; k++) {
            (void)snprintf(readers[n++].path, sizeof readers->path, "%s?%s=%.100s", path, p->name,
                           value);
        }
    }
    for (size_t k = first; k < n; k++) {
        readers[k].method = r->method;
        readers[k].body = body != NULL ? strdup(body) : NULL;
    }
    free(body);
    json_decref(tree);
    return n;
}

static size_t list_readers(struct session *s, const json_t *model, struct reader readers[READERS])
{
    size_t n = 0;
    for (int k = 0; mechp_route_at(k) != NULL; k++) {
        const struct mechp_route *const r = mechp_route_at(k);
        const bool reads = r->row->effect == MECHP_READS || r->row->effect == MECHP_ASKS;
        if (reads && session_usable(r)) {
            n = list_route(s, model, r, readers, n);
        }
    }
    return n;
}

static int ask(struct session *s, const struct reader *r)
{
    return session_status(s, r->method, r->path, r->body);
}

/* How far a state is accepted; every state on the way there is put. */
static double find_farthest(struct session *s, const struct far *f)
{
    double near = 0., far = DECADES;
    if (put_far(s, f, far) < 300) {
        return far;
    }
    for (int k = 0; k < HALVINGS; k++) {
        const double middle = 0.5 * (near + far);
        if (put_far(s, f, middle) < 300) {
            near = middle;
        } else {
            far = middle;
        }
    }
    return near;
}

/* Towards where a reader's status changes. */
static void halve(struct session *s, const struct far *f, const struct reader *r, double farthest)
{
    double near = 0., far = farthest;
    for (int k = 0; k < HALVINGS; k++) {
        const double middle = 0.5 * (near + far);
        const int status = put_far(s, f, middle) < 300 ? ask(s, r) : r->far;
        if (status == r->near) {
            near = middle;
        } else {
            far = middle;
        }
    }
}

void session_far(struct session *s, const json_t *model)
{
    struct session_reply state;
    session_state(s, s->id, &state);
    const struct far f = {.numbers = s->g,
                          .from = state.text != NULL ? json_loads(state.text, 0, NULL) : NULL,
                          .sign = generate_often(&s->g, 75) ? 1. : -1.};
    struct reader *const readers = calloc(READERS, sizeof *readers);
    const size_t n = readers != NULL ? list_readers(s, model, readers) : 0;
    const double farthest = find_farthest(s, &f);
    size_t changed = 0;
    for (int far = 0; far < 2; far++) {
        (void)put_far(s, &f, far ? farthest : 0.);
        for (size_t k = 0; k < n; k++) {
            *(far ? &readers[k].far : &readers[k].near) = ask(s, &readers[k]);
        }
    }
    for (size_t k = 0; k < n; k++) {
        changed += readers[k].near != readers[k].far;
    }
    for (size_t k = 0, left = changed, sought = SOUGHT; k < n; k++) {
        if (readers[k].near != readers[k].far) {
            // so many of those that are left, each as likely as another
            if (generate_below(&s->g, (uint32_t)left) < sought) {
                halve(s, &f, &readers[k], farthest);
                sought--;
            }
            left--;
        }
    }
    for (size_t k = 0; k < n; k++) {
        free(readers[k].body);
    }
    free(readers);
    json_decref(f.from);
    free(state.text);
}
