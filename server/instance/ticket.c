#include "server/instance/ticket.h"

#include <stddef.h>

enum { NOT_TAKEN, ON_ITS_WAY, STORED, WAITED_FOR };

bool mechd_ticket_wait(struct mechd_ticket *t, void (*suspend)(void *context), void *context)
{
    // partner: settle, on the store's thread
    const int state = atomic_load(&t->state);
    if (state == NOT_TAKEN || (state == STORED && t->outcome == 0)) {
        return false;
    }
    if (suspend != NULL) {
        suspend(context);
    }
    if (atomic_exchange(&t->state, WAITED_FOR) == STORED) {
        t->answer(t);
    }
    return true;
}

void mechd_ticket_take(struct mechd_ticket *t)
{
    atomic_store(&t->state, ON_ITS_WAY);
}

void mechd_ticket_settle(struct mechd_ticket *t, int outcome)
{
    t->outcome = outcome;
    if (atomic_exchange(&t->state, STORED) == WAITED_FOR) {
        t->answer(t);
    }
}

void mechd_ticket_refuse(struct mechd_ticket *t, int outcome)
{
    if (t != NULL) {
        mechd_ticket_take(t);
        mechd_ticket_settle(t, outcome);
    }
}
