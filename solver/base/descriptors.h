/* Descriptors 0, 1 and 2 of a process that some launchers start without them.
 *
 *   int main(int argc, char **argv)
 *   {
 *       mech_descriptors_hold();      // first
 *
 * The next file or socket that is opened takes the lowest free number: log lines or output would
 * then be written into a database, a lock file or a connection. */
#pragma once

/* Put /dev/null, open for reading, where one of the three is closed: reads are empty, and
 * writes fail with EBADF as before, so that lost output is noticed. Where nothing can be opened,
 * they stay closed. Call before any other thread starts. */
void mech_descriptors_hold(void);
