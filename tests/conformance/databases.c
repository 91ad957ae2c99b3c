/* Every kind of database keeps its contract (server/store/database.h), on a place of its own. */
#include "server/store/database.h"
#include "solver/base/err.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct mechd_database_ops *ops;
static char place[64];
static void *writer, *reader;

static void *open_one(void)
{
    char fault[256] = "";
    void *self = NULL;
    CU_ASSERT_EQUAL_FATAL(ops->open(place, fault, sizeof fault, &self), 0);
    return self;
}

/* One record in a transaction of its own. */
static bool put(const struct mechd_record *r)
{
    const bool good = ops->begin(writer) && ops->apply(writer, r) && ops->commit(writer);
    if (!good) {
        ops->undo(writer);
    }
    return good;
}

static struct mechd_record creation(int64_t key, const char *id)
{
    return (struct mechd_record){.kind = MECHD_RECORD_CREATE,
                                 .key = key,
                                 .id = id,
                                 .labels = "{\"a\":1}",
                                 .durability = "every-step",
                                 .model = "{\"mechd\":1}",
                                 .model_size = 11,
                                 .token = "me",
                                 .ttl = 2.5,
                                 .serial = 7,
                                 .revision = 3,
                                 .sequence = UINT64_C(1) << 62,
                                 .bytes = "\0state",
                                 .size = 6};
}

/* --- what is read ----------------------------------------------------------------------------- */

struct seen {
    int count;
    int64_t key;
    char id[80], text[80];
    uint64_t number, sequence, rows, base;
    double time;
    size_t size;
    bool flag;
};

static void see(void *context, const struct mechd_stored *s)
{
    struct seen *const x = context;
    x->count++;
    x->key = s->key;
    x->sequence = s->sequence;
    x->time = s->ttl;
    x->size = s->state_size;
    snprintf(x->id, sizeof x->id, "%s", s->id);
    snprintf(x->text, sizeof x->text, "%s|%s|%s|%.*s", s->labels, s->durability, s->token,
             (int)s->model_size, s->model);
    x->flag = s->state_size == 6 && memcmp(s->state, "\0state", 6) == 0 && s->serial == 7 &&
              s->revision == 3;
}

static int take(void *context, const struct mechd_stored_bytes *b)
{
    struct seen *const x = context;
    x->count++;
    x->number = b->number;
    x->sequence = b->sequence;
    x->base = b->base;
    x->time = b->time;
    x->size = b->size;
    snprintf(x->text, sizeof x->text, "%.*s", (int)b->size, (const char *)b->bytes);
    return x->flag ? 5 : 0; // flag: it has enough
}

static int take_run(void *context, const struct mechd_stored_run *r)
{
    struct seen *const x = context;
    x->count++;
    x->number = r->number;
    x->rows = r->rows;
    x->flag = r->recorded;
    x->time = r->time;
    snprintf(x->text, sizeof x->text, "%s|%s|%s", r->state, r->description, r->reason);
    return 0;
}

static int take_sweep(void *context, const struct mechd_stored_sweep *s)
{
    struct seen *const x = context;
    x->count++;
    x->number = s->number;
    x->rows = s->rows;
    snprintf(x->text, sizeof x->text, "%s|%s|%s|%s|%u|%u", s->token, s->description, s->state,
             s->errors, s->done, s->failed);
    return 0;
}

static int take_receipt(void *context, const struct mechd_stored_receipt *r)
{
    struct seen *const x = context;
    x->count++;
    x->number = r->body;
    x->key = r->instance;
    x->size = r->size;
    snprintf(x->text, sizeof x->text, "%s|%s|%s|%s|%d", r->scope, r->location, r->etag,
             r->id != NULL ? r->id : "-", r->status);
    return 0;
}

/* --- the contract ----------------------------------------------------------------------------- */

