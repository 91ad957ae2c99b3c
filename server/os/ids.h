/* Ids that the daemon gives: a letter, '-' and a number from 1, as r-17. A process without a state
 * directory does not know the ids of the processes before it: its ids of couplings, operations,
 * sweeps and FMUs have a series between letter and number, as o-k3f9xm-17, which no other process
 * has. Any thread.
 *
 *     char series[MECHD_SERIES], id[MECHD_ID];
 *     mechd_ids_series(incarnation, series);        // "k3f9xm-"; "" where there is a store
 *     mechd_id_write('o', series, 17, id);          // "o-k3f9xm-17"
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    MECHD_SERIES = 8, /* bytes of a series with its '-' */
    MECHD_ID = 32,    /* and of an id: a letter, '-', a series, 20 digits */
};

/* The series of a process by its incarnation (server/store/store.h): six characters, of which there
 * are 30^6, without vowels and what looks like a digit. */
void mechd_ids_series(uint64_t incarnation, char *out);
void mechd_id_write(char letter, const char *series, uint64_t number, char *out);
/* True for an id without a series, as o-1, of those that may have one. */
bool mechd_id_takes_series(const char *id);

/* The number of such an id, 0 where the text is none as the daemon writes them without a series: no
 * sign, no space, no leading zero, at most UINT64_MAX. So two texts are never the same one. */
static inline uint64_t mechd_id_number(char letter, const char *id)
{
    uint64_t number = 0;
    if (id[0] != letter || id[1] != '-' || id[2] == '0' || id[2] == '\0') {
        return 0;
    }
    for (const char *at = id + 2; *at != '\0'; at++) {
        const uint64_t digit = (uint64_t)(unsigned char)*at - '0';
        if (*at < '0' || *at > '9' || number > (UINT64_MAX - digit) / 10) {
            return 0;
        }
        number = 10 * number + digit;
    }
    return number;
}
