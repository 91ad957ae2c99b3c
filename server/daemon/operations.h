/* The table of operations that the daemon hands to the service: every route's, by its number. */
#pragma once

struct mechd_operation;

extern const struct mechd_operation *const mechd_operations[]; /* [MECHP_ROUTES] */
