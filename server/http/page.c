/* Files of the page, as they were embedded; revalidated by ETag, and fenced by a content security
 * policy that allows this origin alone. */
#include "server/http/assets.h"
#include "server/http/exchange.h"

#include <string.h>

static const char policy[] = "default-src 'self'; img-src 'self' data:; style-src 'self'; "
                             "base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

static const struct mechd_asset *find(const char *path)
{
    for (size_t k = 0; k < mechd_asset_count; k++) {
        if (strcmp(mechd_assets[k].path, path) == 0) {
            return &mechd_assets[k];
        }
    }
    return NULL;
}

bool mechd_page_serve(struct mechd_exchange *x, enum MHD_Result *result)
{
    const struct mechd_asset *a = find(x->path);
    if (a == NULL) {
        return false;
    }
    const char *known = x->head.value[MECHD_HEADER_IF_NONE_MATCH];
    const bool same = known != NULL && strstr(known, a->etag) != NULL;
    const size_t size = same ? 0 : a->size;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, (void *)(uintptr_t)a->bytes, MHD_RESPMEM_PERSISTENT);
    if (response == NULL) {
        *result = MHD_NO;
        return true;
    }
    MHD_add_response_header(response, "Content-Type", a->type);
    MHD_add_response_header(response, "ETag", a->etag);
    MHD_add_response_header(response, "Cache-Control", "no-cache");
    MHD_add_response_header(response, "Content-Security-Policy", policy);
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    *result = mechd_exchange_send(x, same ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, response, size);
    return true;
}

static enum mechd_progress run_page(struct mechd_call *c)
{
    return mechd_fail(c, MECHP_NOT_FOUND, "this build does not contain the page");
}

const struct mechd_operation mechd_operation_PAGE = {.run = run_page};
