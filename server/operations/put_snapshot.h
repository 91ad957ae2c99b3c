/* The bytes of a snapshot, model included, put into an instance of the same model. */
#pragma once

#include "server/call/call.h"

/* State, inputs and parameters of the call's instance become those of the bytes; its model stays.
 * False: refused with the reason (damaged, another model and where it differs first, a state that
 * does not fit), and nothing has changed. As owner. */
bool mechd_put_snapshot(struct mechd_call *c, const void *bytes, size_t size, bool *reproducible);
/* The same of bytes as base64, the member "snapshot" of a body. */
bool mechd_put_snapshot_text(struct mechd_call *c, const char *text, bool *reproducible);
