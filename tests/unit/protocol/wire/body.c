/* Bodies as structs: what the writer and the reader make of each kind of member, and that the
 * shapes of the routes have a place in their struct for all of theirs. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_stepping.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct mechp_body_within {
    int64_t n;
};

static const struct mechp_shape mechp_body_within = {
    .name = "Within", .members = MECHP_MEMBERS({"n", "integer", "", MECHP_IN(within, n)})};

struct mechp_body_probe {
    double time, end;
    int64_t offset;
    uint64_t count;
    bool good;
    const bool *known;
    const char *name, *parent;
    struct mechp_numbers q;
    struct mechp_written more;
    struct mechp_inner within;
    struct mechp_part part;
};

static const struct mechp_shape required = {
    .name = "Probe",
    .members = MECHP_MEMBERS(
        {"time", "number", "", MECHP_IN(probe, time)},
        {"end", "number|null", "", MECHP_IN(probe, end)},
        {"offset", "integer|null", "", MECHP_IN(probe, offset)},
        {"count", "integer", "", MECHP_IN(probe, count)},
        {"good", "boolean", "", MECHP_IN(probe, good)},
        {"known", "boolean", "", MECHP_IN(probe, known)},
        {"name", "@Name", "", MECHP_IN(probe, name)},
        {"parent", "@Name|null", "", MECHP_IN(probe, parent)},
        {"q", "number[]", "", MECHP_IN(probe, q)}, {"more", "any", "", MECHP_IN(probe, more)},
        {"within", "@Within|null", "", MECHP_IN(probe, within)}, {"next", "null", "", true})};

static const struct mechp_shape optional = {
    .name = "Probe",
    .members = MECHP_MEMBERS(
        {"time", "number", "", MECHP_MAY(probe, time)},
        {"offset", "integer", "", MECHP_MAY(probe, offset)},
        {"count", "integer", "", MECHP_MAY(probe, count)},
        {"good", "boolean", "", MECHP_MAY(probe, good)},
        {"known", "boolean", "", MECHP_MAY(probe, known)},
        {"name", "@Name", "", MECHP_MAY(probe, name)}, {"q", "number[]", "", MECHP_MAY(probe, q)},
        {"more", "any", "", MECHP_MAY(probe, more)},
        {"within", "@Within", "", MECHP_MAY(probe, within)},
        {"part", "any", "", MECHP_MAY(probe, part)}, {"other", "any", "", false})};

static void write_seven(const void *of, struct mechp_text *w)
{
    mechp_text_integer(w, *(const int *)of);
}

static const int seven = 7;
static const bool no = false;
static const double numbers[] = {1., 0.5};
static const struct mechp_body_within eight = {8};
static const struct mechp_body_probe full = {.time = 0.1,
                                             .end = 2.,
                                             .offset = -3,
                                             .count = UINT64_MAX - 1,
                                             .good = true,
                                             .known = &no,
                                             .name = "a",
                                             .parent = "b",
                                             .q = {numbers, 2},
                                             .more = {write_seven, &seven},
                                             .within = {&mechp_body_within, &eight},
                                             .part = {.written = {write_seven, &seven}}};

/* The text of a struct is this. */
static void expect(const struct mechp_shape *shape, const struct mechp_body_probe *body,
                   const char *text)
{
    char room[512];
    struct mechp_text w;
    mechp_text_init(&w, room, sizeof room);
    mechp_body_write(shape, body, &w);
    CU_ASSERT_FATAL(!w.failed && w.length < sizeof room);
    room[w.length] = '\0';
    if (strcmp(room, text) != 0) {
        printf("    %s\n", room);
    }
    CU_ASSERT_STRING_EQUAL(room, text);
    mechp_text_fini(&w);
}

static void a_struct_is_written_in_the_order_of_its_shape(void)
{
    expect(&required, &full,
           "{\"time\":0.1,\"end\":2,\"offset\":-3,\"count\":18446744073709551614,\"good\":true,"
           "\"known\":false,\"name\":\"a\",\"parent\":\"b\",\"q\":[1,0.5],\"more\":7,"
           "\"within\":{\"n\":8},\"next\":null}");
    expect(
        &optional, &full,
        "{\"time\":0.1,\"offset\":-3,\"count\":18446744073709551614,\"good\":true,"
        "\"known\":false,\"name\":\"a\",\"q\":[1,0.5],\"more\":7,\"within\":{\"n\":8},\"part\":7}");
}

