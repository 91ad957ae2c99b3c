/* Matrices in their four written forms: the same matrix from each, every refusal, expressions. */
#include "protocol/bind/bind.h"

#include "solver/base/err.h"
#include "solver/linalg/mat.h"
#include "tests/unit/protocol/bind/documents.h"
#include "tests/unit/unit.h"

/* A table of one matrix, so that nothing else of a model is needed. */
struct holder {
    struct mech_mat a;
};
static const struct mech_field fields[] = {
    {.name = "a", .kind = MECH_MATRIX, .offset = offsetof(struct holder, a), .doc = "a matrix"},
};
static const struct mech_table table = {
    .name = "Holder", .size = sizeof(struct holder), MECH_FIELDS(fields)};

struct reading {
    struct mech_diag d;
    struct mech_document *doc;
    struct holder h;
    int code;
};

static void start(struct reading *r, const char *text)
{
    struct mechp_json_fault fault;
    struct mech_path path = {.length = 0};
    json_t *root;
    *r = (struct reading){.code = 0};
    mech_diag_init(&r->d);
    CU_ASSERT_EQUAL_FATAL(mechp_json_parse(text, strlen(text), NULL, &fault, &root), 0);
    CU_ASSERT_EQUAL_FATAL(mech_document_create(0, &r->doc), 0);
    r->code = mechp_bind_read_table(root, &table, &r->h, r->doc, &path, &r->d);
    CU_ASSERT_EQUAL(path.length, 0);
    json_decref(root);
}

static void stop(struct reading *r)
{
    mech_document_destroy(r->doc);
    mech_diag_fini(&r->d);
}

static void entries_that_cancel_are_no_part_of_the_pattern(void)
{
    static const char *const with[] = {
        "{\"a\":{\"shape\":[40,40],\"coo\":[[0,39,1],[7,3,2],[7,3,-2],[39,0,1]]}}",
        "{\"a\":{\"shape\":[40,40],\"coo\":[[0,0,1],[7,3,2],[7,3,-2],[39,39,1]]}}",
        "{\"a\":{\"shape\":[2,2],\"coo\":[[0,1,2],[0,1,-2]]}}"};
    static const char *const without[] = {"{\"a\":{\"shape\":[40,40],\"coo\":[[0,39,1],[39,0,1]]}}",
                                          "{\"a\":{\"shape\":[40,40],\"coo\":[[0,0,1],[39,39,1]]}}",
                                          "{\"a\":{\"shape\":[2,2],\"coo\":[]}}"};
    for (size_t k = 0; k < sizeof with / sizeof *with; k++) {
        struct reading r;
        struct reading s;
        start(&r, with[k]);
        start(&s, without[k]);
        CU_ASSERT(r.code == 0 && mech_diag_clean(&r.d));
        CU_ASSERT_EQUAL(r.h.a.kind, s.h.a.kind);
        CU_ASSERT_EQUAL(mech_mat_stored(&r.h.a), mech_mat_stored(&s.h.a));
        stop(&r);
        stop(&s);
    }
}

static void four_forms_give_the_same_matrix(void)
{
    static const char *const forms[] = {
        "{\"a\":[[2,-1,0],[-1,2,-1],[0,-1,1]]}",
        "{\"a\":{\"banded\":{\"lower\":1,\"upper\":1,\"rows\":[[0,2,-1],[-1,2,-1],[-1,1,0]]}}}",
        "{\"a\":{\"banded\":{\"lower\":1,\"upper\":1,\"rows\":[[2,-1],[-1,2,-1],[-1,1]]}}}",
        ("{\"a\":{\"shape\":[3,3],\"coo\":[[0,0,1],[0,0,1],[0,1,-1],[1,0,-1],[1,1,2],"
         "[1,2,-1],[2,1,-1],[2,2,1],[2,0,0]]}}"),
    };
    static const double expected[3][3] = {{2, -1, 0}, {-1, 2, -1}, {0, -1, 1}};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        struct reading r;
        start(&r, forms[k]);
        CU_ASSERT(r.code == 0 && mech_diag_clean(&r.d));
        CU_ASSERT(r.h.a.rows == 3 && r.h.a.cols == 3 && r.h.a.symmetric);
        for (int i = 0; r.h.a.rows == 3 && i < 9; i++) {
            CU_ASSERT_EQUAL(mech_mat_get(&r.h.a, i / 3, i % 3), expected[i / 3][i % 3]);
        }
        stop(&r);
    }
}

