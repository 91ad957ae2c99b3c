/* What each lease permits, and the effect of inactivity; many threads that want the same. */
#include "server/instance/leases.h"

#include "server/os/ticks.h"
#include "solver/base/err.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const char *const both[] = {"force", "torque"};

static struct mechd_lease_wish wish(int role, size_t channels)
{
    return (struct mechd_lease_wish){.role = role,
                                     .channels = channels > 0 ? both : NULL,
                                     .channel_count = channels,
                                     .seconds = 60.,
                                     .name = "who"};
}

static uint64_t take(struct mechd_leases *l, int role, size_t channels)
{
    uint64_t number = 0;
    struct mechd_holder holder;
    const struct mechd_lease_wish w = wish(role, channels);
    CU_ASSERT_EQUAL_FATAL(mechd_leases_take(l, &w, &number, &holder), 0);
    return number;
}

/* The outcome of one act from its beginning to its end. */
static int act(struct mechd_leases *l, uint64_t number, enum mechd_act what)
{
    struct mechd_holder holder;
    const int outcome = mechd_leases_begin(l, number, what, &holder);
    if (outcome == 0) {
        mechd_leases_end(l, number);
    }
    return outcome;
}

static void nap(double seconds)
{
    const struct timespec t = {.tv_nsec = (long)(1e9 * seconds)};
    nanosleep(&t, NULL); // steady: a lease ends
}

static void each_role_may_what_it_may(void)
{
    enum { MAY = 0, NOT = MECH_INVALID };
    static const struct {
        int role;
        int inputs_alone, change_alone, inputs_owned, change_owned;
    } rows[] = {
        {MECHD_ROLE_CO_DRIVER, MAY, NOT, MAY, NOT},
        {MECHD_ROLE_OBSERVER, NOT, NOT, NOT, NOT},
        {MECHD_ROLE_PARTNER, MAY, MAY, NOT, NOT},
        {-1, MAY, MAY, NOT, NOT},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct mechd_leases l;
        mechd_leases_init(&l);
        const int role = rows[k].role;
        const uint64_t number = role < 0 ? 0 : take(&l, role, role == MECHD_ROLE_CO_DRIVER);
        CU_ASSERT_EQUAL(act(&l, number, MECHD_ACT_READ), 0);
        CU_ASSERT_EQUAL(act(&l, number, MECHD_ACT_INPUTS), rows[k].inputs_alone);
        CU_ASSERT_EQUAL(act(&l, number, MECHD_ACT_CHANGE), rows[k].change_alone);
        const uint64_t owner = take(&l, MECHD_ROLE_OWNER, 0);
        CU_ASSERT_EQUAL(act(&l, number, MECHD_ACT_READ), 0);
        CU_ASSERT_EQUAL(act(&l, number, MECHD_ACT_INPUTS), rows[k].inputs_owned);
        CU_ASSERT_EQUAL(act(&l, number, MECHD_ACT_CHANGE), rows[k].change_owned);
        CU_ASSERT_EQUAL(act(&l, owner, MECHD_ACT_CHANGE), 0);
        CU_ASSERT_EQUAL(act(&l, owner, MECHD_ACT_INPUTS), 0);
        CU_ASSERT_TRUE(mechd_leases_drop(&l, owner));
        CU_ASSERT_FALSE(mechd_leases_drop(&l, owner));
        CU_ASSERT_EQUAL(act(&l, owner, MECHD_ACT_CHANGE), MECH_NOT_FOUND);
        CU_ASSERT_EQUAL(act(&l, number, MECHD_ACT_CHANGE), rows[k].change_alone);
        mechd_leases_fini(&l);
    }
}

