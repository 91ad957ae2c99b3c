/* What options say together: each value alone was checked when it was read. */
#include "server/daemon/configuration.h"

#include "server/instance/durable.h"
#include "server/os/log.h"
#include "solver/base/text.h"

#include <errno.h>
#include <string.h>

/* The options of HTTP. */
static int check_http(const struct mechd_config *c, char *fault, size_t size)
{
    const bool has_key = c->tls_certificate[0] != '\0' && c->tls_key[0] != '\0';
    for (int k = 0; k < c->listen_count; k++) {
        if (mechd_address_is_tls(c->listen[k]) && !has_key) {
            mech_text_format(fault, size, "%s needs --tls-certificate FILE and --tls-key FILE",
                             c->listen[k]);
            return -1;
        }
    }
    const size_t digits = strlen(c->unix_mode);
    if (strspn(c->unix_mode, "01234567") != digits || digits < 3 || digits > 4) {
        mech_text_format(fault, size, "--unix-mode %s: it must be three or four octal digits",
                         c->unix_mode);
        return -1;
    }
    for (int k = 0; k < c->cors_count; k++) {
        const char *origin = c->cors[k];
        const char *name = strstr(origin, "://");
        const bool is_all = strcmp(origin, "*") == 0;
        if (is_all ? c->cors_count > 1
                   : name == NULL || name == origin || name[3] == '\0' ||
                         strchr(name + 3, '/') != NULL) {
            mech_text_format(
                fault, size,
                "--cors %s: it must be scheme://name or scheme://name:port, or * alone", origin);
            return -1;
        }
    }
    for (int k = 0; k < c->host_count; k++) {
        const char *name = c->host[k];
        if (strchr(name, '/') != NULL || (*name != '[' && strchr(name, ':') != NULL)) {
            mech_text_format(fault, size, "--host %s: it must be a name without scheme and port",
                             name);
            return -1;
        }
    }
    return 0;
}

/* Doors whose endpoint is one text, then HTTP, whose addresses are a list. */
enum { CONTROL, STREAM, FORCES, LANE, LISTEN };
static const char *const doors[] = {"control", "stream", "forces", "lane", "listen"};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* What is no address of a door [k] at all, as a sentence, or NULL. */
static const char *form_fault(int k, const char *address)
{
    const bool plain = begins(address, "tcp://") || strcmp(address, "none") == 0;
    if (k == LANE) {
        return plain || begins(address, "unix:") ? NULL
                                                 : "it must be unix:PATH, tcp://HOST:PORT or none";
    }
    if (k < LISTEN) {
        return plain || begins(address, "ipc://")
                   ? NULL
                   : "it must be tcp://HOST:PORT, ipc://PATH or none";
    }
    const char *const place = mechd_address_host(address);
    return strchr(place, ':') != NULL && strstr(place, "://") == NULL
               ? NULL
               : "it must be HOST:PORT, https://HOST:PORT or unix:PATH";
}

/* What is no host and port in an address, as a sentence, or NULL. */
static const char *port_fault(const char *address)
{
    struct mechd_hostport p;
    const char *const place = begins(address, "tcp://") ? address + 6 : mechd_address_host(address);
    const bool has_none =
        strcmp(address, "none") == 0 || begins(address, "ipc://") || begins(address, "unix:");
    return has_none ? NULL : mechd_hostport_read(&p, place);
}

/* The door of the k-th address; those of HTTP come last. */
static int door_of(int k)
{
    return k < LISTEN ? k : LISTEN;
}

/* Where the doors would be: what is no address, or named twice. */
static int check_addresses(const char *const *addresses, int count, bool check_config, char *fault,
                           size_t size)
{
    for (int k = 0; k < count; k++) {
        const char *const address = addresses[k];
        const char *const door = doors[door_of(k)];
        // --check-config finds all faults of ports by itself (check.c)
        const char *why = form_fault(k, address);
        why = why == NULL && !check_config ? port_fault(address) : why;
        if (why != NULL) {
            mech_text_format(fault, size, "--%s %s: %s", door, address, why);
            return -1;
        }
        // a port of one's own choice is another each time
        const size_t n = strlen(address);
        const bool chosen = strcmp(address, "none") == 0 ||
                            (n > 2 && strspn(address + n - 1, "*0") == 1 && address[n - 2] == ':');
        for (int j = 0; j < k && !chosen; j++) {
            if (strcmp(addresses[j], address) == 0) {
                mech_text_format(fault, size, "--%s %s: already used by --%s", door, address,
                                 doors[door_of(j)]);
                return -1;
            }
        }
    }
    return 0;
}

/* Everything that can be refused before anything is opened. */
int mechd_config_agree(const struct mechd_config *c, char *fault, size_t size)
{
    if (check_http(c, fault, size) != 0) {
        return -1;
    }
    if (mechd_durability_find(c->durability) < 0) {
        mech_text_format(fault, size, "--durability %s: it must be none, checkpoint or every-step",
                         c->durability);
        return -1;
    }
    if (mechd_durability_find(c->durability) > 0 && strcmp(c->state, "none") == 0) {
        mech_text_format(fault, size, "--durability %s needs a directory: add --state DIR",
                         c->durability);
        return -1;
    }
    if (mechd_log_level_find(c->log_level) < 0) {
        mech_text_format(fault, size, "--log-level %s: it must be error, warning, info or debug",
                         c->log_level);
        return -1;
    }
    if (strcmp(c->fmus, "on") != 0 && strcmp(c->fmus, "off") != 0) {
        mech_text_format(fault, size, "--fmus %s: it must be on or off", c->fmus);
        return -1;
    }
    if ((c->curve_key[0] == '\0') != (c->curve_clients[0] == '\0')) {
        mech_text_format(fault, size,
                         "--curve-key and --curve-clients must both be given, or neither");
        return -1;
    }
    const char *addresses[MECHD_LISTEN_MOST + LISTEN] = {c->control, c->stream, c->forces, c->lane};
    for (int k = 0; k < c->listen_count; k++) {
        addresses[LISTEN + k] = c->listen[k];
    }
    if (check_addresses(addresses, LISTEN + c->listen_count, c->check_config, fault, size) != 0) {
        return -1;
    }
    for (int k = 0; k < LISTEN + c->listen_count; k++) {
        // tokens protect HTTP and the lane, CURVE protects ZeroMQ
        const char *const guard = k >= LANE ? "tokens" : "curve-key";
        const bool protected = (k >= LANE ? c->tokens : c->curve_key)[0] != '\0';
        if (!c->insecure && !protected && !mechd_address_is_local(addresses[k])) {
            const char *const why = port_fault(addresses[k]);
            if (why != NULL) {
                mech_text_format(fault, size, "--%s %s: %s", doors[door_of(k)], addresses[k], why);
                return -1;
            }
            if (mechd_address_unknown(addresses[k]) != NULL) {
                mechd_address_fault(doors[door_of(k)], addresses[k], EADDRNOTAVAIL, fault, size);
                return -1;
            }
            mech_text_format(
                fault, size,
                "--%s %s: other machines can reach it, and it is not protected: listen on a "
                "loopback address, or add --%s FILE or --insecure",
                doors[door_of(k)], addresses[k], guard);
            return -1;
        }
    }
    return 0;
}
