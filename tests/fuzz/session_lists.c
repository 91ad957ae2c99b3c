/* What a refused request leaves as it was beside the state: the instances that there are, and the
 * snapshots and leases of one of them. */
#include "tests/fuzz/session_part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The reply to a look that is no request of the session; NULL: there is none. */
static json_t *look_at(struct session *s, const char *path)
{
    int status = 0;
    json_t *const reply = session_call(s, "GET", NULL, &status, "%s", path);
    s->requests--;
    if (status == 200) {
        return reply;
    }
    json_decref(reply);
    return NULL;
}

/* Other sessions of a served daemon make and delete instances meanwhile. */
static bool is_own(const struct session *s, const char *id)
{
    const size_t n = strlen(s->id);
    return !s->served || (strncmp(id, s->id, n) == 0 && (id[n] == 0 || id[n] == '-'));
}

/* {id: whether it may end by itself} of the instances. */
static json_t *ids(struct session *s)
{
    json_t *const list = look_at(s, "/v1/instances?limit=1000");
    json_t *const found = json_object(), *item = NULL;
    size_t k = 0;
    json_array_foreach(json_object_get(list, "items"), k, item)
    {
        const char *const id = session_word(item, "id");
        if (is_own(s, id)) {
            json_object_set_new(found, id, json_boolean(json_object_get(item, "ttl") != NULL));
        }
    }
    json_decref(list);
    return found;
}

static void compare_ids(struct session *s, json_t *was, json_t *now, const char *request)
{
    const char *id = NULL;
    json_t *ends = NULL;
    json_object_foreach(now, id, ends)
    {
        if (json_object_get(was, id) == NULL) {
            session_fault(s, "%s left an instance: %s", request, id);
        }
    }
    json_object_foreach(was, id, ends)
    {
        if (json_object_get(now, id) == NULL && !json_is_true(ends)) {
            session_fault(s, "%s deleted an instance: %s", request, id);
        }
    }
}

/* The leases without their times, which every request of a holder moves. */
static json_t *leases(struct session *s, const char *id)
{
    char path[SESSION_PATH];
    (void)snprintf(path, sizeof path, "/v1/instances/%.200s/lease", id);
    json_t *const list = look_at(s, path), *item = NULL;
    size_t k = 0;
    json_array_foreach(json_object_get(list, "items"), k, item)
    {
        json_object_del(item, "expires");
        json_object_del(item, "left");
    }
    return list;
}

/* Each is one of those before: that others have expired is no fault. */
static void compare_leases(struct session *s, json_t *was, json_t *now, const char *request)
{
    json_t *const before = json_object_get(was, "items"), *item = NULL, *old = NULL;
    size_t i = 0, k = 0;
    json_array_foreach(json_object_get(now, "items"), i, item)
    {
        bool found = was == NULL;
        json_array_foreach(before, k, old)
        {
            found = found || json_equal(item, old);
        }
        if (!found) {
            char *const text = json_dumps(item, 0);
            session_fault(s, "%s changed the leases: %s", request, text);
            free(text);
        }
    }
}

void session_lists(struct session *s, const char *id, json_t **was, const char *request)
{
    char path[SESSION_PATH];
    (void)snprintf(path, sizeof path, "/v1/instances/%.200s/snapshots", id);
    json_t *const snapshots = look_at(s, path), *const instances = ids(s);
    json_t *const held = leases(s, id), *const before = json_object_get(*was, "snapshots");
    if (request != NULL) {
        compare_ids(s, json_object_get(*was, "instances"), instances, request);
        compare_leases(s, json_object_get(*was, "leases"), held, request);
        if (before != NULL && snapshots != NULL && !json_equal(before, snapshots)) {
            session_fault(s, "%s changed the snapshots: %zu -> %zu", request,
                          json_array_size(json_object_get(before, "items")),
                          json_array_size(json_object_get(snapshots, "items")));
        }
    }
    json_decref(*was);
    *was = json_pack("{s:o*,s:o*,s:o}", "snapshots", snapshots, "leases", held, "instances",
                     instances);
}