static void a_diagonal_is_kept_as_one(void)
{
    struct reading r;
    start(&r, "{\"a\":{\"diag\":[1,0,3]}}");
    CU_ASSERT_EQUAL(r.h.a.kind, MECH_MAT_DIAG);
    CU_ASSERT(r.h.a.values[1] == 0. && r.h.a.values[2] == 3.);
    stop(&r);
    start(&r, "{\"a\":{\"diag\":[0,0]}}");
    CU_ASSERT(r.h.a.kind == MECH_MAT_ZERO && r.h.a.rows == 2);
    stop(&r);
}

static void wide_bands_find_their_columns(void)
{
    struct reading r;
    // lower 2, upper 0: row i holds A(i, i-2), A(i, i-1), A(i, i)
    start(&r,
          "{\"a\":{\"banded\":{\"lower\":2,\"upper\":0,\"rows\":[[1],[2,3],[4,5,6],[7,8,9]]}}}");
    CU_ASSERT(mech_diag_clean(&r.d));
    CU_ASSERT(mech_mat_get(&r.h.a, 3, 1) == 7. && mech_mat_get(&r.h.a, 3, 3) == 9.);
    CU_ASSERT(mech_mat_get(&r.h.a, 1, 0) == 2. && mech_mat_get(&r.h.a, 2, 0) == 4.);
    stop(&r);
}

