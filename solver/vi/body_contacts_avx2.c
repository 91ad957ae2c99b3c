/* The loops over groups of four contacts with AVX2; see body_contacts_visit.h. */
#include "solver/vi/body_contacts_kernel.h"

#include <stddef.h>

#if defined(__x86_64__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define MECH_LANES_FOUR
#endif
#endif

#ifdef MECH_LANES_FOUR
#include "solver/vi/body_contacts_visit.h"

LOOPS(four, MECH_LANES);

const struct mech_contact_loops *mech_contact_groups_avx2(void)
{
    return __builtin_cpu_supports("avx2") ? &mech_contact_four : NULL;
}
#else
const struct mech_contact_loops *mech_contact_groups_avx2(void)
{
    return NULL;
}
#endif
