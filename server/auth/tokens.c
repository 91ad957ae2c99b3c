/* The file of tokens, and the lookup of tokens and keys. */
#include "server/auth/tokens.h"

#include "server/auth/curve.h"
#include "solver/base/err.h"
#include "solver/base/odd.h"
#include "solver/base/text.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECRET = 32, TOKENS_MOST = 10000, LINE = 512 };

/* what every token begins with, so that it is recognised where it should not be */
static const char prefix[] = "mechd_";

#define NAME(symbol, name) name
#define AFTER_COMMA(symbol, name) ", " name
#define SCOPES "scopes are " MECHP_SCOPES(NAME, AFTER_COMMA) ", separated by commas"

/* The largest of "read,step,…"; NONE if one of them is unknown. */
static enum mechp_scope read_scopes(const char *text)
{
    enum mechp_scope largest = MECHP_SCOPE_NONE;
    while (*text != '\0') {
        const size_t n = strcspn(text, ",");
        int k = MECHP_SCOPE_READ;
        while (mechp_scope_names[k] != NULL &&
               (strlen(mechp_scope_names[k]) != n || memcmp(mechp_scope_names[k], text, n) != 0)) {
            k++;
        }
        if (mechp_scope_names[k] == NULL) {
            return MECHP_SCOPE_NONE;
        }
        largest = (int)largest < k ? (enum mechp_scope)k : largest;
        text += n + (text[n] == ',');
    }
    return largest;
}

static void hash_of(const char *token, unsigned char hash[32])
{
    crypto_generichash(hash, 32, (const unsigned char *)token, strlen(token), NULL, 0);
}

/* The next word of a line, or NULL: it is over, or a comment begins (a key may hold a #). */
static char *next_word(char **rest, bool key)
{
    char *const word = strtok_r(NULL, " \t\r\n", rest);
    return word != NULL && (*word != '#' || key) ? word : NULL;
}

static bool read_hash(const char *text, unsigned char hash[32])
{
    size_t n = 0;
    return strlen(text) == 64 && sodium_hex2bin(hash, 32, text, 64, NULL, &n, NULL) == 0 && n == 32;
}

/* One line. 0; 1: nothing on it; negative with what is wrong. */
static int read_line(char *line, bool keys, struct mechd_token *out, const char **why)
{
    char *rest = line;
    const char *const name = next_word(&rest, false);
    if (name == NULL) {
        return 1;
    }
    const char *const scopes = next_word(&rest, false);
    const char *const hash = scopes != NULL ? next_word(&rest, keys) : NULL;
    *why = keys ? "a line must be a name, scopes and a public key"
                : "a line must be a name, scopes and a hash";
    if (hash == NULL) {
        return MECH_INTERNAL;
    }
    out->limits = mechd_no_limits;
    for (const char *word = next_word(&rest, false); word != NULL; word = next_word(&rest, false)) {
        if (keys || strchr(word, '=') == NULL) {
            return MECH_INTERNAL;
        }
        *why = "a limit is written as in instances=10, memory=512MiB or step-cpu=2s";
        if (!mechd_limits_read(word, &out->limits)) {
            return MECH_INTERNAL;
        }
    }
    *why = "the name is not valid: [A-Za-z0-9._-]{1,64}";
    if (!mech_name_valid(name)) {
        return MECH_INTERNAL;
    }
    *why = SCOPES;
    out->scope = read_scopes(scopes);
    if (out->scope == MECHP_SCOPE_NONE) {
        return MECH_INTERNAL;
    }
    *why = keys ? "the key must have 64 hexadecimal digits, or 40 characters of Z85"
                : "the hash must have 64 hexadecimal digits";
    if (keys ? !mechd_curve_key_read(hash, out->hash) : !read_hash(hash, out->hash)) {
        return MECH_INTERNAL;
    }
    snprintf(out->name, sizeof out->name, "%s", name);
    return 0;
}

