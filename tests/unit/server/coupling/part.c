/* Participants of couplings, in a daemon within this process: how long a step takes is measured. */
#include "server/coupling/coupling.h"
#include "server/instance/instance.h"
#include "server/instance/table.h"
#include "tests/unit/server/local.h"
#include "tests/unit/unit.h"

#include <stdio.h>

/* Slices are sized by it, from a guess on. */
static void windows_measure_how_long_a_step_of_a_participant_takes(void)
{
    static const uint64_t ages = UINT64_C(1000000000000000); // ns; no step takes 11 days
    static const char *const paths[] = {"/v1/instances/a", "/v1/instances/b"};
    struct mechd *const d = local_start(NULL, NULL);
    struct mechd_instance *parts[2];
    char path[64];
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    for (int k = 0; k < 2; k++) {
        CU_ASSERT_EQUAL_FATAL(local_status(d, "PUT", paths[k], "{\"example\": \"mass1d\"}"), 201);
        parts[k] = mechd_table_find(&d->service.host.table, k == 0 ? "a" : "b");
        CU_ASSERT_PTR_NOT_NULL_FATAL(parts[k]);
        atomic_store(&parts[k]->step_ns, ages);
    }
    CU_ASSERT_EQUAL(local_status(d, "POST", "/v1/couplings",
                                 "{\"participants\": [{\"name\": \"a\", \"instance\": \"a\"},"
                                 "{\"name\": \"b\", \"instance\": \"b\"}],"
                                 "\"scheme\": {\"type\": \"Jacobi\"}, \"stepSize\": 0.01}"),
                    201);
    (void)snprintf(path, sizeof path, "/v1/couplings/c-%s1/step", d->service.host.series);
    CU_ASSERT_EQUAL(local_status(d, "POST", path, "{\"count\": 1}"), 200);
    for (int k = 0; k < 2; k++) {
        CU_ASSERT(atomic_load(&parts[k]->step_ns) < ages);
        mechd_instance_unref(parts[k]);
    }
    local_stop(d);
}

UNIT_TESTS(UNIT_TEST(windows_measure_how_long_a_step_of_a_participant_takes))
