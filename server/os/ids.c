/* Ids with a series of the process. Two processes have the same one by chance alone, one pair in
 * 7e8: the incarnation is the time of the start in units of 1.024 us, which a hash spreads. */
#include "server/os/ids.h"

#include "solver/base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char alphabet[] = "0123456789bcdfghjkmnpqrstvwxyz";

void mechd_ids_series(uint64_t incarnation, char *out)
{
    const uint64_t base = sizeof alphabet - 1;
    uint64_t rest = mech_hash(&incarnation, sizeof incarnation, 0);
    for (int k = 0; k < MECHD_SERIES - 2; k++) {
        out[k] = alphabet[rest % base];
        rest /= base;
    }
    out[MECHD_SERIES - 2] = '-';
    out[MECHD_SERIES - 1] = '\0';
}

void mechd_id_write(char letter, const char *series, uint64_t number, char *out)
{
    snprintf(out, MECHD_ID, "%c-%s%" PRIu64, letter, series, number);
}

bool mechd_id_takes_series(const char *id)
{
    return id[0] != '\0' && strchr("cfow", id[0]) != NULL && mechd_id_number(id[0], id) > 0;
}
