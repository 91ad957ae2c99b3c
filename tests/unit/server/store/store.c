/* Couplings in the store: what is written is read by the next process, a state replaces the one
 * before it, of a list of records all are there or none, and what is set aside stays. */
#include "server/store/store.h"

#include "solver/base/err.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLACE = 64 };

static const char *const files[] = {"mechd.sqlite", "mechd.sqlite-wal", "mechd.sqlite-shm", "lock"};

static void make_place(char place[PLACE])
{
    snprintf(place, PLACE, "/tmp/mechd-couplings-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(place));
}

static void remove_place(const char *place)
{
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        char path[PLACE + 32];
        snprintf(path, sizeof path, "%s/%s", place, files[k]);
        (void)unlink(path);
    }
    CU_ASSERT_EQUAL(rmdir(place), 0);
}

/* Of the records since a store was opened. */
static int outcomes[8], told;

static struct mechd_store *open_store(const char *place)
{
    struct mechd_store *s = NULL;
    char fault[256];
    told = 0;
    CU_ASSERT_EQUAL_FATAL(mechd_store_open(place, fault, sizeof fault, &s), 0);
    return s;
}

static void note(struct mechd_record *r)
{
    outcomes[told++] = r->outcome;
}

static bool always(const struct mechd_record *r)
{
    (void)r;
    return true;
}

/* A state of "bytes" in this one. */
static struct mechd_record record(enum mechd_record_kind kind, uint64_t number, const char *bytes)
{
    return (struct mechd_record){.kind = kind,
                                 .number = number,
                                 .token = "rig",
                                 .model = "{\"scheme\":1}",
                                 .model_size = 12,
                                 .revision = 3 * number,
                                 .sequence = 2 * number,
                                 .bytes = bytes,
                                 .size = strlen(bytes),
                                 .done = note};
}

/* What a process finds: "1=a 2=bc ", and sets aside. */
struct found {
    char text[64];
    uint64_t aside;
};

static int visit(void *context, const struct mechd_stored_coupling *stored, const char **reason)
{
    struct found *const f = context;
    const size_t at = strlen(f->text);
    snprintf(f->text + at, sizeof f->text - at, "%llu=%.*s ", (unsigned long long)stored->number,
             (int)stored->state_size, (const char *)stored->state);
    CU_ASSERT_STRING_EQUAL(stored->token, "rig");
    CU_ASSERT_EQUAL(stored->document_size, 12);
    CU_ASSERT_EQUAL(memcmp(stored->document, "{\"scheme\":1}", 12), 0);
    CU_ASSERT_EQUAL(stored->revision, 3 * stored->number);
    CU_ASSERT_EQUAL(stored->sequence, 2 * stored->number);
    *reason = "as planned";
    return stored->number == f->aside ? MECH_MISMATCH : 0;
}

static void check_found(const char *place, uint64_t aside, const char *expected)
{
    struct mechd_store *const s = open_store(place);
    struct found f = {.aside = aside};
    CU_ASSERT_EQUAL(mechd_store_visit_couplings(s, visit, &f), 0);
    CU_ASSERT_STRING_EQUAL(f.text, expected);
    mechd_store_close(s);
}

static int same_bytes(void *context, const struct mechd_stored_bytes *b)
{
    CU_ASSERT_EQUAL(b->size, strlen((const char *)context));
    CU_ASSERT_EQUAL(memcmp(b->bytes, context, b->size), 0);
    return 0;
}

/* Of the expected text, as a context. */
static char *bytes(const char *text)
{
    static char kept[16];
    snprintf(kept, sizeof kept, "%s", text);
    return kept;
}

/* Records in a store of their own opening. */
static void store_all(const char *place, struct mechd_record *const *all, size_t count)
{
    struct mechd_store *const s = open_store(place);
    for (size_t k = 0; k < count; k++) {
        mechd_store_post(s, all[k]);
    }
    mechd_store_close(s);
}

static void states_replace_each_other_and_a_deletion_all(void)
{
    char place[PLACE];
    make_place(place);
    struct mechd_record first = record(MECHD_RECORD_COUPLING, 1, "a");
    struct mechd_record second = record(MECHD_RECORD_COUPLING, 2, "b");
    struct mechd_record state = record(MECHD_RECORD_COUPLING_STATE, 2, "bc");
    struct mechd_record none = record(MECHD_RECORD_COUPLING_STATE, 7, "d");
    struct mechd_record *const all[] = {&first, &second, &state, &none};
    store_all(place, all, 4);
    CU_ASSERT_EQUAL(told, 4);
    for (int k = 0; k < told; k++) {
        CU_ASSERT_EQUAL(outcomes[k], 0);
    }
    check_found(place, 0, "1=a 2=bc ");

    struct mechd_store *const s = open_store(place);
    CU_ASSERT_EQUAL(mechd_store_coupling_state(s, 2, same_bytes, bytes("bc")), 0);
    CU_ASSERT_EQUAL(mechd_store_coupling_state(s, 7, same_bytes, bytes("")), MECH_NOT_FOUND);
    struct mechd_record gone = record(MECHD_RECORD_DELETE_COUPLING, 1, "");
    mechd_store_post(s, &gone);
    mechd_store_close(s);
    check_found(place, 0, "2=bc ");
    remove_place(place);
}