static void an_input_is_its_co_drivers_and_the_owners(void)
{
    struct mechd_leases l;
    struct mechd_holder holder;
    mechd_leases_init(&l);
    CU_ASSERT_TRUE(mechd_leases_may_set(&l, 0, "force", &holder));
    const uint64_t driver = take(&l, MECHD_ROLE_CO_DRIVER, 1);
    const uint64_t owner = take(&l, MECHD_ROLE_OWNER, 0);
    CU_ASSERT_TRUE(mechd_leases_may_set(&l, driver, "force", &holder));
    CU_ASSERT_FALSE(mechd_leases_may_set(&l, driver, "torque", &holder));
    CU_ASSERT_TRUE(mechd_leases_may_set(&l, owner, "force", &holder));
    CU_ASSERT_TRUE(mechd_leases_may_set(&l, 0, "torque", &holder));
    CU_ASSERT_FALSE(mechd_leases_may_set(&l, 0, "force", &holder));
    CU_ASSERT_STRING_EQUAL(holder.channel, "force");
    CU_ASSERT_STRING_EQUAL(holder.name, "who");
    uint64_t number = 0;
    const struct mechd_lease_wish w = wish(MECHD_ROLE_CO_DRIVER, 2);
    CU_ASSERT_EQUAL(mechd_leases_take(&l, &w, &number, &holder), MECH_INVALID);
    CU_ASSERT_EQUAL(mechd_leases_break(&l, MECHD_ROLE_CO_DRIVER), 1);
    CU_ASSERT_EQUAL(atomic_load(&l.drivers), 0);
    CU_ASSERT_TRUE(mechd_leases_may_set(&l, 0, "force", &holder));
    mechd_leases_fini(&l);
}

static void silence_ends_a_lease_and_its_own_act_is_no_silence(void)
{
    struct mechd_leases l;
    struct mechd_holder holder;
    uint64_t number = 0;
    struct mechd_lease_wish w = wish(MECHD_ROLE_OWNER, 0);
    mechd_leases_init(&l);
    CU_ASSERT_EQUAL_FATAL(mechd_leases_take(&l, &w, &number, &holder), 0);
    CU_ASSERT_NOT_EQUAL(atomic_load(&l.due), 0);
    CU_ASSERT_EQUAL_FATAL(mechd_leases_begin(&l, number, MECHD_ACT_CHANGE, &holder), 0);
    w.seconds = 0.02;
    CU_ASSERT_EQUAL(mechd_leases_change(&l, number, &w, &holder), 0);
    nap(0.06);
    CU_ASSERT_TRUE(mechd_leases_lasts(&l, number));
    CU_ASSERT_EQUAL(act(&l, 0, MECHD_ACT_CHANGE), MECH_INVALID);
    // its seconds begin at the end of the act
    const uint64_t end = mechd_now();
    mechd_leases_end(&l, number);
    const bool lasts = mechd_leases_lasts(&l, number);
    CU_ASSERT_TRUE(lasts || mechd_now() - end >= 20 * (uint64_t)MECHD_MS);
    nap(0.06);
    // it counts as ended before it has been removed
    CU_ASSERT_FALSE(mechd_leases_lasts(&l, number));
    CU_ASSERT_EQUAL(act(&l, number, MECHD_ACT_CHANGE), MECH_NOT_FOUND);
    CU_ASSERT_EQUAL(act(&l, 0, MECHD_ACT_CHANGE), 0);
    take(&l, MECHD_ROLE_OWNER, 0);
    mechd_leases_fini(&l);
}

static void tell(void *context, const char *role, const char *name)
{
    int *const told = context;
    *told += strcmp(role, "owner") == 0 && strcmp(name, "who") == 0;
}

