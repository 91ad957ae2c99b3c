/* Programs that the server calls: what is sent to one that cannot roll back, and when hellos are
 * refused. */
#include "server/call/outside.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A connection that remembers what has been sent. */
struct peer {
    struct mechd_caller caller; /* first */
    int sent;
    struct mechp_frame last;
};

static bool note(struct mechd_caller *c, const struct mechp_frame *frame, const double *values)
{
    struct peer *const p = (struct peer *)c;
    (void)values;
    p->sent++;
    p->last = *frame;
    return true;
}

static bool stays(const struct mechd_caller *c)
{
    (void)c;
    return false;
}

static void nothing(struct mechd_caller *c)
{
    (void)c;
}

struct scene {
    struct mechd_outsides table;
    struct mechd_outside *outside;
    struct peer peer;
    uint64_t lease;
    char detail[256]; /* of the last hello that was refused */
};

static void begin(struct scene *s, bool rollback)
{
    static const char *const outputs[] = {"x"};
    const struct mechd_outside_terms terms = {
        .outputs = outputs, .output_count = 1, .rollback = rollback, .patience = 60.};
    *s = (struct scene){.peer = {.caller = {.send = note, .gone = stays, .destroy = nothing}}};
    mechd_outsides_init(&s->table, NULL);
    s->outside = mechd_outside_create("p", &terms);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s->outside);
    mechd_outside_add(&s->table, s->outside, "c-1");
}

static enum mechp_code hello(struct scene *s, const char *text)
{
    struct mech_diag diag;
    struct mechp_text reply;
    json_t *const body = json_loads(text, 0, NULL);
    mech_diag_init(&diag);
    mechp_text_init(&reply, NULL, 0);
    struct mechd_outside_hello h = {.body = body,
                                    .caller = &s->peer.caller,
                                    .diag = &diag,
                                    .reply = &reply,
                                    .detail = s->detail};
    const enum mechp_code code = mechd_outside_hello(&s->table, &h);
    if (code == MECHP_OK) {
        s->lease = h.lease;
        mechd_outside_greeted(h.outside, h.lease);
        mechd_outside_unref(h.outside);
    }
    mechp_text_fini(&reply);
    mech_diag_fini(&diag);
    json_decref(body);
    return code;
}

static void end(struct scene *s)
{
    mechd_outside_remove(&s->table, s->outside);
    mechd_outside_unref(s->outside);
    mechd_outsides_fini(&s->table);
}

static void ask(struct scene *s, uint8_t kind, uint64_t step)
{
    const struct mechp_frame frame = {.kind = kind, .step = step, .size = 0.1};
    mechd_outside_ask(s->outside, &frame, NULL);
}

static bool take(struct mechd_outsides *t, const struct mechp_frame *frame, const double *values)
{
    const struct mechd_outside_answer a = {.frame = frame, .values = values};
    return mechd_outside_take(t, &a);
}

static void answer(struct scene *s)
{
    const double x = 1.;
    struct mechp_frame frame = s->peer.last;
    frame.count = 1;
    CU_ASSERT_TRUE(take(&s->table, &frame, &x));
}

static enum mechd_outside_state poll(struct scene *s, uint64_t now)
{
    enum mechp_code code;
    char fault[MECHD_OUTSIDE_FAULT];
    double x;
    return mechd_outside_poll(s->outside, now, &x, &code, fault);
}

/* A coupling whose program has said hello. */
static void join(struct scene *s, bool rollback)
{
    begin(s, rollback);
    CU_ASSERT_EQUAL_FATAL(hello(s, "{\"coupling\":\"c-1\",\"participant\":\"p\"}"), MECHP_OK);
}

/* … that has answered its first window and is asked to commit it. */
static void owe_a_commit(struct scene *s, bool rollback)
{
    join(s, rollback);
    ask(s, MECHP_TRIAL, 1);
    answer(s);
    CU_ASSERT_EQUAL(poll(s, 0), MECHD_OUTSIDE_ANSWERED);
    ask(s, MECHP_COMMIT, 1);
}

