/* The table of uploaded FMUs: ids, owners, charges, and the limits of a server. */
#include "server/instance/fmus.h"

#include "solver/base/err.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A package of so many bytes, without files; the caller's. */
static struct mechd_fmu_package *package(uint64_t bytes)
{
    struct mechd_fmu_package *const p = calloc(1, sizeof *p);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    atomic_init(&p->refs, 1);
    p->size = bytes;
    return p;
}

struct setting {
    struct mechd_accounts accounts;
    struct mechd_fmus fmus;
    struct mechd_account *one, *other;
};

static struct setting *opened(const char *limits)
{
    struct setting *const s = calloc(1, sizeof *s);
    char fault[160] = "";
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    mechd_accounts_init(&s->accounts);
    CU_ASSERT_EQUAL(mechd_accounts_preset(&s->accounts, limits, fault, sizeof fault), 0);
    mechd_fmus_init(&s->fmus);
    s->one = mechd_accounts_find(&s->accounts, "one");
    s->other = mechd_accounts_find(&s->accounts, "other");
    return s;
}

static void close_all(struct setting *s)
{
    mechd_fmus_fini(&s->fmus);
    CU_ASSERT_EQUAL(s->one->used[MECHD_QUOTA_FMUS], 0);
    CU_ASSERT_EQUAL(s->one->used[MECHD_QUOTA_FMU_BYTES], 0);
    mechd_accounts_fini(&s->accounts);
    free(s);
}

/* Adds one of so many bytes; its outcome. */
static int add(struct setting *s, struct mechd_account *account, uint64_t bytes, char *id,
               struct mechd_excess *x)
{
    struct mechd_fmu_package *const p = package(bytes);
    const int outcome = mechd_fmus_add(&s->fmus, p, account, id, x);
    mechd_fmu_package_unref(p);
    return outcome;
}

static void they_are_found_listed_and_removed(void)
{
    struct setting *const s = opened("");
    char id[MECH_NAME_MAX + 1], owner[MECH_NAME_MAX + 1];
    struct mechd_excess x;
    struct mechd_fmu *list = NULL;
    size_t count = 0;
    for (int k = 1; k <= 3; k++) {
        CU_ASSERT_EQUAL(add(s, k == 2 ? s->other : s->one, (uint64_t)k, id, &x), 0);
    }
    CU_ASSERT_STRING_EQUAL(id, "f-3");
    struct mechd_fmu_package *const p = mechd_fmus_find(&s->fmus, "f-2", owner);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    CU_ASSERT_STRING_EQUAL(owner, "other");
    CU_ASSERT_EQUAL(p->size, 2);
    CU_ASSERT_PTR_NULL(mechd_fmus_find(&s->fmus, "f-4", NULL));
    // its owner removes it, or a token that may remove all; its holders keep it
    CU_ASSERT_EQUAL(mechd_fmus_remove(&s->fmus, "f-2", "one"), MECH_UNSUPPORTED);
    CU_ASSERT_EQUAL(mechd_fmus_remove(&s->fmus, "f-2", "other"), 0);
    CU_ASSERT_EQUAL(mechd_fmus_remove(&s->fmus, "f-2", NULL), MECH_NOT_FOUND);
    CU_ASSERT_EQUAL(p->refs, 1);
    mechd_fmu_package_unref(p);
    CU_ASSERT_EQUAL(mechd_fmus_list(&s->fmus, &list, &count), 0);
    CU_ASSERT_EQUAL_FATAL(count, 2);
    CU_ASSERT_STRING_EQUAL(list[0].id, "f-1");
    CU_ASSERT_STRING_EQUAL(list[1].id, "f-3");
    mechd_fmus_list_free(list, count);
    // the last one goes, and the next is behind those that are left; ids are not given again
    CU_ASSERT_EQUAL(mechd_fmus_remove(&s->fmus, "f-3", NULL), 0);
    CU_ASSERT_EQUAL(add(s, s->one, 1, id, &x), 0);
    CU_ASSERT_STRING_EQUAL(id, "f-4");
    CU_ASSERT_EQUAL(mechd_fmus_list(&s->fmus, &list, &count), 0);
    CU_ASSERT_EQUAL(count, 2);
    mechd_fmus_list_free(list, count);
    close_all(s);
}

static void an_account_is_charged_until_they_are_gone(void)
{
    struct setting *const s = opened("fmus=2 fmu-bytes=100");
    char id[MECH_NAME_MAX + 1];
    struct mechd_excess x;
    CU_ASSERT_EQUAL(add(s, s->one, 60, id, &x), 0);
    CU_ASSERT_EQUAL(add(s, s->one, 41, id, &x), MECH_UNSUPPORTED);
    CU_ASSERT_EQUAL(x.which, MECHD_QUOTA_FMU_BYTES);
    CU_ASSERT_EQUAL(s->one->used[MECHD_QUOTA_FMUS], 1);
    CU_ASSERT_EQUAL(add(s, s->one, 40, id, &x), 0);
    CU_ASSERT_EQUAL(add(s, s->one, 0, id, &x), MECH_UNSUPPORTED);
    CU_ASSERT_EQUAL(x.which, MECHD_QUOTA_FMUS);
    CU_ASSERT_EQUAL(add(s, s->other, 100, id, &x), 0);
    CU_ASSERT_EQUAL(mechd_fmus_remove(&s->fmus, "f-1", NULL), 0);
    CU_ASSERT_EQUAL(add(s, s->one, 60, id, &x), 0);
    close_all(s);
}

