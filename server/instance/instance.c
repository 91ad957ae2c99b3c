/* References to an instance, its account, its marks, and what it shows. */
#include "server/instance/instance.h"

#include <stdio.h>
#include <string.h>

bool mechd_instance_charge(struct mechd_instance *i, enum mechd_quota which, uint64_t amount,
                           struct mechd_excess *x)
{
    if (i->account == NULL) {
        return true;
    }
    const bool taken = mechd_account_take(i->account, which, amount, x);
    if (taken) {
        atomic_fetch_add(&i->charged[which], amount);
    }
    return taken;
}

void mechd_instance_refund(struct mechd_instance *i, enum mechd_quota which, uint64_t amount)
{
    // if it has been closed meanwhile, this has been refunded
    uint64_t charged = atomic_load(&i->charged[which]);
    uint64_t less = 0;
    do {
        less = amount < charged ? amount : charged;
    } while (!atomic_compare_exchange_weak(&i->charged[which], &charged, charged - less));
    if (i->account != NULL) {
        mechd_account_give(i->account, which, less);
    }
}

bool mechd_instance_open(struct mechd_instance *i, struct mechd_account *account,
                         struct mechd_excess *x)
{
    const uint64_t memory = mechd_engine_memory(&i->engine);
    i->account = account;
    if (mechd_instance_charge(i, MECHD_QUOTA_INSTANCES, 1, x) &&
        mechd_instance_charge(i, MECHD_QUOTA_COORDINATES, (uint64_t)i->size, x) &&
        mechd_instance_charge(i, MECHD_QUOTA_MEMORY, memory, x)) {
        return true;
    }
    mechd_instance_close(i);
    return false;
}

void mechd_instance_close(struct mechd_instance *i)
{
    for (int k = 0; k < MECHD_QUOTA_HELD; k++) {
        mechd_instance_refund(i, (enum mechd_quota)k, UINT64_MAX);
    }
}

void mechd_instance_ref(struct mechd_instance *i)
{
    atomic_fetch_add(&i->refs, 1);
}

void mechd_instance_unref(struct mechd_instance *i)
{
    if (i != NULL && atomic_fetch_sub(&i->refs, 1) == 1) {
        i->calls->destroy(i);
    }
}

bool mechd_instance_hash(const struct mechd_instance *i, uint64_t *out)
{
    if (i->hashes != NULL) {
        return i->hashes(i, out);
    }
    if (!mechd_engine_hashes(&i->engine)) {
        return false;
    }
    *out = mechd_engine_hash(&i->engine);
    return true;
}

void mechd_instance_described(struct mechd_instance *i)
{
    pthread_mutex_lock(&i->p);
    i->published.revision = atomic_fetch_add(&i->revision, 1) + 1;
    pthread_mutex_unlock(&i->p);
}

void mechd_instance_peek(struct mechd_instance *i, struct mechd_published *out, double *values)
{
    pthread_mutex_lock(&i->p);
    *out = i->published;
    if (values != NULL) {
        memcpy(values, i->published.values, i->output_size * sizeof *values);
    }
    pthread_mutex_unlock(&i->p);
    out->values = values;
}

/* The digits of a number in front of `end`; where they begin. */
static char *digits_before(char *end, uint64_t number, unsigned base)
{
    do {
        *--end = "0123456789abcdef"[number % base];
        number /= base;
    } while (number > 0);
    return end;
}

void mechd_instance_etag(const struct mechd_instance *i, char *out)
{
    // every answer has one: by hand, which takes a tenth of snprintf
    char text[48];
    char *const end = text + sizeof text;
    char *at = end;
    *--at = '\0';
    *--at = '"';
    at = digits_before(at, atomic_load(&i->revision), 10);
    *--at = '.';
    at = digits_before(at, i->incarnation, 16);
    *--at = '"';
    memcpy(out, at, (size_t)(end - at));
}

void mechd_instance_life(const struct mechd_instance *i, char *out)
{
    // a store gives a key once, and incarnations once in all its processes
    const bool stored = i->durable.key != 0;
    snprintf(out, MECHD_LIFE, "%s%llx", stored ? "k" : "",
             stored ? (unsigned long long)i->durable.key : (unsigned long long)i->incarnation);
}

bool mechd_instance_matches(const struct mechd_instance *i, const char *tags, char *out)
{
    if (tags == NULL) {
        return true;
    }
    mechd_instance_etag(i, out);
    if (strcmp(tags, "*") == 0) {
        return true;
    }
    const size_t length = strlen(out), life = strcspn(out, ".") + 1;
    for (const char *at = tags; *at != '\0';) {
        at += strspn(at, ", \t");
        const bool weak = strncmp(at, "W/", 2) == 0;
        const char *const tag = weak ? at + 2 : at;
        const char *const end = *tag == '"' ? strchr(tag + 1, '"') : NULL;
        if (end == NULL) {
            return false; // no list of tags
        }
        const size_t size = (size_t)(end + 1 - tag);
        const bool same = size == length && memcmp(tag, out, length) == 0;
        // any revision of this life
        const bool lives = size == life + 2 && memcmp(tag, out, life) == 0 && tag[life] == '*';
        if (!weak && (same || lives)) {
            return true;
        }
        at = end + 1;
    }
    return false;
}
