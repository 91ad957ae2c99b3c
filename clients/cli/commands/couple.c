/* mechctl couple: instances that exchange values and step together, from a file. */
#include "clients/cli/cli.h"

#include <stdio.h>
#include <string.h>

/* Whether the file is a ZIP archive: its name ends as that of a package does. */
static bool is_package(const char *file)
{
    const size_t length = strlen(file);
    return length > 4 && strcmp(file + length - 4, ".ssp") == 0;
}

/* The bytes of the file as they are. */
static int send_package(struct mechctl *m, struct mechc_json *reply)
{
    char path[MECHC_PATH] = "/v1/couplings";
    struct mechc_reply r;
    int code = mechctl_read_content(m->file, &m->body);
    if (code != MECHCTL_DONE) {
        return code;
    }
    code = mechctl_query_keys(m, path, sizeof path);
    if (code != MECHCTL_DONE) {
        return code;
    }
    code = mechctl_request(m,
                           &(struct mechc_request){.method = "POST",
                                                   .path = path,
                                                   .body = m->body.at,
                                                   .size = m->body.length,
                                                   .type = "application/zip"},
                           &r);
    if (code != MECHCTL_DONE) {
        return code;
    }
    return mechc_json_open(r.body, r.size, reply) ? MECHCTL_DONE : MECHCTL_FAILED;
}

static int send_document(struct mechctl *m, struct mechc_json *reply)
{
    if (m->given_count > 0) {
        return mechctl_usage("couple: --window and --scheme are for packages (.ssp); a JSON file "
                             "has them as stepSize and scheme");
    }
    const int code = mechctl_read_json(m->file, &m->body);
    return code != MECHCTL_DONE
               ? code
               : mechctl_send(m, "POST", MECHCTL_PATH("v1", "couplings"), &m->body, reply);
}

static int run(struct mechctl *m)
{
    struct mechc_json reply = {0}, id;
    m->file = m->arguments[0];
    const int code = is_package(m->file) ? send_package(m, &reply) : send_document(m, &reply);
    if (code != MECHCTL_DONE || m->json) {
        return code != MECHCTL_DONE ? code : mechctl_print_raw(reply);
    }
    char text[MECHC_ID] = "";
    if (mechc_json_member(reply, "id", &id)) {
        mechc_json_text(id, text, sizeof text);
    }
    printf("%s\n", text);
    return MECHCTL_DONE;
}

static const struct mechctl_option options[] = {
    {.name = "scheme", .argument = "TYPE", .key = "type"},
    {0},
};

const struct mechctl_command mechctl_couple = {
    .name = "couple",
    .group = MECHCTL_MANY,
    .arguments = "FILE",
    .summary = "couple instances: they exchange values and step together",
    .details = "FILE, or - for standard input, holds participants, connections and a scheme:\n"
               "  {\"participants\": [{\"name\": \"a\", \"instance\": \"i-1\"}, ...],\n"
               "   \"connections\": [{\"from\": \"a.x\", \"to\": \"b.force\"}, ...],\n"
               "   \"scheme\": {\"type\": \"IQN-ILS\"}, \"stepSize\": 0.01}\n"
               "With \"outputs\": [\"a.x\", ...] its steps, streams and runs have these alone.\n"
               "Or it is a system structure package, FILE.ssp, whose FMUs become instances;\n"
               "the options are for it alone:\n"
               "  mechctl couple drive.ssp --window 0.001 --scheme GaussSeidel",
    .query = &mechp_row_COUPLE,
    .options = options,
    .synonyms = "connect cosim",
    .least = 1,
    .most = 1,
    .run = run,
};
