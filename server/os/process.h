/* What the kernel says about this process. Linux; any thread. */
#pragma once

#include <stdint.h>

struct mechd_process {
    double processor;          /* s, user and system, all threads */
    uint64_t resident;         /* bytes; 0: not known */
    int descriptors;           /* open; 0: not known */
    uint64_t descriptors_most; /* that may be open */
};

/* What cannot be read stays 0. */
void mechd_process_read(struct mechd_process *p);
