/* The table of operations that the daemon passes to the service: one per route, by its number. */
#pragma once

struct mechd_operation;

extern const struct mechd_operation *const mechd_operations[]; /* [MECHP_ROUTES] */