static void each_bad_matrix_has_its_pointer(void)
{
    static const struct {
        const char *text, *path, *reason;
    } cases[] = {
        {"7", "/a", "must be a matrix"},
        {"{}", "/a", "must be a matrix"},
        {"[]", "/a", "must have 1 to"},
        {"[[]]", "/a", "must have 1 to"},
        {"[1,2]", "/a/0", "must be an array"},
        {"[[1,2],[3]]", "/a/1", "must have 2 numbers"},
        {"[[1,2],[3,null]]", "/a/1/1", "must be a number"},
        {"{\"diag\":[]}", "/a/diag", "must have 1 to"},
        {"{\"diag\":3}", "/a/diag", "must be an array"},
        {"{\"diag\":[1,\"x\"]}", "/a/diag/1", "must be a number"},
        {"{\"diag\":[1],\"dag\":[1]}", "/a/dag", "unknown key"},
        {"{\"banded\":[]}", "/a/banded", "must be an object"},
        {"{\"banded\":{\"lower\":0,\"rows\":[[1]]}}", "/a/banded", "missing key 'upper'"},
        {"{\"banded\":{\"lower\":1,\"upper\":0,\"rows\":[[1]]}}", "/a/banded/lower",
         "between 0 and 0"},
        {"{\"banded\":{\"lower\":-1,\"upper\":0,\"rows\":[[1]]}}", "/a/banded/lower", "integer"},
        {"{\"banded\":{\"lower\":1e300,\"upper\":0,\"rows\":[[1]]}}", "/a/banded/lower", "integer"},
        {"{\"banded\":{\"lower\":1,\"upper\":1,\"rows\":[[0,1,1],[1]]}}", "/a/banded/rows/1",
         "must have 3 numbers, or the 2"},
        {"{\"banded\":{\"lower\":1,\"upper\":1,\"rows\":[[5,1,1],[1,1,0]]}}", "/a/banded/rows/0/0",
         "outside the matrix"},
        {"{\"coo\":[]}", "/a", "'shape'"},
        {"{\"shape\":[2,2]}", "/a", "'coo'"},
        {"{\"shape\":[2],\"coo\":[]}", "/a/shape", "two integers"},
        {"{\"shape\":[2,0],\"coo\":[]}", "/a/shape", "two integers"},
        {"{\"shape\":[2,2.5],\"coo\":[]}", "/a/shape", "two integers"},
        {"{\"shape\":[2,1e9],\"coo\":[]}", "/a/shape", "two integers"},
        {"{\"shape\":[2,2],\"coo\":[[0,2,1]]}", "/a/coo/0/1", "from 0 to 1"},
        {"{\"shape\":[2,2],\"coo\":[[0,0,1],[-1,0,1]]}", "/a/coo/1/0", "from 0 to 1"},
        {"{\"shape\":[2,2],\"coo\":[[0.5,0,1]]}", "/a/coo/0/0", "from 0 to 1"},
        {"{\"shape\":[2,2],\"coo\":[[0,0]]}", "/a/coo/0", "must have 3 entries"},
        {"{\"shape\":[2,2],\"coo\":[[0,0,\"=k\"],[0,0,1]]}", "/a", "only once"},
        {"{\"shape\":[2,2],\"coo\":[[0,0,\"=k\"],[0,0,\"=k\"]]}", "/a", "only once"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reading r;
        char text[256];
        snprintf(text, sizeof text, "{\"a\":%s}", cases[i].text);
        start(&r, text);
        CU_ASSERT_EQUAL(r.code, 0);
        const bool told = has_fault(&r.d, cases[i].path, cases[i].reason);
        CU_ASSERT(told);
        if (!told) {
            printf("    %s: %s %s\n", cases[i].text, r.d.count > 0 ? r.d.entries[0].path : "-",
                   r.d.count > 0 ? r.d.entries[0].text : "");
        }
        CU_ASSERT_EQUAL(r.h.a.rows, 0);
        stop(&r);
    }
}

static void expressions_are_bound_to_their_place_in_every_form(void)
{
    static const char *const forms[] = {
        // dense, band, diagonal, compressed columns
        "{\"a\":[[1,2],[3,\"=k+1\"]]}",
        ("{\"a\":{\"banded\":{\"lower\":1,\"upper\":1,\"rows\":[[1,1],[1,\"=k+1\",1],[1,1,1],[1,1,"
         "1],"
         "[1,1,1],[1,1,1],[1,1,1],[1,1,1],[1,1,1],[1,1]]}}}"),
        "{\"a\":{\"diag\":[1,\"=k+1\",1]}}",
        "{\"a\":{\"shape\":[20,30],\"coo\":[[19,29,5],[1,1,\"=k+1\"],[0,0,1]]}}",
    };
    static const enum mech_mat_kind kinds[] = {MECH_MAT_DENSE, MECH_MAT_BAND, MECH_MAT_DIAG,
                                               MECH_MAT_CSC};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        struct reading r;
        start(&r, forms[k]);
        CU_ASSERT(mech_diag_clean(&r.d));
        CU_ASSERT_EQUAL(r.h.a.kind, kinds[k]);
        CU_ASSERT_EQUAL_FATAL(r.doc->bindings.n, 1);
        CU_ASSERT_STRING_EQUAL(r.doc->bindings.at[0].text, "k+1");
        // what is written there is what the matrix holds
        *(double *)r.doc->bindings.at[0].target = 77.;
        CU_ASSERT_EQUAL(mech_mat_get(&r.h.a, 1, 1), 77.);
        stop(&r);
    }
}

static void expressions_are_symmetric_when_their_texts_are(void)
{
    struct reading r;
    start(&r, "{\"a\":[[\"=2*k\",\"=-k\"],[\"=-k\",\"=k\"]]}");
    CU_ASSERT(r.h.a.symmetric && r.doc->bindings.n == 4);
    stop(&r);
    start(&r, "{\"a\":[[\"=2*k\",\"=-k\"],[\"=-c\",\"=k\"]]}");
    CU_ASSERT(!r.h.a.symmetric && r.doc->bindings.n == 4);
    stop(&r);
}

UNIT_TESTS(UNIT_TEST(four_forms_give_the_same_matrix),
           UNIT_TEST(entries_that_cancel_are_no_part_of_the_pattern),
           UNIT_TEST(a_diagonal_is_kept_as_one), UNIT_TEST(wide_bands_find_their_columns),
           UNIT_TEST(each_bad_matrix_has_its_pointer),
           UNIT_TEST(expressions_are_bound_to_their_place_in_every_form),
           UNIT_TEST(expressions_are_symmetric_when_their_texts_are))
