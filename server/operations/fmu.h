/* Models as FMUs, for the operations that write some. On the pool. */
#pragma once

#include "protocol/fmi/package.h"
#include "server/call/call.h"

/* The binary of all of them, packed; it is read at the first call, and constant. NULL: refused. */
const struct mechp_packed *mechd_fmu_binary(struct mechd_call *c);
/* A fresh simulation of a model's JSON text. NULL: refused. */
struct mech_sim *mechd_fmu_build(struct mechd_call *c, const struct mechp_text *document);
/* All of the archive up to the bytes of the binary, into zip->w: what is given, with the reference
 * results and the picture of this simulation of the document, which is fresh. False: refused. */
bool mechd_fmu_head(struct mechd_call *c, const struct mechp_fmi_content *given,
                    struct mech_sim *sim, struct mechp_zip *zip);
