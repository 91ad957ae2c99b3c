/* Containers come back as they were; whatever is wrong with one is noticed. Base64 as RFC 4648. */
#include "server/instance/container.h"

#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static const struct mechd_container parts = {
    .model = "{\"mechd\":1}", .model_size = 11, .state = "\0\1\2\3\4", .state_size = 5};

static void what_was_packed_comes_back(void)
{
    size_t size = 0;
    void *bytes = mechd_container_write(&parts, &size);
    struct mechd_container out;
    CU_ASSERT_EQUAL(size, MECHD_CONTAINER_HEADER + 16);
    CU_ASSERT_EQUAL_FATAL(mechd_container_read(bytes, size, &out), 0);
    CU_ASSERT_EQUAL(out.model_size, 11);
    CU_ASSERT_EQUAL(out.state_size, 5);
    CU_ASSERT_EQUAL(memcmp(out.model, parts.model, 11), 0);
    CU_ASSERT_EQUAL(memcmp(out.state, parts.state, 5), 0);
    free(bytes);
}

static void every_changed_byte_is_noticed(void)
{
    size_t size = 0;
    unsigned char *bytes = mechd_container_write(&parts, &size);
    struct mechd_container out;
    for (size_t k = 0; k < size; k++) {
        for (unsigned bit = 1; bit < 256; bit <<= 1) {
            bytes[k] = (unsigned char)(bytes[k] ^ bit);
            CU_ASSERT_EQUAL(mechd_container_read(bytes, size, &out), MECH_MISMATCH);
            bytes[k] = (unsigned char)(bytes[k] ^ bit);
        }
    }
    CU_ASSERT_EQUAL(mechd_container_read(bytes, size, &out), 0);
    free(bytes);
}

static void every_shorter_length_is_noticed(void)
{
    size_t size = 0;
    unsigned char *bytes = mechd_container_write(&parts, &size);
    struct mechd_container out;
    for (size_t k = 0; k < size; k++) {
        CU_ASSERT_EQUAL(mechd_container_read(bytes, k, &out), MECH_MISMATCH);
    }
    free(bytes);
}

static void check_base64(const char *text, const char *expected)
{
    size_t size = 0;
    unsigned char *bytes = mechd_base64_decode(text, strlen(text), &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    CU_ASSERT_EQUAL(size, strlen(expected));
    CU_ASSERT_EQUAL(memcmp(bytes, expected, strlen(expected)), 0);
    char *const again = mechd_base64_encode(bytes, size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(again);
    // without the white space that the text may have
    CU_ASSERT(strpbrk(text, " \n") != NULL || strcmp(again, text) == 0);
    free(again);
    free(bytes);
}

static void base64_of_the_standard_is_decoded(void)
{
    // the examples of RFC 4648, section 10
    check_base64("", "");
    check_base64("Zg==", "f");
    check_base64("Zm8=", "fo");
    check_base64("Zm9v", "foo");
    check_base64("Zm9vYmFy", "foobar");
    check_base64("Zm9v\nYmFy\n", "foobar");
}

static void what_is_no_base64_is_refused(void)
{
    static const char *const bad[] = {"Z", "Zg", "Zg=", "Zg==Zg==", "Z===", "====", "Zm9?", "-_-_"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        size_t size = 0;
        unsigned char *bytes = mechd_base64_decode(bad[k], strlen(bad[k]), &size);
        CU_ASSERT_PTR_NULL(bytes);
        free(bytes);
    }
}

UNIT_TESTS(UNIT_TEST(what_was_packed_comes_back), UNIT_TEST(every_changed_byte_is_noticed),
           UNIT_TEST(every_shorter_length_is_noticed), UNIT_TEST(base64_of_the_standard_is_decoded),
           UNIT_TEST(what_is_no_base64_is_refused))
