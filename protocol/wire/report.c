/* The report of a step for the step path: the members that it always has by their literals, the
 * others by the walker of bodies. */
#include "protocol/wire/bodies_stepping.h"
#include "protocol/wire/report_members.h"

#define COUNTED(key, type, doc, member, kind) +1
#define WRITTEN(key, type, doc, member, kind)                                                      \
    mechp_text_literal(w, key);                                                                    \
    mechp_text_##kind(w, body->member);

enum { ALWAYS = 0 MECHP_STEP_REPORT(COUNTED) };

void mechp_body_write_step_report(const struct mechp_body_step_report *body, struct mechp_text *w)
{
    const struct mechp_shape rest = {.members = mechp_body_step_report.members + ALWAYS};
    mechp_text_object(w);
    MECHP_STEP_REPORT(WRITTEN)
    mechp_body_members(&rest, body, w);
    mechp_text_end(w);
}
