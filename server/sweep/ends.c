/* Why a point of a sweep must end. */
#include "server/call/service.h"
#include "server/sweep/point.h"
#include "server/sweep/sweep.h"

enum mechd_stop_reason mechd_sweep_asked(const struct mechd_sweep *s)
{
    return mechd_stop_reason(&s->stop);
}

enum mechd_stop_reason mechd_sweep_ends(const struct mechd_sweep *s)
{
    const enum mechd_stop_reason why = mechd_sweep_asked(s);
    return why != MECHD_STOP_NONE ? why : mechd_stop_reason(&s->service->host.drain);
}

enum mechd_stop_reason mechd_point_asks(const void *point)
{
    return mechd_sweep_ends(((const struct mechd_point *)point)->sweep);
}

bool mechd_point_ends(void *point)
{
    return mechd_point_asks(point) != MECHD_STOP_NONE;
}
