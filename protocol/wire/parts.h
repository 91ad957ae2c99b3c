/* A body whose long lists of numbers are binary parts behind its JSON:
 *
 *   offset 0  magic "MECHPART"          16  size of the JSON, bytes u64
 *          8  version u32 (1)           24  size of each part, bytes u64, a multiple of 8
 *         12  number of parts n u32     24 + 8 n  the JSON, then the parts, float64
 *
 * Little-endian; nothing follows. In the JSON {"part": k} stands for the list of the numbers of
 * part k, from 0, and {"part": k, "shape": [r, c]} for r lists of c of them: the rows of a matrix,
 * the entries of a sparse one ([n, 3]), a diagonal, a vector. Each part is used once, and its
 * numbers are finite. An object with the member "part" and others, but no "shape", is no such one.
 *
 *   struct mechp_parts p;
 *   if (mechp_parts_are(bytes, size) && mechp_parts_open(bytes, size, limits, &p, &fault) == 0 &&
 *       mechp_json_parse(p.json, p.json_size, limits, &fault, &root) == 0 &&
 *       mechp_parts_expand(&p, &root, &diag) == 0) { … as if the numbers were in the text … }
 *
 * Any thread.
 */
#pragma once

#include "protocol/wire/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MECHP_PARTS_TYPE "application/vnd.mechd.parts"

enum {
    MECHP_PARTS_HEADER = 24,
    MECHP_PARTS_MOST = 1024 /* in one body */
};

struct mechp_parts {
    const char *json;
    size_t json_size;
    size_t count;
    size_t tree;                 /* memory that the numbers take in the tree, bytes */
    size_t most;                 /* of them and of the lists of rows, bytes */
    const unsigned char *sizes;  /* [8 × count] in the bytes */
    const unsigned char *values; /* the parts, one after the other */
};

/* True if the bytes begin as such a body. */
bool mechp_parts_are(const void *bytes, size_t size);
/* Point into the bytes. 0; MECH_INVALID with the fault: MALFORMED_REQUEST (damaged),
 * BODY_TOO_LARGE (more numbers than the limits allow). */
int mechp_parts_open(const void *bytes, size_t size, const struct mechp_json_limits *limits,
                     struct mechp_parts *out, struct mechp_json_fault *fault);
/* Replace what stands for the parts in the tree by their numbers; the root may be exchanged. 0;
 * MECH_INVALID: faults with their places are in d, also more rows than the limits
 * of the opening allow; MECH_NO_MEMORY. The tree is the caller's in any
 * case. */
int mechp_parts_expand(const struct mechp_parts *p, json_t **root, struct mech_diag *d);
