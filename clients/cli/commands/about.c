/* mechctl about: version, build, libraries and limits of the server; its probes and documents. */
#include "clients/cli/cli.h"

#include <string.h>

static int run(struct mechctl *m)
{
    static const char *const pages[] = {"docs", "livez", "metrics", "openapi.json", "readyz"};
    struct mechc_json reply;
    if (m->count > 0) {
        for (size_t k = 0; k < sizeof pages / sizeof *pages; k++) {
            if (strcmp(m->arguments[0], pages[k]) == 0) {
                char path[MECHC_PATH];
                const int result = mechc_path(m->c, MECHCTL_PATH(pages[k]), path);
                return result == MECHC_OK ? mechctl_print_path(m, path) : mechctl_result(m, result);
            }
        }
        return mechctl_usage("about: docs, livez, metrics, openapi.json or readyz");
    }
    const int code = mechctl_get(m, MECHCTL_PATH("v1"), &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    mechctl_print_tree(m, reply);
    return MECHCTL_DONE;
}

const struct mechctl_command mechctl_about = {
    .name = "about",
    .arguments = "[docs | livez | metrics | openapi.json | readyz]",
    .summary = "version, build, libraries and limits of the server",
    .most = 1,
    .run = run,
};
