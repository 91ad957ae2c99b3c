/* Lanes of a sweep: they compute its points. Internal to server/sweep. */
#pragma once

#include "server/sweep/sweep.h"

/* [count], the caller frees; NULL: no memory. */
struct mechd_sweep_lane *mechd_sweep_lanes_make(struct mechd_sweep *s, int count);
/* To the pool, each with a reference that the caller has taken for it. */
void mechd_sweep_lanes_start(struct mechd_sweep *s);