static void what_has_ended_is_removed_and_logged(void)
{
    struct mechd_leases l;
    struct mechd_holder holder;
    uint64_t number = 0;
    int told = 0;
    struct mechd_lease_wish w = wish(MECHD_ROLE_OWNER, 0);
    mechd_leases_init(&l);
    const uint64_t stays = take(&l, MECHD_ROLE_OBSERVER, 0);
    w.seconds = 0.01;
    CU_ASSERT_EQUAL_FATAL(mechd_leases_take(&l, &w, &number, &holder), 0);
    const uint64_t soon = atomic_load(&l.due);
    nap(0.03);
    CU_ASSERT_EQUAL(mechd_leases_expire(&l, tell, &told), 1);
    CU_ASSERT_EQUAL(told, 1);
    CU_ASSERT_TRUE(mechd_leases_lasts(&l, stays));
    CU_ASSERT_TRUE(atomic_load(&l.due) > soon);
    CU_ASSERT_TRUE(mechd_leases_drop(&l, stays));
    CU_ASSERT_TRUE(mechd_leases_none(&l));
    CU_ASSERT_EQUAL(mechd_leases_expire(&l, tell, &told), 0);
    CU_ASSERT_EQUAL(atomic_load(&l.due), 0);
    mechd_leases_fini(&l);
}

static void what_is_refused_leaves_a_lease_as_it_was(void)
{
    struct mechd_leases l;
    struct mechd_holder holder;
    mechd_leases_init(&l);
    const uint64_t driver = take(&l, MECHD_ROLE_CO_DRIVER, 1);
    take(&l, MECHD_ROLE_OWNER, 0);
    struct mechd_lease_wish w = {.role = MECHD_ROLE_OWNER, .seconds = NAN};
    CU_ASSERT_EQUAL(mechd_leases_change(&l, driver, &w, &holder), MECH_INVALID);
    CU_ASSERT_TRUE(mechd_leases_may_set(&l, driver, "force", &holder));
    w = (struct mechd_lease_wish){
        .role = MECHD_ROLE_OBSERVER, .channels = both, .channel_count = 1, .seconds = NAN};
    CU_ASSERT_EQUAL(mechd_leases_change(&l, driver, &w, &holder), MECH_MISMATCH);
    w = (struct mechd_lease_wish){
        .role = -1, .channels = both + 1, .channel_count = 1, .seconds = NAN};
    CU_ASSERT_EQUAL(mechd_leases_change(&l, driver, &w, &holder), 0);
    CU_ASSERT_TRUE(mechd_leases_may_set(&l, driver, "torque", &holder));
    CU_ASSERT_FALSE(mechd_leases_may_set(&l, driver, "force", &holder));
    CU_ASSERT_EQUAL(mechd_leases_change(&l, 7, &w, &holder), MECH_NOT_FOUND);
    mechd_leases_fini(&l);
}

static void there_is_a_largest_number_of_leases(void)
{
    struct mechd_leases l;
    struct mechd_holder holder;
    uint64_t number = 0;
    const struct mechd_lease_wish w = wish(MECHD_ROLE_OBSERVER, 0);
    mechd_leases_init(&l);
    for (int k = 0; k < MECHD_LEASES_MOST; k++) {
        take(&l, MECHD_ROLE_OBSERVER, 0);
    }
    CU_ASSERT_EQUAL(mechd_leases_take(&l, &w, &number, &holder), MECH_UNSUPPORTED);
    CU_ASSERT_EQUAL(mechd_leases_break(&l, MECHD_ROLE_OBSERVER), MECHD_LEASES_MOST);
    take(&l, MECHD_ROLE_OBSERVER, 0);
    mechd_leases_fini(&l);
}

/* Threads that want to own, and others that come without a lease: between a begin and its end
 * no other is admitted that was not there before. */
struct contest {
    struct mechd_leases l;
    _Atomic int inside; /* owners at work */
    _Atomic int most, worked;
};

static void *want(void *context)
{
    struct contest *const c = context;
    struct mechd_holder holder;
    for (int k = 0; k < 2000; k++) {
        uint64_t number = 0;
        const struct mechd_lease_wish w = wish(MECHD_ROLE_OWNER, 0);
        if (mechd_leases_take(&c->l, &w, &number, &holder) != 0) {
            (void)act(&c->l, 0, MECHD_ACT_CHANGE);
            continue;
        }
        if (mechd_leases_begin(&c->l, number, MECHD_ACT_CHANGE, &holder) == 0) {
            const int now = atomic_fetch_add(&c->inside, 1) + 1;
            if (now > atomic_load(&c->most)) {
                atomic_store(&c->most, now);
            }
            atomic_fetch_add(&c->worked, 1);
            atomic_fetch_sub(&c->inside, 1);
            mechd_leases_end(&c->l, number);
        }
        int told = 0;
        (void)mechd_leases_expire(&c->l, tell, &told);
        (void)mechd_leases_drop(&c->l, number);
    }
    return NULL;
}

