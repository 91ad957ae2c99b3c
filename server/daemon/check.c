/* Addresses are resolved, ports read, and folders tried with a file that is gone at once. That a
 * port is taken, or that another daemon has the state directory, shows at the start only. */
#include "server/daemon/check.h"

#include "server/auth/accounts.h"
#include "server/auth/curve.h"
#include "server/auth/tokens.h"
#include "server/http/certificate.h"
#include "server/os/shares.h"
#include "server/store/store.h"
#include "solver/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = MECHD_ADDRESS + 16 };

/* One fault; counts it. */
static void tell(int *faults, const char *what, const char *value, const char *why)
{
    fprintf(stderr, "mechd: --%s %s: %s\n", what, value, why);
    (*faults)++;
}

/* Why no file can be made in `folder`, or NULL. Permissions alone do not show it: root has them
 * also where nothing can be written. So one is made, and removed at once. */
static const char *inside(const char *folder)
{
    char path[ROOM + 32];
    snprintf(path, sizeof path, "%s/.mechd-check-XXXXXX", folder);
    const int file = mkstemp(path);
    if (file < 0) {
        return strerror(errno);
    }
    unlink(path);
    close(file);
    return NULL;
}

/* Why nothing can be made beside `path`, or NULL. */
static const char *beside(const char *path)
{
    char folder[ROOM];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        snprintf(folder, sizeof folder, ".");
    } else {
        slash[slash == folder] = '\0';
    }
    return inside(folder);
}

/* Why a Unix socket cannot be at `path`, or NULL. */
static const char *unix_fault(const char *path)
{
    struct stat info;
    if (*path == '\0' || strlen(path) >= sizeof((struct sockaddr_un *)NULL)->sun_path) {
        return "the path of a Unix socket must have 1 to 107 bytes";
    }
    if (stat(path, &info) == 0 && !S_ISSOCK(info.st_mode)) {
        return "the file there is not a socket";
    }
    return beside(path);
}

/* Why host:port cannot be listened on, or NULL. */
static const char *tcp_fault(const char *address)
{
    struct mechd_hostport p;
    struct addrinfo *found = NULL;
    const char *const fault = mechd_hostport_read(&p, address);
    const int outcome = fault == NULL ? mechd_hostport_find(&p, &found) : 0;
    if (found != NULL) {
        freeaddrinfo(found);
    }
    return fault != NULL || outcome == 0 ? fault : gai_strerror(outcome);
}

/* Why ZeroMQ cannot bind there, or NULL. */
static const char *endpoint_fault(const char *endpoint)
{
    char numeric[MECHD_ADDRESS + 16];
    bool is_v6 = false;
    if (strcmp(endpoint, "none") == 0) {
        return NULL;
    }
    return strncmp(endpoint, "ipc://", 6) == 0 ? unix_fault(endpoint + 6)
                                               : mechd_endpoint_resolve(endpoint, numeric, &is_v6);
}

/* Why the lane cannot be there, or NULL. */
static const char *lane_fault(const char *endpoint)
{
    if (strcmp(endpoint, "none") == 0) {
        return NULL;
    }
    return strncmp(endpoint, "unix:", 5) == 0 ? unix_fault(endpoint + 5)
                                              : tcp_fault(endpoint + strlen("tcp://"));
}

/* Where the doors would be. */
static void check_addresses(const struct mechd_config *c, int *faults)
{
    const struct {
        const char *name, *endpoint;
    } sockets[] = {{"control", c->control}, {"stream", c->stream}, {"forces", c->forces}};
    for (int k = 0; k < c->listen_count; k++) {
        const char *address = c->listen[k];
        const char *why = strncmp(address, "unix:", 5) == 0
                              ? unix_fault(address + 5)
                              : tcp_fault(mechd_address_host(address));
        printf("listen     %s\n", address);
        if (why != NULL) {
            tell(faults, "listen", address, why);
        }
    }
    for (size_t k = 0; k < sizeof sockets / sizeof *sockets; k++) {
        const char *why = endpoint_fault(sockets[k].endpoint);
        printf("%-10s %s\n", sockets[k].name, sockets[k].endpoint);
        if (why != NULL) {
            tell(faults, sockets[k].name, sockets[k].endpoint, why);
        }
    }
    const char *const why = lane_fault(c->lane);
    printf("lane       %s\n", c->lane);
    if (why != NULL) {
        tell(faults, "lane", c->lane, why);
    }
}

/* The certificate of https:// addresses, if there are any: it holds today, and the key is its own.
 * */
static void check_tls(const struct mechd_config *c, int *faults)
{
    struct mechd_key key;
    char fault[512];
    char day[32] = "";
    struct tm t;
    bool is_used = false;
    for (int k = 0; k < c->listen_count; k++) {
        is_used = is_used || mechd_address_is_tls(c->listen[k]);
    }
    if (!is_used) {
        return;
    }
    if (mechd_key_read(&key, c->tls_certificate, c->tls_key, fault, sizeof fault) != 0) {
        tell(faults, "tls-certificate", c->tls_certificate, fault);
        return;
    }
    const time_t now = time(NULL);
    if (gmtime_r(&key.until, &t) != NULL) {
        strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%SZ", &t);
    }
    printf("tls        %s, until %s\n", c->tls_certificate, day);
    if (now < key.from || now > key.until) {
        tell(faults, "tls-certificate", c->tls_certificate,
             now > key.until ? "it has expired" : "it is not valid yet");
    }
    mechd_key_wipe(&key);
}

