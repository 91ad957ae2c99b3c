/* A list of accounts; an account is looked up once an instance and for GET /v1/quota. */
#include "server/auth/accounts.h"

#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_messages.h"
#include "server/auth/tokens.h"
#include "server/os/ticks.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const mechd_quota_names[] = {"instances", "coordinates", "memory", "snapshots",
                                         "stored",    "runs",        "fmus",   "fmu-bytes",
                                         "step-cpu",  "cpu",         NULL};

const struct mechd_limits mechd_no_limits = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                              UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                              UINT64_MAX, UINT64_MAX}};

/* the bucket of `cpu`, ns of the clock */
static const uint64_t bucket = 1000000000u;

/* Units that a value may have, by quota. */
static double unit_of(enum mechd_quota which, const char *text)
{
    static const struct {
        const char *name;
        double factor;
    } bytes[] = {{"", 1.}, {"KiB", 1024.}, {"MiB", 1048576.}, {"GiB", 1073741824.}},
      times[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}};
    const bool size = which == MECHD_QUOTA_MEMORY || which == MECHD_QUOTA_STORED ||
                      which == MECHD_QUOTA_FMU_BYTES;
    for (size_t k = 0; size && k < sizeof bytes / sizeof *bytes; k++) {
        if (strcmp(text, bytes[k].name) == 0) {
            return bytes[k].factor;
        }
    }
    for (size_t k = 0; which == MECHD_QUOTA_STEP_CPU && k < sizeof times / sizeof *times; k++) {
        if (strcmp(text, times[k].name) == 0) {
            return times[k].factor;
        }
    }
    if (size || which == MECHD_QUOTA_STEP_CPU || *text != '\0') {
        return 0.;
    }
    return which == MECHD_QUOTA_CPU ? 1e9 : 1.;
}

bool mechd_limits_read(const char *word, struct mechd_limits *out)
{
    const size_t n = strcspn(word, "=");
    char *end = NULL;
    for (int k = 0; word[n] == '=' && mechd_quota_names[k] != NULL; k++) {
        if (strlen(mechd_quota_names[k]) == n && memcmp(mechd_quota_names[k], word, n) == 0) {
            const double value = strtod(word + n + 1, &end);
            const double most = value * unit_of((enum mechd_quota)k, end);
            if (end == word + n + 1 || !(most >= 1.) || !(most < 1e18)) {
                return false;
            }
            out->most[k] = (uint64_t)most;
            return true;
        }
    }
    return false;
}

void mechd_accounts_init(struct mechd_accounts *a)
{
    *a = (struct mechd_accounts){.preset = mechd_no_limits};
    pthread_mutex_init(&a->m, NULL);
}

void mechd_accounts_fini(struct mechd_accounts *a)
{
    while (a->first != NULL) {
        struct mechd_account *const next = a->first->next;
        free(a->first);
        a->first = next;
    }
    pthread_mutex_destroy(&a->m);
}

int mechd_accounts_preset(struct mechd_accounts *a, const char *text, char *fault, size_t size)
{
    struct mechd_limits preset = mechd_no_limits;
    char copy[256];
    char *rest = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " \t", &rest); word != NULL;
         word = strtok_r(NULL, " \t", &rest)) {
        if (!mechd_limits_read(word, &preset)) {
            mech_text_format(fault, size,
                             "the quota '%.64s' is not a limit; write it as in instances=10", word);
            return MECH_INTERNAL;
        }
    }
    pthread_mutex_lock(&a->m);
    a->preset = preset;
    pthread_mutex_unlock(&a->m);
    return 0;
}

static void set_limits(struct mechd_account *x, const struct mechd_limits *limits,
                       const struct mechd_limits *preset)
{
    for (int k = 0; k < MECHD_QUOTAS; k++) {
        const uint64_t own = limits->most[k];
        atomic_store(&x->most[k], own != UINT64_MAX ? own : preset->most[k]);
    }
}

