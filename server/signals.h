/* Signals: blocked in every thread, waited for by main. */
#pragma once

/* Before any thread starts: block SIGTERM, SIGINT and SIGHUP, ignore SIGPIPE. */
void mechd_signals_block(void);
/* Sleep until one of them comes; returns its number. */
int mechd_signals_wait(void);
