#include "tests/fuzz/session_local.h"
#include "tests/unit/server/local.h"

#include <stdlib.h>
#include <string.h>

void *session_local_start(void)
{
    static struct mechd *served;
    if (served == NULL) {
        served = local_start(NULL, NULL);
    }
    return served;
}

void session_local(void *context, const char *method, const char *path, const char *body,
                   struct session_reply *reply)
{
    struct local_reply r;
    const struct local_request request = {.method = method, .path = path, .json = body};
    *reply = (struct session_reply){.status = 0};
    if (local_call(context, &request, &r) != 0) {
        reply->status = 404;
        return;
    }
    reply->status = r.status;
    reply->size = r.size;
    reply->text = r.text != NULL ? malloc(r.size + 1) : NULL;
    if (reply->text != NULL) {
        memcpy(reply->text, r.text, r.size);
        reply->text[r.size] = 0;
    }
    free(r.text);
}
