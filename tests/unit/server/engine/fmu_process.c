/* An FMU in a process of its own: it computes, and a fault of it ends that process alone. */
#include "server/engine/fmu_process.h"

#include "tests/fmus/controller.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TIME, U, Y, GAIN, ON, MOOD };

static char folder[] = "/tmp/mechd-hosted-XXXXXX";
static const char *const platforms[] = {"linux64", "x86_64-linux", "aarch64-linux"};
static int logs;

static void count_log(void *context, int status, const char *category, const char *message)
{
    logs += status == 0 && category[0] != 0 && message[0] != 0;
}

static void copy_file(const char *from, const char *to)
{
    static char bytes[1 << 20];
    FILE *const in = fopen(from, "rb"), *const out = fopen(to, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    const size_t n = fread(bytes, 1, sizeof bytes, in);
    CU_ASSERT(n > 0 && n < sizeof bytes);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, n, out), n);
    (void)fclose(in);
    (void)fclose(out);
}

/* The folder of an unpacked FMU, for every platform the same. */
static void make_folder(void)
{
    char path[256];
    if (strchr(folder, 'X') == NULL || mkdtemp(folder) == NULL) {
        return;
    }
    (void)snprintf(path, sizeof path, "%s/binaries", folder);
    CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
    for (size_t k = 0; k < sizeof platforms / sizeof *platforms; k++) {
        (void)snprintf(path, sizeof path, "%s/binaries/%s", folder, platforms[k]);
        CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
        (void)snprintf(path, sizeof path, "%s/binaries/%s/controller.so", folder, platforms[k]);
        copy_file(MECH_TESTS_CONTROLLER, path);
    }
}

