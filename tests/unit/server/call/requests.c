/* Requests that threads count apart, and their sum. */
#include "server/call/requests.h"

#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 2 * MECHD_TALLIES + 3, EACH = 1000, SLOW = 1000000000 /* ns */ };

static void *count(void *requests)
{
    struct mechd_requests *const r = requests;
    for (int k = 0; k < EACH; k++) {
        mechd_requests_count(r, MECHD_DOOR_HTTP, NULL, 404, 1);
        mechd_requests_count(r, MECHD_DOOR_HTTP, mechp_route_at(0), 200, SLOW);
        mechd_requests_count(r, MECHD_DOOR_FRAME, NULL, 503, 1);
    }
    return NULL;
}

static uint64_t all_of(const struct mechd_latency *l)
{
    uint64_t sum = 0;
    for (int b = 0; b <= MECHD_BUCKETS; b++) {
        sum += atomic_load(&l->buckets[b]);
    }
    return sum;
}

static int column(int status)
{
    int k = 0;
    while (mechd_statuses[k] != status) {
        k++;
    }
    return k;
}

static void those_of_all_threads_are_summed(void)
{
    struct mechd_requests *const r = calloc(1, sizeof *r);
    pthread_t threads[THREADS];
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    for (int k = 0; k < THREADS; k++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[k], NULL, count, r), 0);
    }
    for (int k = 0; k < THREADS; k++) {
        (void)pthread_join(threads[k], NULL);
    }
    struct mechd_request_tally *const sum = mechd_requests_sum(r);
    const uint64_t all = (uint64_t)THREADS * EACH;
    const int route = (int)mechp_route_at(0)->id;
    CU_ASSERT_PTR_NOT_NULL_FATAL(sum);
    CU_ASSERT_EQUAL(atomic_load(&sum->answered[MECHP_ROUTES][column(404)]), all);
    CU_ASSERT_EQUAL(atomic_load(&sum->answered[route][column(200)]), all);
    CU_ASSERT_EQUAL(atomic_load(&sum->answered[route][column(404)]), 0);
    CU_ASSERT_EQUAL(all_of(&sum->route_latency[MECHP_ROUTES]), all);
    CU_ASSERT_EQUAL(atomic_load(&sum->route_latency[route].sum), all * SLOW);
    CU_ASSERT_EQUAL(atomic_load(&sum->errors[MECHD_DOOR_HTTP]), all);
    CU_ASSERT_EQUAL(atomic_load(&sum->errors[MECHD_DOOR_FRAME]), all);
    CU_ASSERT_EQUAL(all_of(&sum->latency[MECHD_DOOR_FRAME]), all);
    CU_ASSERT_EQUAL(all_of(&sum->latency[MECHD_DOOR_HTTP]), 0);
    free(sum);
    free(r);
}

UNIT_TESTS(UNIT_TEST(those_of_all_threads_are_summed))
