/* Every example of the daemon does for 60 s what its title says: the tests that show it. */
#include "tests/verify/example.h"

#include <dirent.h>

/* An example, and the file of this folder that follows it. */
static const struct {
    const char *example, *file;
} proofs[] = {
    {"ball-at-rest", "examples_alone"},
    {"bouncing-ball", "examples_alone"},
    {"box-stack", "examples_contacts"},
    {"bridge-rectifier", "examples_alone"},
    {"chain-100", "examples_contacts"},
    {"column-of-beads", "examples_contacts"},
    {"double-pendulum", "examples_joints"},
    {"driven-oscillator", "examples_alone"},
    {"flexible-cantilever", "examples_joints"},
    {"four-bar", "examples_joints"},
    {"mass1d", "examples_alone"},
    {"robot-arm", "examples_joints"},
    {"slider-crank", "examples_joints"},
    {"sliding-sphere", "examples_alone"},
    {"spheres-in-a-box", "examples_contacts"},
    {"spinning-top", "examples_joints"},
    {"spring-mass-damper", "examples_alone"},
    {"tilted-table", "examples_alone"},
};
enum { PROOFS = sizeof proofs / sizeof *proofs };

static bool is_followed(const char *file, const char *example)
{
    char path[1024], call[310];

    snprintf(path, sizeof path, "%s/verify/%s.c", MECH_TESTS_FOLDER, file);
    snprintf(call, sizeof call, "(\"%s\"", example);
    char *const text = example_text(path);
    const bool found = strstr(text, call) != NULL;
    free(text);
    return found;
}

static void every_example_has_a_proof(void)
{
    DIR *const folder = opendir(MECH_TESTS_FOLDER "/../server/examples");
    int seen = 0;

    CU_ASSERT_FATAL(folder != NULL);
    for (const struct dirent *e = readdir(folder); e; e = readdir(folder)) {
        char name[300];
        const char *const end = strstr(e->d_name, ".json");
        bool found = false;

        if (!end) {
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(end - e->d_name), e->d_name);
        for (int k = 0; k < PROOFS; k++) {
            found = found ||
                    (strcmp(proofs[k].example, name) == 0 && is_followed(proofs[k].file, name));
        }
        CU_ASSERT(found);
        if (!found) {
            fprintf(stderr, "%s has no proof\n", name);
        }
        seen++;
    }
    closedir(folder);
    CU_ASSERT_EQUAL(seen, PROOFS);
}

UNIT_TESTS(UNIT_TEST(every_example_has_a_proof))