static void remove_folder(void)
{
    char path[256];
    for (size_t k = 0; k < sizeof platforms / sizeof *platforms; k++) {
        (void)snprintf(path, sizeof path, "%s/binaries/%s/controller.so", folder, platforms[k]);
        (void)unlink(path);
        (void)snprintf(path, sizeof path, "%s/binaries/%s", folder, platforms[k]);
        (void)rmdir(path);
    }
    (void)snprintf(path, sizeof path, "%s/binaries", folder);
    (void)rmdir(path);
    CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static struct mechd_hosted_options options(enum mechd_fmi_version version)
{
    make_folder();
    (void)signal(SIGPIPE, SIG_IGN);
    return (struct mechd_hosted_options){.program = MECH_TESTS_HOST,
                                         .folder = folder,
                                         .identifier = "controller",
                                         .token = CONTROLLER_TOKEN,
                                         .name = "one",
                                         .version = version,
                                         .memory = MECH_TESTS_MEMORY,
                                         .logging = true,
                                         .log = count_log};
}

static struct mechd_hosted *opened(const struct mechd_hosted_options *o)
{
    struct mechd_hosted *h = NULL;
    char fault[320] = "";
    const int rc = mechd_hosted_open(o, &h, fault, sizeof fault);
    if (rc != 0) {
        (void)fprintf(stderr, "%d %s\n", rc, fault);
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(h);
    return h;
}

static void put_values(struct mechd_hosted *h, uint32_t verb, enum mechd_fmu_type type,
                       uint32_t size, uint32_t reference)
{
    struct mechd_pipe_message *const m = mechd_hosted_question(h);
    mechd_pipe_begin(m, verb);
    mechd_pipe_put_u32(m, (uint32_t)type);
    mechd_pipe_put_u32(m, 1);
    mechd_pipe_put_u32(m, size);
    mechd_pipe_put_u32(m, 1);
    mechd_pipe_put_u32(m, reference);
}

static int set_real(struct mechd_hosted *h, uint32_t reference, double value)
{
    put_values(h, MECHD_FMU_SET, MECHD_FMU_FLOAT64, sizeof value, reference);
    mechd_pipe_put_f64(mechd_hosted_question(h), &value, 1);
    return mechd_hosted_ask(h, NULL);
}

static int set_mood(struct mechd_hosted *h, int32_t mood)
{
    put_values(h, MECHD_FMU_SET, MECHD_FMU_INT32, sizeof mood, MOOD);
    mechd_pipe_put(mechd_hosted_question(h), &mood, sizeof mood);
    return mechd_hosted_ask(h, NULL);
}

static double get_real(struct mechd_hosted *h, uint32_t reference)
{
    double value = NAN;
    put_values(h, MECHD_FMU_GET, MECHD_FMU_FLOAT64, sizeof value, reference);
    CU_ASSERT_EQUAL(mechd_hosted_ask(h, NULL), 0);
    mechd_pipe_get_f64(mechd_hosted_answer(h), &value, 1);
    CU_ASSERT(mechd_pipe_whole(mechd_hosted_answer(h)));
    return value;
}

static int ask(struct mechd_hosted *h, uint32_t verb)
{
    mechd_pipe_begin(mechd_hosted_question(h), verb);
    return mechd_hosted_ask(h, NULL);
}

static void put_step(struct mechd_hosted *h, double time, double size)
{
    struct mechd_pipe_message *const m = mechd_hosted_question(h);
    mechd_pipe_begin(m, MECHD_FMU_STEP);
    mechd_pipe_put_f64(m, (const double[]){time, size}, 2);
}

static int step(struct mechd_hosted *h, double time, double size)
{
    put_step(h, time, size);
    return mechd_hosted_ask(h, NULL);
}

/* Ready to step. */
static struct mechd_hosted *begun(const struct mechd_hosted_options *o)
{
    struct mechd_hosted *const h = opened(o);
    mechd_pipe_begin(mechd_hosted_question(h), MECHD_FMU_ENTER);
    mechd_pipe_put_f64(mechd_hosted_question(h), (const double[]){NAN, 1., NAN}, 3);
    CU_ASSERT_EQUAL(mechd_hosted_ask(h, NULL), 0);
    CU_ASSERT_EQUAL(ask(h, MECHD_FMU_EXIT), 0);
    return h;
}

static void it_computes(enum mechd_fmi_version version)
{
    const struct mechd_hosted_options o = options(version);
    struct mechd_hosted *const h = begun(&o);
    CU_ASSERT_EQUAL(get_real(h, TIME), 1.);
    CU_ASSERT_EQUAL(set_real(h, GAIN, 2.), 0);
    CU_ASSERT_EQUAL(set_real(h, U, 3.), 0);
    CU_ASSERT_EQUAL(get_real(h, Y), 6.);
    logs = 0;
    CU_ASSERT_EQUAL(step(h, 1., 0.5), 0);
    double reached = 0.;
    mechd_pipe_get_f64(mechd_hosted_answer(h), &reached, 1);
    CU_ASSERT_EQUAL(reached, 1.5);
    CU_ASSERT_EQUAL(mechd_pipe_get_u32(mechd_hosted_answer(h)), 0);
    CU_ASSERT_EQUAL(get_real(h, Y), 9.);
    CU_ASSERT_EQUAL(logs, version == MECHD_FMI_3 ? 1 : 0);
    // refused, and nothing is lost
    CU_ASSERT_EQUAL(set_real(h, Y, 1.), MECHD_HOSTED_REFUSED);
    CU_ASSERT_EQUAL(mechd_hosted_status(h), 3);
    CU_ASSERT_EQUAL(get_real(h, Y), 9.);
    mechd_hosted_close(h);
}

static void an_fmu_of_version_2_computes(void)
{
    logs = 0;
    it_computes(MECHD_FMI_2);
}

static void an_fmu_of_version_3_computes(void)
{
    it_computes(MECHD_FMI_3);
}

static void booleans_of_version_2_are_converted(void)
{
    const struct mechd_hosted_options o = options(MECHD_FMI_2);
    struct mechd_hosted *const h = begun(&o);
    const unsigned char off = 0;
    unsigned char on = 1;
    put_values(h, MECHD_FMU_SET, MECHD_FMU_BOOLEAN, 1, ON);
    mechd_pipe_put(mechd_hosted_question(h), &off, 1);
    CU_ASSERT_EQUAL(mechd_hosted_ask(h, NULL), 0);
    put_values(h, MECHD_FMU_GET, MECHD_FMU_BOOLEAN, 1, ON);
    CU_ASSERT_EQUAL(mechd_hosted_ask(h, NULL), 0);
    mechd_pipe_get(mechd_hosted_answer(h), &on, 1);
    CU_ASSERT_EQUAL(on, 0);
    mechd_hosted_close(h);
}

static void a_state_is_saved_and_restored(void)
{
    const struct mechd_hosted_options o = options(MECHD_FMI_3);
    struct mechd_hosted *const h = begun(&o);
    char state[256];
    CU_ASSERT_EQUAL(set_real(h, U, 1.), 0);
    CU_ASSERT_EQUAL(step(h, 1., 1.), 0);
    CU_ASSERT_EQUAL(ask(h, MECHD_FMU_SAVE), 0);
    const size_t size = mechd_hosted_answer(h)->size;
    CU_ASSERT_FATAL(size > 0 && size < sizeof state);
    mechd_pipe_get(mechd_hosted_answer(h), state, size);
    CU_ASSERT_EQUAL(step(h, 2., 1.), 0);
    CU_ASSERT_EQUAL(get_real(h, Y), 3.);
    mechd_pipe_begin(mechd_hosted_question(h), MECHD_FMU_RESTORE);
    mechd_pipe_put(mechd_hosted_question(h), state, size);
    CU_ASSERT_EQUAL(mechd_hosted_ask(h, NULL), 0);
    CU_ASSERT_EQUAL(get_real(h, Y), 2.);
    mechd_hosted_close(h);
    // 2.0 of the tests' FMU has no states
    const struct mechd_hosted_options two = options(MECHD_FMI_2);
    struct mechd_hosted *const other = begun(&two);
    CU_ASSERT_EQUAL(ask(other, MECHD_FMU_SAVE), MECHD_HOSTED_REFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(mechd_hosted_reason(other), "fmi2GetFMUstate"));
    mechd_hosted_close(other);
}

static void expect_gone(int mood, const char *reason, uint64_t ms)
{
    struct mechd_hosted_options o = options(MECHD_FMI_3);
    o.call_ms = ms;
    struct mechd_hosted *const neighbour = begun(&o), *const h = begun(&o);
    CU_ASSERT_EQUAL(set_mood(h, mood), 0);
    CU_ASSERT_EQUAL(step(h, 1., 1.), MECHD_HOSTED_GONE);
    if (strstr(mechd_hosted_reason(h), reason) == NULL) {
        (void)fprintf(stderr, "%s (not %s)\n", mechd_hosted_reason(h), reason);
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(mechd_hosted_reason(h), reason));
    CU_ASSERT_EQUAL(step(h, 1., 1.), MECHD_HOSTED_GONE);
    mechd_hosted_close(h);
    CU_ASSERT_EQUAL(step(neighbour, 1., 1.), 0);
    mechd_hosted_close(neighbour);
}

static void what_ends_its_process_ends_itself_alone(void)
{
    // AddressSanitizer takes the signal itself, and cannot look for leaks where it is confined
    expect_gone(CONTROLLER_CRASHES, UNIT_SANITIZED ? "code 1" : "crashed (signal 11", 0);
    expect_gone(CONTROLLER_ABORTS, "aborted (signal 6", 0);
    expect_gone(CONTROLLER_EXITS, UNIT_SANITIZED ? "code 1" : "code 7", 0);
    expect_gone(CONTROLLER_BABBLES, "an invalid answer", 0);
}

static bool at_third(void *context)
{
    return ++*(int *)context == 3;
}

static void an_endless_step_is_stopped(void)
{
    const struct mechd_hosted_options o = options(MECHD_FMI_3);
    struct mechd_hosted *const h = begun(&o);
    int asked = 0;
    CU_ASSERT_EQUAL(set_mood(h, CONTROLLER_LOOPS), 0);
    put_step(h, 1., 1.);
    CU_ASSERT_EQUAL(mechd_hosted_ask(h, &(struct mechd_hosted_stop){at_third, NULL, &asked}),
                    MECHD_HOSTED_GONE);
    CU_ASSERT_PTR_NOT_NULL(strstr(mechd_hosted_reason(h), "still computing"));
    mechd_hosted_close(h);
}

static bool always(void *context)
{
    (void)context;
    return true;
}

/* The FMU has sent more when the first of its messages has been read. */
static void log_slowly(void *context, int status, const char *category, const char *message)
{
    if (logs++ == 0) {
        // steady: that time passes between two messages is the subject
        (void)poll(NULL, 0, 20);
    }
}

/* One whose messages come without a pause is asked all the same. */
static void a_step_that_logs_without_a_pause_is_stopped(void)
{
    static const uint32_t both[] = {U, Y};
    struct mechd_hosted_options o = options(MECHD_FMI_3);
    o.log = log_slowly;
    struct mechd_hosted *const h = begun(&o);
    CU_ASSERT_EQUAL(set_mood(h, CONTROLLER_LOGS), 0);
    put_step(h, 1., 1.);
    logs = 0;
    CU_ASSERT_EQUAL(mechd_hosted_ask(h, &(struct mechd_hosted_stop){always, NULL, NULL}),
                    MECHD_HOSTED_GONE);
    CU_ASSERT_PTR_NOT_NULL(strstr(mechd_hosted_reason(h), "still computing"));
    CU_ASSERT(logs <= 1);
    mechd_hosted_close(h);
    // by its own return, where it has one
    o.can = MECHD_FMU_RETURNS | MECHD_FMU_VARIABLE_STEP;
    o.required = both;
    o.required_count = sizeof both / sizeof *both;
    struct mechd_hosted *const other = begun(&o);
    double reached = 0.;
    CU_ASSERT_EQUAL(set_mood(other, CONTROLLER_LOGS), 0);
    put_step(other, 1., 1.);
    logs = 0;
    CU_ASSERT_EQUAL(mechd_hosted_ask(other, &(struct mechd_hosted_stop){always, NULL, NULL}), 0);
    mechd_pipe_get_f64(mechd_hosted_answer(other), &reached, 1);
    CU_ASSERT_EQUAL(reached, 1.25);
    mechd_hosted_close(other);
}

static bool urgent_at_third(void *context)
{
    int *const asked = context;
    return ++asked[1] == 3;
}

static bool count_and_stop(void *context)
{
    ++*(int *)context;
    return true;
}

/* One that was asked to return early, and does not, ends when it has to: not after its ten seconds,
 * and without being asked again whether to stop. */
static void an_urgent_stop_does_not_wait_for_a_return(void)
{
    struct mechd_hosted_options o = options(MECHD_FMI_3);
    int asked[] = {0, 0};
    o.can = MECHD_FMU_RETURNS | MECHD_FMU_VARIABLE_STEP;
    struct mechd_hosted *const h = begun(&o);
    CU_ASSERT_EQUAL(set_mood(h, CONTROLLER_LOOPS), 0);
    put_step(h, 1., 1.);
    const struct mechd_hosted_stop stop = {count_and_stop, urgent_at_third, asked};
    CU_ASSERT_EQUAL(mechd_hosted_ask(h, &stop), MECHD_HOSTED_GONE);
    CU_ASSERT_PTR_NOT_NULL(strstr(mechd_hosted_reason(h), "still computing"));
    CU_ASSERT_EQUAL(asked[0], 1);
    CU_ASSERT_EQUAL(asked[1], 3);
    mechd_hosted_close(h);
}

static void an_answer_without_memory_for_it_ends_the_process(void)
{
    const struct mechd_hosted_options o = options(MECHD_FMI_2);
    struct mechd_hosted *const h = begun(&o);
    // there is none yet
    mechd_pipe_fini(mechd_hosted_answer(h));
    alloc_refuse_start(0, true);
    const int outcome = step(h, 1., 1.);
    CU_ASSERT(alloc_refuse_stop() > 0);
    CU_ASSERT_EQUAL(outcome, MECHD_HOSTED_GONE);
    CU_ASSERT_PTR_NOT_NULL(strstr(mechd_hosted_reason(h), "no memory"));
    // what is left of that answer is not taken for another one
    CU_ASSERT_EQUAL(step(h, 2., 1.), MECHD_HOSTED_GONE);
    CU_ASSERT_PTR_NOT_NULL(strstr(mechd_hosted_reason(h), "no memory"));
    mechd_hosted_close(h);
}

static void what_it_may_not_fails_in_the_fmu(void)
{
    for (int mood = CONTROLLER_WRITES; mood <= CONTROLLER_GROWS; mood++) {
        const struct mechd_hosted_options o = options(MECHD_FMI_3);
        struct mechd_hosted *const h = begun(&o);
        CU_ASSERT_EQUAL(set_mood(h, mood), 0);
        const bool bounded = mood != CONTROLLER_GROWS || MECH_TESTS_MEMORY > 0;
        CU_ASSERT_EQUAL(step(h, 1., 1.), bounded ? MECHD_HOSTED_REFUSED : 0);
        CU_ASSERT_EQUAL(set_mood(h, CONTROLLER_BEHAVES), 0);
        CU_ASSERT_EQUAL(step(h, 1., 1.), 0);
        mechd_hosted_close(h);
    }
    CU_ASSERT_EQUAL(access("/tmp/mechd-tests-fmu-was-here", F_OK), -1);
}

static void what_cannot_be_opened_is_refused_with_its_reason(void)
{
    struct mechd_hosted_options o = options(MECHD_FMI_3);
    struct mechd_hosted *h = NULL;
    char fault[320] = "";
    o.token = "{another}";
    CU_ASSERT_EQUAL(mechd_hosted_open(&o, &h, fault, sizeof fault), MECHD_HOSTED_REFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, "cannot be instantiated"));
    o = options(MECHD_FMI_3);
    o.identifier = "other";
    CU_ASSERT_EQUAL(mechd_hosted_open(&o, &h, fault, sizeof fault), MECHD_HOSTED_REFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, "other.so"));
    o = options(MECHD_FMI_3);
    o.program = "/tmp/mechd-no-such-program";
    CU_ASSERT_EQUAL(mechd_hosted_open(&o, &h, fault, sizeof fault), MECHD_HOSTED_NOT_STARTED);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, "mechd-no-such-program"));
    o = options(MECHD_FMI_3);
    o.folder = "/tmp/mechd-no-such-folder";
    CU_ASSERT_EQUAL(mechd_hosted_open(&o, &h, fault, sizeof fault), MECHD_HOSTED_REFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, "cannot be confined: /tmp/mechd-no-such-folder"));
    // without a descriptor left
    struct rlimit usual;
    o = options(MECHD_FMI_3);
    CU_ASSERT_EQUAL(getrlimit(RLIMIT_NOFILE, &usual), 0);
    const struct rlimit none = {0, usual.rlim_max};
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
    const int rc = mechd_hosted_open(&o, &h, fault, sizeof fault);
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &usual), 0);
    CU_ASSERT_EQUAL(rc, MECHD_HOSTED_NOT_STARTED);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, "no socket"));
    CU_ASSERT_PTR_NULL(h);
}