/* There are descriptors for all connections; fewer are served otherwise. */
static void check_connections(const struct mechd_config *c, int *faults)
{
    char why[96];
    const struct mechd_shares shares = mechd_shares(c);
    printf("connections %d for each listening address, %d of them from one client address\n",
           shares.http, c->connections_per_address);
    if (shares.http < c->connections) {
        mech_text_format(why, sizeof why, "the limit of descriptors (ulimit -n) is enough for %d",
                         shares.http);
        tell(faults, "connections", "", why);
    }
}

/* Why the state directory, which is there, cannot be used; or NULL. */
static const char *state_fault(const char *directory)
{
    static char why[128];
    const char *const fault = inside(directory);
    if (fault != NULL) {
        return fault;
    }
    return mechd_store_look(directory, why, sizeof why) != 0 ? why : NULL;
}

/* The state directory is there and may be written, or can be made. */
static void check_state(const struct mechd_config *c, int *faults)
{
    struct stat info;
    if (strcmp(c->state, "none") == 0) {
        printf("state      none: instances are stored in memory only\n");
        return;
    }
    const bool there = stat(c->state, &info) == 0;
    const bool link = !there && lstat(c->state, &info) == 0;
    printf("state      %s%s, durability %s\n", c->state, there ? "" : " (will be created)",
           c->durability);
    const char *const why = link    ? "it is a symbolic link to a path that does not exist"
                            : there ? state_fault(c->state)
                                    : beside(c->state);
    if (why != NULL) {
        tell(faults, "state", c->state, why);
    }
}

static void check_tokens(const struct mechd_config *c, int *faults)
{
    char fault[512];
    struct mechd_tokens tokens;
    if (c->tokens[0] == '\0') {
        printf("tokens     none: any client that reaches an address may do everything\n");
        return;
    }
    if (mechd_tokens_init(&tokens, c->tokens, fault, sizeof fault) != 0) {
        tell(faults, "tokens", c->tokens, fault);
    } else {
        printf("tokens     %s: %zu\n", c->tokens, tokens.count);
    }
    mechd_tokens_fini(&tokens);
}

static void check_quota(const struct mechd_config *c, int *faults)
{
    char fault[512];
    struct mechd_accounts accounts;
    mechd_accounts_init(&accounts);
    if (mechd_accounts_preset(&accounts, c->quota, fault, sizeof fault) != 0) {
        tell(faults, "quota", c->quota, fault);
    } else {
        printf("quota      %s\n", c->quota[0] != '\0' ? c->quota : "none");
    }
    mechd_accounts_fini(&accounts);
}

static void check_curve(const struct mechd_config *c, int *faults)
{
    char fault[512];
    struct mechd_curve curve;
    struct mechd_tokens peers;
    if (c->curve_key[0] == '\0') {
        printf("curve      none: any client that reaches a ZeroMQ endpoint may connect\n");
        return;
    }
    if (mechd_curve_init(&curve, c->curve_key, fault, sizeof fault) != 0) {
        tell(faults, "curve-key", c->curve_key, fault);
    } else {
        printf("curve      %s: public key %s\n", c->curve_key, curve.text);
    }
    if (mechd_tokens_init_keys(&peers, c->curve_clients, fault, sizeof fault) != 0) {
        tell(faults, "curve-clients", c->curve_clients, fault);
    } else {
        printf("clients    %s: %zu\n", c->curve_clients, peers.count);
    }
    mechd_tokens_fini(&peers);
    mechd_curve_fini(&curve);
}

/* What is written beside it takes its place, unless it is a device or a FIFO. */
static void check_ready_file(const struct mechd_config *c, int *faults)
{
    struct stat info;
    if (c->ready_file[0] == '\0') {
        return;
    }
    const bool is = stat(c->ready_file, &info) == 0, direct = is && !S_ISREG(info.st_mode);
    const char *const why = is && S_ISDIR(info.st_mode) ? strerror(EISDIR)
                            : direct                    ? NULL
                                                        : beside(c->ready_file);
    printf("ready-file %s\n", c->ready_file);
    if (why != NULL) {
        tell(faults, "ready-file", c->ready_file, why);
    }
}

int mechd_config_probe(const struct mechd_config *c)
{
    int faults = 0;
    check_addresses(c, &faults);
    check_tls(c, &faults);
    check_connections(c, &faults);
    check_state(c, &faults);
    check_tokens(c, &faults);
    check_quota(c, &faults);
    check_curve(c, &faults);
    check_ready_file(c, &faults);
    printf("workers    %d\nlog-level  %s%s\n", c->workers, c->log_level,
           c->access_log ? ", with the access log" : "");
    return faults;
}
