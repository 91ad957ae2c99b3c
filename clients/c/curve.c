/* CURVE: the keys of a handle, and a socket that uses them. libzmq takes keys as 40 characters of
 * Z85; people and mechd write 64 hexadecimal digits. */
#include "clients/c/handle.h"

#include "solver/base/odd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

enum { HEX = 64, BYTES = 32, LINE = 256, WHY = 512 };

static int digit(char c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *const at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) % 16 : -1;
}

/* Either form as Z85. False: it is no key. */
static bool read_key(const char *text, char out[MECHC_KEY])
{
    uint8_t bytes[BYTES];
    if (strlen(text) == MECHC_KEY - 1) {
        memcpy(out, text, MECHC_KEY);
        return zmq_z85_decode(bytes, text);
    }
    if (strlen(text) != HEX) {
        return false;
    }
    for (int i = 0; i < BYTES; i++) {
        const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        bytes[i] = (uint8_t)(16 * high + low);
    }
    return zmq_z85_encode(out, bytes, BYTES);
}

int mechc_set_server_key(struct mechc *c, const char *key)
{
    MECHC_ENTER(c);
    c->server_key[0] = 0;
    c->pinned = false;
    if (key && !read_key(key, c->server_key)) {
        c->server_key[0] = 0;
        return mechc_fail(
            c, MECHC_BAD_ARGUMENT,
            "the server's key must have 64 hexadecimal digits, or 40 characters of Z85");
    }
    c->pinned = key;
    return MECHC_OK;
}

/* The key after the word `secret` at the start of a line. */
static bool take_secret(char *line, char out[MECHC_KEY])
{
    char *rest = line;
    const char *const word = strtok_r(NULL, " \t\r\n", &rest);
    const char *const key = word ? strtok_r(NULL, " \t\r\n", &rest) : NULL;
    return key && strcmp(word, "secret") == 0 && read_key(key, out);
}

int mechc_set_key_file(struct mechc *c, const char *path)
{
    MECHC_ENTER(c);
    char line[LINE], *text = line, why[WHY];
    bool found = false;
    c->secret_key[0] = 0;
    if (!path) {
        return MECHC_OK;
    }
    struct mech_lines lines = {.file = fopen(path, "r")};
    if (!lines.file) {
        return mechc_fail(c, MECHC_BAD_ARGUMENT, "%s: %s", path, strerror(errno));
    }
    while (!found && mech_lines_next(&lines, line, sizeof line, &text)) {
        found = take_secret(text, c->secret_key);
    }
    fclose(lines.file);
    memset(line, 0, sizeof line);
    if (found) {
        return MECHC_OK;
    }
    mech_lines_explain(&lines, path, "has no line `secret KEY` as mechd --make-curve-key prints it",
                       why, sizeof why);
    return mechc_fail(c, MECHC_BAD_ARGUMENT, "%s", why);
}

int mechc_curve_learn(struct mechc *c, struct mechc_json about)
{
    char text[HEX + 1];
    struct mechc_json v;
    c->asked = true;
    c->curve = mechc_json_member(about, "serverKey", &v) && mechc_json_kind(v) == '"';
    if (!c->curve || c->pinned) {
        return MECHC_OK;
    }
    if (mechc_json_text(v, text, sizeof text) >= sizeof text || !read_key(text, c->server_key)) {
        return mechc_fail(c, MECHC_BAD_REPLY, "%s reports an invalid key", c->base);
    }
    return MECHC_OK;
}

int mechc_curve_lock(struct mechc *c, void *socket)
{
    char public_key[MECHC_KEY];
    if (!c->curve && !c->pinned) {
        return MECHC_OK;
    }
    if (!c->secret_key[0]) {
        return mechc_fail(c, MECHC_BAD_ARGUMENT,
                          "ZeroMQ at %s requires a key: give the file that mechd --make-curve-key "
                          "printed (MECHD_CLIENT_KEY)",
                          c->base);
    }
    if (zmq_curve_public(public_key, c->secret_key) != 0 ||
        zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, c->server_key, MECHC_KEY) != 0 ||
        zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, public_key, MECHC_KEY) != 0 ||
        zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, c->secret_key, MECHC_KEY) != 0) {
        return mechc_fail(c, MECHC_BAD_ARGUMENT, "CURVE: %s", zmq_strerror(errno));
    }
    return MECHC_OK;
}
