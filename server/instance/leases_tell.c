/* What is shown of leases, and said of a conflict. */
#include "server/instance/leases_internal.h"

#include "protocol/wire/bodies.h"
#include "server/os/ticks.h"
#include "solver/base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* That moment on the calendar: UTC, RFC 3339. */
static void write_moment(uint64_t moment, char out[40])
{
    struct timespec wall;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &wall);
    const int64_t left = (int64_t)(moment - mechd_now());
    const int64_t ns = (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec + left;
    const time_t seconds = (time_t)(ns / 1000000000);
    gmtime_r(&seconds, &parts);
    const size_t n = strftime(out, 40, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(out + n, 40 - n, ".%03dZ", (int)(ns % 1000000000 / 1000000));
}

enum mechp_code mechd_holder_code(const struct mechd_holder *h)
{
    return h->role >= 0 && h->of == MECHD_LEASE_OF_COUPLING ? MECHP_IN_COUPLING
                                                            : MECHP_FOREIGN_LEASE;
}

const char *mechd_holder_tell(const struct mechd_holder *h, const char *id, char *out, size_t size)
{
    char until[48] = "";
    if (h->role < 0) {
        mech_text_format(out, size,
                         "the lease is not valid: it has ended or was never issued by %.64s", id);
        return out;
    }
    if (h->of == MECHD_LEASE_OF_COUPLING && h->name[0] == '\0') {
        mech_text_format(out, size, "%.64s takes part in a coupling that is being created", id);
        return out;
    }
    if (h->of == MECHD_LEASE_OF_COUPLING) {
        mech_text_format(out, size, "%.64s takes part in coupling %.64s", id, h->name);
        return out;
    }
    if (h->expires != UINT64_MAX) {
        memcpy(until, " until ", 8);
        write_moment(h->expires, until + 7);
    }
    const char *const name = h->name[0] != '\0' ? h->name : "an unnamed client";
    if (h->role == MECHD_ROLE_OBSERVER) {
        mech_text_format(out, size, "%.64s is an observer of %.64s and may not change it", name,
                         id);
    } else if (h->channel[0] != '\0') {
        mech_text_format(out, size, "input %.64s of %.64s is held by %.64s (%s)%s", h->channel, id,
                         name, mechd_role_names[h->role], until);
    } else if (h->role == MECHD_ROLE_CO_DRIVER) {
        mech_text_format(out, size, "%.64s is a co-driver of %.64s and may set only its own inputs",
                         name, id);
    } else {
        mech_text_format(out, size, "%.64s is held by %.64s (%s)%s", id, name,
                         mechd_role_names[h->role], until);
    }
    return out;
}

static void write_channels(const void *of, struct mechp_text *w)
{
    const struct mechd_lease *const x = of;
    mechp_text_array(w);
    for (size_t k = 0; k < x->channel_count; k++) {
        mechp_text_string(w, x->channels[k]);
    }
    mechp_text_end(w);
}

/* Members of a lease, with its number or MECHP_ABSENT. */
static void write_lease(const struct mechd_lease *x, uint64_t now, uint64_t number,
                        struct mechp_text *w)
{
    char expires[40];
    const bool ends = x->seconds > 0.;
    const uint64_t end = x->acts > 0 && ends ? now + (uint64_t)(1e9 * x->seconds) : x->expires;
    if (ends) {
        write_moment(end, expires);
    }
    const struct mechp_body_lease body = {.lease = number,
                                          .role = mechd_role_names[x->role],
                                          .name = x->name,
                                          .channels = {write_channels, x},
                                          .seconds = ends ? x->seconds : (double)NAN,
                                          .expires = ends ? expires : NULL,
                                          .left = ends ? 1e-3 * floor(1e-6 * (double)(end - now))
                                                       : (double)NAN};
    MECHP_WRITE_MEMBERS(lease, &body, w);
}

bool mechd_leases_write_one(struct mechd_leases *l, uint64_t number, struct mechp_text *w)
{
    const uint64_t now = mechd_now();
    pthread_mutex_lock(&l->m);
    const struct mechd_lease *const x = mechd_lease_find(l, number, now);
    if (x != NULL) {
        write_lease(x, now, number, w);
    }
    pthread_mutex_unlock(&l->m);
    return x != NULL;
}

void mechd_leases_write(struct mechd_leases *l, struct mechp_text *w)
{
    const uint64_t now = mechd_now();
    mechp_text_array(w);
    pthread_mutex_lock(&l->m);
    for (const struct mechd_lease *x = l->first; x != NULL; x = x->next) {
        if (mechd_lease_lasts(x, now)) {
            mechp_text_object(w);
            write_lease(x, now, MECHP_ABSENT, w);
            mechp_text_end(w);
        }
    }
    pthread_mutex_unlock(&l->m);
    mechp_text_end(w);
}