static void instances(void)
{
    struct mechd_record r = creation(1, "rig");
    struct seen x = {.count = 0};
    CU_ASSERT_EQUAL(ops->next(reader, 0, see, &x), 0);
    CU_ASSERT(put(&r));
    CU_ASSERT_EQUAL(ops->next(reader, 0, see, &x), 1);
    CU_ASSERT(x.flag && x.key == 1 && x.time == 2.5 && x.sequence == UINT64_C(1) << 62);
    CU_ASSERT_STRING_EQUAL(x.text, "{\"a\":1}|every-step|me|{\"mechd\":1}");
    CU_ASSERT_EQUAL(ops->next(reader, 1, see, &x), 0);

    // the same key again is refused, and nothing of its transaction stays
    struct mechd_record described = {
        .kind = MECHD_RECORD_DESCRIBE, .key = 1, .labels = "{}", .ttl = 9};
    CU_ASSERT(ops->begin(writer) && ops->apply(writer, &described));
    CU_ASSERT_FALSE(ops->apply(writer, &r));
    CU_ASSERT(strlen(ops->fault(writer)) > 0);
    ops->undo(writer);
    CU_ASSERT_EQUAL(ops->next(reader, 0, see, &x), 1);
    CU_ASSERT_EQUAL(x.time, 2.5);

    // what is not committed, the other connection does not see
    CU_ASSERT(ops->begin(writer) && ops->apply(writer, &described));
    CU_ASSERT(ops->next(reader, 0, see, &x) == 1 && x.time == 2.5);
    CU_ASSERT(ops->commit(writer));
    CU_ASSERT(ops->next(reader, 0, see, &x) == 1 && x.time == 9);

    // an id that is used again: the older instance is quarantined
    r = creation(2, "rig");
    CU_ASSERT(put(&r));
    CU_ASSERT(ops->next(reader, 0, see, &x) == 1 && x.key == 2);
    CU_ASSERT(ops->set_aside(reader, 2, "a test"));
    CU_ASSERT_EQUAL(ops->next(reader, 0, see, &x), 0);
    int64_t key = 0;
    CU_ASSERT(ops->last_key(writer, &key) && key == 2);
    CU_ASSERT(ops->probe(writer));
}

static void commands_and_states(void)
{
    struct mechd_record r = creation(10, "stepped");
    struct seen x = {.count = 0};
    CU_ASSERT_EQUAL(ops->replay(reader, 10, take, &x), MECH_NOT_FOUND);
    CU_ASSERT(put(&r));
    for (uint64_t k = 1; k <= 3; k++) {
        r = (struct mechd_record){.kind = MECHD_RECORD_COMMAND,
                                  .key = 10,
                                  .number = k,
                                  .revision = 3 + k,
                                  .sequence = k,
                                  .bytes = "step",
                                  .size = 4};
        CU_ASSERT(put(&r));
    }
    CU_ASSERT_EQUAL(ops->replay(reader, 10, take, &x), 0);
    CU_ASSERT(x.count == 4 && x.number == 3 && x.sequence == 3);
    CU_ASSERT_STRING_EQUAL(x.text, "step");
    x = (struct seen){.flag = true};
    CU_ASSERT(ops->replay(reader, 10, take, &x) == 5 && x.count == 1 && x.number == 0);

    r = creation(10, "stepped");
    r.kind = MECHD_RECORD_STATE;
    r.bytes = "", r.size = 0;
    CU_ASSERT(put(&r));
    x = (struct seen){.count = 0};
    CU_ASSERT(ops->replay(reader, 10, take, &x) == 0 && x.count == 1 && x.size == 0);
}

static void rows_of_runs(void)
{
    struct mechd_record r = creation(20, "run");
    struct seen x = {.count = 0};
    CU_ASSERT(put(&r));
    r = (struct mechd_record){
        .kind = MECHD_RECORD_RUN,
        .key = 20,
        .number = 4,
        .run = {.state = "running", .description = "{}", .reason = "", .recorded = true}};
    CU_ASSERT(put(&r));
    r.run = (struct mechd_stored_run){.state = "done",
                                      .description = "{2}",
                                      .reason = "end",
                                      .time = 0.25,
                                      .rows = 30,
                                      .recorded = true};
    CU_ASSERT(put(&r));
    CU_ASSERT_EQUAL(ops->runs(reader, 20, take_run, &x), 0);
    CU_ASSERT(x.count == 1 && x.number == 4 && x.rows == 30 && x.flag && x.time == 0.25);
    CU_ASSERT_STRING_EQUAL(x.text, "done|{2}|end");

    for (uint64_t first = 0; first < 30; first += 10) {
        r = (struct mechd_record){.kind = MECHD_RECORD_RESULTS,
                                  .key = 20,
                                  .number = 4,
                                  .first = first,
                                  .time = 0.1 * (double)first,
                                  .bytes = "rows",
                                  .size = 4};
        CU_ASSERT(put(&r));
    }
    int count = 0;
    struct mechd_rows_asked asked = {.which = MECHD_ROWS_RESULTS, .key = 20, .of = 4, .row = 17};
    x = (struct seen){.count = 0};
    CU_ASSERT(ops->rows(reader, &asked, take, &x, &count) == 0 && count == 1 && x.number == 10);
    CU_ASSERT_EQUAL(ops->results_at(reader, 20, 4, 1.99), 10);
    CU_ASSERT_EQUAL(ops->results_at(reader, 20, 4, -1), 0);
    r = (struct mechd_record){.kind = MECHD_RECORD_DELETE_RESULTS, .key = 20, .number = 4};
    CU_ASSERT(put(&r));
    x = (struct seen){.flag = true};
    CU_ASSERT(ops->runs(reader, 20, take_run, &x) == 0 && !x.flag);
    count = 0;
    CU_ASSERT(ops->rows(reader, &asked, take, &x, &count) == 0 && count == 0);
}