static void what_may_be_null_is_written_as_null(void)
{
    struct mechp_body_probe body = full;
    body.end = NAN;
    body.parent = NULL;
    body.offset = INT64_MIN;
    body.within.of = NULL;
    expect(&required, &body,
           "{\"time\":0.1,\"end\":null,\"offset\":null,\"count\":18446744073709551614,"
           "\"good\":true,\"known\":false,\"name\":\"a\",\"parent\":null,\"q\":[1,0.5],\"more\":7,"
           "\"within\":null,\"next\":null}");
}

static void what_is_absent_is_left_out(void)
{
    const struct mechp_body_probe body = {
        .time = NAN, .offset = INT64_MIN, .count = MECHP_ABSENT, .q = {NULL, 2}};
    expect(&optional, &body, "{}");
}

/* What is put for a member that is absent is what the writer takes for absent. */
static void what_is_put_for_an_absent_member_is_left_out(void)
{
    struct mechp_body_probe body = full;
    for (const struct mechp_member *m = optional.members; m->name != NULL; m++) {
        mechp_put_absent(mechp_member_holds(m), (char *)&body + mechp_member_offset(m));
    }
    expect(&optional, &body, "{}");
    CU_ASSERT_PTR_NULL(body.q.at);
    CU_ASSERT_EQUAL(body.q.count, 0);
}

/* A number that is not finite, of a member that may not be null, is noted for its sender. */
static void a_number_beyond_all_is_noted(void)
{
    struct mechp_body_probe body = full;
    char room[512], pointer[32];
    struct mechp_text w;
    body.time = INFINITY;
    mechp_text_init(&w, room, sizeof room);
    mechp_body_write(&required, &body, &w);
    CU_ASSERT(mechp_text_beyond(&w, pointer, sizeof pointer));
    CU_ASSERT_STRING_EQUAL(pointer, "/time");
    mechp_text_fini(&w);
}

struct mechp_body_question {
    double size, ttl;
    int64_t count, index;
    uint64_t most;
    bool sparse;
    const bool *commit;
    const char *name;
    int kind;
    const json_t *trial;
    struct mechp_which chosen;
    struct mechp_part part;
    struct mechp_object inputs;
    struct mechp_list outputs;
};

static const struct mechp_shape mechp_body_question = {
    .name = "Question",
    .request = true,
    .members = MECHP_MEMBERS({"size", "number", "", MECHP_IN(question, size)},
                             {"ttl", "number|null", "", MECHP_MAY(question, ttl)},
                             {"count", "integer 1..12", "", MECHP_MAY(question, count)},
                             {"index", "integer -3..0", "", MECHP_MAY(question, index)},
                             {"most", "integer 2..", "", MECHP_MAY(question, most)},
                             {"sparse", "boolean", "", MECHP_MAY(question, sparse)},
                             {"commit", "boolean", "", MECHP_MAY(question, commit)},
                             {"name", "@Name", "", MECHP_IN(question, name)},
                             {"kind", "'first'|'last'", "", MECHP_MAY(question, kind)},
                             {"trial", "integer|@Name", "", MECHP_MAY(question, trial)},
                             {"chosen", "integer|@Name", "", MECHP_MAY(question, chosen)},
                             {"part", "integer|null", "", MECHP_MAY(question, part)},
                             {"inputs", "@Value{}", "", MECHP_MAY(question, inputs)},
                             {"outputs", "string[]", "", MECHP_MAY(question, outputs)})};

/* The tree of the text, or NULL for "". */
static json_t *tree_of(const char *text)
{
    json_t *const tree = text[0] != '\0' ? json_loads(text, 0, NULL) : NULL;
    CU_ASSERT_FATAL(tree != NULL || text[0] == '\0');
    return tree;
}

static void expect_absent(const struct mechp_body_question *q, int kind)
{
    CU_ASSERT(isnan(q->size) && isnan(q->ttl));
    CU_ASSERT(q->count == INT64_MIN && q->index == INT64_MIN && q->most == MECHP_ABSENT);
    CU_ASSERT(!q->sparse && q->commit == NULL && q->name == NULL && q->kind == kind);
    CU_ASSERT(q->trial == NULL && q->part.given == NULL && q->inputs.of == NULL &&
              q->outputs.of == NULL);
    CU_ASSERT(q->inputs.inner.of == NULL && q->outputs.items.write == NULL);
    CU_ASSERT(q->chosen.number == INT64_MIN && q->chosen.name == NULL);
}

