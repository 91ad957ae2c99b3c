/* One line for each option. */
#include "server/options.h"

#include <string.h>

#define FIELD(field) ((struct mechd_config *)NULL)->field
#define TEXT(name, field, value, doc)                                                              \
    {                                                                                              \
        name, MECHD_TEXT, offsetof(struct mechd_config, field), sizeof(FIELD(field)), 0, value,    \
            doc                                                                                    \
    }
#define LIST(name, field, value, doc)                                                              \
    {                                                                                              \
        name, MECHD_LIST, offsetof(struct mechd_config, field),                                    \
            offsetof(struct mechd_config, field##_count), 0, value, doc                            \
    }
#define NUMBER(name, field, most, preset, value, doc)                                              \
    {                                                                                              \
        name, MECHD_NUMBER, offsetof(struct mechd_config, field), most, preset, value, doc         \
    }
#define SWITCH(name, field, doc)                                                                   \
    {                                                                                              \
        name, MECHD_SWITCH, offsetof(struct mechd_config, field), 0, 0, NULL, doc                  \
    }

const struct mechd_option mechd_options[] = {
    LIST("listen", listen, "ADDRESS",
         "HTTP on host:port, https://host:port or unix:PATH, may be given again (127.0.0.1:8080)"),
    TEXT("tls-certificate", tls_certificate, "FILE",
         "PEM, a chain with the server's own first, for https:// addresses; read again on SIGHUP"),
    TEXT("tls-key", tls_key, "FILE", "its private key, PEM; read again on SIGHUP"),
    TEXT("unix-mode", unix_mode, "MODE", "permissions of Unix sockets, octal digits (600)"),
    LIST("host", host, "NAME",
         "name of this server as clients write it, may be given again; other names are refused"),
    LIST("cors", cors, "ORIGIN",
         "pages of this origin may use the server, may be given again; * for all (none)"),
    NUMBER("connections", connections, 100000, 4096, "N",
           "most connections at once for each listening address (4096)"),
    NUMBER("connections-per-address", connections_per_address, 100000, 1024, "N",
           "most of them from one IP address, or one /64 of IPv6 (1024)"),
    NUMBER("idle-seconds", idle_seconds, 86400, 60, "S",
           "a connection without a request is closed after this time (60)"),
    NUMBER("head-seconds", head_seconds, 3600, 10, "S",
           "most time for the whole head of a request (10)"),
    NUMBER("body-seconds", body_seconds, 86400, 30, "S",
           "most time for a whole body, or for taking an answer, besides --body-rate (30)"),
    NUMBER("body-rate", body_rate, 1000000, 64, "KIB",
           "and one second more for each so many KiB of it (64)"),
    TEXT("control", control, "ENDPOINT", "ZeroMQ control (tcp://127.0.0.1:5555), or none"),
    TEXT("stream", stream, "ENDPOINT", "ZeroMQ stream (tcp://127.0.0.1:5556), or none"),
    TEXT("forces", forces, "ENDPOINT", "ZeroMQ forces (tcp://127.0.0.1:5557), or none"),
    TEXT("state", state, "DIR", "directory in which instances outlive the process, or none (none)"),
    TEXT("durability", durability, "MODE",
         "of instances that do not say: none, checkpoint or every-step (none)"),
    TEXT("tokens", tokens, "FILE", "who may do what: lines of --make-token; read again on SIGHUP"),
    TEXT("quota", quota, "LIMITS",
         "of tokens that say nothing, and of everybody without: instances=10 memory=1GiB; "
         "in the file read again on SIGHUP"),
    TEXT("curve-key", curve_key, "FILE",
         "ZeroMQ by CURVE: the server's pair, what --make-curve-key printed"),
    TEXT("curve-clients", curve_clients, "FILE",
         "whose keys may connect: lines of --make-curve-key; read again on SIGHUP"),
    NUMBER("workers", workers, 256, 0, "N", "threads of the step pool (0: one per processor)"),
    NUMBER(
        "model-size", model_size, 2000, 64, "MIB",
        "largest model document, MiB of JSON (64); reading it takes about 20 times that in memory"),
    NUMBER("message-size", message_size, 2000, 0, "MIB",
           "largest frame over ZeroMQ (0: a model for control, 1 MiB for forces)"),
    NUMBER("heartbeat", heartbeat, 3600, 10, "S",
           "a ZeroMQ peer silent for three of them is disconnected (10)"),
    TEXT("log-level", log_level, "LEVEL", "error, warning, info or debug (info)"),
    SWITCH("access-log", access_log, "log every request at level info (else at debug)"),
    TEXT("ready-file", ready_file, "FILE",
         "written once everything listens: pid and real endpoints as JSON"),
    SWITCH("insecure", insecure,
           "serve addresses that other machines reach, without any protection"),
    SWITCH("check-config", check_config,
           "say what would be done and what stands against it, then leave"),
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
