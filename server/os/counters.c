#include "server/os/counters.h"

struct mechd_tally *mechd_tally(struct mechd_counters *c)
{
    static _Atomic unsigned threads;      // that have counted; each for itself
    static _Thread_local unsigned number; // of this one, from 1
    if (number == 0) {
        number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1;
    }
    return &c->tallies[number % MECHD_TALLIES];
}
