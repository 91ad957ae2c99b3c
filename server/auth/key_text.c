/* Keys as text. */
#include "server/auth/curve.h"

#include <sodium.h>
#include <string.h>
#include <zmq.h>

enum { HEX = 64, Z85 = 40 };

bool mechd_curve_key_read(const char *text, unsigned char key[MECHD_CURVE_KEY])
{
    size_t n = 0;
    switch (strlen(text)) {
    case HEX:
        return sodium_hex2bin(key, MECHD_CURVE_KEY, text, HEX, NULL, &n, NULL) == 0 &&
               n == MECHD_CURVE_KEY;
    case Z85:
        return zmq_z85_decode(key, text) != NULL;
    default:
        return false;
    }
}

void mechd_curve_key_write(const unsigned char key[MECHD_CURVE_KEY], char out[MECHD_CURVE_TEXT])
{
    sodium_bin2hex(out, MECHD_CURVE_TEXT, key, MECHD_CURVE_KEY);
}
