/* What the FMU that keeps values of every type does besides. */
#pragma once

#define SHELF_TOKEN "{shelf}"

/* It keeps so many variables of each type, with references from 0; those beyond are refused. */
enum { SHELF_VARIABLES = 3 };
/* A step that would pass this time is discarded by 2.0, which came so far; nothing but a state may
 * follow. */
#define SHELF_PART 5.25
/* A step that begins at or after this time ends, by 2.0 and 3.0, half-way: it wants to end. */
#define SHELF_END 10.
/* One that begins at or after this time ends where it should but for an ulp. */
#define SHELF_LATE 20.