static void a_trial_that_was_not_committed_is_the_last_one(void)
{
    struct scene s;
    owe_a_commit(&s, false);
    answer(&s);
    CU_ASSERT_EQUAL(poll(&s, 0), MECHD_OUTSIDE_ANSWERED);
    ask(&s, MECHP_TRIAL, 2);
    mechd_outside_abandon(s.outside);
    CU_ASSERT_EQUAL(s.peer.sent, 3);
    ask(&s, MECHP_TRIAL, 2);
    CU_ASSERT_EQUAL(poll(&s, 0), MECHD_OUTSIDE_FAULTY);
    CU_ASSERT_EQUAL(s.peer.sent, 3);
    // from the committed window it may be asked again
    CU_ASSERT_EQUAL(hello(&s, "{\"coupling\":\"c-1\",\"participant\":\"p\",\"window\":1}"),
                    MECHP_OK);
    ask(&s, MECHP_TRIAL, 2);
    CU_ASSERT_EQUAL(s.peer.sent, 4);
    answer(&s);
    CU_ASSERT_EQUAL(poll(&s, 0), MECHD_OUTSIDE_ANSWERED);
    end(&s);
}

static void a_trial_in_front_of_an_owed_commit_is_sent_once(void)
{
    struct scene s;
    owe_a_commit(&s, false);
    // not answered in time: owed; the program is started again, from the start
    CU_ASSERT_EQUAL(poll(&s, UINT64_MAX), MECHD_OUTSIDE_FAULTY);
    CU_ASSERT_EQUAL(hello(&s, "{\"coupling\":\"c-1\",\"participant\":\"p\",\"window\":0}"),
                    MECHP_OK);
    ask(&s, MECHP_TRIAL, 2);
    CU_ASSERT_EQUAL(s.peer.last.kind, MECHP_TRIAL);
    CU_ASSERT_EQUAL(s.peer.last.step, 1);
    CU_ASSERT_EQUAL(poll(&s, UINT64_MAX), MECHD_OUTSIDE_FAULTY);
    ask(&s, MECHP_TRIAL, 2);
    CU_ASSERT_EQUAL(s.peer.last.kind, MECHP_COMMIT);
    answer(&s);
    CU_ASSERT_EQUAL(s.peer.last.kind, MECHP_TRIAL);
    CU_ASSERT_EQUAL(s.peer.last.step, 2);
    answer(&s);
    CU_ASSERT_EQUAL(poll(&s, 0), MECHD_OUTSIDE_ANSWERED);
    end(&s);
}

static void a_question_that_was_not_sent_is_no_trial(void)
{
    struct scene s;
    join(&s, false);
    ask(&s, MECHP_OUTPUTS, 1);
    answer(&s);
    CU_ASSERT_EQUAL(poll(&s, 0), MECHD_OUTSIDE_ANSWERED);
    answer(&s); // given twice: the next question reports it, unsent
    ask(&s, MECHP_TRIAL, 1);
    CU_ASSERT_EQUAL(poll(&s, 0), MECHD_OUTSIDE_FAULTY);
    CU_ASSERT_EQUAL(s.peer.sent, 1);
    ask(&s, MECHP_TRIAL, 1);
    CU_ASSERT_EQUAL(s.peer.sent, 2);
    answer(&s);
    CU_ASSERT_EQUAL(poll(&s, 0), MECHD_OUTSIDE_ANSWERED);
    end(&s);
}

