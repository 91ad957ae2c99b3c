/* Confines the calling process for good, before it loads a library that nothing is known of.
 *
 * Afterwards it can read below one folder, and libraries of the system where the linker looks for
 * them; it can compute, take memory up to a limit, make threads, and write to descriptors that are
 * open already. It cannot write, make or remove files, open sockets, start processes, send signals
 * to others, or see more of the system than the time, and of paths whether they are there and what
 * stat(2) and readlink(2) say of them, which Landlock does not judge. What is refused fails with
 * EPERM (system calls, by seccomp) or EACCES (files, by Landlock), and is not the end of the
 * process.
 *
 *     const struct mechd_jail jail = {.folder = folder, .memory = (uint64_t)1 << 30};
 *     if (mechd_jail_close(&jail, fault, sizeof fault) != 0) { … fault … }
 *
 * Called once, by the only thread of its process. Linux 5.13 for Landlock; a kernel without it, or
 * without seccomp, is an outcome, and nothing foreign is loaded then.
 * Source: seccomp(2), landlock(7), setrlimit(2). */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum mechd_jail_outcome {
    MECHD_JAIL_LIMITS = 1, /* a limit is refused */
    MECHD_JAIL_FILES,      /* files cannot be confined: no Landlock, or no such folder */
    MECHD_JAIL_CALLS       /* system calls cannot be: no seccomp */
};

struct mechd_jail {
    const char *folder; /* absolute; what is below it is readable */
    uint64_t memory;    /* bytes of address space, with libraries; 0: no limit */
};

/* 0, or an outcome with its reason in fault [size]; the process is then confined in part, and ends
 * itself. */
int mechd_jail_close(const struct mechd_jail *jail, char *fault, size_t size);
