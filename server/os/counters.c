#include "server/os/counters.h"

unsigned mechd_tally_place(void)
{
    static _Atomic unsigned threads;      // that have counted; each for itself
    static _Thread_local unsigned number; // of this one, from 1
    if (number == 0) {
        number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1;
    }
    return number % MECHD_TALLIES;
}

struct mechd_tally *mechd_tally(struct mechd_counters *c)
{
    return &c->tallies[mechd_tally_place()];
}
