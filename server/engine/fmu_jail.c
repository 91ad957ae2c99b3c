/* Limits first, then files, then system calls: each needs calls that the next one forbids. */
#define _GNU_SOURCE
#include "server/engine/fmu_jail.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DESCRIPTORS_MOST = 64, NONE = -1 };

static int refuse(int outcome, const char *what, int error, char *fault, size_t size)
{
    mech_text_format(fault, size, "%s: %s", what, strerror(error));
    return outcome;
}

/* --- limits ----------------------------------------------------------------------------------- */

static int set_limits(const struct mechd_jail *jail, char *fault, size_t size)
{
    const struct {
        __rlimit_resource_t resource;
        rlim_t most;
        const char *name;
    } limits[] = {
        {RLIMIT_CORE, 0, "the size of cores"},
        {RLIMIT_FSIZE, 0, "the size of files"},
        {RLIMIT_NOFILE, DESCRIPTORS_MOST, "the number of descriptors"},
        {RLIMIT_AS, jail->memory > 0 ? jail->memory : RLIM_INFINITY, "memory"},
    };
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        struct rlimit now;
        if (limits[k].most == RLIM_INFINITY) {
            continue;
        }
        // never above what the process was given
        const bool known = getrlimit(limits[k].resource, &now) == 0;
        const rlim_t most = known && now.rlim_max < limits[k].most ? now.rlim_max : limits[k].most;
        const struct rlimit limit = {most, most};
        if (setrlimit(limits[k].resource, &limit) != 0) {
            return refuse(MECHD_JAIL_LIMITS, limits[k].name, errno, fault, size);
        }
    }
    return 0;
}

/* --- files ------------------------------------------------------------------------------------ */

/* Rights of files by version of Landlock: from the first 13, then refer, truncate, ioctl. */
static uint64_t all_rights(long version)
{
    const int extra = version >= 5 ? 3 : version >= 3 ? 2 : version >= 2 ? 1 : 0;
    return ((uint64_t)1 << (13 + extra)) - 1;
}

/* What is below the path is readable. A path that is not there is no fault if it may be missing. */
static int allow(int rules, const char *path, bool may_miss)
{
    struct landlock_path_beneath_attr rule = {
        .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE,
        .parent_fd = open(path, O_PATH | O_CLOEXEC | O_DIRECTORY),
    };
    if (rule.parent_fd != NONE) {
        rule.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
    } else if (errno == ENOTDIR) {
        rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    }
    if (rule.parent_fd == NONE) {
        return may_miss ? 0 : errno;
    }
    const long rc = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    const int error = rc == 0 ? 0 : errno;
    (void)close(rule.parent_fd);
    return error;
}

static int confine_files(const struct mechd_jail *jail, char *fault, size_t size)
{
    // where the dynamic linker finds the libraries of the system
    static const char *const libraries[] = {"/lib", "/lib64", "/usr/lib", "/usr/lib64",
                                            "/etc/ld.so.cache"};
    const long version =
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1) {
        return refuse(MECHD_JAIL_FILES, "this kernel cannot restrict access to files (Landlock)",
                      errno, fault, size);
    }
    const struct landlock_ruleset_attr attributes = {.handled_access_fs = all_rights(version)};
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes,
                                   sizeof attributes.handled_access_fs, 0);
    if (rules == NONE) {
        return refuse(MECHD_JAIL_FILES, "rules for files", errno, fault, size);
    }
    int error = allow(rules, jail->folder, false);
    for (size_t k = 0; k < sizeof libraries / sizeof *libraries && error == 0; k++) {
        error = allow(rules, libraries[k], true);
    }
    if (error == 0 && syscall(SYS_landlock_restrict_self, rules, 0) != 0) {
        error = errno;
    }
    (void)close(rules);
    return error == 0 ? 0 : refuse(MECHD_JAIL_FILES, jail->folder, error, fault, size);
}

/* --- system calls ----------------------------------------------------------------------------- */

/* Those a library may use with any arguments; names that an architecture lacks are passed over. */
static const char *const allowed[] = {
    // descriptors that are open, and files, which Landlock judges
    "read", "readv", "pread64", "write", "writev", "pwrite64", "close", "lseek", "fstat", "stat",
    "lstat", "newfstatat", "statx", "open", "openat", "access", "faccessat", "faccessat2",
    "readlink", "readlinkat", "getcwd", "getdents64", "dup", "poll", "ppoll", "fadvise64",
    // memory
    "mmap", "munmap", "mprotect", "mremap", "madvise", "brk", "membarrier", "get_mempolicy",
    // threads and signals of its own
    "futex", "set_robust_list", "get_robust_list", "rseq", "set_tid_address", "sched_yield",
    "sched_getaffinity", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack",
    "restart_syscall", "gettid", "getpid", "exit", "exit_group",
    // time and what else is only read
    "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time",
    "getrandom", "uname", "sysinfo", "getrusage", "times", "getuid", "geteuid", "getgid",
    "getegid"};

static int allow_call(scmp_filter_ctx filter, const char *name, const struct scmp_arg_cmp *only)
{
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) {
        return 0;
    }
    const int rc =
        seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number, only != NULL ? 1 : 0, only);
    // the calls of other architectures have negative numbers
    return number < 0 ? 0 : rc;
}

static int fill(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp thread = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD);
    const struct scmp_arg_cmp own = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0);
    const struct scmp_arg_cmp reads = SCMP_A2(SCMP_CMP_EQ, 0, 0);
    const struct scmp_arg_cmp name = SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME, 0);
    const struct scmp_arg_cmp flags = SCMP_A1(SCMP_CMP_EQ, F_GETFL, 0);
    for (size_t k = 0; k < sizeof allowed / sizeof *allowed; k++) {
        MECH_TRY(allow_call(filter, allowed[k], NULL));
    }
    MECH_TRY(allow_call(filter, "clone", &thread));
    MECH_TRY(allow_call(filter, "tgkill", &own)); // abort(3)
    MECH_TRY(allow_call(filter, "prlimit64", &reads));
    MECH_TRY(allow_call(filter, "prctl", &name));
    MECH_TRY(allow_call(filter, "fcntl", &flags));
    // the C library then makes its threads by clone, whose flags can be seen
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

static int confine_calls(char *fault, size_t size)
{
    const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    int rc = filter != NULL ? fill(filter) : -ENOMEM;
    if (rc == 0) {
        rc = seccomp_load(filter);
    }
    seccomp_release(filter);
    return rc == 0 ? 0 : refuse(MECHD_JAIL_CALLS, "system calls (seccomp)", -rc, fault, size);
}

int mechd_jail_close(const struct mechd_jail *jail, char *fault, size_t size)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return refuse(MECHD_JAIL_CALLS, "no new privileges", errno, fault, size);
    }
    MECH_TRY(set_limits(jail, fault, size));
    MECH_TRY(confine_files(jail, fault, size));
    return confine_calls(fault, size);
}
