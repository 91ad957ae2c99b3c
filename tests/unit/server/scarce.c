/* The daemon of tests without memory. */
#include "tests/unit/server/scarce.h"

#include "protocol/wire/json.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

enum { PRINTED = 12 };

static char folder[32];
static int faults;

/* For jansson (2.14): where the buffer of its scanner cannot grow, which it does by powers of two,
 * it goes on with what it has and writes beyond it. Requests of such sizes are never refused. */
static json_malloc_t json_usual;

static void *json_memory(size_t size)
{
    alloc_exempt(size >= 16 && (size & (size - 1)) == 0);
    void *const block = json_usual(size);
    alloc_exempt(false);
    return block;
}

struct mechd *scarce_begin(bool stored)
{
    return scarce_begin_with(stored, NULL);
}

struct mechd *scarce_begin_with(bool stored, const char *const *options)
{
    faults = 0;
    (void)snprintf(folder, sizeof folder, "/tmp/mechd-memory-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    struct mechd *const served = local_start(stored ? folder : NULL, options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(served);
    json_malloc_t now = NULL;
    json_free_t json_free = NULL;
    json_get_alloc_funcs(&now, &json_free);
    json_usual = now != json_memory ? now : json_usual;
    json_set_alloc_funcs(json_memory, json_free);
    return served;
}

void scarce_end(struct mechd *served)
{
    char command[64];
    CU_ASSERT_EQUAL(faults, 0);
    CU_ASSERT(local_clear(served, SCARCE_LIMIT_MS));
    local_stop(served);
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    CU_ASSERT_EQUAL(system(command), 0);
}

bool scarce_prints(void)
{
    return faults < PRINTED;
}

void scarce_expect(bool good, const char *method, const char *path, long n,
                   const struct local_reply *r, const char *what)
{
    if (!good && faults++ < PRINTED) {
        (void)printf("    %s %s, allocation %ld: %s: %d %.*s\n", method, path, n, what, r->status,
                     (int)(r->text != NULL ? r->size : 0), r->text);
    }
}
