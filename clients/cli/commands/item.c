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
    const int code = mechctl_query_keys(m, path, sizeof path);
    return code != MECHCTL_DONE ? code : mechctl_print_path(m, path);
}

static const struct mechctl_option options[] = {
    {.name = "position", .argument = "X,Y,Z", .key = "localPosition"},
    {0},
};

const struct mechctl_command mechctl_item = {
    .name = "item",
    .group = MECHCTL_STEPS,
    .arguments = "ID ITEM VARIABLE",
    .summary = "print any output variable of an item",
    .details = "  mechctl item i-1 body Position --position 0.1,0,0",
    .query = &mechp_row_ITEM_OUTPUT,
    .options = options,
    .least = 3,
    .most = 3,
    .run = run,
};
