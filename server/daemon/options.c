/* One line for each option. */
#include "server/daemon/options.h"

#include "protocol/wire/scopes.h"

#include <string.h>

#define FIELD(field) ((struct mechd_config *)NULL)->field
#define TEXT(name, field, value, doc)                                                              \
    {                                                                                              \
        name, MECHD_TEXT, offsetof(struct mechd_config, field), sizeof(FIELD(field)), 0, value,    \
            doc, NULL                                                                              \
    }
#define CHOICE(name, field, value, choices, doc)                                                   \
    {                                                                                              \
        name, MECHD_TEXT, offsetof(struct mechd_config, field), sizeof(FIELD(field)), 0, value,    \
            doc, choices                                                                           \
    }
#define LIST(name, field, value, doc)                                                              \
    {                                                                                              \
        name, MECHD_LIST, offsetof(struct mechd_config, field),                                    \
            offsetof(struct mechd_config, field##_count), 0, value, doc, NULL                      \
    }
#define NUMBER(name, field, most, preset, value, doc)                                              \
    {                                                                                              \
        name, MECHD_NUMBER, offsetof(struct mechd_config, field), most, preset, value, doc, NULL   \
    }
#define SWITCH(name, field, doc)                                                                   \
    {                                                                                              \
        name, MECHD_SWITCH, offsetof(struct mechd_config, field), 0, 0, NULL, doc, NULL            \
    }

const struct mechd_option mechd_options[] = {
    LIST("listen", listen, "ADDRESS",
         "HTTP address: host:port, https://host:port or unix:PATH; repeatable (127.0.0.1:8080)"),
    TEXT("tls-certificate", tls_certificate, "FILE",
         "certificate chain for https:// addresses, PEM, the server's own certificate first; "
         "reloaded on SIGHUP"),
    TEXT("tls-key", tls_key, "FILE", "private key of the certificate, PEM; reloaded on SIGHUP"),
    TEXT("unix-mode", unix_mode, "MODE", "permissions of Unix sockets, octal (600)"),
    LIST("host", host, "NAME",
         "host name under which clients may reach this server, besides localhost and loopback "
         "addresses; repeatable; a server without --tokens refuses other names"),
    LIST("cors", cors, "ORIGIN",
         "origin of web pages that may use the server; repeatable; * for all (none)"),
    NUMBER("connections", connections, 100000, 4096, "N",
           "maximum number of connections for each listening address (4096)"),
    NUMBER("connections-per-address", connections_per_address, 100000, 1024, "N",
           "maximum number of connections from one IPv4 address or one IPv6 /64 (1024)"),
    NUMBER("idle-seconds", idle_seconds, 86400, 60, "S",
           "idle time after which a connection is closed (60)"),
    NUMBER("head-seconds", head_seconds, 3600, 10, "S",
           "time limit for the request line and the headers of a request (10)"),
    NUMBER("body-seconds", body_seconds, 86400, 30, "S",
           "time limit for a body, or for reading a response, in addition to --body-rate (30)"),
    NUMBER("body-rate", body_rate, 1000000, 64, "KIB",
           "the time limit for a body grows by one second for each KIB KiB of it (64)"),
    TEXT("control", control, "ENDPOINT",
         "ZeroMQ endpoint for control, or none (tcp://127.0.0.1:5555)"),
    TEXT("stream", stream, "ENDPOINT",
         "ZeroMQ endpoint for the stream, or none (tcp://127.0.0.1:5556)"),
    TEXT("forces", forces, "ENDPOINT",
         "ZeroMQ endpoint for forces, or none (tcp://127.0.0.1:5557)"),
    TEXT("lane", lane, "ENDPOINT",
         "endpoint for frames and JSON over a stream socket: unix:PATH or tcp://host:port, or none "
         "(none)"),
    TEXT(
        "state", state, "DIR",
        "directory in which instances, couplings and parameter studies are stored, or none (none)"),
    CHOICE("durability", durability, "MODE", "none checkpoint every-step",
           "default durability of instances: none, checkpoint or every-step (none)"),
    TEXT("tokens", tokens, "FILE",
         "file with tokens and their scopes: lines printed by --make-token; reloaded on SIGHUP"),
    TEXT("quota", quota, "LIMITS",
         "default quota of tokens, and of clients without a token, such as instances=10 "
         "memory=1GiB; reloaded on SIGHUP from the configuration file"),
    CHOICE(
        "fmus", fmus, "WORD", "on off",
        "on: tokens with the scope fmu may upload FMUs, which are programs that the server runs; "
        "or off (off)"),
    NUMBER("fmu-memory", fmu_memory, 1 << 30, 1024, "MIB",
           "maximum address space of the process that runs an instance of an FMU (1024)"),
    NUMBER("fmu-seconds", fmu_seconds, 86400, 30, "S",
           "time limit of one call of an FMU, after which its process is ended (30)"),
    TEXT("curve-key", curve_key, "FILE",
         "file with the server's key pair for ZeroMQ CURVE, as printed by --make-curve-key"),
    TEXT("curve-clients", curve_clients, "FILE",
         "file with the public keys that may connect: lines printed by --make-curve-key; reloaded "
         "on SIGHUP"),
    NUMBER("workers", workers, 256, 0, "N", "number of worker threads (0: one per processor)"),
    NUMBER("model-size", model_size, 2000, 64, "MIB",
           "maximum size of a model document in MiB of JSON (64); reading it takes up to 30 times "
           "as much memory"),
    NUMBER("message-size", message_size, 2000, 0, "MIB",
           "maximum size of a frame over ZeroMQ or the lane (0: --model-size for control, 1 MiB "
           "for forces)"),
    NUMBER(
        "heartbeat", heartbeat, 3600, 10, "S",
        "interval of ZeroMQ heartbeats; a peer is disconnected after three without an answer (10)"),
    NUMBER("handshake-ms", handshake_ms, 3600000, 5000, "MS",
           "time limit for the first message over ZeroMQ or the lane (5000)"),
    NUMBER("finish-ms", finish_ms, 3600000, 1200, "MS",
           "time at shutdown before requests in progress are cancelled (1200)"),
    NUMBER("stuck-ms", stuck_ms, 3600000, 500, "MS",
           "further time at shutdown until the process exits without waiting for computations that "
           "cannot be cancelled (500)"),
    NUMBER("store-ms", store_ms, 3600000, 5000, "MS",
           "time limit for storing all other instances when the process exits after --stuck-ms "
           "(5000)"),
    NUMBER("settle-ms", settle_ms, 3600000, 200, "MS",
           "time limit at shutdown for ZeroMQ peers to receive their last answers (200)"),
    CHOICE("log-level", log_level, "LEVEL", "error warning info debug",
           "error, warning, info or debug (info); reloaded on SIGHUP from the configuration file"),
    SWITCH("access-log", access_log,
           "log every request at level info (otherwise at debug); reloaded on SIGHUP from the "
           "configuration file"),
    TEXT("ready-file", ready_file, "FILE",
         "file to write when all endpoints are open: pid and actual endpoints as JSON"),
    SWITCH(
        "insecure", insecure,
        "permit unprotected addresses (no --tokens, no --curve-key) that other machines can reach"),
    SWITCH("check-config", check_config,
           "check the configuration, print what a start would do and every error, and exit"),
};

const struct mechd_flag mechd_flags[MECHD_FLAGS] = {
    [MECHD_FLAG_CONFIG] = {"config", "FILE",
                           "configuration file: lines of `option = value`; # begins a comment, at "
                           "the start of a line or after a space, outside of double quotes; with "
                           "-FILE the file may be missing",
                           NULL},
    [MECHD_FLAG_MAKE_TOKEN] = {"make-token", "NAME", "print a new token and its line for --tokens",
                               NULL},
    [MECHD_FLAG_MAKE_KEY] = {"make-curve-key", "NAME",
                             "print a new key pair and its line for --curve-clients", NULL},
    [MECHD_FLAG_SCOPES] = {"scopes", "SCOPES",
                           "scopes of the token or key that is made, of " MECHP_SCOPES_LIST
                           " (step)",
                           MECHP_SCOPES_WORDS},
    [MECHD_FLAG_PRINT] = {"print", "WHAT",
                          "print openapi, schema, types or errors as JSON, man: the manual page, "
                          "bash, zsh or fish: completions for this shell, or settings: the options "
                          "in effect, as lines of the configuration file",
                          "openapi schema types errors man bash zsh fish settings"},
    [MECHD_FLAG_VERSION] = {"version", NULL, "print the version", NULL},
    [MECHD_FLAG_HELP] = {"help", NULL, "print this text", NULL},
};

const int mechd_option_count = sizeof mechd_options / sizeof *mechd_options;
_Static_assert(sizeof mechd_options / sizeof *mechd_options <= MECHD_OPTIONS_MOST,
               "MECHD_OPTIONS_MOST is too small");

const struct mechd_option *mechd_option_find(const char *name, size_t length)
{
    for (int k = 0; k < mechd_option_count; k++) {
        if (strlen(mechd_options[k].name) == length &&
            memcmp(mechd_options[k].name, name, length) == 0) {
            return &mechd_options[k];
        }
    }
    return NULL;
}
