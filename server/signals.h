/* Signals: caught by a handler, told to main. */
#pragma once

/* Before any thread starts: catch SIGTERM, SIGINT and SIGHUP, ignore SIGPIPE. Once per process.
 * 0; -1: no pipe. */
int mechd_signals_catch(void);
/* Sleep until one of them comes, or has come since; returns its number. Main only. */
int mechd_signals_wait(void);
