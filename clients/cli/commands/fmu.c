/* mechctl fmu: the model of an instance, or an example, as an FMU in a file. */
#include "clients/cli/cli.h"

#include <stdio.h>

enum { NAME_ROOM = 512 };

/* The file by default: that name in the present folder. */
static const char *file_of(const struct mechctl *m, char *name, size_t size)
{
    const char *const path = mechctl_option(m, "output");
    snprintf(name, size, "%s.fmu", m->arguments[0]);
    return path ? path : name;
}

static int save(struct mechctl *m, const char *id)
{
    char text[MECHC_PATH], name[NAME_ROOM];
    int code =
        mechctl_result(m, mechc_path(m->c, MECHCTL_PATH("v1", "instances", id, "fmu"), text));
    code = code == MECHCTL_DONE ? mechctl_query_keys(m, text, sizeof text) : code;
    return code != MECHCTL_DONE ? code : mechctl_download(m, text, file_of(m, name, sizeof name));
}

static int run(struct mechctl *m)
{
    const char *const name = m->arguments[0];
    char id[MECHC_ID] = "";
    struct mechc_json reply;
    if (m->lane || mechctl_is_there(m, "instances", name) ||
        !mechctl_is_there(m, "examples", name)) {
        return save(m, name);
    }
    int code = mechctl_result(m, mechc_create_example(m->c, name, id));
    if (code != MECHCTL_DONE) {
        return code;
    }
    code = save(m, id);
    const int freed = mechctl_send(m, "DELETE", MECHCTL_PATH("v1", "instances", id), NULL, &reply);
    return code != MECHCTL_DONE ? code : freed;
}

static const struct mechctl_option options[] = {
    MECHCTL_OPTION("output", "FILE",
                   "where to write it, also -o FILE; - for standard output (ID.fmu)"),
    {0},
};

const struct mechctl_command mechctl_fmu = {
    .name = "fmu",
    .group = MECHCTL_MODELS,
    .arguments = "ID",
    .summary = "write the model of an instance, or an example, as an FMU",
    .details =
        "  mechctl fmu rig -o rig.fmu\n"
        "  mechctl fmu slider-crank -o slider.fmu --version 2\n"
        "  mechctl fmu rig --kind proxy -o rig.fmu\n"
        "The FMU holds model and solver and needs no server; one of kind proxy holds the model\n"
        "and connects to the lane of a server, named by its parameter proxy:server. Both start\n"
        "from the initial state of the model, not from the instance's state.",
    .query = &mechp_row_FMU,
    .options = options,
    .least = 1,
    .most = 1,
    .run = run,
};