static void snapshots_and_deletion(void)
{
    struct mechd_record r = creation(30, "kept");
    int count = 0;
    const struct mechd_rows_asked asked = {.which = MECHD_ROWS_SNAPSHOTS, .key = 30};
    struct seen x = {.count = 0};
    CU_ASSERT(put(&r));
    r = (struct mechd_record){.kind = MECHD_RECORD_SNAPSHOT,
                              .key = 30,
                              .number = 2,
                              .time = 1.5,
                              .bytes = "picture",
                              .size = 7};
    CU_ASSERT(put(&r));
    r.kind = MECHD_RECORD_RECEIPT;
    r.receipt = (struct mechd_stored_receipt){.scope = "me POST /x key",
                                              .location = "/x/1",
                                              .etag = "\"e\"",
                                              .instance = 30,
                                              .body = 99,
                                              .status = 201,
                                              .bytes = "{}",
                                              .size = 2};
    CU_ASSERT(put(&r));
    CU_ASSERT_EQUAL(ops->rows(reader, &asked, take, &x, &count), 0);
    CU_ASSERT(count == 1 && x.number == 2 && x.time == 1.5);
    CU_ASSERT_STRING_EQUAL(x.text, "picture");
    x = (struct seen){.count = 0};
    CU_ASSERT(ops->receipts(writer, 0, take_receipt, &x) == 0 && x.count == 1);
    CU_ASSERT(x.number == 99 && x.key == 30 && x.size == 2);
    CU_ASSERT_STRING_EQUAL(x.text, "me POST /x key|/x/1|\"e\"|kept|201");

    // an instance takes all that is its own with it, and what comes later is not kept
    r = (struct mechd_record){.kind = MECHD_RECORD_DELETE, .key = 30};
    CU_ASSERT(put(&r));
    r = (struct mechd_record){
        .kind = MECHD_RECORD_SNAPSHOT, .key = 30, .number = 3, .bytes = "late", .size = 4};
    CU_ASSERT(put(&r));
    count = 0;
    CU_ASSERT(ops->rows(reader, &asked, take, &x, &count) == 0 && count == 0);
    CU_ASSERT_EQUAL(ops->replay(reader, 30, take, &x), MECH_NOT_FOUND);
}

/* The base of the stored state of this key, and the parent of its last snapshot. */
static void check_tree(int64_t key, uint64_t base, uint64_t parent)
{
    struct mechd_rows_asked asked = {.which = MECHD_ROWS_SNAPSHOTS, .key = key};
    struct seen x = {.count = 0};
    int count = 1;
    CU_ASSERT(ops->replay(reader, key, take, &x) == 0 && x.base == base);
    // one at a time
    for (x.number = 0; count > 0; asked.row = x.number + 1) {
        count = 0;
        CU_ASSERT(ops->rows(reader, &asked, take, &x, &count) == 0 && count <= 1);
    }
    CU_ASSERT_EQUAL(x.base, parent);
}

static void snapshots_as_a_tree(void)
{
    struct mechd_record r = creation(40, "tree");
    CU_ASSERT(put(&r));
    r = (struct mechd_record){.kind = MECHD_RECORD_SNAPSHOT, .key = 40, .number = 1, .bytes = ""};
    CU_ASSERT(put(&r));
    check_tree(40, 0, 0);

    // of the stored state: a state, then a command
    r.number = 2, r.base = 1, r.present = true;
    CU_ASSERT(put(&r));
    check_tree(40, 2, 1);
    r = (struct mechd_record){
        .kind = MECHD_RECORD_COMMAND, .key = 40, .number = 1, .base = 2, .bytes = ""};
    CU_ASSERT(put(&r));
    check_tree(40, 2, 1);
    r = (struct mechd_record){.kind = MECHD_RECORD_SNAPSHOT,
                              .key = 40,
                              .number = 3,
                              .base = 2,
                              .present = true,
                              .bytes = ""};
    CU_ASSERT(put(&r));
    check_tree(40, 3, 2);

    // what descends from a deleted one descends from its parent, of this key alone
    struct mechd_record other = creation(41, "other");
    other.base = 2;
    CU_ASSERT(put(&other));
    r = (struct mechd_record){
        .kind = MECHD_RECORD_DELETE_SNAPSHOT, .key = 40, .number = 2, .base = 1};
    CU_ASSERT(put(&r));
    check_tree(40, 3, 1);
    r.number = 3;
    CU_ASSERT(put(&r));
    check_tree(40, 1, 0);
    struct seen x = {.count = 0};
    CU_ASSERT(ops->replay(reader, 41, take, &x) == 0 && x.base == 2);
}

