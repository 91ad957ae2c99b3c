/* System structures of any bytes, with one FMU: refused with faults, or joined, and then all that
 * points to components and variables points to some. Parts between bytes 0 are SystemStructure.ssd
 * and the files a.ssv, b.ssm and c.ssb. */
#include "server/engine/ssp.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>

static const char fmu[] =
    "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"{1}\">"
    "<CoSimulation modelIdentifier=\"m\"/><UnitDefinitions><Unit name=\"rpm\"><BaseUnit s=\"-1\" "
    "rad=\"1\" factor=\"0.1\"/></Unit></UnitDefinitions><ModelVariables>"
    "<ScalarVariable name=\"u\" valueReference=\"1\" causality=\"input\"><Real unit=\"rpm\" "
    "start=\"0\"/></ScalarVariable><ScalarVariable name=\"y\" valueReference=\"2\" "
    "causality=\"output\"><Real/></ScalarVariable><ScalarVariable name=\"k\" valueReference=\"3\" "
    "causality=\"parameter\" variability=\"fixed\"><Real start=\"1\"/></ScalarVariable>"
    "</ModelVariables></fmiModelDescription>";

struct bytes {
    const uint8_t *at;
    size_t size;
};

/* The n-th part. False: there are fewer. */
static bool part_of(struct bytes all, int n, struct bytes *out)
{
    for (; n > 0; n--) {
        const uint8_t *const zero = memchr(all.at, 0, all.size);
        if (zero == NULL) {
            return false;
        }
        all.size -= (size_t)(zero - all.at) + 1;
        all.at = zero + 1;
    }
    const uint8_t *const zero = all.size > 0 ? memchr(all.at, 0, all.size) : NULL;
    *out = (struct bytes){all.at, zero != NULL ? (size_t)(zero - all.at) : all.size};
    return true;
}

static int read_part(void *of, const char *path, char **text, size_t *size, struct mech_diag *diag)
{
    static const char *const paths[] = {"SystemStructure.ssd", "a.ssv", "b.ssm", "c.ssb"};
    const struct bytes *const all = of;
    struct bytes part;
    for (int k = 0; k < 4; k++) {
        if (strcmp(paths[k], path) == 0 && part_of(*all, k, &part)) {
            *text = fuzz_text(part.at, part.size);
            *size = part.size;
            if (*text == NULL) {
                break;
            }
            return 0;
        }
    }
    mech_diag_add(diag, "", "is not in the archive");
    return 1;
}

static void check(const struct mechd_ssp *s, const struct mechd_fmu_description *d)
{
    for (size_t k = 0; k < s->component_count; k++) {
        if (s->components[k].source >= s->source_count || s->components[k].name[0] == '\0') {
            fuzz_fail("a component has no FMU");
        }
    }
    for (size_t k = 0; k < s->link_count; k++) {
        const struct mechd_ssp_link *const l = &s->links[k];
        if (l->from >= s->component_count || l->to >= s->component_count ||
            strcmp(l->input, "u") != 0 || strcmp(l->output, "y") != 0 || !isfinite(l->factor) ||
            !isfinite(l->offset)) {
            fuzz_fail("a link joins nothing");
        }
    }
    for (size_t k = 0; k < s->start_count; k++) {
        const struct mechd_ssp_start *const x = &s->starts[k];
        const bool known = x->component < s->component_count && x->variable >= d->variables &&
                           x->variable < d->variables + d->variable_count && x->count > 0;
        for (size_t i = 0; known && i < x->count; i++) {
            if (!isfinite(x->values[i])) {
                fuzz_fail("a start value is no number");
            }
        }
        if (!known) {
            fuzz_fail("a start value is of nothing");
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct mechd_fmu_description *all[MECHD_SSP_COMPONENTS_MOST];
    struct mechd_fmu_description d;
    struct bytes bytes = {data, size};
    const struct mechd_ssp_files files = {.read = read_part, .of = &bytes};
    struct mechd_ssp s;
    struct mech_diag diag;
    mech_diag_init(&diag);
    if (mechd_fmu_description_read(fmu, sizeof fmu - 1, &d, &diag) != 0) {
        fuzz_fail("the description is not read");
    }
    for (size_t k = 0; k < MECHD_SSP_COMPONENTS_MOST; k++) {
        all[k] = &d;
    }
    int rc = mechd_ssp_read(&files, &s, &diag);
    rc = rc == 0 ? mechd_ssp_join(&s, all, &diag) : rc;
    if ((rc > 0) != (diag.total > 0)) {
        fuzz_fail("a structure is refused without a fault");
    }
    if (rc == 0) {
        check(&s, &d);
    }
    mechd_ssp_fini(&s);
    mechd_fmu_description_fini(&d);
    mech_diag_fini(&diag);
    return 0;
}
