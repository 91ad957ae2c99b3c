/* What a confined process can still do, and what it cannot: each in a child that confines itself.
 * A child ends with 0 if the call came out as it is expected to. */
#define _GNU_SOURCE
#include "server/engine/fmu_jail.h"

#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_CLOSED = 99, CAME_OUT_OTHERWISE = 1 };

/* sanitizers reserve terabytes */
static const uint64_t memory = UNIT_SANITIZED ? 0 : (uint64_t)1 << 30;

static char folder[] = "/tmp/mechd-jail-XXXXXX";
static char inside[64];

static int confined(void *context)
{
    char fault[256];
    const struct mechd_jail jail = {.folder = folder, .memory = memory};
    int (*const *const try)(void) = context;
    return mechd_jail_close(&jail, fault, sizeof fault) != 0 ? NOT_CLOSED : (*try)();
}

static void make_folder(void)
{
    if (inside[0] == 0 && mkdtemp(folder) != NULL) {
        (void)snprintf(inside, sizeof inside, "%s/a", folder);
        const int file = open(inside, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        CU_ASSERT_EQUAL(write(file, "x", 1), 1);
        (void)close(file);
    }
}

static void expect(int (*try)(void))
{
    make_folder();
    const int status = unit_status_of(confined, &try);
    CU_ASSERT(WIFEXITED(status));
    CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
}

static int fails_with(long rc, int error)
{
    return rc == -1 && errno == error ? 0 : CAME_OUT_OTHERWISE;
}

static int reads_inside(void)
{
    char byte = 0;
    const int file = open(inside, O_RDONLY | O_CLOEXEC);
    return file >= 0 && read(file, &byte, 1) == 1 && byte == 'x' ? 0 : CAME_OUT_OTHERWISE;
}

static int reads_outside(void)
{
    return fails_with(open("/etc/passwd", O_RDONLY | O_CLOEXEC), EACCES);
}

static int lists_outside(void)
{
    return fails_with(open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC), EACCES);
}

static int reads_itself(void)
{
    return fails_with(open("/proc/self/maps", O_RDONLY | O_CLOEXEC), EACCES);
}

static int writes_inside(void)
{
    return fails_with(open(inside, O_WRONLY | O_CLOEXEC), EACCES);
}

static int makes_a_file(void)
{
    char path[80];
    (void)snprintf(path, sizeof path, "%s/b", folder);
    return fails_with(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), EACCES);
}

static int removes_a_file(void)
{
    return fails_with(unlink(inside), EPERM);
}

static int changes_a_mode(void)
{
    return fails_with(chmod(inside, 0777), EPERM);
}

static int opens_a_socket(void)
{
    return fails_with(socket(AF_INET, SOCK_STREAM, 0), EPERM) |
           fails_with(socket(AF_UNIX, SOCK_STREAM, 0), EPERM);
}

static int forks(void)
{
    return fails_with(fork(), EPERM);
}

static int executes(void)
{
    char *const arguments[] = {NULL};
    return fails_with(execv("/bin/true", arguments), EPERM);
}

static int signals_its_parent(void)
{
    return fails_with(kill(getppid(), 0), EPERM);
}

static int makes_a_folder(void)
{
    return fails_with(mkdir(inside, 0700), EPERM);
}

static void *thread(void *context)
{
    *(int *)context = 1;
    return NULL;
}

static int makes_a_thread(void)
{
    pthread_t id;
    int ran = 0;
    return pthread_create(&id, NULL, thread, &ran) == 0 && pthread_join(id, NULL) == 0 && ran == 1
               ? 0
               : CAME_OUT_OTHERWISE;
}

static int loads_a_library(void)
{
    return dlopen("libexpat.so.1", RTLD_NOW | RTLD_LOCAL) != NULL ? 0 : CAME_OUT_OTHERWISE;
}

