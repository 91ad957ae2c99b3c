/* Expressions of a document that is faulty elsewhere: what cannot be compiled in them is reported
 * beside the other faults, though the passes that compile them do not run. */
#pragma once

#include "solver/items/document.h"

/* Faults of all expressions, as mech_scope_compile reports them, under `base` (path of the document
 * in what was sent, or "") into d; not where one is reported already, and none when the parameters
 * have a fault, because their names are not known then. 0 or negative. Thread: the owner of
 * the document and of the arena, which gives room for names. */
int mech_document_unknown(const struct mech_document *document, const char *base,
                          struct mech_arena *arena, struct mech_diag *d);
