/* The loops over contacts, one lane at a time: what every processor can do; see
 * body_contacts_visit.h. */
#include "solver/vi/body_contacts_visit.h"

LOOPS(singles, 1);
LOOPS(groups, MECH_LANES);
