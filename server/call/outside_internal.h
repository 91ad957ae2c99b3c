/* What the files of an outside share (outside.h); each with its m held, except where noted. */
#pragma once

#include "server/call/outside.h"

/* Into the index, by a hash (its lease, in that one), and out of it; false: it was not there. Any
 * thread. */
void mechd_outside_list(struct mechd_outside_index *x, enum mechd_outside_key key,
                        struct mechd_outside *o, uint64_t hash);
bool mechd_outside_unlist(struct mechd_outside_index *x, enum mechd_outside_key key,
                          struct mechd_outside *o);
/* By coupling and name, and by the lease of its connection: a reference, or NULL. Any thread;
 * without its m. */
struct mechd_outside *mechd_outside_named(struct mechd_outsides *t, const char *coupling,
                                          const char *name);
struct mechd_outside *mechd_outside_leased(struct mechd_outsides *t, uint64_t lease);

/* The connection ends here: its lease is no longer one. */
void mechd_outside_let_go(struct mechd_outside *o);
/* The same, and the program is sent a bye, unless `next` is its connection: its place is over. */
void mechd_outside_dismiss(struct mechd_outside *o, const struct mechd_caller *next);
/* False: the token of its connection has been revoked. */
bool mechd_outside_still(struct mechd_outside *o);
/* What the stage sends, and its values. */
const struct mechp_frame *mechd_outside_stage(const struct mechd_outside *o, const double **values);
/* The first stage of a question. */
enum mechd_outside_stage mechd_outside_first(const struct mechd_outside *o);
/* Send what is asked, if that has not been done. */
void mechd_outside_send(struct mechd_outside *o);
/* The question fails by this. */
void mechd_outside_blame(struct mechd_outside *o, enum mechp_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The answer is not awaited any more, and may still come. */
void mechd_outside_miss(struct mechd_outside *o);
