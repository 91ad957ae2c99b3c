/* Bearer tokens: identities and scopes of clients, from a file.
 *
 * A line of the file is a name, scopes and the hash of a token, separated by blanks; # begins a
 * comment. `mechd --make-token NAME` makes a token and prints both:
 *
 *   rig read,step 1f0c…   (64 hexadecimal digits)
 *
 * Scopes: protocol/wire/scopes.h. A token is 256 random bits, so that its hash (BLAKE2b) needs
 * neither salt nor slowness: an exhaustive search is impossible, and a request costs a microsecond.
 * shared, locked by m; the list is replaced as a whole.
 */
#pragma once

#include "protocol/wire/scopes.h"
#include "server/auth/accounts.h"
#include "solver/base/name.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct mechd_token {
    char name[MECH_NAME_MAX + 1]; /* "" when no tokens are required */
    enum mechp_scope scope;
    unsigned char hash[32];
    struct mechd_limits limits; /* of its account, after the hash */
};

struct mechd_tokens {
    pthread_rwlock_t m;
    bool needed; /* const once read: requests need a token */
    bool keys;   /* const once read: lines hold public keys (auth/curve.h) in place of hashes */
    struct mechd_token *at;
    size_t count;
    _Atomic unsigned turn; /* increases when the file has been reloaded */
};

/* Read the file (NULL or "": no tokens are needed). 0, or negative with a sentence. */
int mechd_tokens_init(struct mechd_tokens *t, const char *path, char *fault, size_t size);
/* The same for a file of public keys: 64 hexadecimal digits or Z85. */
int mechd_tokens_init_keys(struct mechd_tokens *t, const char *path, char *fault, size_t size);
void mechd_tokens_fini(struct mechd_tokens *t);
/* Read it again; on a fault nothing changes. Same returns. */
int mechd_tokens_reload(struct mechd_tokens *t, const char *path, char *fault, size_t size);

/* The entry of this token (NULL: none was sent) into *out. False: it is unknown. If no tokens are
 * required, every client is an admin without a name. Any thread. */
bool mechd_tokens_find(struct mechd_tokens *t, const char *token, struct mechd_token *out);

/* True if this token is still in the file, with at least this scope. `turn`: of t at the last
 * check, updated. For streams and partners that continue without a new request. Any thread. */
bool mechd_tokens_still(struct mechd_tokens *t, const struct mechd_token *who,
                        enum mechp_scope scope, unsigned *turn);

/* The entry of this public key into *out. False: it is unknown. Any thread. */
bool mechd_tokens_find_key(struct mechd_tokens *t, const unsigned char key[32],
                           struct mechd_token *out);

/* 0 when this is a name and these are scopes, or negative with a sentence. */
int mechd_name_and_scopes(const char *name, const char *scopes, char *fault, size_t size);

/* A new token on standard output, and the line for the file. scopes NULL: "step". 0, or negative
 * with a sentence. */
int mechd_token_make(const char *name, const char *scopes, char *fault, size_t size);
