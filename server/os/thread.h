/* Names of threads, as tools of the system show them (top -H, gdb, /proc/PID/task/TID/comm). */
#pragma once

/* That of the present thread: at most 15 characters, the rest is cut off. */
void mechd_thread_name(const char *name);
