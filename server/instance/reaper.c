/* The timer of what ends by the clock. */
#include "server/instance/reaper.h"

#include "server/instance/host.h"
#include "server/os/ticks.h"

static const uint64_t gap_least = 20 * (uint64_t)MECHD_MS;
static const uint64_t gap_each = 20000;

/* The timer for r->due, not too soon after the last walk; the reaper is locked. */
static void arm(struct mechd_reaper *r)
{
    struct mechd_clock *const clock = &r->host->clock;
    (void)mechd_clock_cancel(clock, &r->timer);
    if (r->due != 0) {
        const uint64_t soonest = r->last + r->gap;
        // at the end of the daemon the clock refuses: nothing ends any more
        (void)mechd_clock_arm(clock, &r->timer, r->due > soonest ? r->due : soonest);
    }
}

static void run_walk(struct mechd_task *task)
{
    struct mechd_reaper *const r =
        (struct mechd_reaper *)((char *)task - offsetof(struct mechd_reaper, task));
    size_t seen = 0;
    const uint64_t next = r->walk(r->host, &seen);
    pthread_mutex_lock(&r->m);
    if (next != 0 && (r->due == 0 || next < r->due)) {
        r->due = next;
    }
    r->last = mechd_now();
    r->gap = gap_least + gap_each * seen;
    r->walking = false;
    arm(r);
    pthread_mutex_unlock(&r->m);
}

static void fire(struct mechd_timer *timer)
{
    struct mechd_reaper *const r =
        (struct mechd_reaper *)((char *)timer - offsetof(struct mechd_reaper, timer));
    pthread_mutex_lock(&r->m);
    const bool begin = !r->walking && !mechd_host_drains(r->host);
    if (begin) {
        r->walking = true;
        r->due = 0;
    }
    pthread_mutex_unlock(&r->m);
    if (begin) {
        mechd_pool_push(&r->host->pool, &r->task);
    }
}

void mechd_reaper_init(struct mechd_reaper *r, struct mechd_host *host,
                       uint64_t (*walk)(struct mechd_host *host, size_t *seen))
{
    *r =
        (struct mechd_reaper){.host = host, .walk = walk, .timer.fire = fire, .task.run = run_walk};
    r->gap = gap_least;
    pthread_mutex_init(&r->m, NULL);
}

void mechd_reaper_fini(struct mechd_reaper *r)
{
    if (r->host != NULL) {
        pthread_mutex_destroy(&r->m);
    }
}

void mechd_reaper_meet(struct mechd_reaper *r, uint64_t due)
{
    if (r->host == NULL || due == 0) {
        return;
    }
    pthread_mutex_lock(&r->m);
    if (r->due == 0 || due < r->due) {
        r->due = due;
        if (!r->walking) {
            arm(r);
        }
    }
    pthread_mutex_unlock(&r->m);
}
