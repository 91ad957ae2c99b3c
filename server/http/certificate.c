/* Of the certificate's DER (X.690) only the way to its validity is walked:
 *
 *   SEQUENCE { SEQUENCE { [0] version?, serial, signature, issuer, SEQUENCE { from, until }, …
 *
 * Whether certificate and key fit together is asked of libmicrohttpd: a daemon that does not listen
 * starts with them, or does not. */
#include "server/http/certificate.h"

#include "solver/base/odd.h"
#include "solver/base/text.h"

#include <errno.h>
#include <microhttpd.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MOST = 1 << 20 };
enum { DER_SEQUENCE = 0x30, DER_UTC = 0x17, DER_TIME = 0x18, DER_VERSION = 0xa0 };

struct der {
    const unsigned char *at;
    size_t left;
};

/* The next value and its tag, taken off `d`. False: there is no whole one. */
static bool next(struct der *d, int *tag, struct der *value)
{
    if (d->left < 2) {
        return false;
    }
    *tag = d->at[0];
    size_t length = d->at[1];
    size_t head = 2;
    if (length > 127) {
        const size_t bytes = length & 127;
        if (bytes == 0 || bytes > 4 || bytes > d->left - 2) {
            return false;
        }
        length = 0;
        for (; head < 2 + bytes; head++) {
            length = length << 8 | d->at[head];
        }
    }
    if (length > d->left - head) {
        return false;
    }
    *value = (struct der){d->at + head, length};
    d->at += head + length;
    d->left -= head + length;
    return true;
}

