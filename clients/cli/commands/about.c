/* mechctl about: version, build, libraries and limits of the server; its probes and documents. */
#include "clients/cli/cli.h"

static const char pages[] = "'docs'|'livez'|'metrics'|'openapi.json'|'readyz'";
static const struct mechctl_words words[] = {{"PAGE", .type = pages}, {0}};

static int run(struct mechctl *m)
{
    struct mechc_json reply;
    if (m->count > 0) {
        if (mechp_type_word(pages, m->arguments[0]) >= 0) {
            char path[MECHC_PATH];
            const int result = mechc_path(m->c, MECHCTL_PATH(m->arguments[0]), path);
            return result == MECHC_OK ? mechctl_print_path(m, path) : mechctl_result(m, result);
        }
        struct mechc_bytes text = {0};
        mechctl_tell_words(words, &text);
        mechctl_usage("about: %s", text.failed ? "no such page" : text.at);
        mechc_bytes_fini(&text);
        return MECHCTL_USAGE;
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
    .group = MECHCTL_SERVER,
    .arguments = "[PAGE]",
    .summary = "show version, build, libraries and limits of the server, or one of its pages",
    .words = words,
    .synonyms = "info version health",
    .most = 1,
    .run = run,
};
