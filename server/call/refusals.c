/* Why a call is refused, and the problem that says so. */
#include "server/call/call.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <stdarg.h>

enum mechd_progress mechd_fail(struct mechd_call *c, enum mechp_code code, const char *format, ...)
{
    c->code = code;
    va_list args;
    va_start(args, format);
    mech_text_format_list(c->detail, sizeof c->detail, format, args);
    va_end(args);
    return MECHD_DONE;
}

enum mechd_progress mechd_fail_outcome(struct mechd_call *c, int outcome)
{
    return mechd_fail(c, mechp_code_of_outcome(outcome), "%s", mech_err_text(outcome));
}

enum mechd_progress mechd_fail_quota(struct mechd_call *c, const struct mechd_excess *x)
{
    c->code = MECHP_QUOTA_EXCEEDED;
    c->excess = *x;
    (void)mechd_excess_tell(x, c->detail, sizeof c->detail);
    return MECHD_DONE;
}

enum mechd_progress mechd_fail_lease(struct mechd_call *c, const struct mechd_instance *i,
                                     const struct mechd_holder *holder)
{
    c->code = mechd_holder_code(holder);
    (void)mechd_holder_tell(holder, i->id, c->detail, sizeof c->detail);
    return MECHD_DONE;
}

bool mechd_call_faulty(struct mechd_call *c)
{
    if (!mech_diag_clean(&c->diag) && c->code == MECHP_OK) {
        c->code = MECHP_INVALID_REQUEST;
    }
    return !mech_diag_clean(&c->diag);
}

void mechd_call_problem(const void *call, struct mechp_text *w)
{
    const struct mechd_call *const c = call;
    const bool report = c->report.length > 0 && !c->report.failed;
    char room[160];
    struct mechp_text quota;
    mechp_text_init(&quota, room, sizeof room);
    if (c->code == MECHP_QUOTA_EXCEEDED) {
        mechd_excess_write(&c->excess, &quota);
    }
    const struct mechp_problem problem = {
        .quota = quota.length > 0 && !quota.failed ? quota.bytes : NULL,
        .quota_length = quota.length,
        .code = c->code,
        .detail = c->detail[0] != '\0' ? c->detail : NULL,
        .diag = mech_diag_clean(&c->diag) ? NULL : &c->diag,
        .report = report ? c->report.bytes : NULL,
        .report_length = c->report.length,
    };
    mechp_problem_write(&problem, w);
    mechp_text_fini(&quota);
}
