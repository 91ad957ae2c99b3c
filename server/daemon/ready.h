/* The ready file: written once everything listens, with the actual endpoints as JSON. */
#pragma once

struct mechd;

/* Written to a temporary file and renamed, so that no reader sees a partial file. Negative: it
 * cannot be written. */
int mechd_ready_write(const struct mechd *d);
void mechd_ready_remove(const struct mechd *d);