static void a_deleted_one_is_charged_until_its_last_reference_is_dropped(void)
{
    struct setting *const s = opened("fmus=1 fmu-bytes=100");
    char id[MECH_NAME_MAX + 1];
    struct mechd_excess x;
    struct mechd_fmu *list = NULL;
    size_t count = 0;
    CU_ASSERT_EQUAL(add(s, s->one, 60, id, &x), 0);
    struct mechd_fmu_package *const p = mechd_fmus_find(&s->fmus, id, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    CU_ASSERT_EQUAL(mechd_fmus_remove(&s->fmus, id, NULL), 0);
    CU_ASSERT_PTR_NULL(mechd_fmus_find(&s->fmus, id, NULL));
    CU_ASSERT_EQUAL(mechd_fmus_list(&s->fmus, &list, &count), 0);
    CU_ASSERT_EQUAL(count, 0);
    mechd_fmus_list_free(list, count);
    // an instance holds it: it counts for its token, and for the server
    CU_ASSERT_EQUAL(add(s, s->one, 10, id, &x), MECH_UNSUPPORTED);
    CU_ASSERT_EQUAL(x.which, MECHD_QUOTA_FMUS);
    CU_ASSERT_EQUAL(s->one->used[MECHD_QUOTA_FMU_BYTES], 60);
    CU_ASSERT_EQUAL(s->fmus.held, 1);
    CU_ASSERT_EQUAL(s->fmus.bytes, 60);
    mechd_fmu_package_unref(p);
    CU_ASSERT_EQUAL(s->one->used[MECHD_QUOTA_FMUS], 0);
    CU_ASSERT_EQUAL(s->one->used[MECHD_QUOTA_FMU_BYTES], 0);
    CU_ASSERT_EQUAL(s->fmus.held, 0);
    CU_ASSERT_EQUAL(s->fmus.bytes, 0);
    CU_ASSERT_EQUAL(add(s, s->one, 100, id, &x), 0);
    // a refused one leaves nothing
    CU_ASSERT_EQUAL(add(s, s->one, 1, id, &x), MECH_UNSUPPORTED);
    CU_ASSERT_EQUAL(s->fmus.held, 1);
    close_all(s);
}

static void ids_go_on_in_the_next_process_on_a_store(void)
{
    static const char *const files[] = {"mechd.sqlite", "mechd.sqlite-wal", "mechd.sqlite-shm",
                                        "lock"};
    char place[] = "/tmp/mechd-fmus-XXXXXX", path[64], fault[256], id[MECH_NAME_MAX + 1];
    struct mechd_excess x;
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(place));
    for (int process = 0; process < 2; process++) {
        struct setting *const s = opened("");
        struct mechd_store *store = NULL;
        CU_ASSERT_EQUAL_FATAL(mechd_store_open(place, fault, sizeof fault, &store), 0);
        mechd_fmus_number(&s->fmus, store, "");
        CU_ASSERT_EQUAL(add(s, s->one, 1, id, &x), 0);
        CU_ASSERT_STRING_EQUAL(id, process == 0 ? "f-1" : "f-3");
        CU_ASSERT_EQUAL(add(s, s->one, 1, id, &x), 0);
        mechd_store_close(store);
        close_all(s);
    }
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        (void)snprintf(path, sizeof path, "%s/%s", place, files[k]);
        (void)unlink(path);
    }
    CU_ASSERT_EQUAL(rmdir(place), 0);
}

static void a_server_has_limits_too(void)
{
    struct setting *const s = opened("");
    char id[MECH_NAME_MAX + 1];
    struct mechd_excess x;
    CU_ASSERT_EQUAL(add(s, s->one, mechd_fmus_bytes, id, &x), 0);
    CU_ASSERT_EQUAL(add(s, s->other, 1, id, &x), MECH_UNSUPPORTED);
    CU_ASSERT_EQUAL(x.which, MECHD_QUOTAS);
    CU_ASSERT_EQUAL(s->other->used[MECHD_QUOTA_FMU_BYTES], 0);
    CU_ASSERT_EQUAL(mechd_fmus_remove(&s->fmus, "f-1", NULL), 0);
    for (int k = 0; k < MECHD_FMUS_MOST; k++) {
        CU_ASSERT_EQUAL(add(s, s->one, 1, id, &x), 0);
    }
    CU_ASSERT_EQUAL(add(s, s->other, 1, id, &x), MECH_UNSUPPORTED);
    close_all(s);
}

UNIT_TESTS(UNIT_TEST(they_are_found_listed_and_removed),
           UNIT_TEST(an_account_is_charged_until_they_are_gone),
           UNIT_TEST(a_deleted_one_is_charged_until_its_last_reference_is_dropped),
           UNIT_TEST(ids_go_on_in_the_next_process_on_a_store), UNIT_TEST(a_server_has_limits_too))