static void sweeps_and_numbers(void)
{
    struct mechd_record r = {
        .kind = MECHD_RECORD_SWEEP,
        .number = 6,
        .sweep = {.token = "me", .description = "{\"grid\":1}", .state = "running"}};
    struct seen x = {.count = 0};
    uint64_t last = 0;
    CU_ASSERT(put(&r));
    r = (struct mechd_record){
        .kind = MECHD_RECORD_SWEEP_ROWS, .number = 6, .first = 100, .bytes = "points", .size = 6};
    CU_ASSERT(put(&r));
    r = (struct mechd_record){
        .kind = MECHD_RECORD_SWEEP_END,
        .number = 6,
        .sweep = {.state = "done", .errors = "[1]", .done = 5, .failed = 1, .rows = 200}};
    CU_ASSERT(put(&r));
    CU_ASSERT(ops->sweeps(reader, &last, take_sweep, &x) == 0 && x.count == 1 && last == 6);
    CU_ASSERT_STRING_EQUAL(x.text, "me|{\"grid\":1}|done|[1]|5|1");
    int count = 0;
    const struct mechd_rows_asked asked = {.which = MECHD_ROWS_SWEEP, .of = 6, .row = 1};
    CU_ASSERT(ops->rows(reader, &asked, take, &x, &count) == 0 && count == 1 && x.number == 100);

    uint64_t number = 1;
    CU_ASSERT(ops->number(writer, "things", &number) && number == 1);
    r = (struct mechd_record){.kind = MECHD_RECORD_NUMBER, .id = "things", .number = 1234};
    CU_ASSERT(put(&r));
    CU_ASSERT(ops->number(reader, "things", &number) && number == 1234);
    // threads may post theirs in either order
    r.number = 1000;
    CU_ASSERT(put(&r));
    CU_ASSERT(ops->number(reader, "things", &number) && number == 1234);
    r.kind = MECHD_RECORD_LAST_NUMBER;
    CU_ASSERT(put(&r));
    CU_ASSERT(ops->number(reader, "things", &number) && number == 1000);
    r = (struct mechd_record){.kind = MECHD_RECORD_DELETE_SWEEP, .number = 6};
    CU_ASSERT(put(&r));
    x = (struct seen){.count = 0};
    CU_ASSERT(ops->sweeps(reader, &last, take_sweep, &x) == 0 && x.count == 0 && last == 6);
}

static void a_second_process_is_refused(void)
{
    char fault[256] = "";
    void *second = NULL;
    CU_ASSERT_NOT_EQUAL(ops->claim(place, fault, sizeof fault, &second), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, "another"));
    CU_ASSERT_EQUAL(ops->look(place, fault, sizeof fault), 0);
    ops->release(second);
}

static void every_database_keeps_its_contract(void)
{
    for (size_t k = 0; (ops = mechd_database_at(k)) != NULL; k++) {
        char fault[256] = "", command[128];
        void *claim = NULL;
        snprintf(place, sizeof place, "/tmp/mechd-database-XXXXXX");
        CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(place));
        CU_ASSERT(ops->serves(place) && mechd_database_of(place) == ops);
        CU_ASSERT_EQUAL_FATAL(ops->claim(place, fault, sizeof fault, &claim), 0);
        writer = open_one();
        reader = open_one();
        instances();
        commands_and_states();
        rows_of_runs();
        snapshots_and_deletion();
        snapshots_as_a_tree();
        sweeps_and_numbers();
        a_second_process_is_refused();

        // all of it is there for the next process
        ops->close(reader);
        ops->close(writer);
        ops->release(claim);
        CU_ASSERT_EQUAL_FATAL(ops->claim(place, fault, sizeof fault, &claim), 0);
        reader = open_one();
        struct seen x = {.count = 0};
        CU_ASSERT(ops->next(reader, 2, see, &x) == 1 && x.key == 10);
        ops->close(reader);
        ops->release(claim);
        snprintf(command, sizeof command, "rm -r %s", place);
        CU_ASSERT_EQUAL(system(command), 0);
    }
}

UNIT_TESTS(UNIT_TEST(every_database_keeps_its_contract))
