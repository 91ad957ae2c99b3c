/* Runs: an instance stepped by the daemon itself, paced by the clock or as fast as it goes.
 *
 * A run is a chain of jobs, one period each (several in one job when it is free of the clock), so
 * that other commands get their turn between two periods and every period is a communication step
 * that the stream and the live events see. The chain holds one reference, the instance another.
 * Fields without a mark belong to the instance's owner.
 */
#pragma once

#include "protocol/wire/text.h"
#include "server/clock.h"
#include "server/instance/stepping.h"

enum mechd_run_state { MECHD_RUN_RUNNING, MECHD_RUN_FINISHED, MECHD_RUN_STOPPED, MECHD_RUN_FAILED };

struct mechd_run_settings {
    double pace;    /* seconds of simulation per second; 0: free */
    double period;  /* communication step, s */
    double until;   /* end time, or NaN */
    uint64_t every; /* periods from one recorded row to the next; 0: nothing is recorded */
};

/* Bytes of recorded rows that one run may have. */
static const size_t mechd_run_rows_bytes = (size_t)64 << 20;

struct mechd_run {
    struct mechd_job job;     /* first */
    struct mechd_timer timer; /* the next period of a paced run */
    _Atomic int refs;
    uint64_t id;                        /* const */
    struct mechd_run_settings settings; /* const */
    uint64_t start;                     /* const: ns, when period 0 began */
    double time;                        /* const: s, where period 0 began */
    _Atomic bool active;                /* the chain goes on; partner: finish */
    uint64_t due;                       /* the chain's: when the next period begins, ns */
    enum mechd_run_state state;
    uint64_t periods;  /* done */
    uint64_t shift;    /* ns by which overruns have moved the schedule */
    uint64_t overruns; /* periods that began more than one period late */
    struct mechd_stepping stepping;
    /* recorded: time and all outputs at the start, then every so many periods, and at the end */
    double *rows;      /* [capacity][width], `count` used; NULL: not recorded */
    size_t width;      /* const */
    uint64_t capacity; /* const */
    uint64_t count;
};

/* Rows that such a run can have, from the present on; as owner. Needs an end and `every`. */
double mechd_run_rows(const struct mechd_instance *i, const struct mechd_run_settings *s);

/* Start; as owner. 0; negative. */
int mechd_run_start(struct mechd_instance *i, const struct mechd_run_settings *settings);
/* Stop at once, between two periods; as owner. */
void mechd_run_stop(struct mechd_instance *i);
void mechd_run_unref(struct mechd_run *r);

/* Its description, as one JSON object; as owner. */
void mechd_run_write(const struct mechd_run *r, struct mechp_text *w);
