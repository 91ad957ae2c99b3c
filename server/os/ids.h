/* Ids that the daemon gives: a letter, '-' and a number from 1, as r-17. Any thread. */
#pragma once

#include <stdint.h>

/* The number of such an id, 0 where the text is none as the daemon writes them: no sign, no space,
 * no leading zero, at most UINT64_MAX. So two texts are never the same one. */
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