/* Days from 1970-01-01 to a day of the Gregorian calendar. */
static long days(int year, int month, int day)
{
    static const int before[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    // leap days up to the end of February of this year
    const int last = month > 2 ? year : year - 1;
    return 365L * (year - 1970) + (last / 4 - last / 100 + last / 400) -
           (1969 / 4 - 1969 / 100 + 1969 / 400) + before[month - 1] + day - 1;
}

/* YYMMDDhhmmssZ, or with four digits of the year. */
static bool read_time(struct der *d, time_t *out)
{
    int tag = 0;
    struct der value;
    int digits[14];
    if (!next(d, &tag, &value) || (tag != DER_UTC && tag != DER_TIME)) {
        return false;
    }
    const size_t count = tag == DER_UTC ? 12 : 14;
    if (value.left != count + 1 || value.at[count] != 'Z') {
        return false;
    }
    for (size_t k = 0; k < count; k++) {
        if (value.at[k] < '0' || value.at[k] > '9') {
            return false;
        }
        digits[k + 14 - count] = value.at[k] - '0';
    }
    if (tag == DER_UTC) {
        // RFC 5280, 4.1.2.5.1: 50 to 99 are of the last century
        digits[0] = digits[2] >= 5 ? 1 : 2;
        digits[1] = digits[2] >= 5 ? 9 : 0;
    }
    const int *two = digits + 4;
    const int year = digits[0] * 1000 + digits[1] * 100 + digits[2] * 10 + digits[3];
    const int month = two[0] * 10 + two[1];
    const int day = two[2] * 10 + two[3];
    if (month < 1 || month > 12) {
        return false;
    }
    const long seconds =
        (two[4] * 10 + two[5]) * 3600L + (two[6] * 10 + two[7]) * 60L + two[8] * 10L + two[9];
    *out = (time_t)(seconds + 86400L * days(year, month, day));
    return true;
}

static bool read_dates(struct der d, time_t *from, time_t *until)
{
    enum { BEFORE_VALIDITY = 3 }; // serial, signature, issuer
    int tag = 0;
    struct der inner;
    struct der value;
    if (!next(&d, &tag, &inner) || tag != DER_SEQUENCE || !next(&inner, &tag, &d) ||
        tag != DER_SEQUENCE || !next(&d, &tag, &value)) {
        return false;
    }
    for (int k = tag == DER_VERSION ? 0 : 1; k < BEFORE_VALIDITY; k++) {
        if (!next(&d, &tag, &value)) {
            return false;
        }
    }
    return next(&d, &tag, &value) && tag == DER_SEQUENCE && read_time(&value, from) &&
           read_time(&value, until);
}

int mechd_certificate_dates(const char *pem, time_t *from, time_t *until)
{
    static const char first[] = "-----BEGIN CERTIFICATE-----";
    static const char last[] = "-----END CERTIFICATE-----";
    const char *text = strstr(pem, first);
    const char *end = text != NULL ? strstr(text, last) : NULL;
    if (end == NULL) {
        return -1;
    }
    text += sizeof first - 1;
    const size_t room = (size_t)(end - text);
    unsigned char *bytes = malloc(room + 1);
    size_t length = 0;
    const bool decoded =
        bytes != NULL && sodium_base642bin(bytes, room, text, room, " \t\r\n", &length, NULL,
                                           sodium_base64_VARIANT_ORIGINAL) == 0;
    // a block as long as what is in it, so that a sanitizer sees a look beyond
    unsigned char *const exact = decoded && length > 0 ? realloc(bytes, length) : NULL;
    bytes = exact != NULL ? exact : bytes;
    const bool good = exact != NULL && read_dates((struct der){exact, length}, from, until);
    free(bytes);
    return good ? 0 : -1;
}

/* The whole file as text; NULL with the reason. */
static char *read_file(const char *path, char *fault, size_t size)
{
    FILE *const file = fopen(path, "rb");
    char *text = file != NULL ? calloc(1, FILE_MOST + 1) : NULL;
    const size_t length = text != NULL ? fread(text, 1, FILE_MOST, file) : 0;
    const char *const wide = length > 0 ? mech_text_wide(text, length) : NULL;
    if (text == NULL || ferror(file)) {
        mech_text_format(fault, size, "cannot read %s: %s", path, strerror(errno));
    } else if (length == 0 || length == FILE_MOST) {
        mech_text_format(fault, size, "%s is %s", path, length == 0 ? "empty" : "too large");
    } else if (wide != NULL) {
        mech_text_format(fault, size, "%s is %s: save it as UTF-8", path, wide);
    }
    const bool good =
        text != NULL && !ferror(file) && length > 0 && length < FILE_MOST && wide == NULL;
    if (file != NULL) {
        fclose(file);
    }
    if (!good) {
        free(text);
        return NULL;
    }
    return text;
}

static enum MHD_Result answer_nobody(void *context, struct MHD_Connection *connection,
                                     const char *url, const char *method, const char *version,
                                     const char *upload, size_t *upload_size, void **state)
{
    return MHD_NO;
}

static void say_nothing(void *context, const char *format, va_list arguments)
{
}

/* True if libmicrohttpd takes them as a pair. */
static bool fits(const struct mechd_key *k)
{
    struct MHD_Daemon *trial = MHD_start_daemon(
        MHD_USE_TLS | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG, 0, NULL, NULL, answer_nobody,
        NULL, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL, MHD_OPTION_HTTPS_MEM_CERT,
        k->certificate, MHD_OPTION_HTTPS_MEM_KEY, k->key, MHD_OPTION_END);
    if (trial != NULL) {
        MHD_stop_daemon(trial);
    }
    return trial != NULL;
}

int mechd_key_read(struct mechd_key *k, const char *certificate, const char *key, char *fault,
                   size_t size)
{
    *k = (struct mechd_key){.certificate = read_file(certificate, fault, size)};
    k->key = k->certificate != NULL ? read_file(key, fault, size) : NULL;
    if (k->key == NULL) {
        // the fault is reported already
    } else if (mechd_certificate_dates(k->certificate, &k->from, &k->until) != 0) {
        mech_text_format(fault, size, "%s holds no certificate (PEM)", certificate);
    } else if (!fits(k)) {
        mech_text_format(fault, size, "%s is not the key of %s", key, certificate);
    } else {
        return 0;
    }
    mechd_key_wipe(k);
    return -1;
}

void mechd_key_wipe(struct mechd_key *k)
{
    if (k->key != NULL) {
        sodium_memzero(k->key, strlen(k->key));
    }
    free(k->certificate);
    free(k->key);
    *k = (struct mechd_key){NULL, NULL, 0, 0};
}

enum { CHAIN_MOST = 16 };

/* A pair as handshakes take it. */
struct pair {
    struct pair *before; /* served before this one */
    unsigned char hash[32];
    gnutls_privkey_t key;
    unsigned int length;
    gnutls_pcert_st chain[CHAIN_MOST];
};

/* What the process serves: one pair for all its addresses, as the configuration has it. Written by
 * mechd_key_serve, read by handshakes. */
static struct pair *_Atomic served;

static gnutls_datum_t datum(const char *text)
{
    return (gnutls_datum_t){.data = (unsigned char *)(uintptr_t)text,
                            .size = (unsigned int)strlen(text)};
}

/* An error of GnuTLS, or 0. */
static int import(struct pair *p, const struct mechd_key *k)
{
    const gnutls_datum_t certificate = datum(k->certificate);
    const gnutls_datum_t key = datum(k->key);
    p->length = CHAIN_MOST;
    int code = gnutls_pcert_list_import_x509_raw(p->chain, &p->length, &certificate,
                                                 GNUTLS_X509_FMT_PEM, 0);
    if (code < 0) {
        p->length = 0;
        return code;
    }
    code = gnutls_privkey_init(&p->key);
    return code < 0 ? code
                    : gnutls_privkey_import_x509_raw(p->key, &key, GNUTLS_X509_FMT_PEM, NULL, 0);
}

static void destroy(struct pair *p)
{
    for (unsigned int k = 0; k < p->length; k++) {
        gnutls_pcert_deinit(&p->chain[k]);
    }
    if (p->key != NULL) {
        gnutls_privkey_deinit(p->key);
    }
    free(p);
}

int mechd_key_serve(const struct mechd_key *k, char *fault, size_t size)
{
    struct pair *const now = atomic_load(&served);
    struct pair *const p = calloc(1, sizeof *p);
    crypto_generichash_state state;
    if (p == NULL) {
        mech_text_format(fault, size, "no memory for the certificate");
        return -1;
    }
    crypto_generichash_init(&state, NULL, 0, sizeof p->hash);
    crypto_generichash_update(&state, (const unsigned char *)k->certificate,
                              strlen(k->certificate) + 1);
    crypto_generichash_update(&state, (const unsigned char *)k->key, strlen(k->key));
    crypto_generichash_final(&state, p->hash, sizeof p->hash);
    if (now != NULL && memcmp(now->hash, p->hash, sizeof p->hash) == 0) {
        free(p);
        return 0;
    }
    const int code = import(p, k);
    if (code < 0) {
        mech_text_format(fault, size, "the certificate or its key cannot be used: %s",
                         gnutls_strerror(code));
        destroy(p);
        return -1;
    }
    p->before = now;
    atomic_store(&served, p);
    return 0;
}

int mechd_key_present(gnutls_session_t session, const gnutls_datum_t *authorities,
                      int authority_count, const gnutls_pk_algorithm_t *algorithms,
                      int algorithm_count, gnutls_pcert_st **chain, unsigned int *chain_length,
                      gnutls_privkey_t *key)
{
    struct pair *const p = atomic_load(&served);
    if (p == NULL) {
        return -1;
    }
    *chain = p->chain;
    *chain_length = p->length;
    *key = p->key;
    return 0;
}
