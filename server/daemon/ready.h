/* The ready file: written once everything listens, with the real endpoints as JSON. */
#pragma once

struct mechd;

/* Written beside and renamed, so that no reader sees half of it. Negative: it cannot be written. */
int mechd_ready_write(const struct mechd *d);
void mechd_ready_remove(const struct mechd *d);