static int asks_for_much(void)
{
    const size_t much = (size_t)100 << 30;
    void *const at = mmap(NULL, much, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED && errno == ENOMEM ? 0 : CAME_OUT_OTHERWISE;
}

static int aborts(void)
{
    abort();
}

static void it_reads_below_its_folder_alone(void)
{
    expect(reads_inside);
    expect(reads_outside);
    expect(lists_outside);
    expect(reads_itself);
}

static void it_changes_no_file(void)
{
    expect(writes_inside);
    expect(makes_a_file);
    expect(removes_a_file);
    expect(changes_a_mode);
    expect(makes_a_folder);
}

static void it_reaches_no_network_and_no_process(void)
{
    expect(opens_a_socket);
    expect(forks);
    expect(executes);
    expect(signals_its_parent);
}

static void it_computes_in_threads_with_libraries(void)
{
    expect(makes_a_thread);
    expect(loads_a_library);
}

static void it_takes_memory_up_to_its_limit(void)
{
    if (memory > 0) {
        expect(asks_for_much);
    }
    CU_PASS("without a sanitizer alone");
}

static void it_can_abort(void)
{
    // in a child with memory of its own: a core dump ends all that share it
    int status = -1;
    int (*try)(void) = aborts;
    make_folder();
    const pid_t child = fork();
    if (child == 0) {
        _exit(confined(&try));
    }
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT(WIFSIGNALED(status));
    CU_ASSERT_EQUAL(WTERMSIG(status), SIGABRT);
}

static int misses_its_folder(void *context)
{
    char fault[256] = "";
    const struct mechd_jail jail = {.folder = "/tmp/mechd-no-such-folder"};
    const int rc = mechd_jail_close(&jail, fault, sizeof fault);
    return rc == MECHD_JAIL_FILES && strstr(fault, "mechd-no-such-folder") != NULL ? 0 : 1;
}

static void a_folder_that_is_not_there_is_an_outcome(void)
{
    const int status = unit_status_of(misses_its_folder, NULL);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    // the last test removes what the first has made
    (void)unlink(inside);
    (void)rmdir(folder);
}

/* A kernel, or a container around it, that refuses a part of the confinement. */
struct refusing {
    const char *call;
    int error;
    const struct scmp_arg_cmp *only; /* of its calls, or NULL: all */
    int outcome;
    const char *said;
};

static int is_told(void *context)
{
    const struct refusing *const r = context;
    const struct mechd_jail jail = {.folder = folder, .memory = memory};
    char fault[256] = "";
    const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    const int number = seccomp_syscall_resolve_name(r->call);
    if (filter == NULL ||
        seccomp_rule_add_array(filter, SCMP_ACT_ERRNO((uint32_t)r->error), number,
                               r->only != NULL ? 1 : 0, r->only) != 0 ||
        seccomp_load(filter) != 0) {
        return NOT_CLOSED;
    }
    seccomp_release(filter);
    return mechd_jail_close(&jail, fault, sizeof fault) == r->outcome &&
                   strstr(fault, r->said) != NULL && strstr(fault, strerror(r->error)) != NULL
               ? 0
               : CAME_OUT_OTHERWISE;
}

static void what_the_kernel_refuses_is_reported(void)
{
    const struct scmp_arg_cmp sets = SCMP_A2(SCMP_CMP_NE, 0, 0), makes = SCMP_A2(SCMP_CMP_EQ, 0, 0);
    struct refusing cases[] = {
        {"prctl", EPERM, NULL, MECHD_JAIL_CALLS, "no new privileges"},
        {"prlimit64", EPERM, &sets, MECHD_JAIL_LIMITS, ""},
        {"landlock_create_ruleset", ENOSYS, NULL, MECHD_JAIL_FILES,
         "cannot restrict access to files"},
        {"landlock_create_ruleset", EMFILE, &makes, MECHD_JAIL_FILES, "rules for files"},
        {"landlock_add_rule", EBADFD, NULL, MECHD_JAIL_FILES, folder},
        {"landlock_restrict_self", E2BIG, NULL, MECHD_JAIL_FILES, folder},
        {"seccomp", ECANCELED /* as libseccomp has it */, NULL, MECHD_JAIL_CALLS, "seccomp"}};
    make_folder();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int status = unit_status_of(is_told, &cases[k]);
        CU_ASSERT(WIFEXITED(status));
        CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
        if (WEXITSTATUS(status) != 0) {
            (void)fprintf(stderr, "without %s\n", cases[k].call);
        }
    }
}

UNIT_TESTS(UNIT_TEST(what_the_kernel_refuses_is_reported),
           UNIT_TEST(it_reads_below_its_folder_alone), UNIT_TEST(it_changes_no_file),
           UNIT_TEST(it_reaches_no_network_and_no_process),
           UNIT_TEST(it_computes_in_threads_with_libraries),
           UNIT_TEST(it_takes_memory_up_to_its_limit), UNIT_TEST(it_can_abort),
           UNIT_TEST(a_folder_that_is_not_there_is_an_outcome))
