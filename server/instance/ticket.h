/* Answers that wait for the disk. shared. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

struct mechd_stored_receipt;

/* Zeroed before use; inside what is answered. */
struct mechd_ticket {
    struct mechd_ticket *next; /* in a list of lost ones (group.h) */
    _Atomic int state;
    const struct mechd_stored_receipt *receipt; /* to be stored with the record, or NULL */
    int outcome; /* once answered: 0, or it is not on disk and has been undone */
    /* on the store's thread, in mechd_ticket_wait, or in mechd_group_answer */
    void (*answer)(struct mechd_ticket *t);
};
/* Called before the answer is sent: true when it is sent later, by `answer`. `suspend` is called
 * just before that is possible; may be NULL. */
bool mechd_ticket_wait(struct mechd_ticket *t, void (*suspend)(void *context), void *context);

/* The answer waits from now on. */
void mechd_ticket_take(struct mechd_ticket *t);
/* The answer of a ticket. */
void mechd_ticket_settle(struct mechd_ticket *t, int outcome);
/* A ticket that is refused before anything is on its way. */
void mechd_ticket_refuse(struct mechd_ticket *t, int outcome);
