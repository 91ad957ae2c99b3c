/* The lists of FMI's functions: sizes of the types that the binary interfaces are made of, the
 * tables' places, and the states by the rules of the standards. */
#include "protocol/fmi/symbols.h"
#include "tests/unit/unit.h"

#include <string.h>

/* the standards' headers for 64-bit platforms: enumerations are int, strings are pointers */
_Static_assert(sizeof(enum mechp_fmi2_status) == 4 && sizeof(enum mechp_fmi3_status) == 4, "int");
_Static_assert(sizeof(enum mechp_fmi3_interval) == 4, "int");
_Static_assert(sizeof(bool) == 1 && sizeof(unsigned) == 4 && sizeof(double) == 8, "widths");
_Static_assert(offsetof(struct mechp_fmi2_event_info, next_event_time) == 24, "after six integers");
_Static_assert(sizeof(struct mechp_fmi2_callbacks) == 5 * sizeof(void *),
               "four and an environment");

static size_t count_of(const struct mechp_fmi_symbol *table)
{
    size_t n = 0;
    while (table[n].name != NULL) {
        n++;
    }
    return n;
}

static const struct mechp_fmi_symbol *find(const struct mechp_fmi_symbol *table, const char *name)
{
    for (; table->name != NULL; table++) {
        if (strcmp(table->name, name) == 0) {
            return table;
        }
    }
    return NULL;
}

static void check_table(const struct mechp_fmi_symbol *table, const char *prefix, size_t size,
                        unsigned always)
{
    const size_t n = count_of(table);
    /* one pointer a function, none left over */
    CU_ASSERT_EQUAL(n * sizeof(void (*)(void)), size);
    for (size_t i = 0; i < n; i++) {
        CU_ASSERT_EQUAL(strncmp(table[i].name, prefix, 4), 0);
        CU_ASSERT_EQUAL(table[i].offset, i * sizeof(void (*)(void)));
        CU_ASSERT_EQUAL(table[i].states & ~always, 0);
        /* what belongs to another kind of FMU is never called in co-simulation */
        if (table[i].group == MECHP_FMI_EXCHANGE || table[i].group == MECHP_FMI_SCHEDULED) {
            CU_ASSERT_EQUAL(table[i].states, 0);
        }
        if (table[i].group == MECHP_FMI_COSIM) {
            CU_ASSERT_NOT_EQUAL(table[i].states, 0);
        }
        for (size_t j = 0; j < i; j++) {
            CU_ASSERT_NOT_EQUAL(strcmp(table[i].name, table[j].name), 0);
        }
    }
}

static void each_function_of_2_0_has_its_place(void)
{
    check_table(mechp_fmi2_symbols, "fmi2", sizeof(struct mechp_fmi2), MECHP_FMI2_ALWAYS);
    CU_ASSERT_EQUAL(count_of(mechp_fmi2_symbols), 25 + 10 + 9);
}

static void each_function_of_3_0_has_its_place(void)
{
    check_table(mechp_fmi3_symbols, "fmi3", sizeof(struct mechp_fmi3), MECHP_FMI3_ALWAYS);
    CU_ASSERT_EQUAL(count_of(mechp_fmi3_symbols), 61 + 10 + 3 + 1);
}

/* 4.2.4 of 2.0: a fatal error ends all calls, a step is done from a completed one alone. */
static void states_of_2_0_are_those_of_its_table(void)
{
    for (const struct mechp_fmi_symbol *s = mechp_fmi2_symbols; s->name != NULL; s++) {
        CU_ASSERT_EQUAL(s->states & MECHP_FMI2_FATAL_STATE, 0);
    }
    CU_ASSERT_EQUAL(find(mechp_fmi2_symbols, "fmi2DoStep")->states, MECHP_FMI2_STEP_COMPLETE);
    const unsigned get = find(mechp_fmi2_symbols, "fmi2GetReal")->states;
    CU_ASSERT_EQUAL(get & MECHP_FMI2_INSTANTIATED, 0);
    CU_ASSERT_NOT_EQUAL(get & MECHP_FMI2_TERMINATED_STATE, 0);
    const unsigned set = find(mechp_fmi2_symbols, "fmi2SetReal")->states;
    CU_ASSERT_EQUAL(set & MECHP_FMI2_TERMINATED_STATE, 0);
    CU_ASSERT_NOT_EQUAL(find(mechp_fmi2_symbols, "fmi2Reset")->states & MECHP_FMI2_ERROR_STATE, 0);
}

/* 2.3 and 4.2 of 3.0 */
static void states_of_3_0_are_those_of_its_machine(void)
{
    for (const struct mechp_fmi_symbol *s = mechp_fmi3_symbols; s->name != NULL; s++) {
        const bool about_itself = strcmp(s->name, "fmi3GetVersion") == 0;
        CU_ASSERT_EQUAL((s->states & MECHP_FMI3_FATAL_STATE) != 0, about_itself);
    }
    CU_ASSERT_EQUAL(find(mechp_fmi3_symbols, "fmi3DoStep")->states, MECHP_FMI3_STEP_MODE);
    CU_ASSERT_EQUAL(find(mechp_fmi3_symbols, "fmi3EnterStepMode")->states, MECHP_FMI3_EVENT_MODE);
    CU_ASSERT_EQUAL(find(mechp_fmi3_symbols, "fmi3Terminate")->states,
                    MECHP_FMI3_EVENT_MODE | MECHP_FMI3_STEP_MODE);
    const unsigned set = find(mechp_fmi3_symbols, "fmi3SetFloat64")->states;
    CU_ASSERT_NOT_EQUAL(set & MECHP_FMI3_INTERMEDIATE, 0);
    CU_ASSERT_EQUAL(set & MECHP_FMI3_TERMINATED, 0);
    /* clocks and discrete states belong to events; slopes are none of the intermediate update's */
    CU_ASSERT_EQUAL(find(mechp_fmi3_symbols, "fmi3SetClock")->states, MECHP_FMI3_EVENT_MODE);
    CU_ASSERT_EQUAL(find(mechp_fmi3_symbols, "fmi3EvaluateDiscreteStates")->states,
                    MECHP_FMI3_EVENT_MODE);
    const unsigned slope = find(mechp_fmi3_symbols, "fmi3GetAdjointDerivative")->states;
    CU_ASSERT_EQUAL(slope & MECHP_FMI3_INTERMEDIATE, 0);
    CU_ASSERT_NOT_EQUAL(slope & MECHP_FMI3_TERMINATED, 0);
    /* after an error a state is restored, or the instance reset or freed */
    const unsigned get = find(mechp_fmi3_symbols, "fmi3GetFloat64")->states;
    CU_ASSERT_EQUAL((get | slope) & MECHP_FMI3_ERROR_STATE, 0);
    CU_ASSERT_NOT_EQUAL(
        find(mechp_fmi3_symbols, "fmi3SetFMUState")->states & MECHP_FMI3_ERROR_STATE, 0);
    CU_ASSERT_EQUAL(find(mechp_fmi3_symbols, "fmi3FreeInstance")->states & MECHP_FMI3_INTERMEDIATE,
                    0);
}

UNIT_TESTS(UNIT_TEST(each_function_of_2_0_has_its_place),
           UNIT_TEST(each_function_of_3_0_has_its_place),
           UNIT_TEST(states_of_2_0_are_those_of_its_table),
           UNIT_TEST(states_of_3_0_are_those_of_its_machine))
