/* Internals of the writer: fields as JSON values. Used by write*.c and by the printing of defaults.
 * owner: one request.
 */
#pragma once

#include "protocol/bind/bind.h"

struct mechp_writer {
    const struct mech_document *document; /* knows the expressions; NULL: none */
    struct mechp_text *w;
};

/* One member as a value; `preset`: the same member of a struct of defaults (read for STRUCT). */
void mechp_writer_field(struct mechp_writer *s, const struct mech_field *f, const void *at,
                        const void *preset);

/* A number, or the expression that is bound to this place. */
void mechp_writer_number(struct mechp_writer *s, const double *value);

/* In the written form that matches its storage. */
void mechp_writer_matrix(struct mechp_writer *s, const struct mech_mat *a);
