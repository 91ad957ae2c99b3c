/* CurveZMQ: the server's key pair, and keys as text.
 *
 * A key is 32 bytes (X25519), written as 64 hexadecimal digits or as 40 characters of Z85, ZeroMQ's
 * own form. A file of a pair has lines `secret KEY` and perhaps `public KEY`, as `mechd
 * --make-curve-key NAME` prints them, and only its owner may read it. The clients' public
 * keys are lines of a file as those of tokens are (auth/tokens.h): name, scopes, key.
 *
 * Source: ZeroMQ RFC 26 (CurveZMQ), RFC 32 (Z85). owner: main, const once read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { MECHD_CURVE_KEY = 32, MECHD_CURVE_TEXT = 65 };

struct mechd_curve {
    bool on; /* the other members are set */
    unsigned char secret[MECHD_CURVE_KEY];
    unsigned char public[MECHD_CURVE_KEY];
    char text[MECHD_CURVE_TEXT]; /* of public, hexadecimal; "" when off */
};

/* Read the file of the server's secret (NULL or "": off). 0, or negative with a sentence. */
int mechd_curve_init(struct mechd_curve *c, const char *path, char *fault, size_t size);
/* Overwrite the secret. */
void mechd_curve_fini(struct mechd_curve *c);

/* From text. False: it is no key. */
bool mechd_curve_key_read(const char *text, unsigned char key[MECHD_CURVE_KEY]);
/* As hexadecimal digits. */
void mechd_curve_key_write(const unsigned char key[MECHD_CURVE_KEY], char out[MECHD_CURVE_TEXT]);

/* A new pair on standard output, and the line for --curve-clients. scopes NULL: "step". 0, or
 * negative with a sentence. */
int mechd_curve_make(const char *name, const char *scopes, char *fault, size_t size);
