/* A short list under a lock; a few leases at most are looked through. */
#include "server/instance/leases_internal.h"

#include "server/os/ticks.h"
#include "solver/base/err.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

const char *const mechd_role_names[] = {"owner", "co-driver", "observer", "partner", NULL};

int mechd_role_find(const char *name)
{
    for (int k = 0; name != NULL && k < MECHD_ROLES; k++) {
        if (strcmp(mechd_role_names[k], name) == 0) {
            return k;
        }
    }
    return -1;
}

void mechd_leases_init(struct mechd_leases *l)
{
    *l = (struct mechd_leases){.first = NULL};
    pthread_mutex_init(&l->m, NULL);
}

static void destroy(struct mechd_lease *x)
{
    free(x->channels);
    free(x);
}

void mechd_leases_fini(struct mechd_leases *l)
{
    while (l->first != NULL) {
        struct mechd_lease *const next = l->first->next;
        destroy(l->first);
        l->first = next;
    }
    pthread_mutex_destroy(&l->m);
}

/* A number that cannot be guessed, and that a double represents exactly. */
static uint64_t make_number(void)
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
        number = mechd_now();
    }
    return (number & 0xfffffffffffffu) | 1u;
}

/* --- within the lock -------------------------------------------------------------------------- */

bool mechd_lease_lasts(const struct mechd_lease *x, uint64_t now)
{
    return x->acts > 0 || now < x->expires;
}

struct mechd_lease *mechd_lease_find(const struct mechd_leases *l, uint64_t number, uint64_t now)
{
    struct mechd_lease *x = number != 0 ? l->first : NULL;
    while (x != NULL && (x->number != number || !mechd_lease_lasts(x, now))) {
        x = x->next;
    }
    return x;
}

static struct mechd_lease *find_owner(const struct mechd_leases *l, uint64_t now)
{
    struct mechd_lease *x = l->first;
    while (x != NULL && (x->role != MECHD_ROLE_OWNER || !mechd_lease_lasts(x, now))) {
        x = x->next;
    }
    return x;
}

static bool has_channel(const struct mechd_lease *x, const char *name)
{
    for (size_t k = 0; x->role == MECHD_ROLE_CO_DRIVER && k < x->channel_count; k++) {
        if (strcmp(x->channels[k], name) == 0) {
            return true;
        }
    }
    return false;
}

static struct mechd_lease *find_co_driver(const struct mechd_leases *l, const char *channel,
                                          uint64_t now)
{
    struct mechd_lease *x = l->first;
    while (x != NULL && !(has_channel(x, channel) && mechd_lease_lasts(x, now))) {
        x = x->next;
    }
    return x;
}

static void begin_anew(struct mechd_lease *x, uint64_t now)
{
    x->expires = x->seconds > 0. ? now + (uint64_t)(1e9 * x->seconds) : UINT64_MAX;
}

/* The reaper looks at the earliest end. */
static void note_due(struct mechd_leases *l, const struct mechd_lease *x)
{
    const uint64_t due = atomic_load(&l->due);
    if (x->expires != UINT64_MAX && (due == 0 || x->expires < due)) {
        atomic_store(&l->due, x->expires);
    }
}

static void name_holder(const struct mechd_lease *x, const char *channel, struct mechd_holder *out)
{
    *out = (struct mechd_holder){
        .role = x->role, .of = x->of, .expires = x->acts > 0 ? UINT64_MAX : x->expires};
    memcpy(out->name, x->name, sizeof out->name);
    snprintf(out->channel, sizeof out->channel, "%s", channel);
}

static int without_holder(struct mechd_holder *out)
{
    *out = (struct mechd_holder){.role = -1, .expires = UINT64_MAX};
    return MECH_NOT_FOUND;
}

/* How many are co-drivers, after any change. */
static void count_drivers(struct mechd_leases *l)
{
    int drivers = 0;
    for (const struct mechd_lease *x = l->first; x != NULL; x = x->next) {
        drivers += x->role == MECHD_ROLE_CO_DRIVER;
    }
    atomic_store(&l->drivers, drivers);
}