static void members_are_read_into_their_places(void)
{
    json_t *const tree =
        tree_of("{\"size\":0.5,\"ttl\":7,\"count\":12,\"index\":-3,\"most\":2.0,\"sparse\":true,"
                "\"commit\":false,\"name\":\"a\",\"kind\":\"last\",\"trial\":null,"
                "\"part\":null,"
                "\"inputs\":{\"f\":1},\"outputs\":[\"x\"]}");
    struct mechp_body_question q;
    struct mech_diag d = {0};
    MECHP_READ(question, tree, &d, &q);
    CU_ASSERT(mech_diag_clean(&d));
    CU_ASSERT(q.size == 0.5 && q.ttl == 7. && q.count == 12 && q.index == -3 && q.most == 2);
    CU_ASSERT(q.sparse && q.commit != NULL && !*q.commit && q.kind == 1);
    CU_ASSERT_STRING_EQUAL(q.name, "a");
    CU_ASSERT(json_is_null(q.part.given));
    CU_ASSERT(json_is_null(q.trial) && json_object_size(q.inputs.of) == 1);
    CU_ASSERT(json_array_size(q.outputs.of) == 1);
    MECHP_PEEK(question, tree, &q);
    CU_ASSERT(q.size == 0.5 && q.kind == 1 && json_array_size(q.outputs.of) == 1);
    json_decref(tree);
}

static void a_thing_is_named_by_its_number_or_its_name(void)
{
    json_t *const number = tree_of("{\"chosen\":7}"), *const name = tree_of("{\"chosen\":\"a\"}");
    struct mechp_body_question q;
    struct mech_diag d = {0};
    MECHP_READ(question, number, &d, &q);
    CU_ASSERT(q.chosen.number == 7 && q.chosen.name == NULL);
    MECHP_READ(question, name, &d, &q);
    CU_ASSERT(q.chosen.number == INT64_MIN && mech_diag_clean(&d));
    CU_ASSERT_STRING_EQUAL(q.chosen.name, "a");
    json_decref(number);
    json_decref(name);
}

/* What a request of the tree, and with structs and lists in place of its parts, is written as. */
static void expect_written(const struct mechp_body_question *q, const char *text)
{
    char room[256];
    struct mechp_text w;
    mechp_text_init(&w, room, sizeof room);
    MECHP_WRITE(question, q, &w);
    CU_ASSERT_FATAL(!w.failed && w.length < sizeof room);
    room[w.length] = '\0';
    if (strcmp(room, text) != 0) {
        printf("    %s\n", room);
    }
    CU_ASSERT_STRING_EQUAL(room, text);
    mechp_text_fini(&w);
}

static void a_request_is_written_with_the_parts_that_were_read(void)
{
    json_t *const tree =
        tree_of("{\"size\":0.5,\"trial\":[1,null],\"name\":\"a\",\"inputs\":{\"f\":1},"
                "\"outputs\":[\"x\"]}");
    struct mechp_body_question q;
    struct mech_diag d = {0};
    MECHP_READ(question, tree, &d, &q);
    expect_written(&q, "{\"size\":0.5,\"name\":\"a\",\"trial\":[1,null],"
                       "\"inputs\":{\"f\":1},\"outputs\":[\"x\"]}");
    q.inputs.inner = MECHP_INNER(within, &eight);
    q.outputs.items = (struct mechp_written){write_seven, &seven};
    q.trial = NULL;
    expect_written(&q, "{\"size\":0.5,\"name\":\"a\",\"inputs\":{\"n\":8},"
                       "\"outputs\":7}");
    q.inputs.inner.of = NULL;
    q.inputs.of = NULL;
    q.outputs = (struct mechp_list){NULL, {NULL, NULL}};
    expect_written(&q, "{\"size\":0.5,\"name\":\"a\"}");
    json_decref(tree);
}