static void started_again_after_its_trial_it_is_sent_that_before_the_commit(void)
{
    for (int rollback = 0; rollback < 2; rollback++) {
        struct scene s;
        begin(&s, rollback != 0);
        CU_ASSERT_EQUAL_FATAL(hello(&s, "{\"coupling\":\"c-1\",\"participant\":\"p\"}"), MECHP_OK);
        ask(&s, MECHP_TRIAL, 1);
        answer(&s);
        CU_ASSERT_EQUAL(poll(&s, 0), MECHD_OUTSIDE_ANSWERED);
        // a new process: it has no trial that it could commit
        CU_ASSERT_EQUAL(hello(&s, "{\"coupling\":\"c-1\",\"participant\":\"p\"}"), MECHP_OK);
        ask(&s, MECHP_COMMIT, 1);
        CU_ASSERT_EQUAL(s.peer.last.kind, MECHP_TRIAL);
        CU_ASSERT_EQUAL(s.peer.last.step, 1);
        CU_ASSERT_EQUAL(s.peer.last.size, 0.1);
        answer(&s);
        CU_ASSERT_EQUAL(s.peer.last.kind, MECHP_COMMIT);
        answer(&s);
        CU_ASSERT_EQUAL(poll(&s, 0), MECHD_OUTSIDE_ANSWERED);
        // from there on as before
        ask(&s, MECHP_TRIAL, 2);
        answer(&s);
        CU_ASSERT_EQUAL(poll(&s, 0), MECHD_OUTSIDE_ANSWERED);
        ask(&s, MECHP_COMMIT, 2);
        CU_ASSERT_EQUAL(s.peer.last.kind, MECHP_COMMIT);
        CU_ASSERT_EQUAL(s.peer.sent, 5);
        end(&s);
    }
}

static void a_trial_in_front_of_a_commit_that_is_owed_is_sent_once_without_rollback(void)
{
    struct scene s;
    join(&s, false);
    ask(&s, MECHP_TRIAL, 1);
    answer(&s);
    (void)poll(&s, 0);
    CU_ASSERT_EQUAL(hello(&s, "{\"coupling\":\"c-1\",\"participant\":\"p\"}"), MECHP_OK);
    ask(&s, MECHP_COMMIT, 1);
    CU_ASSERT_EQUAL(s.peer.last.kind, MECHP_TRIAL);
    // neither is answered in time: it has stepped, and owes the commit alone
    CU_ASSERT_EQUAL(poll(&s, UINT64_MAX), MECHD_OUTSIDE_FAULTY);
    ask(&s, MECHP_TRIAL, 2);
    CU_ASSERT_EQUAL(s.peer.last.kind, MECHP_COMMIT);
    CU_ASSERT_EQUAL(s.peer.last.step, 1);
    answer(&s);
    CU_ASSERT_EQUAL(s.peer.last.step, 2);
    answer(&s);
    CU_ASSERT_EQUAL(poll(&s, 0), MECHD_OUTSIDE_ANSWERED);
    end(&s);
}

/* Asked again after its time, and slow: both answers come one after the other. */
static void an_owed_commit_is_not_sent_again_for_a_late_trial(void)
{
    for (int rollback = 0; rollback < 2; rollback++) {
        struct scene s;
        begin(&s, rollback != 0);
        CU_ASSERT_EQUAL_FATAL(hello(&s, "{\"coupling\":\"c-1\",\"participant\":\"p\"}"), MECHP_OK);
        ask(&s, MECHP_TRIAL, 1);
        answer(&s);
        (void)poll(&s, 0);
        ask(&s, MECHP_COMMIT, 1);
        CU_ASSERT_EQUAL(poll(&s, UINT64_MAX), MECHD_OUTSIDE_FAULTY);
        CU_ASSERT_EQUAL(hello(&s, "{\"coupling\":\"c-1\",\"participant\":\"p\",\"window\":0}"),
                        MECHP_OK);
        ask(&s, MECHP_TRIAL, 2);
        const struct mechp_frame late = s.peer.last;
        CU_ASSERT_EQUAL(late.kind, MECHP_TRIAL);
        CU_ASSERT_EQUAL(late.step, 1);
        CU_ASSERT_EQUAL(poll(&s, UINT64_MAX), MECHD_OUTSIDE_FAULTY);
        ask(&s, MECHP_TRIAL, 2);
        if (rollback) {
            CU_ASSERT_EQUAL(s.peer.last.kind, MECHP_TRIAL);
            CU_ASSERT_EQUAL(s.peer.last.step, 1);
            answer(&s); // of the first time it was sent
        }
        CU_ASSERT_EQUAL(s.peer.last.kind, MECHP_COMMIT);
        const int sent = s.peer.sent;
        const struct mechp_frame commit = s.peer.last;
        s.peer.last = late;
        answer(&s);
        CU_ASSERT_EQUAL(s.peer.sent, sent);
        s.peer.last = commit;
        answer(&s);
        CU_ASSERT_EQUAL(s.peer.last.kind, MECHP_TRIAL);
        CU_ASSERT_EQUAL(s.peer.last.step, 2);
        answer(&s);
        CU_ASSERT_EQUAL(poll(&s, 0), MECHD_OUTSIDE_ANSWERED);
        end(&s);
    }
}

