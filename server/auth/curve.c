/* The file of a pair of keys: its lines, its rights. */
#include "server/auth/curve.h"

#include "server/auth/tokens.h"
#include "solver/base/err.h"
#include "solver/base/odd.h"
#include "solver/base/text.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zmq.h>

enum { LINE = 256 };

/* The secret among the lines of a file. False: there is none. */
static bool find_secret(struct mech_lines *l, unsigned char secret[MECHD_CURVE_KEY])
{
    char line[LINE], *text = line;
    bool found = false;
    while (!found && mech_lines_next(l, line, sizeof line, &text)) {
        char *rest = text;
        const char *word = strtok_r(NULL, " \t\r\n", &rest);
        if (word != NULL && strcmp(word, "secret") == 0) {
            word = strtok_r(NULL, " \t\r\n", &rest);
            found = word != NULL && mechd_curve_key_read(word, secret);
        }
    }
    sodium_memzero(line, sizeof line);
    return found;
}

int mechd_curve_init(struct mechd_curve *c, const char *path, char *fault, size_t size)
{
    struct stat info;
    *c = (struct mechd_curve){.on = false};
    if (path == NULL || *path == '\0') {
        return 0;
    }
    if (!zmq_has("curve") || sodium_init() < 0) {
        mech_text_format(fault, size, "this libzmq was built without CURVE");
        return MECH_INTERNAL;
    }
    struct mech_lines lines = {.file = fopen(path, "r")};
    FILE *const file = lines.file;
    if (file == NULL || fstat(fileno(file), &info) != 0) {
        mech_text_format(fault, size, "cannot read the key in %s: %s", path, strerror(errno));
    } else if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        mech_text_format(fault, size, "other users can access %s: chmod 600 %s", path, path);
    } else if (!find_secret(&lines, c->secret)) {
        mech_lines_explain(&lines, path,
                           "has no line `secret KEY` as mechd --make-curve-key prints it", fault,
                           size);
    } else {
        c->on = crypto_scalarmult_base(c->public, c->secret) == 0;
        mech_text_format(fault, size, "the secret key in %s is not valid", path);
    }
    if (file != NULL) {
        fclose(file);
    }
    if (!c->on) {
        return MECH_INTERNAL;
    }
    mechd_curve_key_write(c->public, c->text);
    return 0;
}

void mechd_curve_fini(struct mechd_curve *c)
{
    sodium_memzero(c, sizeof *c);
}

int mechd_curve_make(const char *name, const char *scopes, char *fault, size_t size)
{
    unsigned char secret[MECHD_CURVE_KEY], public[MECHD_CURVE_KEY];
    char secret_text[MECHD_CURVE_TEXT], public_text[MECHD_CURVE_TEXT];
    scopes = scopes != NULL ? scopes : "step";
    if (mechd_name_and_scopes(name, scopes, fault, size) != 0) {
        return MECH_INTERNAL;
    }
    if (sodium_init() < 0) {
        mech_text_format(fault, size, "no source of randomness");
        return MECH_INTERNAL;
    }
    randombytes_buf(secret, sizeof secret);
    if (crypto_scalarmult_base(public, secret) != 0) {
        mech_text_format(fault, size, "no key could be generated");
        return MECH_INTERNAL;
    }
    mechd_curve_key_write(secret, secret_text);
    mechd_curve_key_write(public, public_text);
    const bool ok = printf("secret %s\npublic %s\nline   %s %s %s\n", secret_text, public_text,
                           name, scopes, public_text) > 0;
    sodium_memzero(secret, sizeof secret);
    sodium_memzero(secret_text, sizeof secret_text);
    return ok ? 0 : MECH_INTERNAL;
}
