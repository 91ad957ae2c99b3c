/* Bodies as structs: what the writer makes of each kind of member, and that the shapes of the
 * routes have a place in their struct for all of theirs. */
#include "protocol/wire/bodies.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct mechp_body_probe {
    double time, end;
    int64_t offset;
    uint64_t count;
    bool good;
    const bool *known;
    const char *name, *parent;
    struct mechp_numbers q;
    struct mechp_written more;
};

static const struct mechp_shape required = {
    .name = "Probe",
    .members =
        MECHP_MEMBERS({"time", "number", "", MECHP_IN(probe, time)},
                      {"end", "number|null", "", MECHP_IN(probe, end)},
                      {"offset", "integer", "", MECHP_IN(probe, offset)},
                      {"count", "integer", "", MECHP_IN(probe, count)},
                      {"good", "boolean", "", MECHP_IN(probe, good)},
                      {"known", "boolean", "", MECHP_IN(probe, known)},
                      {"name", "@Name", "", MECHP_IN(probe, name)},
                      {"parent", "@Name|null", "", MECHP_IN(probe, parent)},
                      {"q", "number[]", "", MECHP_IN(probe, q)},
                      {"more", "any", "", MECHP_IN(probe, more)}, {"next", "null", "", true})};

static const struct mechp_shape optional = {
    .name = "Probe",
    .members = MECHP_MEMBERS(
        {"time", "number", "", MECHP_MAY(probe, time)},
        {"offset", "integer", "", MECHP_MAY(probe, offset)},
        {"count", "integer", "", MECHP_MAY(probe, count)},
        {"good", "boolean", "", MECHP_MAY(probe, good)},
        {"known", "boolean", "", MECHP_MAY(probe, known)},
        {"name", "@Name", "", MECHP_MAY(probe, name)}, {"q", "number[]", "", MECHP_MAY(probe, q)},
        {"more", "any", "", MECHP_MAY(probe, more)}, {"other", "any", "", false})};

static void write_seven(const void *of, struct mechp_text *w)
{
    mechp_text_integer(w, *(const int *)of);
}

static const int seven = 7;
static const bool no = false;
static const double numbers[] = {1., 0.5};
static const struct mechp_body_probe full = {.time = 0.1,
                                             .end = 2.,
                                             .offset = -3,
                                             .count = UINT64_MAX - 1,
                                             .good = true,
                                             .known = &no,
                                             .name = "a",
                                             .parent = "b",
                                             .q = {numbers, 2},
                                             .more = {write_seven, &seven}};

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
           "\"next\":null}");
    expect(&optional, &full,
           "{\"time\":0.1,\"offset\":-3,\"count\":18446744073709551614,\"good\":true,"
           "\"known\":false,\"name\":\"a\",\"q\":[1,0.5],\"more\":7}");
}

static void what_may_be_null_is_written_as_null(void)
{
    struct mechp_body_probe body = full;
    body.end = NAN;
    body.parent = NULL;
    expect(&required, &body,
           "{\"time\":0.1,\"end\":null,\"offset\":-3,\"count\":18446744073709551614,"
           "\"good\":true,\"known\":false,\"name\":\"a\",\"parent\":null,\"q\":[1,0.5],\"more\":7,"
           "\"next\":null}");
}

static void what_is_absent_is_left_out(void)
{
    const struct mechp_body_probe body = {
        .time = NAN, .offset = INT64_MIN, .count = MECHP_ABSENT, .q = {NULL, 2}};
    expect(&optional, &body, "{}");
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

/* Whether a C type can hold this type of JSON. */
static bool suits(const struct mechp_member *m)
{
    const enum mechp_holds holds = mechp_member_holds(m);
    const size_t n = strcspn(m->type, "|");
    const bool list = strchr(m->type, '[') != NULL || strchr(m->type, '{') != NULL;
    const bool number = strncmp(m->type, "number", n) == 0 && n == 6;
    const bool integer = strncmp(m->type, "integer", n) == 0 && n == 7;
    const bool truth = strcmp(m->type, "boolean") == 0;
    const bool text = !list && (m->type[0] == '\'' || strncmp(m->type, "@Name", 5) == 0 ||
                                strncmp(m->type, "string", 6) == 0);
    return holds == MECHP_HOLDS_WRITTEN   ? true
           : holds == MECHP_HOLDS_NOTHING ? strcmp(m->type, "null") == 0
           : holds == MECHP_HOLDS_NUMBERS ? strcmp(m->type, "number[]") == 0
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

UNIT_TESTS(UNIT_TEST(a_struct_is_written_in_the_order_of_its_shape),
           UNIT_TEST(what_may_be_null_is_written_as_null), UNIT_TEST(what_is_absent_is_left_out),
           UNIT_TEST(a_number_beyond_all_is_noted),
           UNIT_TEST(structs_hold_all_members_of_their_shapes))