static void members_that_are_not_there_are_absent(void)
{
    const char *const texts[] = {"", "{}", "[1]", "{\"ttl\":null}"};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        json_t *const tree = tree_of(texts[k]);
        struct mechp_body_question q;
        struct mech_diag d = {0};
        memset(&q, 0x5a, sizeof q);
        MECHP_READ(question, tree, &d, &q);
        CU_ASSERT(mech_diag_clean(&d));
        expect_absent(&q, MECHP_NO_WORD);
        json_decref(tree);
    }
}

/* Each member alone, within another object: its fault has its place, and it is absent. */
static void a_value_of_another_type_is_a_fault_at_its_place(void)
{
    static const struct {
        const char *key, *value, *message;
    } cases[] = {
        {"size", "\"1\"", "must be a number"},
        {"size", "null", "must be a number"},
        {"ttl", "true", "must be a number"},
        {"count", "0", "must be between 1 and 12"},
        {"count", "13", "must be between 1 and 12"},
        {"count", "1.5", "must be an integer"},
        {"index", "1", "must be between -3 and 0"},
        {"index", "-4", "must be between -3 and 0"},
        {"most", "1", "must be between 2 and 9223372036854775807"},
        {"sparse", "1", "must be true or false"},
        {"commit", "null", "must be true or false"},
        {"name", "1", "must be a string"},
        {"kind", "\"middle\"", "expected first or last"},
        {"kind", "1", "expected first or last"},
        {"inputs", "[]", "must be an object"},
        {"outputs", "{}", "must be an array"},
        {"outputs", "\"x\"", "must be an array"},
        {"chosen", "0", "must be between 1 and 9223372036854775807"},
        {"chosen", "null", "must be an integer"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[80], place[80];
        snprintf(text, sizeof text, "{\"%s\":%s}", cases[k].key, cases[k].value);
        snprintf(place, sizeof place, "/record/%s", cases[k].key);
        json_t *const tree = tree_of(text);
        struct mechp_body_question q;
        struct mech_diag d = {0};
        const struct mechp_json_in in = {tree, "/record", &d};
        MECHP_READ_IN(question, &in, &q);
        CU_ASSERT_EQUAL_FATAL(d.count, 1);
        CU_ASSERT_STRING_EQUAL(d.entries[0].path, place);
        CU_ASSERT_STRING_EQUAL(d.entries[0].text, cases[k].message);
        expect_absent(&q, strcmp(cases[k].key, "kind") == 0 ? MECHP_ODD_WORD : MECHP_NO_WORD);
        MECHP_PEEK(question, tree, &q);
        expect_absent(&q, strcmp(cases[k].key, "kind") == 0 ? MECHP_ODD_WORD : MECHP_NO_WORD);
        mech_diag_fini(&d);
        json_decref(tree);
    }
}

static bool ends_as(const char *type, const char *end)
{
    return strlen(type) >= 2 && strcmp(type + strlen(type) - 2, end) == 0;
}

/* Whether a C type can hold this type of JSON. */
static bool suits(const struct mechp_member *m)
{
    const enum mechp_holds holds = mechp_member_holds(m);
    const size_t n = strcspn(m->type, "| ");
    const bool list = strchr(m->type, '[') != NULL || strchr(m->type, '{') != NULL;
    const bool number = strncmp(m->type, "number", n) == 0 && n == 6;
    const bool integer = strncmp(m->type, "integer", n) == 0 && n == 7;
    const bool truth = strcmp(m->type, "boolean") == 0;
    const bool text = !list && (m->type[0] == '\'' || strncmp(m->type, "@Name", 5) == 0 ||
                                strncmp(m->type, "string", 6) == 0);
    const bool any =
        holds == MECHP_HOLDS_WRITTEN || holds == MECHP_HOLDS_TREE || holds == MECHP_HOLDS_PART;
    return any                            ? true
           : holds == MECHP_HOLDS_WORD    ? m->type[0] == '\''
           : holds == MECHP_HOLDS_LIST    ? strchr(m->type, '|') == NULL && ends_as(m->type, "[]")
           : holds == MECHP_HOLDS_OBJECT  ? strchr(m->type, '|') == NULL && !ends_as(m->type, "[]")
           : holds == MECHP_HOLDS_INNER   ? m->type[0] == '@' && !list
           : holds == MECHP_HOLDS_NOTHING ? strcmp(m->type, "null") == 0
           : holds == MECHP_HOLDS_NUMBERS ? strcmp(m->type, "number[]") == 0
           : holds == MECHP_HOLDS_WHICH   ? strcmp(m->type, "integer|@Name") == 0
           : number                       ? holds == MECHP_HOLDS_DOUBLE
           : integer ? holds == MECHP_HOLDS_INTEGER || holds == MECHP_HOLDS_UNSIGNED
           : truth   ? holds == MECHP_HOLDS_BOOL || holds == MECHP_HOLDS_FLAG
           : text    ? holds == MECHP_HOLDS_TEXT
                     : false;
}

/* A shape of which a struct holds one member is one of which it holds all. */
static void structs_hold_all_members_of_their_shapes(void)
{
    int held = 0;
    for (int i = 0; mechp_shape_at(i) != NULL; i++) {
        const struct mechp_shape *const s = mechp_shape_at(i);
        bool some = false;
        for (const struct mechp_member *m = s->members; m->name != NULL; m++) {
            some = some || mechp_member_holds(m) != MECHP_HOLDS_NOTHING;
        }
        for (const struct mechp_member *m = s->members; some && m->name != NULL; m++) {
            const bool good = suits(m);
            if (!good) {
                printf("    %s.%s: %s\n", s->name, m->name, m->type);
            }
            CU_ASSERT(good);
        }
        held += some;
    }
    CU_ASSERT(held > 20);
}

/* The writer of the step path writes what the walker does. */
static void a_report_of_a_step_is_written_alike_in_both_ways(void)
{
    const struct mechp_body_drift drift = {.position = 0.5, .worst_position = "j", .left_out = 2};
    struct mechp_body_step_report body = {.steps = 3,
                                          .step_size = 0.1,
                                          .iterations = 11,
                                          .vi_iterations = 12,
                                          .substeps = 13,
                                          .refused_substeps = 14,
                                          .impacts = 15,
                                          .residual = 1e-9,
                                          .contacts = 16,
                                          .impact_energy_gain = 0.25,
                                          .linear = "klu",
                                          .vi = "",
                                          .differenced = true,
                                          .joints = MECHP_INNER(drift, &drift),
                                          .failed_time = (double)NAN};
    for (int times = 0; times < 2; times++) {
        char room[2][1024];
        struct mechp_text w[2];
        for (int k = 0; k < 2; k++) {
            mechp_text_init(&w[k], room[k], sizeof room[k]);
        }
        MECHP_WRITE(step_report, &body, &w[0]);
        mechp_body_write_step_report(&body, &w[1]);
        CU_ASSERT_FATAL(!w[0].failed && !w[0].beyond && w[0].length == w[1].length);
        CU_ASSERT(memcmp(w[0].bytes, w[1].bytes, w[0].length) == 0);
        for (int k = 0; k < 2; k++) {
            mechp_text_fini(&w[k]);
        }
        // one that failed
        body.residual = INFINITY;
        body.joints.of = NULL;
        body.failed_time = 7.;
        body.reason = "why";
    }
}

/* So that the writer may take them as they are. */
static void names_of_members_are_letters_and_digits(void)
{
    for (int i = 0; mechp_shape_at(i) != NULL; i++) {
        const struct mechp_shape *const s = mechp_shape_at(i);
        for (const struct mechp_member *m = s->members; m->name != NULL; m++) {
            const size_t plain = strspn(m->name, "abcdefghijklmnopqrstuvwxyz"
                                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
            CU_ASSERT(plain > 0 && m->name[plain] == '\0');
        }
    }
}

UNIT_TESTS(UNIT_TEST(a_struct_is_written_in_the_order_of_its_shape),
           UNIT_TEST(what_may_be_null_is_written_as_null), UNIT_TEST(what_is_absent_is_left_out),
           UNIT_TEST(what_is_put_for_an_absent_member_is_left_out),
           UNIT_TEST(a_number_beyond_all_is_noted), UNIT_TEST(members_are_read_into_their_places),
           UNIT_TEST(a_thing_is_named_by_its_number_or_its_name),
           UNIT_TEST(a_request_is_written_with_the_parts_that_were_read),
           UNIT_TEST(members_that_are_not_there_are_absent),
           UNIT_TEST(a_value_of_another_type_is_a_fault_at_its_place),
           UNIT_TEST(a_report_of_a_step_is_written_alike_in_both_ways),
           UNIT_TEST(names_of_members_are_letters_and_digits),
           UNIT_TEST(structs_hold_all_members_of_their_shapes))