/* Reads both again, as what it makes of the bytes may lead to. */
static int read_again(void *context, const struct mechd_stored_bytes *b)
{
    struct mechd_store *const s = context;
    CU_ASSERT_EQUAL(b->size, 1);
    CU_ASSERT_EQUAL(mechd_store_coupling_state(s, 1, same_bytes, bytes("a")), 0);
    CU_ASSERT_EQUAL(mechd_store_replay(s, 5, same_bytes, bytes("i")), 0);
    return 0;
}

/* The same of a snapshot, and that they come in their order. */
struct taken {
    struct mechd_store *store;
    uint64_t numbers[4];
    int count;
};

static int read_snapshot(void *context, const struct mechd_stored_bytes *b)
{
    struct taken *const t = context;
    CU_ASSERT_FATAL(t->count < 4);
    t->numbers[t->count++] = b->number;
    return read_again(t->store, b);
}

/* Otherwise this does not end. */
static void the_store_is_free_while_what_it_has_is_used(void)
{
    char place[PLACE];
    make_place(place);
    struct mechd_record first = record(MECHD_RECORD_COUPLING, 1, "a");
    struct mechd_record instance = record(MECHD_RECORD_CREATE, 0, "i");
    instance.key = 5;
    instance.id = "rig";
    instance.durability = "\"every-step\"";
    struct mechd_record snapshots[] = {record(MECHD_RECORD_SNAPSHOT, 12, "l"),
                                       record(MECHD_RECORD_SNAPSHOT, 3, "t")};
    struct mechd_record *const all[] = {&first, &instance, &snapshots[0], &snapshots[1]};
    snapshots[0].key = snapshots[1].key = 5;
    store_all(place, all, 4);
    struct mechd_store *const s = open_store(place);
    struct taken taken = {.store = s};
    CU_ASSERT_EQUAL(mechd_store_snapshots(s, 5, read_snapshot, &taken), 0);
    CU_ASSERT_EQUAL(taken.count, 2);
    CU_ASSERT_EQUAL(taken.numbers[0], 3);
    CU_ASSERT_EQUAL(taken.numbers[1], 12);
    CU_ASSERT_EQUAL(mechd_store_snapshots(s, 6, read_snapshot, &taken), 0);
    CU_ASSERT_EQUAL(mechd_store_coupling_state(s, 1, read_again, s), 0);
    CU_ASSERT_EQUAL(mechd_store_replay(s, 5, read_again, s), 0);
    CU_ASSERT_EQUAL(mechd_store_replay(s, 6, read_again, s), MECH_NOT_FOUND);
    mechd_store_close(s);
    remove_place(place);
}

/* Numbers and bytes as text: "3=t 12=l ". */
static int note_snapshot(void *context, const struct mechd_stored_bytes *b)
{
    struct found *const f = context;
    const size_t at = strlen(f->text);
    snprintf(f->text + at, sizeof f->text - at, "%llu=%.*s ", (unsigned long long)b->number,
             (int)b->size, (const char *)b->bytes);
    CU_ASSERT_EQUAL(b->time, 0.5);
    return 0;
}

static void check_snapshots(struct mechd_store *s, uint64_t coupling, const char *expected)
{
    struct found f = {.aside = 0};
    CU_ASSERT_EQUAL(mechd_store_coupling_snapshots(s, coupling, note_snapshot, &f), 0);
    CU_ASSERT_STRING_EQUAL(f.text, expected);
}

static void snapshots_of_a_coupling_are_stored_one_by_one_and_deleted_with_it(void)
{
    char place[PLACE];
    make_place(place);
    struct mechd_store *s = open_store(place);
    struct mechd_record couplings[] = {record(MECHD_RECORD_COUPLING, 1, "a"),
                                       record(MECHD_RECORD_COUPLING, 2, "b")};
    struct mechd_record all[] = {record(MECHD_RECORD_COUPLING_SNAPSHOT, 12, "l"),
                                 record(MECHD_RECORD_COUPLING_SNAPSHOT, 3, "t"),
                                 record(MECHD_RECORD_COUPLING_SNAPSHOT, 3, "u"),
                                 record(MECHD_RECORD_COUPLING_SNAPSHOT, 4, "of none")};
    static const uint64_t owners[] = {1, 1, 2, 7};
    mechd_store_post(s, &couplings[0]);
    mechd_store_post(s, &couplings[1]);
    for (int k = 0; k < 4; k++) {
        all[k].coupling = owners[k];
        all[k].time = 0.5;
        mechd_store_post(s, &all[k]);
    }
    mechd_store_close(s);
    s = open_store(place);
    check_snapshots(s, 1, "3=t 12=l ");
    check_snapshots(s, 2, "3=u ");
    check_snapshots(s, 7, "");
    struct mechd_record less = record(MECHD_RECORD_DELETE_COUPLING_SNAPSHOT, 12, "");
    struct mechd_record gone = record(MECHD_RECORD_DELETE_COUPLING, 2, "");
    less.coupling = 1;
    mechd_store_post(s, &less);
    mechd_store_post(s, &gone);
    mechd_store_close(s);
    s = open_store(place);
    check_snapshots(s, 1, "3=t ");
    check_snapshots(s, 2, "");
    mechd_store_close(s);
    remove_place(place);
}

