/* The window of a recording: rows go through it in order, chunks grow until they are closed, and
 * what is not on the disk yet stays. The disk is simulated: rows are taken and reported as safe. */
#include "server/instance/recording.h"

#include "server/instance/runs.h"
#include "tests/unit/server/instance/host.h"

enum { ROWS = 200000, OUTPUTS = 2 };

/* Rows as the disk has them. */
static double disk[ROWS];

/* A recording of a stored instance with two more values in a row than its time. */
static struct mechd_instance *begin(struct mechd_host *d, struct mechd_recording *r, double rows)
{
    static struct mech_variable channels[OUTPUTS] = {
        {.name = "x", .size = 1, .scalar = true, .offset = 0},
        {.name = "v", .size = 1, .scalar = true, .offset = 1}};
    static double values[OUTPUTS];
    struct mechd_instance *const i = instance_create(d);
    free(i->channels);
    free(i->published.values);
    i->channels = malloc(sizeof channels);
    i->published.values = malloc(sizeof values);
    CU_ASSERT_PTR_NOT_NULL_FATAL(i->channels);
    CU_ASSERT_PTR_NOT_NULL_FATAL(i->published.values);
    memcpy(i->channels, channels, sizeof channels);
    i->channel_count = OUTPUTS;
    i->output_size = OUTPUTS;
    i->durable.key = 1;
    *r = (struct mechd_recording){.every = 1};
    const struct mechd_run_settings settings = {.every = 1};
    CU_ASSERT_EQUAL_FATAL(mechd_recording_begin(r, i, &settings, rows), 0);
    CU_ASSERT_EQUAL(r->width, 3);
    return i;
}

static void add(struct mechd_recording *r, struct mechd_instance *i, uint64_t k)
{
    i->published.time = (double)k;
    i->published.values[0] = 2. * (double)k;
    i->published.values[1] = -(double)k;
    mechd_recording_add(r, i);
}

/* A record of all rows that wait, on the disk at once. Returns its rows. */
static uint64_t store(struct mechd_recording *r)
{
    uint64_t first = 0;
    uint64_t count = 0;
    const double *const rows = mechd_recording_take(r, &first, &count);
    for (uint64_t k = 0; rows != NULL && k < count; k++) {
        disk[first + k] = rows[3 * k];
        CU_ASSERT_EQUAL(rows[3 * k + 1], 2. * rows[3 * k]);
        CU_ASSERT_EQUAL(rows[3 * k + 2], -rows[3 * k]);
    }
    if (rows != NULL) {
        atomic_store(&r->safe, first + count);
    }
    return count;
}

static void end(struct mechd_host *d, struct mechd_recording *r, struct mechd_instance *i)
{
    mechd_recording_fini(r);
    CU_ASSERT_EQUAL(atomic_load(&d->row_bytes), 0);
    i->durable.key = 0;
    mechd_instance_unref(i);
    host_destroy(d);
}

/* However often and how much is sent: every row is on the disk, in its place. */
static void rows_go_through_the_window_in_order(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_recording r;
    struct mechd_instance *const i = begin(d, &r, ROWS);
    CU_ASSERT_TRUE_FATAL(r.capacity < ROWS / 3);
    uint64_t seed = 1;
    for (uint64_t k = 0; k < ROWS; k++) {
        CU_ASSERT_FALSE_FATAL(mechd_recording_full(&r));
        add(&r, i, k);
        CU_ASSERT_EQUAL_FATAL(r.count, k + 1);
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        if (mechd_recording_pressed(&r) || seed >> 56 == 0) {
            store(&r);
        }
    }
    store(&r);
    CU_ASSERT_EQUAL(atomic_load(&r.safe), ROWS);
    for (uint64_t k = 0; k < ROWS; k++) {
        CU_ASSERT_EQUAL_FATAL(disk[k], (double)k);
    }
    mechd_recording_trim(&r, false);
    CU_ASSERT_PTR_NULL(r.block);
    end(d, &r, i);
}

static void a_chunk_grows_until_it_is_large(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_recording r;
    struct mechd_instance *const i = begin(d, &r, ROWS);
    // 24 bytes a row: closed with the row that reaches 8 KiB, 342 of them
    for (uint64_t k = 0; k < 342; k++) {
        add(&r, i, k);
        CU_ASSERT_EQUAL(store(&r), k + 1);
        CU_ASSERT_EQUAL(r.chunk, k < 341 ? 0 : 342);
    }
    CU_ASSERT_EQUAL(store(&r), 0);
    add(&r, i, 342);
    CU_ASSERT_EQUAL(store(&r), 1);
    end(d, &r, i);
}

static void a_window_that_the_disk_has_not_taken_is_full(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_recording r;
    struct mechd_instance *const i = begin(d, &r, ROWS);
    uint64_t first = 0;
    uint64_t count = 0;
    for (uint64_t k = 0; k < r.capacity; k++) {
        CU_ASSERT_EQUAL(mechd_recording_pressed(&r), 2 * k >= r.capacity);
        CU_ASSERT_FALSE(mechd_recording_full(&r));
        add(&r, i, k);
    }
    CU_ASSERT_TRUE(mechd_recording_full(&r));
    // sent is not yet taken
    CU_ASSERT_PTR_NOT_NULL(mechd_recording_take(&r, &first, &count));
    CU_ASSERT_EQUAL(count, r.capacity);
    CU_ASSERT_TRUE(mechd_recording_full(&r));
    CU_ASSERT_FALSE(mechd_recording_pressed(&r));
    atomic_store(&r.safe, first + count);
    CU_ASSERT_FALSE(mechd_recording_full(&r));
    add(&r, i, r.capacity);
    CU_ASSERT_EQUAL(r.base, r.capacity);
    CU_ASSERT_EQUAL(r.count, r.capacity + 1);
    // what could not be stored is as if it had not been
    mechd_recording_undo(&r);
    CU_ASSERT_EQUAL(r.count, first + count);
    end(d, &r, i);
}

static void memory_of_all_is_bounded(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_recording r;
    struct mechd_recording more = {.every = 1};
    const struct mechd_run_settings settings = {.every = 1};
    struct mechd_instance *const i = begin(d, &r, 10);
    atomic_fetch_add(&d->row_bytes, mechd_rows_daemon - 500);
    CU_ASSERT_EQUAL(mechd_recording_begin(&more, i, &settings, 100), MECH_UNSUPPORTED);
    CU_ASSERT_PTR_NULL(more.block);
    CU_ASSERT_EQUAL(mechd_recording_begin(&more, i, &settings, 10), 0);
    mechd_recording_fini(&more);
    atomic_fetch_sub(&d->row_bytes, mechd_rows_daemon - 500);
    end(d, &r, i);
}

UNIT_TESTS(UNIT_TEST(rows_go_through_the_window_in_order),
           UNIT_TEST(a_chunk_grows_until_it_is_large),
           UNIT_TEST(a_window_that_the_disk_has_not_taken_is_full),
           UNIT_TEST(memory_of_all_is_bounded))