static void questions_out_of_place_are_refused(void)
{
    const struct mechd_hosted_options o = options(MECHD_FMI_3);
    struct mechd_hosted *const h = begun(&o);
    CU_ASSERT_EQUAL(ask(h, MECHD_FMU_STEP), MECHD_HOSTED_REFUSED);
    CU_ASSERT_EQUAL(ask(h, MECHD_FMU_OPEN), MECHD_HOSTED_REFUSED);
    CU_ASSERT_EQUAL(ask(h, 77), MECHD_HOSTED_REFUSED);
    put_values(h, MECHD_FMU_GET, MECHD_FMU_STRING, 8, U);
    CU_ASSERT_EQUAL(mechd_hosted_ask(h, NULL), MECHD_HOSTED_REFUSED);
    put_values(h, MECHD_FMU_GET, MECHD_FMU_INT8, 1, U);
    CU_ASSERT_EQUAL(mechd_hosted_ask(h, NULL), MECHD_HOSTED_REFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(mechd_hosted_reason(h), "fmi3GetInt8"));
    CU_ASSERT_EQUAL(step(h, 1., 1.), 0);
    mechd_hosted_close(h);
    // the last test removes what the first has made
    remove_folder();
}

UNIT_TESTS(UNIT_TEST(an_fmu_of_version_2_computes), UNIT_TEST(an_fmu_of_version_3_computes),
           UNIT_TEST(booleans_of_version_2_are_converted), UNIT_TEST(a_state_is_saved_and_restored),
           UNIT_TEST(what_ends_its_process_ends_itself_alone),
           UNIT_TEST(an_endless_step_is_stopped),
           UNIT_TEST(a_step_that_logs_without_a_pause_is_stopped),
           UNIT_TEST(an_urgent_stop_does_not_wait_for_a_return),
           UNIT_TEST(an_answer_without_memory_for_it_ends_the_process),
           UNIT_TEST(what_it_may_not_fails_in_the_fmu),
           UNIT_TEST(what_cannot_be_opened_is_refused_with_its_reason),
           UNIT_TEST(questions_out_of_place_are_refused))
