/* An instance leaves the table. */
#include "server/instance/host.h"
#include "server/instance/traits.h"

void mechd_instance_deleted(struct mechd_instance *i, bool gone)
{
    int ending = MECHD_ENDING;
    if (gone && mechd_table_remove(&i->host->table, i)) {
        mechd_instance_end(i);
        (void)mechd_stop_raise(&i->ended, MECHD_STOP_DELETED);
        mechd_instance_close(i);
        mechd_tell_gone(i);
        mechd_count(&i->host->counters.deleted, 1);
        mechd_instance_unref(i);
    } else if (!gone) {
        // one whose creation has failed meanwhile has ended
        (void)atomic_compare_exchange_strong(&i->life, &ending, MECHD_LIVES);
        mechd_reaper_meet(&i->host->reaper, mechd_instance_ends(i));
    }
}

void mechd_instance_withdraw(struct mechd_instance *i)
{
    if (mechd_table_remove(&i->host->table, i)) {
        mechd_instance_end(i);
        mechd_instance_unref(i);
    }
}
