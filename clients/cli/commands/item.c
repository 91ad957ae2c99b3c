/* mechctl item: any output variable of an item. */
#include "clients/cli/cli.h"

static int run(struct mechctl *m)
{
    char path[MECHC_PATH + 400];
    const int result = mechc_path(m->c,
                                  MECHCTL_PATH("v1", "instances", m->arguments[0], "objects",
                                               m->arguments[1], "outputs", m->arguments[2]),
                                  path);
    if (result != MECHC_OK) {
        return mechctl_result(m, result);
    }
    mechctl_query(path, sizeof path, "category", mechctl_option(m, "category"));
    mechctl_query(path, sizeof path, "configuration", mechctl_option(m, "configuration"));
    mechctl_query(path, sizeof path, "localPosition", mechctl_option(m, "position"));
    return mechctl_print_path(m, path);
}

static const struct mechctl_option options[] = {
    {"category", "CATEGORY", "nodes, objects, markers, loads or sensors (objects)"},
    {"configuration", "WHICH", "current, reference, initial or startOfStep (current)"},
    {"position", "X,Y,Z", "a point of the body, in its frame"},
    {0},
};

const struct mechctl_command mechctl_item = {
    .name = "item",
    .group = MECHCTL_STEPS,
    .arguments = "ID ITEM VARIABLE",
    .summary = "print any output variable of an item",
    .details = "  mechctl item i-1 body Position --position 0.1,0,0",
    .options = options,
    .least = 3,
    .most = 3,
    .run = run,
};