/* Under the lock. */
static struct mechd_account *find(struct mechd_accounts *a, const char *name)
{
    struct mechd_account *x = a->first;
    while (x != NULL && strcmp(x->name, name) != 0) {
        x = x->next;
    }
    if (x == NULL && (x = calloc(1, sizeof *x)) != NULL) {
        snprintf(x->name, sizeof x->name, "%s", name);
        set_limits(x, &a->preset, &a->preset);
        x->next = a->first;
        a->first = x;
    }
    return x;
}

struct mechd_account *mechd_accounts_find(struct mechd_accounts *a, const char *name)
{
    pthread_mutex_lock(&a->m);
    struct mechd_account *const x = find(a, name);
    pthread_mutex_unlock(&a->m);
    return x;
}

void mechd_accounts_apply(struct mechd_accounts *a, struct mechd_tokens *t)
{
    pthread_mutex_lock(&a->m);
    pthread_rwlock_rdlock(&t->m);
    // every token has an account before it is first used
    for (size_t k = 0; k < t->count; k++) {
        (void)find(a, t->at[k].name);
    }
    // each limit goes from the old to the new: work in progress sees no other
    for (struct mechd_account *x = a->first; x != NULL; x = x->next) {
        const struct mechd_limits *limits = &a->preset;
        for (size_t k = 0; k < t->count; k++) {
            limits = strcmp(t->at[k].name, x->name) == 0 ? &t->at[k].limits : limits;
        }
        set_limits(x, limits, &a->preset);
    }
    pthread_rwlock_unlock(&t->m);
    pthread_mutex_unlock(&a->m);
}

static bool refuse(struct mechd_account *a, enum mechd_quota which, uint64_t used,
                   struct mechd_excess *x)
{
    atomic_fetch_add(&a->refused, 1);
    *x = (struct mechd_excess){.which = which, .used = used, .limit = atomic_load(&a->most[which])};
    return false;
}

bool mechd_account_take(struct mechd_account *a, enum mechd_quota which, uint64_t amount,
                        struct mechd_excess *x)
{
    const uint64_t most = atomic_load(&a->most[which]);
    const uint64_t before = atomic_fetch_add(&a->used[which], amount);
    if (x != NULL && (amount > most || before > most - amount)) {
        atomic_fetch_sub(&a->used[which], amount);
        return refuse(a, which, before, x);
    }
    return true;
}

void mechd_account_give(struct mechd_account *a, enum mechd_quota which, uint64_t amount)
{
    atomic_fetch_sub(&a->used[which], amount);
}

void mechd_account_work(struct mechd_account *a, uint64_t ns)
{
    const uint64_t rate = atomic_load_explicit(&a->most[MECHD_QUOTA_CPU], memory_order_relaxed);
    atomic_fetch_add_explicit(&a->worked, ns, memory_order_relaxed);
    if (rate == UINT64_MAX) {
        return;
    }
    // paid back at the rate from now on, or behind what is not paid yet
    const uint64_t cost = mechd_ns((double)ns / (double)rate), longest = mechd_ns(INFINITY);
    const uint64_t now = mechd_now();
    uint64_t paid = atomic_load(&a->paid), from = 0;
    do {
        from = paid > now ? paid : now;
    } while (!atomic_compare_exchange_weak(&a->paid, &paid, from < longest ? from + cost : from));
}

bool mechd_account_may_work(struct mechd_account *a, struct mechd_excess *x)
{
    const uint64_t rate = atomic_load_explicit(&a->most[MECHD_QUOTA_CPU], memory_order_relaxed);
    if (rate == UINT64_MAX) {
        return true;
    }
    const uint64_t now = mechd_now();
    const uint64_t paid = atomic_load(&a->paid);
    if (paid <= now + bucket) {
        return true;
    }
    (void)refuse(a, MECHD_QUOTA_CPU, (uint64_t)((double)(paid - now) * 1e-9 * (double)rate), x);
    x->retry = 1e-9 * (double)(paid - now - bucket);
    return false;
}

