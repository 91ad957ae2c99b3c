/* The loops over single contacts; see body_contacts_visit.h. */
#include "solver/vi/body_contacts_visit.h"

LOOPS(singles, 1);
