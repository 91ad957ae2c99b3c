#include "tests/bench/floor_life.h"

#include "protocol/bind/bind.h"

#include <jansson.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static sigset_t the_end(void)
{
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    return end;
}

void floor_begin(void)
{
    const sigset_t end = the_end();
    (void)pthread_sigmask(SIG_BLOCK, &end, NULL);
}

int floor_live_on(const char *ready_file, const char *where)
{
    const sigset_t end = the_end();
    char beside[512];
    (void)snprintf(beside, sizeof beside, "%s.new", ready_file);
    FILE *const file = fopen(beside, "w");
    if (file == NULL || fprintf(file, "%s\n", where) < 0 || fclose(file) != 0 ||
        rename(beside, ready_file) != 0) {
        perror(ready_file);
        return 2;
    }
    int number = 0;
    (void)sigwait(&end, &number);
    return 0;
}

struct mech_sim *floor_sim(const char *model, size_t least, size_t most)
{
    struct mech_diag diag;
    struct mech_document *document = NULL;
    struct mech_sim *sim = NULL;
    json_t *const root = json_loads(model, 0, NULL);
    mech_diag_init(&diag);
    const bool made = mechp_bind_read(root, "", &diag, &document) == 0 &&
                      mech_sim_create(document, &diag, &sim) == 0;
    const size_t size = made ? mech_sim_output_size(sim) : 0;
    if (!made || size < least || size > most) {
        (void)fprintf(stderr, "not a model of %zu to %zu outputs\n", least, most);
        exit(2);
    }
    json_decref(root);
    mech_diag_fini(&diag);
    return sim;
}
