/* The bytes of a snapshot, model included, put into an instance of the same model. */
#pragma once

#include "server/call/call.h"
#include "server/instance/container.h"
#include "solver/base/diag.h"

/* State, inputs and parameters of the call's instance become those of the bytes; its model stays.
 * False: refused with the reason (damaged, another model and where it differs first, a state that
 * does not fit), and nothing has changed. As owner. */
bool mechd_put_snapshot(struct mechd_call *c, const void *bytes, size_t size, bool *reproducible);
/* The same of bytes as base64, the member "snapshot" of a body. */
bool mechd_put_snapshot_text(struct mechd_call *c, const char *text, bool *reproducible);

/* Its two halves, for instances of others than the call. The first reads and compares: *out points
 * into the bytes, or refused. The second makes that the state of the instance, which is not
 * published, or is refused, and the instance as it was. As owner. */
bool mechd_read_snapshot(struct mechd_call *c, const struct mech_sim *sim, const void *bytes,
                         size_t size, struct mechd_container *out);
bool mechd_adopt_snapshot(struct mechd_call *c, struct mechd_instance *i,
                          const struct mechd_container *in, bool *reproducible);

/* Where two documents differ first, if they do. */
bool mechd_documents_differ(const json_t *a, const json_t *b, struct mech_path *p);