/* Whether another lease than `self` has what is requested: MECH_INVALID; or 0. */
static int check_free(const struct mechd_leases *l, const struct mechd_lease *self, int role,
                      const struct mechd_lease_wish *w, struct mechd_holder *holder)
{
    const uint64_t now = mechd_now();
    for (const struct mechd_lease *x = l->first; x != NULL; x = x->next) {
        if (x == self || !mechd_lease_lasts(x, now)) {
            continue;
        }
        if (role == MECHD_ROLE_OWNER && x->role == MECHD_ROLE_OWNER) {
            name_holder(x, "", holder);
            return MECH_INVALID;
        }
        for (size_t k = 0; role == MECHD_ROLE_CO_DRIVER && k < w->channel_count; k++) {
            if (has_channel(x, w->channels[k])) {
                name_holder(x, w->channels[k], holder);
                return MECH_INVALID;
            }
        }
    }
    return 0;
}

/* Copies of the names in one piece of memory. 0 or MECH_NO_MEMORY. */
static int copy_channels(const struct mechd_lease_wish *w, char ***out)
{
    size_t room = w->channel_count * sizeof(char *) + 1;
    *out = NULL;
    for (size_t k = 0; k < w->channel_count; k++) {
        room += strlen(w->channels[k]) + 1;
    }
    char **const at = malloc(room);
    if (at == NULL) {
        return MECH_NO_MEMORY;
    }
    char *text = (char *)(at + w->channel_count);
    for (size_t k = 0; k < w->channel_count; k++) {
        const size_t n = strlen(w->channels[k]) + 1;
        at[k] = memcpy(text, w->channels[k], n);
        text += n;
    }
    *out = at;
    return 0;
}

/* --- taking and giving up --------------------------------------------------------------------- */

int mechd_leases_take(struct mechd_leases *l, const struct mechd_lease_wish *w, uint64_t *number,
                      struct mechd_holder *holder)
{
    struct mechd_lease *const x = calloc(1, sizeof *x);
    if (x == NULL || copy_channels(w, &x->channels) != 0) {
        free(x);
        return MECH_NO_MEMORY;
    }
    x->channel_count = w->channel_count;
    x->number = make_number();
    x->role = w->role;
    x->of = w->of;
    x->seconds = w->seconds;
    snprintf(x->name, sizeof x->name, "%s", w->name != NULL ? w->name : "");
    begin_anew(x, mechd_now());

    pthread_mutex_lock(&l->m);
    int outcome = check_free(l, NULL, w->role, w, holder);
    if (outcome == 0 && atomic_load(&l->count) >= MECHD_LEASES_MOST) {
        outcome = MECH_UNSUPPORTED;
    }
    if (outcome == 0) {
        struct mechd_lease **at = &l->first;
        while (*at != NULL) {
            at = &(*at)->next;
        }
        *at = x;
        *number = x->number;
        atomic_fetch_add(&l->count, 1);
        count_drivers(l);
        note_due(l, x);
    }
    pthread_mutex_unlock(&l->m);
    if (outcome != 0) {
        destroy(x);
    }
    return outcome;
}

/* What the lease becomes, once it is known that it may; channels that are given are taken. */
static void apply(struct mechd_lease *x, int role, const struct mechd_lease_wish *w,
                  char ***channels)
{
    x->role = role;
    if (w->channels != NULL) {
        char **const old = x->channels;
        x->channels = *channels;
        x->channel_count = w->channel_count;
        *channels = old;
    }
    if (role != MECHD_ROLE_CO_DRIVER) {
        x->channel_count = 0;
    }
    if (!isnan(w->seconds)) {
        x->seconds = w->seconds;
    }
    if (w->name != NULL) {
        snprintf(x->name, sizeof x->name, "%s", w->name);
    }
    begin_anew(x, mechd_now());
}

