/* Texts of fatal codes and outcomes. */
#include "solver/base/err.h"

#define MECH_OUTCOME(symbol, number, text)                                                         \
    case number:                                                                                   \
        return text;

const char *mech_err_text(int code)
{
    switch (code) {
    case 0:
        return "success";
    case MECH_NO_MEMORY:
        return "out of memory";
    case MECH_INTERNAL:
        return "an internal assumption does not hold";
#include "solver/base/outcomes.def"
    default:
        return "unknown code";
    }
}
