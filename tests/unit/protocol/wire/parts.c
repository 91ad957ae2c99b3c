/* Bodies whose numbers are binary parts: what they take in the tree, and what is no part. */
#include "protocol/wire/parts.h"

#include "solver/base/err.h"
#include "tests/unit/unit.h"

#include <string.h>

enum { NUMBERS = 100, ROOM = 4096 };

/* A body with one part of NUMBERS zeros. */
static size_t body_of(const char *json, unsigned char *out)
{
    const size_t length = strlen(json);
    memset(out, 0, ROOM);
    memcpy(out, "MECHPART", 8);
    out[8] = out[12] = 1;
    out[16] = (unsigned char)length;
    out[24] = (unsigned char)(8 * NUMBERS & 0xff);
    out[25] = (unsigned char)(8 * NUMBERS >> 8);
    memcpy(out + 32, json, length);
    return 32 + length + (size_t)(8 * NUMBERS);
}

/* The outcome with that room for the tree; *root is the caller's. */
static int expand(const char *json, size_t tree, json_t **root, struct mech_diag *d)
{
    static unsigned char bytes[ROOM];
    const struct mechp_json_limits limits = {.bytes = ROOM, .tree = tree, .depth = 8};
    struct mechp_parts p;
    struct mechp_json_fault fault;
    mech_diag_init(d);
    *root = NULL;
    CU_ASSERT_EQUAL_FATAL(mechp_parts_open(bytes, body_of(json, bytes), &limits, &p, &fault), 0);
    CU_ASSERT_EQUAL_FATAL(mechp_json_parse(p.json, p.json_size, &limits, &fault, root), 0);
    return mechp_parts_expand(&p, root, d);
}

static void rows_take_room_too(void)
{
    static const char *const columns = "{\"a\":{\"part\":0,\"shape\":[100,1]}}";
    static const char *const rows = "{\"a\":{\"part\":0,\"shape\":[4,25]}}";
    static const size_t some = (size_t)NUMBERS * 48 + 1000; // not for 100 lists
    struct mech_diag d;
    json_t *root;
    CU_ASSERT_EQUAL(expand(columns, some, &root, &d), MECH_INVALID);
    CU_ASSERT_STRING_EQUAL(d.entries[0].path, "/a/shape");
    json_decref(root);
    mech_diag_fini(&d);
    CU_ASSERT_EQUAL(expand(rows, some, &root, &d), 0);
    CU_ASSERT_EQUAL(json_array_size(json_object_get(root, "a")), 4);
    json_decref(root);
    mech_diag_fini(&d);
    CU_ASSERT_EQUAL(expand(columns, (size_t)1 << 20, &root, &d), 0);
    CU_ASSERT_EQUAL(json_array_size(json_object_get(root, "a")), NUMBERS);
    json_decref(root);
    mech_diag_fini(&d);
}

static void values_by_the_name_part_remain(void)
{
    struct mech_diag d;
    json_t *root;
    CU_ASSERT_EQUAL(
        expand("{\"inputs\":{\"part\":3,\"force\":1},\"a\":{\"part\":0}}", 65536, &root, &d), 0);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(json_object_get(root, "inputs"), "part")),
                    3);
    json_decref(root);
    mech_diag_fini(&d);
}

static void a_body_begins_with_its_magic(void)
{
    static unsigned char bytes[ROOM];
    struct mechp_parts p;
    struct mechp_json_fault fault;
    const size_t size = body_of("{\"a\":{\"part\":0}}", bytes);
    bytes[0] = 'm';
    CU_ASSERT_EQUAL(mechp_parts_open(bytes, size, &mechp_json_limits_model, &p, &fault),
                    MECH_INVALID);
    CU_ASSERT_EQUAL(fault.code, MECHP_MALFORMED_REQUEST);
}

UNIT_TESTS(UNIT_TEST(rows_take_room_too), UNIT_TEST(values_by_the_name_part_remain),
           UNIT_TEST(a_body_begins_with_its_magic))
