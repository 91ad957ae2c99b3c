/* Return values.
 *
 * Every function that can fail returns int: 0 is success; a negative value is fatal (out of memory,
 * an invariant of ours broken) and is only forwarded; a positive value is an outcome that the
 * function documents, and that its caller handles or turns fatal.
 *
 * The outcomes of a step (enum mech_outcome) travel unchanged from the integrators to the wire.
 */
#pragma once

enum mech_fatal { MECH_NO_MEMORY = -1, MECH_INTERNAL = -2 };

#define MECH_OUTCOME(symbol, number, text) MECH_##symbol = number,
enum mech_outcome {
#include "solver/base/outcomes.def"
};
#undef MECH_OUTCOME

/* English text of a fatal code or an outcome; never NULL. Static storage, any thread. */
const char *mech_err_text(int code);

/* Forward anything but success. */
#define MECH_TRY(expr)                                                                             \
    do {                                                                                           \
        const int mech_try_ = (expr);                                                              \
        if (mech_try_ != 0) {                                                                      \
            return mech_try_;                                                                      \
        }                                                                                          \
    } while (0)

/* Forward fatal codes; an outcome here means that we broke a promise of our own. */
#define MECH_FOLD(expr)                                                                            \
    do {                                                                                           \
        const int mech_fold_ = (expr);                                                             \
        if (mech_fold_ != 0) {                                                                     \
            return mech_fold_ < 0 ? mech_fold_ : MECH_INTERNAL;                                    \
        }                                                                                          \
    } while (0)
