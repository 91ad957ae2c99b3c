/* The ready file: written once everything listens, with the actual endpoints as JSON. */
#pragma once

struct mechd;

/* Written to a temporary file and renamed, so that no reader sees a partial file; a device, a FIFO
 * and what a link leads to are written to as they are. Negative: it cannot be written, errno says
 * why. */
int mechd_ready_write(const struct mechd *d);
/* Removed, unless it is one of these. */
void mechd_ready_remove(const struct mechd *d);