static void a_couplings_lease_has_its_id_and_a_code_of_its_own(void)
{
    struct mechd_leases l;
    struct mechd_holder holder;
    uint64_t number = 0;
    char text[200];
    mechd_leases_init(&l);
    CU_ASSERT_FALSE(mechd_leases_coupled(&l, &holder));
    // an owner is no coupling, whatever its name
    const uint64_t owner = take(&l, MECHD_ROLE_OWNER, 0);
    CU_ASSERT_FALSE(mechd_leases_coupled(&l, &holder));
    CU_ASSERT_EQUAL(mechd_leases_begin(&l, 0, MECHD_ACT_CHANGE, &holder), MECH_INVALID);
    CU_ASSERT_EQUAL(mechd_holder_code(&holder), MECHP_FOREIGN_LEASE);
    CU_ASSERT_TRUE(mechd_leases_drop(&l, owner));

    const struct mechd_lease_wish w = {.role = MECHD_ROLE_OWNER, .of = MECHD_LEASE_OF_COUPLING};
    CU_ASSERT_EQUAL_FATAL(mechd_leases_take(&l, &w, &number, &holder), 0);
    CU_ASSERT_TRUE(mechd_leases_coupled(&l, &holder));
    CU_ASSERT_STRING_EQUAL(mechd_holder_tell(&holder, "i-1", text, sizeof text),
                           "i-1 takes part in a coupling that is being created");
    const struct mechd_lease_wish named = {.role = -1, .seconds = (double)NAN, .name = "c-3"};
    CU_ASSERT_EQUAL(mechd_leases_change(&l, number, &named, &holder), 0);
    CU_ASSERT_EQUAL(mechd_leases_begin(&l, 0, MECHD_ACT_INPUTS, &holder), MECH_INVALID);
    CU_ASSERT_EQUAL(mechd_holder_code(&holder), MECHP_IN_COUPLING);
    CU_ASSERT_STRING_EQUAL(mechd_holder_tell(&holder, "i-1", text, sizeof text),
                           "i-1 takes part in coupling c-3");
    CU_ASSERT_EQUAL(mechd_leases_begin(&l, 5, MECHD_ACT_CHANGE, &holder), MECH_NOT_FOUND);
    CU_ASSERT_EQUAL(mechd_holder_code(&holder), MECHP_FOREIGN_LEASE);
    mechd_leases_fini(&l);
}

static void of_many_threads_one_owns(void)
{
    struct contest c = {.inside = 0};
    pthread_t threads[4];
    mechd_leases_init(&c.l);
    for (int k = 0; k < 4; k++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[k], NULL, want, &c), 0);
    }
    for (int k = 0; k < 4; k++) {
        pthread_join(threads[k], NULL);
    }
    CU_ASSERT_EQUAL(c.most, 1);
    CU_ASSERT_TRUE(c.worked > 0);
    CU_ASSERT_TRUE(mechd_leases_none(&c.l));
    mechd_leases_fini(&c.l);
}

UNIT_TESTS(UNIT_TEST(each_role_may_what_it_may),
           UNIT_TEST(an_input_is_its_co_drivers_and_the_owners),
           UNIT_TEST(silence_ends_a_lease_and_its_own_act_is_no_silence),
           UNIT_TEST(what_has_ended_is_removed_and_logged),
           UNIT_TEST(what_is_refused_leaves_a_lease_as_it_was),
           UNIT_TEST(a_couplings_lease_has_its_id_and_a_code_of_its_own),
           UNIT_TEST(there_is_a_largest_number_of_leases), UNIT_TEST(of_many_threads_one_owns))
