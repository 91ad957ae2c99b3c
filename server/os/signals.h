/* Signals: blocked in every thread, taken by main.
 *
 * A program that links this file starts with SIGTERM, SIGINT and SIGHUP blocked, before the
 * constructors of its libraries: their threads, and all that are started later, block them. */
#pragma once

/* As in any program, one of them ends it. Main only, while nothing is to be ended in order. */
void mechd_signals_open(void);
/* From now on they wait to be taken; SIGPIPE, SIGXFSZ and SIGTTOU are ignored: the write fails
 * or is done. Main only. 0; -1: the system refuses. */
int mechd_signals_catch(void);
/* Sleep until one of them comes, or has come since; returns its number. Main only. */
int mechd_signals_wait(void);
