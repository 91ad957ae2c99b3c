/* The documentation of an FMU for people: one page of HTML, without script, that opens from the
 * archive's folder. */
#pragma once

#include "protocol/fmi/description.h"

/* Append the page: what the FMU is, its variables with causality, unit, start and description, how
 * it steps. 0; MECH_NO_MEMORY. */
int mechp_fmi_guide(const struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                    const struct mechp_fmi_about *about, struct mechp_text *w);
/* The same with picture.svg beside it. */
int mechp_fmi_guide_with_picture(const struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                                 const struct mechp_fmi_about *about, struct mechp_text *w);
