/* The tokens' file, and who is who. */
#include "server/auth/tokens.h"

#include "solver/base/err.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECRET = 32, TOKENS_MOST = 10000, LINE = 512 };

/* what every token begins with, so that it is recognised where it should not be */
static const char prefix[] = "mechd_";

const char *const mechd_scope_names[] = {"none", "read", "step", "admin", NULL};

/* The largest of a list of scopes; NONE when one of them is not known. */
static enum mechd_scope read_scopes(const char *text)
{
    enum mechd_scope largest = MECHD_SCOPE_NONE;
    while (*text != '\0') {
        const size_t n = strcspn(text, ",");
        int k = MECHD_SCOPE_READ;
        while (mechd_scope_names[k] != NULL &&
               (strlen(mechd_scope_names[k]) != n || memcmp(mechd_scope_names[k], text, n) != 0)) {
            k++;
        }
        if (mechd_scope_names[k] == NULL) {
            return MECHD_SCOPE_NONE;
        }
        largest = (int)largest < k ? (enum mechd_scope)k : largest;
        text += n + (text[n] == ',');
    }
    return largest;
}

static void hash_of(const char *token, unsigned char hash[32])
{
    crypto_generichash(hash, 32, (const unsigned char *)token, strlen(token), NULL, 0);
}

/* One line. 0; 1: nothing on it; negative with what is wrong. */
static int read_line(char *line, struct mechd_token *out, const char **why)
{
    char *rest = NULL;
    line[strcspn(line, "#\r\n")] = '\0';
    const char *const name = strtok_r(line, " \t", &rest);
    const char *const scopes = strtok_r(NULL, " \t", &rest);
    const char *const hash = strtok_r(NULL, " \t", &rest);
    size_t n = 0;
    if (name == NULL) {
        return 1;
    }
    *why = "a line is a name, scopes and a hash";
    if (hash == NULL || strtok_r(NULL, " \t", &rest) != NULL) {
        return MECH_INTERNAL;
    }
    *why = "the name is not one: [A-Za-z0-9._-]{1,64}";
    if (!mech_name_valid(name)) {
        return MECH_INTERNAL;
    }
    *why = "scopes are read, step, admin, with commas";
    out->scope = read_scopes(scopes);
    if (out->scope == MECHD_SCOPE_NONE) {
        return MECH_INTERNAL;
    }
    *why = "the hash has 64 hexadecimal digits";
    if (strlen(hash) != 64 ||
        sodium_hex2bin(out->hash, sizeof out->hash, hash, 64, NULL, &n, NULL) != 0 ||
        n != sizeof out->hash) {
        return MECH_INTERNAL;
    }
    snprintf(out->name, sizeof out->name, "%s", name);
    return 0;
}

/* All lines into fresh memory. */
static int read_file(const char *path, struct mechd_token **out, size_t *count, char *fault,
                     size_t size)
{
    FILE *const file = fopen(path, "r");
    struct mechd_token *const all = calloc(TOKENS_MOST, sizeof *all);
    char line[LINE];
    size_t n = 0;
    int outcome = 0;
    if (file == NULL || all == NULL) {
        snprintf(fault, size, "cannot read the tokens in %s", path);
        outcome = MECH_INTERNAL;
    }
    for (int number = 1; outcome == 0 && fgets(line, sizeof line, file) != NULL; number++) {
        const char *why = "there are too many tokens";
        const bool room = n < TOKENS_MOST && strlen(line) < LINE - 1;
        const int read = room ? read_line(line, &all[n], &why) : MECH_INTERNAL;
        if (read < 0) {
            snprintf(fault, size, "%s, line %d: %s", path, number, why);
            outcome = MECH_INTERNAL;
        }
        n += read == 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    if (outcome != 0) {
        free(all);
        return outcome;
    }
    *out = all;
    *count = n;
    return 0;
}

int mechd_tokens_init(struct mechd_tokens *t, const char *path, char *fault, size_t size)
{
    *t = (struct mechd_tokens){.needed = path != NULL && *path != '\0'};
    pthread_rwlock_init(&t->m, NULL);
    if (sodium_init() < 0) {
        snprintf(fault, size, "no source of randomness");
        return MECH_INTERNAL;
    }
    return t->needed ? read_file(path, &t->at, &t->count, fault, size) : 0;
}

void mechd_tokens_fini(struct mechd_tokens *t)
{
    free(t->at);
    t->at = NULL;
    t->count = 0;
    pthread_rwlock_destroy(&t->m);
}

int mechd_tokens_reload(struct mechd_tokens *t, const char *path, char *fault, size_t size)
{
    struct mechd_token *fresh = NULL;
    size_t count = 0;
    if (!t->needed) {
        return 0;
    }
    MECH_TRY(read_file(path, &fresh, &count, fault, size));
    pthread_rwlock_wrlock(&t->m);
    struct mechd_token *const old = t->at;
    t->at = fresh;
    t->count = count;
    pthread_rwlock_unlock(&t->m);
    free(old);
    return 0;
}

bool mechd_tokens_find(struct mechd_tokens *t, const char *token, struct mechd_token *out)
{
    unsigned char hash[32];
    bool found = false;
    if (!t->needed) {
        *out = (struct mechd_token){.scope = MECHD_SCOPE_ADMIN};
        return true;
    }
    if (token == NULL) {
        return false;
    }
    hash_of(token, hash);
    pthread_rwlock_rdlock(&t->m);
    // every line is compared, so that the time does not tell which one it was
    for (size_t k = 0; k < t->count; k++) {
        if (sodium_memcmp(hash, t->at[k].hash, sizeof hash) == 0) {
            *out = t->at[k];
            found = true;
        }
    }
    pthread_rwlock_unlock(&t->m);
    return found;
}

int mechd_token_make(const char *name, const char *scopes, char *fault, size_t size)
{
    unsigned char secret[SECRET], hash[32];
    char token[sizeof prefix + 64], hex[65];
    scopes = scopes != NULL ? scopes : "step";
    if (!mech_name_valid(name)) {
        snprintf(fault, size, "'%.64s' is not a name: [A-Za-z0-9._-]{1,64}", name);
        return MECH_INTERNAL;
    }
    if (read_scopes(scopes) == MECHD_SCOPE_NONE) {
        snprintf(fault, size, "scopes are read, step, admin, with commas; not '%.64s'", scopes);
        return MECH_INTERNAL;
    }
    if (sodium_init() < 0) {
        snprintf(fault, size, "no source of randomness");
        return MECH_INTERNAL;
    }
    randombytes_buf(secret, sizeof secret);
    memcpy(token, prefix, sizeof prefix);
    sodium_bin2base64(token + sizeof prefix - 1, sizeof token - sizeof prefix + 1, secret,
                      sizeof secret, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    hash_of(token, hash);
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    return printf("token  %s\nline   %s %s %s\n", token, name, scopes, hex) > 0 ? 0 : MECH_INTERNAL;
}
