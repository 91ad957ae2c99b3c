/* Pictures of examples: their shapes are there, within the frame, the same each time. */
#include "server/operations/picture.h"

#include "tests/verify/example.h"

static char *picture_of(const char *name)
{
    struct mech_sim *const sim = example_of(name);
    char *picture = NULL;
    CU_ASSERT_EQUAL_FATAL(mechd_picture(sim, &picture), 0);

    mech_sim_destroy(sim);
    return picture;
}

static int count_of(const char *text, const char *word)
{
    int n = 0;

    for (const char *c = text; (c = strstr(c, word)) != NULL; c++) {
        n++;
    }
    return n;
}

/* Every point of every outline. */
static void check_points(const char *picture)
{
    for (const char *c = picture; (c = strstr(c, "points=\"")) != NULL;) {
        c += strlen("points=\"");
        while (*c != '"') {
            char *end = NULL;
            const double x = strtod(c, &end);
            CU_ASSERT_EQUAL_FATAL(*end, ',');
            const double y = strtod(end + 1, &end);
            CU_ASSERT(x >= 23. && x <= 617. && y >= 23. && y <= 457.);
            c = *end == ' ' ? end + 1 : end;
        }
    }
}

static void each_shape_is_an_outline_in_the_frame(void)
{
    static const struct {
        const char *name;
        int least;
    } pictures[] = {{"mass1d", 1},        {"slider-crank", 3}, {"flexible-cantilever", 2},
                    {"four-bar", 3},      {"robot-arm", 6},    {"box-stack", 3},
                    {"sliding-sphere", 1}};
    for (size_t k = 0; k < sizeof pictures / sizeof *pictures; k++) {
        char *const picture = picture_of(pictures[k].name);
        CU_ASSERT_PTR_NOT_NULL_FATAL(picture);
        CU_ASSERT_EQUAL(strncmp(picture, "<svg xmlns=", 11), 0);
        CU_ASSERT_STRING_EQUAL(picture + strlen(picture) - 7, "</svg>\n");
        CU_ASSERT(count_of(picture, "points=\"") >= pictures[k].least);
        check_points(picture);
        free(picture);
    }
}

/* Coordinates without a place in space. */
static void a_model_without_bodies_has_none(void)
{
    CU_ASSERT_PTR_NULL(picture_of("bouncing-ball"));
}

static void the_same_state_gives_the_same_bytes(void)
{
    char *const a = picture_of("robot-arm"), *const b = picture_of("robot-arm");

    CU_ASSERT_STRING_EQUAL(a, b);
    free(a);
    free(b);
}

UNIT_TESTS(UNIT_TEST(each_shape_is_an_outline_in_the_frame),
           UNIT_TEST(a_model_without_bodies_has_none),
           UNIT_TEST(the_same_state_gives_the_same_bytes))