static void of_a_stale_list_nothing_is_stored(void)
{
    char place[PLACE];
    make_place(place);
    struct mechd_store *const s = open_store(place);
    struct mechd_record first = record(MECHD_RECORD_COUPLING, 1, "a");
    mechd_store_post(s, &first);
    struct mechd_record state = record(MECHD_RECORD_COUPLING_STATE, 1, "later");
    struct mechd_record other = record(MECHD_RECORD_COUPLING, 2, "b");
    state.stale = always;
    state.next = &other;
    other.glued = true;
    mechd_store_post(s, &state);
    mechd_store_close(s);
    check_found(place, 0, "1=a ");
    remove_place(place);
}

/* "+1" and "-2": stored and failed, in the order in which the store reports them. */
static char order[64];

static void report(const struct mechd_record *r, char sign)
{
    const size_t at = strlen(order);
    snprintf(order + at, sizeof order - at, "%c%llu", sign, (unsigned long long)r->number);
}

static void report_stored(struct mechd_record *r)
{
    report(r, '+');
}

static void report_failed(struct mechd_record *r)
{
    report(r, '-');
}

static void report_done(struct mechd_record *r)
{
    report(r, r->outcome == 0 ? 'd' : 'x');
}

/* While the store is at a record, the next ones gather. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static bool waits(const struct mechd_record *r)
{
    (void)r;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return false;
}

/* A batch of which one record fails is stored one by one: a client that sees that one has failed
 * knows what was stored before it. */
static void what_is_stored_is_reported_before_a_later_one_fails(void)
{
    char place[PLACE];
    make_place(place);
    struct mechd_store *const s = open_store(place);
    struct mechd_record held = record(MECHD_RECORD_COUPLING, 9, "h"), all[3];
    held.stale = waits;
    order[0] = '\0';
    for (uint64_t k = 0; k < 3; k++) {
        all[k] = record(k == 1 ? MECHD_RECORD_CREATE : MECHD_RECORD_COUPLING, k + 1, "a");
        all[k].stored = report_stored;
        all[k].failed = report_failed;
        all[k].done = report_done;
    }
    // an instance without an id
    all[1].key = 5;
    all[1].durability = "\"none\"";
    pthread_mutex_lock(&gate);
    mechd_store_post(s, &held);
    for (int k = 0; k < 3; k++) {
        mechd_store_post(s, &all[k]);
    }
    pthread_mutex_unlock(&gate);
    mechd_store_close(s);
    CU_ASSERT_STRING_EQUAL(order, "+1-2+3d1x2d3");
    remove_place(place);
}

static void what_is_set_aside_is_kept_and_not_shown_again(void)
{
    char place[PLACE];
    make_place(place);
    struct mechd_record first = record(MECHD_RECORD_COUPLING, 1, "a");
    struct mechd_record second = record(MECHD_RECORD_COUPLING, 2, "b");
    struct mechd_record *const all[] = {&first, &second};
    store_all(place, all, 2);
    check_found(place, 1, "1=a 2=b ");
    check_found(place, 0, "2=b ");
    struct mechd_store *const s = open_store(place);
    CU_ASSERT_EQUAL(mechd_store_coupling_state(s, 1, same_bytes, bytes("a")), 0);
    mechd_store_close(s);
    remove_place(place);
}

static void numbers_of_couplings_increase_over_processes(void)
{
    char place[PLACE];
    make_place(place);
    struct mechd_store *s = open_store(place);
    CU_ASSERT_EQUAL(mechd_store_last(s, MECHD_NUMBER_COUPLING), 0);
    mechd_store_given(s, MECHD_NUMBER_COUPLING, 5);
    mechd_store_close(s);
    s = open_store(place);
    CU_ASSERT_EQUAL(mechd_store_last(s, MECHD_NUMBER_COUPLING), 5);
    mechd_store_close(s);
    remove_place(place);
}

UNIT_TESTS(UNIT_TEST(states_replace_each_other_and_a_deletion_all),
           UNIT_TEST(the_store_is_free_while_what_it_has_is_used),
           UNIT_TEST(snapshots_of_a_coupling_are_stored_one_by_one_and_deleted_with_it),
           UNIT_TEST(of_a_stale_list_nothing_is_stored),
           UNIT_TEST(what_is_stored_is_reported_before_a_later_one_fails),
           UNIT_TEST(what_is_set_aside_is_kept_and_not_shown_again),
           UNIT_TEST(numbers_of_couplings_increase_over_processes))