int mechd_leases_change(struct mechd_leases *l, uint64_t number, const struct mechd_lease_wish *w,
                        struct mechd_holder *holder)
{
    char **channels = NULL;
    MECH_TRY(copy_channels(w, &channels));
    pthread_mutex_lock(&l->m);
    struct mechd_lease *const x = mechd_lease_find(l, number, mechd_now());
    int outcome = x == NULL ? without_holder(holder) : 0;
    if (outcome == 0) {
        // names that stay are asked for again: another role may want them now
        struct mechd_lease_wish whole = *w;
        const int role = w->role >= 0 ? w->role : x->role;
        if (w->channels == NULL) {
            whole.channels = (const char *const *)x->channels;
            whole.channel_count = x->channel_count;
        }
        const bool drives = role == MECHD_ROLE_CO_DRIVER;
        const bool fits =
            drives ? whole.channel_count > 0 : w->channels == NULL || w->channel_count == 0;
        outcome = fits ? check_free(l, x, role, &whole, holder) : MECH_MISMATCH;
        if (outcome == 0) {
            apply(x, role, w, &channels);
            count_drivers(l);
            note_due(l, x);
        }
    }
    pthread_mutex_unlock(&l->m);
    free(channels);
    return outcome;
}

/* Take out and free all that `ends` says. Returns their number. */
static int remove_all(struct mechd_leases *l,
                      bool (*ends)(const struct mechd_lease *x, uint64_t key), uint64_t key)
{
    int count = 0;
    for (struct mechd_lease **at = &l->first; *at != NULL;) {
        struct mechd_lease *const x = *at;
        if (!ends(x, key)) {
            at = &x->next;
            continue;
        }
        *at = x->next;
        destroy(x);
        count++;
    }
    atomic_fetch_sub(&l->count, count);
    count_drivers(l);
    return count;
}

static bool is_number(const struct mechd_lease *x, uint64_t number)
{
    return x->number == number;
}

static bool is_role(const struct mechd_lease *x, uint64_t role)
{
    return x->role == (int)role;
}

bool mechd_leases_drop(struct mechd_leases *l, uint64_t number)
{
    pthread_mutex_lock(&l->m);
    const bool there = mechd_lease_find(l, number, mechd_now()) != NULL;
    (void)remove_all(l, is_number, number);
    pthread_mutex_unlock(&l->m);
    return there;
}

int mechd_leases_break(struct mechd_leases *l, enum mechd_role role)
{
    pthread_mutex_lock(&l->m);
    const int count = remove_all(l, is_role, role);
    pthread_mutex_unlock(&l->m);
    return count;
}

bool mechd_leases_coupled(struct mechd_leases *l, struct mechd_holder *holder)
{
    if (mechd_leases_none(l)) {
        return false;
    }
    pthread_mutex_lock(&l->m);
    const struct mechd_lease *const owner = find_owner(l, mechd_now());
    const bool coupled = owner != NULL && owner->of == MECHD_LEASE_OF_COUPLING;
    if (coupled && holder != NULL) {
        name_holder(owner, "", holder);
    }
    pthread_mutex_unlock(&l->m);
    return coupled;
}

bool mechd_leases_lasts(struct mechd_leases *l, uint64_t number)
{
    pthread_mutex_lock(&l->m);
    const bool there = mechd_lease_find(l, number, mechd_now()) != NULL;
    pthread_mutex_unlock(&l->m);
    return there;
}

/* --- use -------------------------------------------------------------------------------------- */

/* The conflicting lease, among those that have not ended. 0 or MECH_INVALID. */
static int judge(const struct mechd_leases *l, const struct mechd_lease *self, enum mechd_act act,
                 uint64_t now, struct mechd_holder *holder)
{
    const int role = self != NULL ? self->role : MECHD_ROLE_PARTNER;
    const bool inputs = act == MECHD_ACT_INPUTS;
    if (role == MECHD_ROLE_OWNER || (role == MECHD_ROLE_CO_DRIVER && inputs)) {
        return 0;
    }
    if (role == MECHD_ROLE_CO_DRIVER || role == MECHD_ROLE_OBSERVER) {
        name_holder(self, "", holder);
        return MECH_INVALID;
    }
    const struct mechd_lease *const owner = find_owner(l, now);
    if (owner != NULL) {
        name_holder(owner, "", holder);
        return MECH_INVALID;
    }
    return 0;
}

