/* Ids and numbers lead to their instance as long as it is in the table, and to none afterwards. */
#include "server/instance/table.h"

#include "server/instance/expiry.h"
#include "server/instance/traits.h"
#include "tests/unit/server/instance/host.h"

#include <sched.h>

static void ids_count_up_and_skip_those_taken(void)
{
    struct mechd_host *d = host_create(1);
    struct mechd_instance *a = instance_create(d);
    struct mechd_instance *b = instance_create(d);
    struct mechd_instance *c = instance_create(d);
    CU_ASSERT_EQUAL(mechd_table_add(&d->table, a, "i-2"), 0);
    CU_ASSERT_EQUAL(mechd_table_add(&d->table, b, NULL), 0);
    CU_ASSERT_STRING_EQUAL(b->id, "i-3");
    CU_ASSERT_EQUAL(mechd_table_add(&d->table, c, "i-3"), MECH_INVALID);
    CU_ASSERT_EQUAL(mechd_table_count(&d->table), 2);
    CU_ASSERT_NOT_EQUAL(a->incarnation, b->incarnation);
    mechd_instance_unref(a);
    mechd_instance_unref(b);
    mechd_instance_unref(c);
    host_destroy(d);
}

static void a_stale_number_finds_nothing(void)
{
    struct mechd_host *d = host_create(1);
    struct mechd_instance *a = instance_create(d);
    CU_ASSERT_EQUAL(mechd_table_add(&d->table, a, "x"), 0);
    const mech_id number = a->number;
    struct mechd_instance *found = mechd_table_number(&d->table, number);
    CU_ASSERT_PTR_EQUAL(found, a);
    mechd_instance_unref(found);
    CU_ASSERT_TRUE(mechd_table_remove(&d->table, a));
    mechd_instance_unref(a);
    CU_ASSERT_FALSE(mechd_table_remove(&d->table, a));
    mechd_instance_unref(a);
    CU_ASSERT_PTR_NULL(mechd_table_number(&d->table, number));
    CU_ASSERT_PTR_NULL(mechd_table_find(&d->table, "x"));

    // the same id takes the same slot, but another generation
    struct mechd_instance *b = instance_create(d);
    CU_ASSERT_EQUAL(mechd_table_add(&d->table, b, "x"), 0);
    CU_ASSERT_EQUAL(mech_id_slot(b->number), mech_id_slot(number));
    CU_ASSERT_NOT_EQUAL(b->number, number);
    CU_ASSERT_PTR_NULL(mechd_table_number(&d->table, number));
    mechd_instance_unref(b);
    host_destroy(d);
}

static void an_id_is_that_of_an_instance_or_of_a_coupling(void)
{
    struct mechd_host *d = host_create(1);
    struct mechd_instance *face = instance_create(d);
    struct mechd_instance *a = instance_create(d);
    CU_ASSERT_EQUAL(mechd_table_add(&d->faces, face, "c-1"), 0);
    CU_ASSERT_EQUAL(mechd_table_add(&d->table, a, "c-1"), MECH_INVALID);
    CU_ASSERT_PTR_NULL(mechd_table_find(&d->table, "c-1"));
    CU_ASSERT_EQUAL(mechd_table_count(&d->table), 0);
    CU_ASSERT_TRUE(mechd_table_remove(&d->faces, face));
    mechd_instance_unref(face);
    CU_ASSERT_EQUAL(mechd_table_add(&d->table, a, "c-1"), 0);
    CU_ASSERT_NOT_EQUAL(a->incarnation, face->incarnation);
    mechd_instance_unref(face);
    mechd_instance_unref(a);
    host_destroy(d);
}

static void lists_come_in_pages_by_age(void)
{
    struct mechd_host *d = host_create(1);
    for (int k = 0; k < 150; k++) {
        struct mechd_instance *i = instance_create(d);
        CU_ASSERT_EQUAL(mechd_table_add(&d->table, i, NULL), 0);
        mechd_instance_unref(i);
    }
    struct mechd_instance **page = NULL;
    size_t count = 0;
    bool more = false;
    uint64_t after = 0;
    uint64_t expected = 1;
    do {
        CU_ASSERT_EQUAL_FATAL(mechd_table_list(&d->table, after, 40, &page, &count, &more), 0);
        for (size_t k = 0; k < count; k++) {
            CU_ASSERT_EQUAL(page[k]->serial, expected++);
            after = page[k]->serial;
            mechd_instance_unref(page[k]);
        }
        free(page);
    } while (more);
    CU_ASSERT_EQUAL(expected, 151);
    host_destroy(d);
}

/* The walk that its time to live has asked for is over, and no other is asked for. */
static bool has_walked(struct mechd_reaper *r)
{
    pthread_mutex_lock(&r->m);
    const bool walked = r->last != 0 && r->due == 0 && !r->walking;
    pthread_mutex_unlock(&r->m);
    return walked;
}

static void an_instance_that_a_walk_was_too_early_for_ends(void)
{
    struct mechd_host *d = host_create(1);
    mechd_reaper_init(&d->reaper, d, mechd_expire);
    struct mechd_instance *i = instance_create(d);
    mechd_instance_set_ttl(i, 1e-10);
    while (!has_walked(&d->reaper)) {
        sched_yield();
    }
    CU_ASSERT_TRUE(mechd_instance_lives(i));
    CU_ASSERT_EQUAL(mechd_table_add(&d->table, i, NULL), 0);
    // another walk is due, works or is over
    pthread_mutex_lock(&d->reaper.m);
    CU_ASSERT_TRUE(d->reaper.due != 0 || d->reaper.walking || !mechd_instance_lives(i));
    pthread_mutex_unlock(&d->reaper.m);
    while (!has_walked(&d->reaper)) {
        sched_yield();
    }
    CU_ASSERT_FALSE(mechd_instance_lives(i));
    CU_ASSERT_EQUAL(mechd_table_count(&d->table), 0);
    mechd_instance_unref(i);
    mechd_reaper_fini(&d->reaper);
    host_destroy(d);
}

UNIT_TESTS(UNIT_TEST(an_instance_that_a_walk_was_too_early_for_ends),
           UNIT_TEST(ids_count_up_and_skip_those_taken), UNIT_TEST(a_stale_number_finds_nothing),
           UNIT_TEST(an_id_is_that_of_an_instance_or_of_a_coupling),
           UNIT_TEST(lists_come_in_pages_by_age))