/* Its time is over, and then it fails: it has not committed. */
static void a_commit_that_fails_late_remains_owed(void)
{
    struct scene s;
    owe_a_commit(&s, true);
    CU_ASSERT_EQUAL(poll(&s, UINT64_MAX), MECHD_OUTSIDE_FAULTY);
    struct mechp_frame fails = s.peer.last;
    fails.kind = MECHP_ERROR;
    CU_ASSERT_TRUE(take(&s.table, &fails, NULL));
    ask(&s, MECHP_TRIAL, 2);
    CU_ASSERT_EQUAL(s.peer.last.kind, MECHP_COMMIT);
    CU_ASSERT_EQUAL(s.peer.last.step, 1);
    answer(&s);
    CU_ASSERT_EQUAL(s.peer.last.kind, MECHP_TRIAL);
    CU_ASSERT_EQUAL(s.peer.last.step, 2);
    answer(&s);
    CU_ASSERT_EQUAL(poll(&s, 0), MECHD_OUTSIDE_ANSWERED);
    end(&s);
}

static void one_is_found_among_many_without_a_look_at_each(void)
{
    enum { MANY = 4000, LOOKS = 20 };
    static struct mechd_outside *outsides[MANY];
    struct scene s;
    char text[96];
    const struct mechd_outside_terms terms = {.patience = 60.};
    begin(&s, true);
    for (int k = 0; k < MANY; k++) {
        snprintf(text, sizeof text, "p%d", k);
        outsides[k] = mechd_outside_create(text, &terms);
        CU_ASSERT_PTR_NOT_NULL_FATAL(outsides[k]);
        mechd_outside_add(&s.table, outsides[k], "c-1");
    }
    for (int k = 0; k < MANY; k++) {
        snprintf(text, sizeof text, "{\"coupling\":\"c-1\",\"participant\":\"p%d\"}", k);
        CU_ASSERT_EQUAL_FATAL(hello(&s, text), MECHP_OK);
    }
    CU_ASSERT_EQUAL(hello(&s, "{\"coupling\":\"c-1\",\"participant\":\"q\"}"), MECHP_NOT_FOUND);
    CU_ASSERT(s.table.by[MECHD_OUTSIDE_BY_NAME].visited < LOOKS * MANY);
    // frames of strangers, and the last one's
    for (uint64_t k = 1; k <= MANY; k++) {
        const struct mechp_frame frame = {.kind = MECHP_OUTPUTS, .lease = s.lease + k};
        (void)take(&s.table, &frame, NULL);
    }
    CU_ASSERT(s.table.by[MECHD_OUTSIDE_BY_LEASE].visited < LOOKS * MANY);
    const struct mechp_frame bye = {.kind = MECHP_BYE, .lease = s.lease};
    CU_ASSERT_TRUE(take(&s.table, &bye, NULL));
    CU_ASSERT_FALSE(take(&s.table, &bye, NULL));
    CU_ASSERT_EQUAL(s.table.by[MECHD_OUTSIDE_BY_LEASE].count, MANY - 1);
    for (int k = 0; k < MANY; k++) {
        mechd_outside_remove(&s.table, outsides[k]);
        mechd_outside_remove(&s.table, outsides[k]);
        mechd_outside_unref(outsides[k]);
    }
    CU_ASSERT_EQUAL(s.table.by[MECHD_OUTSIDE_BY_LEASE].count, 0);
    CU_ASSERT_EQUAL(s.table.by[MECHD_OUTSIDE_BY_NAME].count, 1);
    end(&s);
}

