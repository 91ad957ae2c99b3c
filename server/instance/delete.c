/* An instance is deleted, in memory and on the disk. */
#include "server/instance/host.h"

bool mechd_instance_delete(struct mechd_instance *i, struct mechd_ticket *t)
{
    int lives = MECHD_LIVES;
    if (!atomic_compare_exchange_strong(&i->life, &lives, MECHD_ENDING)) {
        return false;
    }
    const bool waits = t != NULL && i->durable.key != 0;
    const int outcome = mechd_durable_end(i, t);
    if (waits && outcome != 0) {
        mechd_instance_deleted(i, false);
        mechd_ticket_refuse(t, outcome);
    } else if (!waits) {
        mechd_instance_deleted(i, true);
    }
    return true;
}
