/* The list of what requests can want: sorted, and read as what each of its places returns. */
#include "protocol/wire/wants.h"

#include "tests/unit/unit.h"

#include <string.h>

/* Entry 0 of a list with this one text (NULL: a number in its place). */
static int read_one(const char *text, enum mechp_wanted of, char *path, struct mech_diag *diag)
{
    json_t *const list = text != NULL ? json_pack("[s]", text) : json_pack("[i]", 1);
    const int want = mechp_want_read(list, 0, of, path, diag);
    json_decref(list);
    return want;
}

static void names_are_sorted_and_each_is_returned_by_something(void)
{
    const char *last = "";
    for (int want = 0; want < MECHP_WANT_MEMBERS; want++) {
        const char *name = NULL;
        for (int of = 0; of < MECHP_WANTED_SOURCES; of++) {
            const char *const here = mechp_want_name(want, (enum mechp_wanted)of);
            CU_ASSERT((here == NULL) == (mechp_want_doc(want, (enum mechp_wanted)of) == NULL));
            name = here != NULL ? here : name;
        }
        CU_ASSERT_PTR_NOT_NULL_FATAL(name);
        CU_ASSERT(strcmp(last, name) < 0);
        last = name;
    }
    CU_ASSERT_PTR_NULL(mechp_want_name(-1, MECHP_WANTED_STEP));
    CU_ASSERT_PTR_NULL(mechp_want_doc(MECHP_WANT_MEMBERS, MECHP_WANTED_STEP));
}

static void names_are_read_as_what_is_returned_there(void)
{
    for (int of = 0; of < MECHP_WANTED_SOURCES; of++) {
        for (int want = 0; want < MECHP_WANT_MEMBERS; want++) {
            const char *const name = mechp_want_name(want, (enum mechp_wanted)of);
            struct mech_diag diag = {0};
            char path[MECHP_WANT_PATH];
            if (name != NULL) {
                CU_ASSERT_EQUAL(read_one(name, (enum mechp_wanted)of, path, &diag), want);
                CU_ASSERT_STRING_EQUAL(path, "/want/0");
            }
            CU_ASSERT(mech_diag_clean(&diag));
        }
    }
}

static void another_name_is_a_fault_that_lists_the_names(void)
{
    static const struct {
        const char *text;
        enum mechp_wanted of;
        const char *message;
    } cases[] = {
        {"interface", MECHP_WANTED_STEP,
         "a step can return: \"derivatives\", \"energy\", \"events\", \"intermediate\", "
         "\"jacobian\""},
        {NULL, MECHP_WANTED_FRAME, "a frame can carry: derivatives, energy, events, jacobian"},
        {"jacobian", MECHP_WANTED_COUPLING, "a coupling can return: \"energy\", \"interface\""},
        {"energy", MECHP_WANTED_PROGRAM, "a partner of a coupling can return: \"jacobian\""},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct mech_diag diag = {0};
        char path[MECHP_WANT_PATH];
        CU_ASSERT_EQUAL(read_one(cases[k].text, cases[k].of, path, &diag), -1);
        CU_ASSERT_EQUAL_FATAL(diag.count, 1);
        CU_ASSERT_STRING_EQUAL(diag.entries[0].path, "/want/0");
        CU_ASSERT_STRING_EQUAL(diag.entries[0].text, cases[k].message);
        mech_diag_fini(&diag);
    }
}

UNIT_TESTS(UNIT_TEST(names_are_sorted_and_each_is_returned_by_something),
           UNIT_TEST(names_are_read_as_what_is_returned_there),
           UNIT_TEST(another_name_is_a_fault_that_lists_the_names))