int mechd_leases_begin(struct mechd_leases *l, uint64_t number, enum mechd_act act,
                       struct mechd_holder *holder)
{
    if (number == 0 && (act == MECHD_ACT_READ || mechd_leases_none(l))) {
        return 0;
    }
    const uint64_t now = mechd_now();
    pthread_mutex_lock(&l->m);
    struct mechd_lease *const x = mechd_lease_find(l, number, now);
    int outcome = 0;
    if (x == NULL && number != 0 && act != MECHD_ACT_READ) {
        outcome = without_holder(holder);
    } else if (act != MECHD_ACT_READ) {
        outcome = judge(l, x, act, now, holder);
    }
    if (x != NULL) {
        // a refused request shows that its client is there, too
        begin_anew(x, now);
        x->acts += outcome == 0;
    }
    pthread_mutex_unlock(&l->m);
    return outcome;
}

static void end(struct mechd_leases *l, uint64_t number, bool heard)
{
    if (number == 0) {
        return;
    }
    pthread_mutex_lock(&l->m);
    struct mechd_lease *x = l->first;
    while (x != NULL && x->number != number) {
        x = x->next;
    }
    if (x != NULL && x->acts > 0) {
        x->acts--;
        if (heard) {
            begin_anew(x, mechd_now());
        }
    }
    pthread_mutex_unlock(&l->m);
}

void mechd_leases_end(struct mechd_leases *l, uint64_t number)
{
    end(l, number, true);
}

void mechd_leases_abandon(struct mechd_leases *l, uint64_t number)
{
    end(l, number, false);
}

bool mechd_leases_silent(struct mechd_leases *l, uint64_t number, int own)
{
    const uint64_t now = mechd_now();
    pthread_mutex_lock(&l->m);
    const struct mechd_lease *const x = mechd_lease_find(l, number, now);
    const bool silent =
        x != NULL && x->acts <= own && (x->expires == UINT64_MAX || now >= x->expires);
    pthread_mutex_unlock(&l->m);
    return silent;
}

bool mechd_leases_may_set(struct mechd_leases *l, uint64_t number, const char *input,
                          struct mechd_holder *holder)
{
    if (atomic_load(&l->drivers) == 0) {
        return true;
    }
    const uint64_t now = mechd_now();
    pthread_mutex_lock(&l->m);
    const struct mechd_lease *const self = mechd_lease_find(l, number, now);
    const struct mechd_lease *const driver = find_co_driver(l, input, now);
    bool may = driver == NULL || driver == self;
    if (self != NULL && self->role == MECHD_ROLE_OWNER) {
        may = true;
    } else if (self != NULL && self->role == MECHD_ROLE_CO_DRIVER) {
        may = driver == self;
    }
    if (!may) {
        name_holder(driver != NULL ? driver : self, input, holder);
    }
    pthread_mutex_unlock(&l->m);
    return may;
}

int mechd_leases_expire(struct mechd_leases *l,
                        void (*tell)(void *context, const char *role, const char *name),
                        void *context)
{
    struct mechd_lease *ended = NULL;
    uint64_t due = 0;
    int count = 0;
    const uint64_t now = mechd_now();
    pthread_mutex_lock(&l->m);
    for (struct mechd_lease **at = &l->first; *at != NULL;) {
        struct mechd_lease *const x = *at;
        if (!mechd_lease_lasts(x, now)) {
            *at = x->next;
            x->next = ended;
            ended = x;
            count++;
            continue;
        }
        // a command in progress: its end begins the lease anew, which is not before now
        const uint64_t end = x->acts > 0 ? now + (uint64_t)(1e9 * x->seconds) : x->expires;
        if (x->seconds > 0. && (due == 0 || end < due)) {
            due = end;
        }
        at = &x->next;
    }
    atomic_store(&l->due, due);
    atomic_fetch_sub(&l->count, count);
    count_drivers(l);
    pthread_mutex_unlock(&l->m);
    while (ended != NULL) {
        struct mechd_lease *const next = ended->next;
        tell(context, mechd_role_names[ended->role], ended->name);
        destroy(ended);
        ended = next;
    }
    return count;
}
