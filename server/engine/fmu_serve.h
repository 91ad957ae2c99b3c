/* The loop of mechd-fmu: answers the questions of fmu_verbs.h about one FMU. */
#pragma once

/* Answers what comes through the socket until that is closed or a message closes it, then closes
 * the FMU. The first question that opens one confines the calling process for good (fmu_jail.h).
 * Once a process, by its only thread. */
void mechd_fmu_serve(int socket);
