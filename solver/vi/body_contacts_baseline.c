/* The loops over groups of four contacts, two lanes at a time: what every processor can do; see
 * body_contacts_visit.h. */
#define MECH_LANES_TWO
#include "solver/vi/body_contacts_visit.h"

LOOPS(groups, MECH_LANES);