/* Where a token or key is in the file. */
struct place {
    const unsigned char *hash; /* [32] */
    int line;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *const x = a, *const y = b;
    const int order = memcmp(x->hash, y->hash, 32);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

/* One token or key has one line: of two, one would count and the other be ignored. Sorts `places`.
 * 0; MECH_INTERNAL with the first line that is one too many. */
static int check_once(const char *path, bool keys, struct place *places, size_t count, char *fault,
                      size_t size)
{
    const struct place *found = NULL;
    qsort(places, count, sizeof *places, compare_places);
    for (size_t k = 1; k < count; k++) {
        const struct place *const p = &places[k];
        if (memcmp(p->hash, p[-1].hash, 32) == 0 && (found == NULL || p->line < found->line)) {
            found = p;
        }
    }
    if (found == NULL) {
        return 0;
    }
    mech_text_format(fault, size, "%s, line %d: the %s is that of line %d", path, found->line,
                     keys ? "key" : "hash", found[-1].line);
    return MECH_INTERNAL;
}

/* All lines into fresh memory. */
static int read_file(const char *path, bool keys, struct mechd_token **out, size_t *count,
                     char *fault, size_t size)
{
    FILE *const file = fopen(path, "r");
    struct mechd_token *const all = calloc(TOKENS_MOST, sizeof *all);
    struct place *const places = calloc(TOKENS_MOST, sizeof *places);
    char line[LINE];
    const char *const what = keys ? "keys" : "tokens";
    size_t n = 0;
    int outcome = 0;
    if (file == NULL || all == NULL || places == NULL) {
        mech_text_format(fault, size, "cannot read the %s in %s: %s", what, path, strerror(errno));
        outcome = MECH_INTERNAL;
    }
    size_t length = 0;
    for (int number = 1; outcome == 0 && mech_text_line(file, line, sizeof line, &length);
         number++) {
        const char *why = "the file has too many lines, or this line is too long";
        const bool room = n < TOKENS_MOST && length < LINE - 1;
        const char *const wide = number == 1 ? mech_text_wide(line, length) : NULL;
        const size_t mark = number == 1 ? mech_text_mark(line, length) : 0;
        struct mech_odd odd;
        const bool is_odd = mech_text_odd(line + mark, length - mark, &odd);
        // what is behind a null would not be read
        const bool is_whole = strlen(line) == length;
        const int read = wide == NULL && room && is_whole
                             ? read_line(line + mark, keys, &all[n], &why)
                             : MECH_INTERNAL;
        if (read < 0 && wide != NULL) {
            mech_text_format(fault, size, "%s is %s: save it as UTF-8", path, wide);
            outcome = MECH_INTERNAL;
        } else if (read < 0 && is_odd) {
            mech_text_format(fault, size, "%s, line %d, column %d: %s is not allowed here", path,
                             number, odd.column, odd.text);
            outcome = MECH_INTERNAL;
        } else if (read < 0) {
            mech_text_format(fault, size, "%s, line %d: %s", path, number, why);
            outcome = MECH_INTERNAL;
        }
        if (read == 0) {
            places[n] = (struct place){.hash = all[n].hash, .line = number};
            n++;
        }
    }
    if (outcome == 0 && ferror(file)) {
        mech_text_format(fault, size, "cannot read the %s in %s: %s", what, path, strerror(errno));
        outcome = MECH_INTERNAL;
    }
    outcome = outcome == 0 ? check_once(path, keys, places, n, fault, size) : outcome;
    free(places);
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

static int init(struct mechd_tokens *t, bool keys, const char *path, char *fault, size_t size)
{
    *t = (struct mechd_tokens){.needed = path != NULL && *path != '\0', .keys = keys};
    pthread_rwlock_init(&t->m, NULL);
    if (sodium_init() < 0) {
        mech_text_format(fault, size, "no source of randomness");
        return MECH_INTERNAL;
    }
    return t->needed ? read_file(path, keys, &t->at, &t->count, fault, size) : 0;
}

int mechd_tokens_init(struct mechd_tokens *t, const char *path, char *fault, size_t size)
{
    return init(t, false, path, fault, size);
}

int mechd_tokens_init_keys(struct mechd_tokens *t, const char *path, char *fault, size_t size)
{
    return init(t, true, path, fault, size);
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
    MECH_TRY(read_file(path, t->keys, &fresh, &count, fault, size));
    pthread_rwlock_wrlock(&t->m);
    struct mechd_token *const old = t->at;
    t->at = fresh;
    t->count = count;
    pthread_rwlock_unlock(&t->m);
    // partner: mechd_tokens_still
    atomic_fetch_add(&t->turn, 1);
    free(old);
    return 0;
}

/* Whose line holds these bytes. */
static bool find(struct mechd_tokens *t, const unsigned char hash[32], struct mechd_token *out)
{
    bool found = false;
    pthread_rwlock_rdlock(&t->m);
    // every line is compared, so that the time does not tell which one it was
    for (size_t k = 0; k < t->count; k++) {
        if (sodium_memcmp(hash, t->at[k].hash, sizeof t->at[k].hash) == 0) {
            *out = t->at[k];
            found = true;
        }
    }
    pthread_rwlock_unlock(&t->m);
    return found;
}

bool mechd_tokens_find_key(struct mechd_tokens *t, const unsigned char key[32],
                           struct mechd_token *out)
{
    return find(t, key, out);
}

bool mechd_tokens_find(struct mechd_tokens *t, const char *token, struct mechd_token *out)
{
    unsigned char hash[32];
    if (!t->needed) {
        *out = (struct mechd_token){.scope = MECHP_SCOPE_ADMIN};
        return true;
    }
    if (token == NULL) {
        return false;
    }
    hash_of(token, hash);
    return find(t, hash, out);
}

bool mechd_tokens_still(struct mechd_tokens *t, const struct mechd_token *who,
                        enum mechp_scope scope, unsigned *turn)
{
    const unsigned now = atomic_load(&t->turn);
    struct mechd_token found = {.scope = MECHP_SCOPE_NONE};
    if (!t->needed || now == *turn) {
        return true;
    }
    if (!find(t, who->hash, &found) || found.scope < scope) {
        return false;
    }
    *turn = now;
    return true;
}

int mechd_name_and_scopes(const char *name, const char *scopes, char *fault, size_t size)
{
    if (!mech_name_valid(name)) {
        mech_text_format(fault, size, "'%.64s' is not a name: [A-Za-z0-9._-]{1,64}", name);
        return MECH_INTERNAL;
    }
    if (read_scopes(scopes) == MECHP_SCOPE_NONE) {
        mech_text_format(fault, size, SCOPES "; not '%.64s'", scopes);
        return MECH_INTERNAL;
    }
    return 0;
}

int mechd_token_make(const char *name, const char *scopes, char *fault, size_t size)
{
    unsigned char secret[SECRET], hash[32];
    char token[sizeof prefix + 64], hex[65];
    scopes = scopes != NULL ? scopes : "step";
    MECH_TRY(mechd_name_and_scopes(name, scopes, fault, size));
    if (sodium_init() < 0) {
        mech_text_format(fault, size, "no source of randomness");
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