/* Another connection takes the place: the one before it waits for no question. */
static void one_whose_place_is_taken_gets_a_bye(void)
{
    struct scene s;
    join(&s, true);
    struct peer first = s.peer;
    const uint64_t lease = s.lease;
    s.outside->caller = &first.caller;
    CU_ASSERT_EQUAL(hello(&s, "{\"coupling\":\"c-1\",\"participant\":\"p\"}"), MECHP_OK);
    CU_ASSERT_EQUAL(first.sent, 1);
    CU_ASSERT_EQUAL(first.last.kind, MECHP_BYE);
    CU_ASSERT_EQUAL(first.last.lease, lease);
    CU_ASSERT_NOT_EQUAL(s.lease, lease);
    CU_ASSERT_EQUAL(s.peer.sent, 0);
    end(&s);
}

static void a_hello_does_not_reach_one_that_has_been_removed(void)
{
    struct scene s;
    begin(&s, true);
    CU_ASSERT_EQUAL(hello(&s, "{\"coupling\":\"c-1\",\"participant\":\"p\"}"), MECHP_OK);
    mechd_outside_remove(&s.table, s.outside);
    CU_ASSERT_EQUAL(hello(&s, "{\"coupling\":\"c-1\",\"participant\":\"p\"}"), MECHP_NOT_FOUND);
    const struct mechp_frame frame = {.kind = MECHP_OUTPUTS, .lease = s.lease};
    CU_ASSERT_FALSE(take(&s.table, &frame, NULL));
    end(&s);
}

/* A window, up to its commit, which is not answered. */
static void try_window(struct scene *s, uint64_t window)
{
    ask(s, MECHP_TRIAL, window);
    answer(s);
    CU_ASSERT_EQUAL(poll(s, 0), MECHD_OUTSIDE_ANSWERED);
    ask(s, MECHP_COMMIT, window);
}

/* One that was killed there and keeps its windows has none yet. */
static void a_hello_within_the_first_commit_has_no_window(void)
{
    for (int owed = 0; owed < 2; owed++) {
        struct scene s;
        join(&s, true);
        try_window(&s, 1);
        if (owed) {
            CU_ASSERT_EQUAL(poll(&s, UINT64_MAX), MECHD_OUTSIDE_FAULTY);
        }
        CU_ASSERT_EQUAL(hello(&s, "{\"coupling\":\"c-1\",\"participant\":\"p\"}"), MECHP_OK);
        if (owed) {
            ask(&s, MECHP_TRIAL, 2);
        }
        CU_ASSERT_EQUAL(s.peer.last.kind, MECHP_TRIAL);
        CU_ASSERT_EQUAL(s.peer.last.step, 1);
        answer(&s);
        CU_ASSERT_EQUAL(s.peer.last.kind, MECHP_COMMIT);
        CU_ASSERT_EQUAL(s.peer.last.step, 1);
        answer(&s);
        if (owed) {
            CU_ASSERT_EQUAL(s.peer.last.step, 2);
            answer(&s);
        }
        CU_ASSERT_EQUAL(poll(&s, 0), MECHD_OUTSIDE_ANSWERED);
        end(&s);
    }
}

static void a_hello_within_a_commit_is_refused_for_that(void)
{
    struct scene s;
    join(&s, true);
    try_window(&s, 1);
    answer(&s);
    CU_ASSERT_EQUAL(poll(&s, 0), MECHD_OUTSIDE_ANSWERED);
    CU_ASSERT_EQUAL(hello(&s, "{\"coupling\":\"c-1\",\"participant\":\"p\"}"), MECHP_TIME_MISMATCH);
    CU_ASSERT_PTR_NOT_NULL(strstr(s.detail, "window 1 was committed last"));
    try_window(&s, 2);
    // asked, then owed: it may have been done or not
    for (int owed = 0; owed < 2; owed++) {
        CU_ASSERT_EQUAL(hello(&s, "{\"coupling\":\"c-1\",\"participant\":\"p\"}"),
                        MECHP_TIME_MISMATCH);
        CU_ASSERT_PTR_NOT_NULL(strstr(s.detail, "commit of window 2 has not been answered"));
        CU_ASSERT_PTR_NOT_NULL(strstr(s.detail, "1 or 2"));
        CU_ASSERT_EQUAL(hello(&s, "{\"coupling\":\"c-1\",\"participant\":\"p\",\"window\":3}"),
                        MECHP_TIME_MISMATCH);
        CU_ASSERT_PTR_NOT_NULL(strstr(s.detail, "commit of window 2 has not been answered"));
        (void)poll(&s, UINT64_MAX);
    }
    CU_ASSERT_EQUAL(hello(&s, "{\"coupling\":\"c-1\",\"participant\":\"p\",\"window\":2}"),
                    MECHP_OK);
    // done: now its window alone is right
    CU_ASSERT_EQUAL(hello(&s, "{\"coupling\":\"c-1\",\"participant\":\"p\",\"window\":1}"),
                    MECHP_TIME_MISMATCH);
    CU_ASSERT_PTR_NOT_NULL(strstr(s.detail, "window 2 was committed last"));
    end(&s);
}

