/* Credentials of TLS: a certificate (a chain, the server's own first) and its key, both PEM. owner:
 * the caller. */
#pragma once

#include <gnutls/abstract.h>
#include <stddef.h>
#include <time.h>

struct mechd_key {
    char *certificate, *key; /* text */
    time_t from, until;      /* validity of the certificate */
};

/* Read both files, and check that they match. 0, or -1 with a sentence; then nothing is stored. */
int mechd_key_read(struct mechd_key *k, const char *certificate, const char *key, char *fault,
                   size_t size);
/* Serve this pair from now on: every later handshake gets it. Earlier pairs remain in memory,
 * because a handshake in progress may use one; a pair that is served already is not added again. 0,
 * or −1 with a sentence. One thread at a time. */
int mechd_key_serve(const struct mechd_key *k, char *fault, size_t size);
/* For MHD_OPTION_HTTPS_CERT_CALLBACK, a gnutls_certificate_retrieve_function2: the pair that is
 * served now. Any thread, without a lock. */
int mechd_key_present(gnutls_session_t session, const gnutls_datum_t *authorities,
                      int authority_count, const gnutls_pk_algorithm_t *algorithms,
                      int algorithm_count, gnutls_pcert_st **chain, unsigned int *chain_length,
                      gnutls_privkey_t *key);
/* Overwrite and free. Accepts zeroed. */
void mechd_key_wipe(struct mechd_key *k);

/* Validity period of the first certificate of a PEM text (RFC 5280, 4.1). 0; -1: there is none, or
 * it cannot be read. */
int mechd_certificate_dates(const char *pem, time_t *from, time_t *until);
