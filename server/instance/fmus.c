/* A list: there are few uploads, and a request looks one of them up. */
#define _GNU_SOURCE
#include "server/instance/fmus.h"

#include "server/os/ids.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The program beside that of this process. False: it is not there. */
static bool find_program(char *out, size_t size)
{
    const ssize_t n = readlink("/proc/self/exe", out, size - sizeof "/mechd-fmu");
    if (n <= 0 || (size_t)n >= size - sizeof "/mechd-fmu") {
        return false;
    }
    out[n] = 0;
    char *const slash = strrchr(out, '/');
    if (slash == NULL) {
        return false;
    }
    memcpy(slash, "/mechd-fmu", sizeof "/mechd-fmu");
    return access(out, X_OK) == 0;
}

void mechd_fmus_init(struct mechd_fmus *f)
{
    pthread_mutex_init(&f->m, NULL);
    f->series = "";
}

/* Where archives are unpacked. False: there is no such folder. */
static bool find_root(struct mechd_fmus *f, const char *state)
{
    const char *const temporary = getenv("TMPDIR");
    const bool given = temporary != NULL && temporary[0] != '\0';
    char *const path = realpath(given ? temporary : state != NULL ? state : "/tmp", NULL);
    const bool found = path != NULL && strlen(path) < sizeof f->root;
    if (found) {
        snprintf(f->root, sizeof f->root, "%s", path);
    }
    if (found && !given && state != NULL) {
        mechd_fmu_package_clean(path);
    }
    free(path);
    return found;
}

int mechd_fmus_open(struct mechd_fmus *f, const char *state,
                    const struct mechd_fmu_settings *limits, int processes, char *fault,
                    size_t size)
{
    if (!find_program(f->program, sizeof f->program)) {
        mech_text_format(fault, size, "--fmus on: there is no program mechd-fmu beside this one");
        return MECH_INTERNAL;
    }
    if (!find_root(f, state)) {
        mech_text_format(fault, size,
                         "--fmus on: there is no folder in which FMUs can be unpacked");
        return MECH_INTERNAL;
    }
    f->places.most = processes;
    f->settings = (struct mechd_fmu_settings){.program = f->program,
                                              .memory = limits->memory,
                                              .call_ms = limits->call_ms,
                                              .places = &f->places};
    f->on = true;
    return 0;
}

void mechd_fmus_number(struct mechd_fmus *f, struct mechd_store *store, const char *series)
{
    f->store = store;
    f->series = series;
    f->serial = store != NULL ? mechd_store_last(store, MECHD_NUMBER_FMU) : 0;
}

/* What a package is charged with until it ends. */
struct charge {
    struct mechd_fmus *fmus;
    struct mechd_account *account;
    uint64_t bytes;
};

static void give_back(const struct charge *c)
{
    mechd_account_give(c->account, MECHD_QUOTA_FMUS, 1);
    mechd_account_give(c->account, MECHD_QUOTA_FMU_BYTES, c->bytes);
}

/* The package of a charge is gone. */
static void end(void *context)
{
    struct charge *const c = context;
    pthread_mutex_lock(&c->fmus->m);
    c->fmus->held--;
    c->fmus->bytes -= c->bytes;
    pthread_mutex_unlock(&c->fmus->m);
    give_back(c);
    free(c);
}

/* It is in no list. */
static void destroy(struct mechd_fmu *u)
{
    mechd_fmu_package_unref(u->package);
    free(u);
}

void mechd_fmus_fini(struct mechd_fmus *f)
{
    while (f->first != NULL) {
        struct mechd_fmu *const u = f->first;
        f->first = u->next;
        destroy(u);
    }
    pthread_mutex_destroy(&f->m);
}

static bool take(const struct charge *c, struct mechd_excess *x)
{
    if (!mechd_account_take(c->account, MECHD_QUOTA_FMUS, 1, x)) {
        return false;
    }
    if (!mechd_account_take(c->account, MECHD_QUOTA_FMU_BYTES, c->bytes, x)) {
        mechd_account_give(c->account, MECHD_QUOTA_FMUS, 1);
        return false;
    }
    return true;
}

