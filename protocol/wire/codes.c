/* Error codes: the list of codes.def as a table, and the way from the solver's outcomes to it. */
#include "protocol/wire/codes.h"

#include "solver/base/err.h"

#include <stddef.h>

#define MECHP_CODE(symbol, number, status, text, title) {MECHP_##symbol, status, text, title},
static const struct mechp_code_info codes[] = {
#include "protocol/wire/codes.def"
};
#undef MECHP_CODE

enum { CODES = sizeof codes / sizeof *codes };

const struct mechp_code_info *mechp_code_at(int i)
{
    return i >= 0 && i < CODES ? &codes[i] : NULL;
}

const struct mechp_code_info *mechp_code(int number)
{
    // the list is sorted by number
    int low = 0;
    int high = CODES;
    while (low < high) {
        const int mid = (low + high) / 2;
        if ((int)codes[mid].code < number) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    if (low < CODES && (int)codes[low].code == number) {
        return &codes[low];
    }
    return mechp_code(MECHP_INTERNAL);
}

enum mechp_code mechp_code_of_outcome(int outcome)
{
    switch (outcome) {
    case 0:
        return MECHP_OK;
    case MECH_INVALID:
    case MECH_UNSUPPORTED:
        return MECHP_INVALID_REQUEST;
    case MECH_NOT_CONVERGED:
        return MECHP_NOT_CONVERGED;
    case MECH_VI_NOT_CONVERGED:
        return MECHP_VI_NOT_CONVERGED;
    case MECH_SINGULAR:
        return MECHP_SINGULAR;
    case MECH_NOT_FINITE:
        return MECHP_NOT_FINITE;
    case MECH_STEP_TOO_SMALL:
        return MECHP_STEP_TOO_SMALL;
    case MECH_CANCELLED:
        return MECHP_CANCELLED;
    case MECH_NOT_FOUND:
        return MECHP_NOT_FOUND;
    case MECH_MISMATCH:
        return MECHP_SNAPSHOT_MISMATCH;
    case MECH_ENGINE_FAILED:
        return MECHP_FMU_FAILED;
    case MECH_NO_MEMORY:
        return MECHP_OUT_OF_MEMORY;
    default:
        return MECHP_INTERNAL;
    }
}