/* --- telling ---------------------------------------------------------------------------------- */

/* In the units in which people give it. */
static double shown(enum mechd_quota which, uint64_t value)
{
    return which >= MECHD_QUOTA_HELD ? 1e-9 * (double)value : (double)value;
}

const char *mechd_excess_tell(const struct mechd_excess *x, char *out, size_t size)
{
    const char *const name = mechd_quota_names[x->which];
    if (x->which == MECHD_QUOTA_CPU) {
        mech_text_format(out, size,
                         "the quota cpu of %.9g s per second is used up for the next %.3g s",
                         shown(x->which, x->limit), x->retry);
    } else {
        mech_text_format(out, size, "the quota %s is %.9g, and %.9g are used", name,
                         shown(x->which, x->limit), shown(x->which, x->used));
    }
    return out;
}

void mechd_excess_write(const struct mechd_excess *x, struct mechp_text *w)
{
    const struct mechp_body_exceeded_quota body = {
        mechd_quota_names[x->which], shown(x->which, x->used), shown(x->which, x->limit)};
    MECHP_WRITE(exceeded_quota, &body, w);
}

static void write_limits(const void *of, struct mechp_text *w)
{
    const struct mechd_account *const a = of;
    mechp_text_object(w);
    for (int k = 0; k < MECHD_QUOTAS; k++) {
        const uint64_t most = atomic_load(&a->most[k]);
        if (most != UINT64_MAX) {
            mechp_text_key(w, mechd_quota_names[k]);
            mechp_text_number(w, shown((enum mechd_quota)k, most));
        }
    }
    mechp_text_end(w);
}

static void write_used(const void *of, struct mechp_text *w)
{
    const struct mechd_account *const a = of;
    mechp_text_object(w);
    for (int k = 0; k < MECHD_QUOTA_HELD; k++) {
        mechp_text_key(w, mechd_quota_names[k]);
        mechp_text_unsigned(w, atomic_load(&a->used[k]));
    }
    mechp_text_key(w, mechd_quota_names[MECHD_QUOTA_CPU]);
    mechp_text_number(w, 1e-9 * (double)atomic_load(&a->worked));
    mechp_text_end(w);
}

void mechd_account_write(const struct mechd_account *a, struct mechp_text *w)
{
    const struct mechp_body_quota body = {a->name, {write_limits, a}, {write_used, a}};
    MECHP_WRITE(quota, &body, w);
}

void mechd_accounts_metrics(struct mechd_accounts *a, struct mechp_text *w)
{
    static const char head[] = "# HELP mechd_token_used Current usage of a token.\n"
                               "# TYPE mechd_token_used gauge\n";
    static const char work[] = "# HELP mechd_token_cpu_seconds_total Processor time of steps.\n"
                               "# TYPE mechd_token_cpu_seconds_total counter\n";
    char line[256];
    pthread_mutex_lock(&a->m);
    mechp_text_plain(w, head, sizeof head - 1);
    for (const struct mechd_account *x = a->first; x != NULL; x = x->next) {
        for (int k = 0; k < MECHD_QUOTA_HELD; k++) {
            const int n = snprintf(line, sizeof line,
                                   "mechd_token_used{token=\"%s\",what=\"%s\"} %" PRIu64 "\n",
                                   x->name, mechd_quota_names[k], atomic_load(&x->used[k]));
            mechp_text_plain(w, line, (size_t)n);
        }
    }
    mechp_text_plain(w, work, sizeof work - 1);
    for (const struct mechd_account *x = a->first; x != NULL; x = x->next) {
        const int n =
            snprintf(line, sizeof line, "mechd_token_cpu_seconds_total{token=\"%s\"} %.9g\n",
                     x->name, 1e-9 * (double)atomic_load(&x->worked));
        mechp_text_plain(w, line, (size_t)n);
    }
    pthread_mutex_unlock(&a->m);
}
