/* Records for the store, with their context: the instance, a ticket, space for copies. Internal to
 * the storing of instances (durable.c, run_store.c). owner: the creator, until it is posted; then
 * the store. */
#pragma once

#include "server/instance/instance.h"
#include "server/store/store.h"

struct mechd_group;
struct mechd_run;

struct mechd_entry {
    struct mechd_record r; /* first */
    struct mechd_instance *instance;
    struct mechd_ticket *ticket; /* or NULL */
    struct mechd_run *run;       /* a reference, or NULL: the run of these rows */
    struct mechd_group *group;   /* a reference, or NULL: that of the instance when it was made */
    uint64_t epoch;
    json_t *labels; /* DESCRIBE: what it replaces, or NULL */
    double ttl;
    char room[]; /* texts and bytes */
};

/* With `room` bytes after it, from x->room on; of a face the key is that of its runs. NULL: no
 * memory. */
struct mechd_entry *mechd_entry_create(struct mechd_instance *i, enum mechd_record_kind kind,
                                       size_t room);
/* Append bytes to the room; returns their address. */
const void *mechd_entry_append(char **room, const void *bytes, size_t size);
/* Bytes that a text takes there; NULL: none. */
size_t mechd_entry_text_room(const char *text);

/* The receipt that goes with a record. NULL: no memory. */
struct mechd_entry *mechd_entry_receipt(struct mechd_instance *i,
                                        const struct mechd_stored_receipt *r);

/* Append to a list that is written in one transaction. */
void mechd_entry_chain(struct mechd_entry **first, struct mechd_entry **last,
                       struct mechd_entry *x);
/* Append a list to another, which is not empty, in the same transaction. */
void mechd_entry_append_list(struct mechd_entry *first, struct mechd_entry *more);
/* A list is on its way to the store, as part of one that another posts: behind a record of its own,
 * to which all of them are glued. */
void mechd_entry_take_in(struct mechd_entry *first);
/* Hand a list to the store; the ticket, or NULL, is that of the first, with its receipt. */
void mechd_entry_post(struct mechd_entry *first, struct mechd_ticket *t);
/* Free a list that is not posted. */
void mechd_entry_destroy(struct mechd_entry *first);
