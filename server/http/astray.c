/* What was probably meant by a method and a path without a route. */
#include "server/http/astray.h"

#include "solver/base/name.h"

#include <stdio.h>
#include <string.h>

/* The template that the path with an id at its end would have by this method, or NULL. */
static const char *with_id(const char *method, const char *path)
{
    char longer[MECHP_MATCH_PATH];
    const int size = snprintf(longer, sizeof longer, "%s/", path);
    const bool fits = size > 0 && (size_t)size < sizeof longer;
    return fits ? mechp_route_lacking(method, longer) : NULL;
}

/* The path takes other methods. */
static int refuse_method(struct mechd_call *c, const char *method, const char *path)
{
    const char *const template = with_id(method, path);
    return mechd_refuse(c, MECHP_METHOD_NOT_ALLOWED, "%.128s takes %s%s%.16s%s%s", path,
                        c->match.allow, template != NULL ? "; " : "",
                        template != NULL ? method : "", template != NULL ? " is for " : "",
                        template != NULL ? template : "");
}

/* True for a path with a slash behind it, without which it takes the method. */
static bool has_slash_too_many(const char *method, const char *path)
{
    char shorter[MECHP_MATCH_PATH];
    struct mechp_match match;
    const size_t size = strlen(path);
    if (size < 2 || size > sizeof shorter || path[size - 1] != '/') {
        return false;
    }
    snprintf(shorter, sizeof shorter, "%.*s", (int)size - 1, path);
    return mechp_route_match(method, shorter, &match) == 0;
}

/* The path is that of no route. */
static int refuse_path(struct mechd_call *c, const char *method, const char *path)
{
    char meant[MECHP_MATCH_PATH];
    const char *const template =
        has_slash_too_many(method, path) ? NULL : mechp_route_lacking(method, path);
    if (template != NULL) {
        return mechd_refuse(c, MECHP_ROUTE_NOT_FOUND,
                            "there is no %.16s %.128s: an id is missing, the route is %s", method,
                            path, template);
    }
    const bool near = mechp_route_closest(method, path, meant, sizeof meant);
    return mechd_refuse(c, MECHP_ROUTE_NOT_FOUND, "there is no %.16s %.128s%s%s%s", method, path,
                        near ? ", did you mean " : "", near ? meant : "", near ? "?" : "");
}

int mechd_astray_refuse(struct mechd_call *c, const char *method, const char *path, int code)
{
    if (code == MECHP_METHOD_NOT_ALLOWED) {
        return refuse_method(c, method, path);
    }
    c->match.route = NULL;
    if (code == MECHP_MALFORMED_REQUEST) {
        return mechd_refuse(c, MECHP_MALFORMED_REQUEST,
                            "%.16s %.128s: ids and names in a path must have 1 to %d characters of "
                            "A-Z a-z 0-9 . _ -",
                            method, path, MECH_NAME_MAX);
    }
    return refuse_path(c, method, path);
}
