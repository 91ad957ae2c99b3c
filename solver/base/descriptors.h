/* Descriptors 0, 1 and 2 of a process that some launchers start without them.
 *
 *   int main(int argc, char **argv)
 *   {
 *       mech_descriptors_hold();      // first
 *
 * The next file or socket that is opened takes the lowest free number: what is then written as a
 * log or as output ends up in a database, a lock file or a connection. */
#pragma once

/* Put /dev/null, open for reading, where one of the three is closed: what is read is empty, what is
 * written fails with EBADF as before, so that lost output is noticed. Where nothing can be opened,
 * they stay closed. Before any other thread begins. */
void mech_descriptors_hold(void);