/* Appends it under the next id, with its charge. Its number, or 0: a limit of the server. */
static uint64_t append(struct mechd_fmus *f, struct mechd_fmu *u, struct charge *c, char *id)
{
    uint64_t number = 0;
    pthread_mutex_lock(&f->m);
    const bool fits = f->held < MECHD_FMUS_MOST && c->bytes <= mechd_fmus_bytes - f->bytes;
    if (fits) {
        u->package->ended = end;
        u->package->context = c;
        number = ++f->serial;
        mechd_id_write('f', f->series, number, u->id);
        snprintf(id, MECH_NAME_MAX + 1, "%s", u->id);
        *(f->last != NULL ? &f->last->next : &f->first) = u;
        f->last = u;
        f->count++;
        f->held++;
        f->bytes += c->bytes;
    }
    pthread_mutex_unlock(&f->m);
    return number;
}

/* Charged, and in the list; then u and c belong to the table. */
static bool enter(struct mechd_fmus *f, struct mechd_fmu *u, struct charge *c, char *id,
                  struct mechd_excess *x)
{
    if (!take(c, x)) {
        return false;
    }
    const uint64_t number = append(f, u, c, id);
    if (number == 0) {
        give_back(c);
        return false;
    }
    (void)mechd_store_given(f->store, MECHD_NUMBER_FMU, number);
    return true;
}

int mechd_fmus_add(struct mechd_fmus *f, struct mechd_fmu_package *package,
                   struct mechd_account *account, char *id, struct mechd_excess *x)
{
    struct mechd_fmu *const u = calloc(1, sizeof *u);
    struct charge *const c = calloc(1, sizeof *c);
    *x = (struct mechd_excess){.which = MECHD_QUOTAS};
    if (u == NULL || c == NULL) {
        free(u);
        free(c);
        return MECH_NO_MEMORY;
    }
    *c = (struct charge){f, account, package->size + package->unpacked};
    u->package = mechd_fmu_package_ref(package);
    snprintf(u->owner, sizeof u->owner, "%s", account->name);
    if (!enter(f, u, c, id, x)) {
        destroy(u);
        free(c);
        return MECH_UNSUPPORTED;
    }
    return 0;
}

struct mechd_fmu_package *mechd_fmus_find(struct mechd_fmus *f, const char *id, char *owner)
{
    struct mechd_fmu_package *found = NULL;
    pthread_mutex_lock(&f->m);
    for (const struct mechd_fmu *u = f->first; u != NULL && found == NULL; u = u->next) {
        if (strcmp(u->id, id) == 0) {
            found = mechd_fmu_package_ref(u->package);
            if (owner != NULL) {
                snprintf(owner, MECH_NAME_MAX + 1, "%s", u->owner);
            }
        }
    }
    pthread_mutex_unlock(&f->m);
    return found;
}

int mechd_fmus_remove(struct mechd_fmus *f, const char *id, const char *owner)
{
    struct mechd_fmu *before = NULL;
    pthread_mutex_lock(&f->m);
    struct mechd_fmu *u = f->first;
    while (u != NULL && strcmp(u->id, id) != 0) {
        before = u;
        u = u->next;
    }
    const bool may = u != NULL && (owner == NULL || strcmp(owner, u->owner) == 0);
    if (may) {
        *(before != NULL ? &before->next : &f->first) = u->next;
        f->last = f->last == u ? before : f->last;
        f->count--;
    }
    pthread_mutex_unlock(&f->m);
    if (may) {
        // files are removed without the lock
        destroy(u);
    }
    return may ? 0 : u == NULL ? MECH_NOT_FOUND : MECH_UNSUPPORTED;
}

int mechd_fmus_list(struct mechd_fmus *f, struct mechd_fmu **out, size_t *count)
{
    size_t n = 0;
    pthread_mutex_lock(&f->m);
    struct mechd_fmu *const list = calloc(f->count + 1, sizeof *list);
    for (const struct mechd_fmu *u = f->first; list != NULL && u != NULL; u = u->next) {
        list[n] = *u;
        list[n++].package = mechd_fmu_package_ref(u->package);
    }
    pthread_mutex_unlock(&f->m);
    *out = list;
    *count = n;
    return list != NULL ? 0 : MECH_NO_MEMORY;
}

void mechd_fmus_list_free(struct mechd_fmu *list, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        mechd_fmu_package_unref(list[k].package);
    }
    free(list);
}
