/* Reads /proc/self (proc(5)): the second number of statm is the resident pages; the folder fd has
 * an
 * entry for each descriptor. */
#include "server/os/process.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t read_resident(void)
{
    unsigned long size = 0;
    unsigned long resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    const int n = file != NULL ? fscanf(file, "%lu %lu", &size, &resident) : 0;
    if (file != NULL) {
        fclose(file);
    }
    return n == 2 ? (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static int count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    for (const struct dirent *e = folder != NULL ? readdir(folder) : NULL; e != NULL;
         e = readdir(folder)) {
        count += e->d_name[0] != '.';
    }
    if (folder != NULL) {
        closedir(folder);
        count--; // the folder's own
    }
    return count;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

void mechd_process_read(struct mechd_process *p)
{
    *p = (struct mechd_process){.resident = read_resident(), .descriptors = count_descriptors()};
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        p->processor = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    }
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        p->descriptors_most = (uint64_t)limit.rlim_cur;
    }
}
