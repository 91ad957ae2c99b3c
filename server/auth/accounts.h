/* Quotas: limits of each token, and its current use.
 *
 * An account has the name of a token, "" if no tokens are required. An instance is charged to the
 * account of its creator, also after a restart. Limits are in the token's line after the hash, or
 * in --quota for all lines without limits:
 *
 *   instances=10 coordinates=1e6 memory=512MiB snapshots=64 stored=2GiB runs=4 fmus=4
 *   fmu-bytes=1GiB step-cpu=2s cpu=0.5
 *
 * coordinates counts velocities; memory the bytes that models, snapshots and recorded rows report;
 * stored the bytes in the state directory: models, states, commands, snapshots, rows of runs and of
 * sweeps, which count with their maximum size while these are in progress; runs the runs and sweeps
 * in progress; fmus and fmu-bytes the uploaded FMUs, with deleted ones of which there are
 * instances, and the bytes of their archives and of what is unpacked of them. A sweep in progress
 * is charged an instance for each of its lanes. step-cpu is the processor time of one step command;
 * cpu is seconds of it per second of the clock, by a bucket of one second: the time used is
 * recovered at that rate, and until the debt is less than the bucket step commands, runs and sweeps
 * are refused. Those in progress are charged too, but are not slowed down.
 *
 * shared: the list is locked by m, accounts are freed only at shutdown; numbers are atomics.
 */
#pragma once

#include "protocol/wire/text.h"
#include "solver/base/name.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mechd_quota {
    MECHD_QUOTA_INSTANCES,
    MECHD_QUOTA_COORDINATES,
    MECHD_QUOTA_MEMORY, /* bytes */
    MECHD_QUOTA_SNAPSHOTS,
    MECHD_QUOTA_STORED, /* bytes */
    MECHD_QUOTA_RUNS,
    MECHD_QUOTA_FMUS,
    MECHD_QUOTA_FMU_BYTES,                   /* bytes */
    MECHD_QUOTA_HELD,                        /* number of resources that are held: those before */
    MECHD_QUOTA_STEP_CPU = MECHD_QUOTA_HELD, /* ns */
    MECHD_QUOTA_CPU,                         /* ns per second */
    MECHD_QUOTAS
};
/* "instances", …, "cpu"; closed by NULL. */
extern const char *const mechd_quota_names[];

struct mechd_limits {
    uint64_t most[MECHD_QUOTAS]; /* UINT64_MAX: none */
};
extern const struct mechd_limits mechd_no_limits;
/* One "name=value" into the limits. False: it is not a limit. */
bool mechd_limits_read(const char *word, struct mechd_limits *out);

struct mechd_account {
    struct mechd_account *next;
    char name[MECH_NAME_MAX + 1];
    _Atomic uint64_t most[MECHD_QUOTAS];
    _Atomic uint64_t used[MECHD_QUOTA_HELD];
    _Atomic uint64_t worked;  /* ns of a processor so far */
    _Atomic uint64_t paid;    /* ns of mechd_now until which the work so far is paid for */
    _Atomic uint64_t refused; /* requests */
};

struct mechd_accounts {
    pthread_mutex_t m;
    struct mechd_account *first;
    struct mechd_limits preset;
};

/* The quota that a request exceeds. */
struct mechd_excess {
    enum mechd_quota which;
    uint64_t used, limit;
    double retry; /* s after which a retry may succeed; 0: waiting does not help */
};
/* As a sentence; returns out. */
const char *mechd_excess_tell(const struct mechd_excess *x, char *out, size_t size);
/* As an object. */
void mechd_excess_write(const struct mechd_excess *x, struct mechp_text *w);

struct mechd_tokens;

void mechd_accounts_init(struct mechd_accounts *a);
void mechd_accounts_fini(struct mechd_accounts *a);
/* Default limits, from a text "name=value name=value"; they apply from the next
 * mechd_accounts_apply on. Negative: a sentence, and the previous ones remain. */
int mechd_accounts_preset(struct mechd_accounts *a, const char *text, char *fault, size_t size);
/* Apply the limits of the tokens' lines. */
void mechd_accounts_apply(struct mechd_accounts *a, struct mechd_tokens *t);
/* The account of that name, created if necessary. NULL: no memory. */
struct mechd_account *mechd_accounts_find(struct mechd_accounts *a, const char *name);

/* Charge an amount. False: *x gives the reason, and nothing is charged. Without x: always. */
bool mechd_account_take(struct mechd_account *a, enum mechd_quota which, uint64_t amount,
                        struct mechd_excess *x);
void mechd_account_give(struct mechd_account *a, enum mechd_quota which, uint64_t amount);
/* Charge used processor time. */
void mechd_account_work(struct mechd_account *a, uint64_t ns);
/* True if a step command may start. */
bool mechd_account_may_work(struct mechd_account *a, struct mechd_excess *x);

/* Its token, limits and use as an object. */
void mechd_account_write(const struct mechd_account *a, struct mechp_text *w);
/* For /metrics. */
void mechd_accounts_metrics(struct mechd_accounts *a, struct mechp_text *w);
