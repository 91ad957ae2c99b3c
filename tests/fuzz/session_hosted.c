/* The model as an FMU, uploaded to the daemon that wrote it, and hosted: it is accepted, and an
 * instance of it is asked as those of models are. Where the daemon takes no FMUs, that is all. */
#include "tests/fuzz/session_part.h"

#include "server/instance/container.h"

#include <stdio.h>
#include <stdlib.h>

enum { ID = 100, ASKED = 12, STEPS = 3 };

/* Its id; false: there is none. */
static bool upload(struct session *s, const char *path, char fid[ID])
{
    int status = 0;
    const struct session_reply fmu = session_ask(s, "GET", path, NULL);
    char *const text = fmu.status == 200 ? mechd_base64_encode(fmu.text, fmu.size) : NULL;
    free(fmu.text);
    if (text == NULL) {
        return false;
    }
    json_t *const body = json_pack("{s:s}", "fmu", text);
    json_t *const reply = session_call(s, "POST", body, &status, "/v1/fmus");
    (void)snprintf(fid, ID, "%.60s", session_word(reply, "id"));
    if (status == 422) {
        session_fault(s, "an FMU of the server is refused: %s: %.200s", path,
                      session_word(reply, "detail"));
    }
    json_decref(reply);
    free(text);
    return status == 201;
}

void session_hosted(struct session *s, json_t *model)
{
    char path[SESSION_PATH], fid[ID], own[ID];
    int status = 0;
    (void)snprintf(path, sizeof path, "/v1/instances/%.200s/fmu?version=%d", s->id,
                   generate_often(&s->g, 50) ? 2 : 3);
    if (!upload(s, path, fid)) {
        return;
    }
    (void)snprintf(own, sizeof own, "%.60s-fmu", s->id);
    json_decref(
        session_call(s, "PUT", json_pack("{s:s}", "fmu", fid), &status, "/v1/instances/%s", own));
    for (int k = 0; status == 201 && k < STEPS; k++) {
        int stepped = 0;
        json_decref(session_call(s, "POST", json_pack("{s:f}", "size", 0.002), &stepped,
                                 "/v1/instances/%s/step", own));
    }
    session_any(s, own, model, ASKED);
    json_decref(session_call(s, "GET", NULL, &status, "/v1/fmus/%s", fid));
    json_decref(session_call(s, "DELETE", NULL, &status, "/v1/fmus/%s", fid));
}
