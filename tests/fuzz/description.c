/* Model descriptions of any bytes: refused with one fault, or read, and then all that points to
 * variables points to some. */
#include "server/engine/fmu_description.h"
#include "tests/fuzz/fuzz.h"

static void check(const struct mechd_fmu_description *d)
{
    size_t bytes = strlen(d->name) + strlen(d->identifier) + strlen(d->token) + strlen(d->tool);
    for (size_t k = 0; k < d->variable_count; k++) {
        const struct mechd_fmu_variable *const v = &d->variables[k];
        bytes += strlen(v->name) + strlen(v->unit) + strlen(v->description);
        for (size_t i = 0; i < v->dependency_count; i++) {
            if (v->dependencies[i] >= d->variable_count) {
                fuzz_fail("a dependency is no variable");
            }
        }
        for (size_t i = 0; i < v->dimension_count; i++) {
            if (v->dimensions[i].variable >= (int64_t)d->variable_count) {
                fuzz_fail("a size is no variable");
            }
        }
        for (size_t i = 0; v->start != NULL && i < v->start_count; i++) {
            bytes += v->start[i] != 0.;
        }
        if (v->type >= MECHD_FMU_TYPES || mechd_fmu_type_name(v->type) == NULL) {
            fuzz_fail("a variable has no type");
        }
    }
    for (size_t k = 1; k < d->unit_count; k++) {
        if (strcmp(d->units[k - 1].name, d->units[k].name) > 0) {
            fuzz_fail("units are not sorted");
        }
    }
    if (bytes == 0) {
        fuzz_fail("a description without an identifier");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mechd_fmu_description d;
    struct mech_diag diag;
    char *const copy = fuzz_text(data, size);
    mech_diag_init(&diag);
    if (copy != NULL) {
        const int rc = mechd_fmu_description_read(copy, size, &d, &diag);
        if ((rc > 0) != (diag.total == 1)) {
            fuzz_fail("a description is refused without a fault");
        }
        if (rc == 0) {
            check(&d);
        }
        mechd_fmu_description_fini(&d);
    }
    mech_diag_fini(&diag);
    free(copy);
    return 0;
}