static void a_text_is_quoted_with_names_for_what_is_not_seen(void)
{
    char out[MECHD_OUTSIDE_FAULT], longer[400];
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"", ""},
        {"the pump is dry", "\"the pump is dry\""},
        {"a\nb\tc\x7f", "\"a<U+000A>b<U+0009>c<U+007F>\""},
        {"5\xc2\xa0m \xe2\x82\xac", "\"5<U+00A0>m \xe2\x82\xac\""},
        {"\xff\xc3", "\"<0xFF><0xC3>\""},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        CU_ASSERT_STRING_EQUAL(
            mechd_outside_quote(rows[k].text, strlen(rows[k].text), out, sizeof out),
            rows[k].shown);
    }
    CU_ASSERT_STRING_EQUAL(mechd_outside_quote("a\0b", 3, out, sizeof out), "\"a<U+0000>b\"");
    CU_ASSERT_STRING_EQUAL(mechd_outside_quote(NULL, 0, out, sizeof out), "");
    // cut between characters, of any length
    for (size_t n = 1; n < sizeof longer - 3; n++) {
        memset(longer, 'x', sizeof longer);
        memcpy(longer + n - 1, "\xe2\x82\xac", 3);
        (void)mechd_outside_quote(longer, n + 2, out, sizeof out);
        const size_t length = strlen(out);
        CU_ASSERT_TRUE(length <= MECHD_OUTSIDE_TEXT && out[length - 1] == '"');
        CU_ASSERT_PTR_NULL(strstr(out, "<0x"));
        if (strstr(out, "…\"") == NULL) {
            CU_ASSERT_EQUAL(length, n + 2 + 2);
        } else {
            CU_ASSERT_TRUE(length > MECHD_OUTSIDE_TEXT - 8);
        }
    }
}

static void hellos_are_refused_once_the_table_is_closed(void)
{
    struct scene s;
    begin(&s, false);
    mechd_outsides_close(&s.table);
    CU_ASSERT_EQUAL(hello(&s, "{\"coupling\":\"c-1\",\"participant\":\"p\"}"), MECHP_DRAINING);
    end(&s);
    CU_ASSERT_EQUAL(s.peer.sent, 0);
}

UNIT_TESTS(UNIT_TEST(a_trial_that_was_not_committed_is_the_last_one),
           UNIT_TEST(a_trial_in_front_of_an_owed_commit_is_sent_once),
           UNIT_TEST(a_question_that_was_not_sent_is_no_trial),
           UNIT_TEST(started_again_after_its_trial_it_is_sent_that_before_the_commit),
           UNIT_TEST(a_trial_in_front_of_a_commit_that_is_owed_is_sent_once_without_rollback),
           UNIT_TEST(an_owed_commit_is_not_sent_again_for_a_late_trial),
           UNIT_TEST(a_commit_that_fails_late_remains_owed),
           UNIT_TEST(one_is_found_among_many_without_a_look_at_each),
           UNIT_TEST(one_whose_place_is_taken_gets_a_bye),
           UNIT_TEST(a_hello_does_not_reach_one_that_has_been_removed),
           UNIT_TEST(a_hello_within_the_first_commit_has_no_window),
           UNIT_TEST(a_hello_within_a_commit_is_refused_for_that),
           UNIT_TEST(a_text_is_quoted_with_names_for_what_is_not_seen),
           UNIT_TEST(hellos_are_refused_once_the_table_is_closed))
