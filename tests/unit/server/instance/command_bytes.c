/* Step commands of the journal do again what they did; whatever is wrong with one is noticed. */
#include "server/instance/command_bytes.h"

#include "tests/unit/server/instance/host.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static const struct mech_step_request two_steps = {.kind = MECH_STEP_COUNT, .count = 2};

static void what_was_packed_is_done_again(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_instance *const i = instance_create(d);
    size_t size = 0;
    void *const bytes = mechd_command_bytes(&i->engine, &two_steps, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    CU_ASSERT_EQUAL(mechd_command_replay(&i->engine, bytes, size), 0);
    CU_ASSERT_EQUAL(mechd_engine_time(&i->engine), 1.);
    free(bytes);
    mechd_instance_unref(i);
    host_destroy(d);
}

static void every_changed_byte_is_noticed_before_a_step(void)
{
    struct mechd_host *const d = host_create(1);
    struct mechd_instance *const i = instance_create(d);
    size_t size = 0;
    unsigned char *const bytes = mechd_command_bytes(&i->engine, &two_steps, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    for (size_t k = 0; k < size; k++) {
        for (unsigned bit = 1; bit < 256; bit <<= 1) {
            bytes[k] = (unsigned char)(bytes[k] ^ bit);
            CU_ASSERT_EQUAL(mechd_command_replay(&i->engine, bytes, size), MECH_MISMATCH);
            bytes[k] = (unsigned char)(bytes[k] ^ bit);
        }
        CU_ASSERT_EQUAL(mechd_command_replay(&i->engine, bytes, k), MECH_MISMATCH);
    }
    CU_ASSERT_EQUAL(mechd_engine_time(&i->engine), 0.);
    free(bytes);
    mechd_instance_unref(i);
    host_destroy(d);
}

UNIT_TESTS(UNIT_TEST(what_was_packed_is_done_again),
           UNIT_TEST(every_changed_byte_is_noticed_before_a_step))
