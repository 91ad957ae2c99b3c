/* The loop of the process that hosts an FMU, asked by messages as the daemon does: each question
 * out of place or of another size is answered by what is wrong with it. */
#include "server/engine/fmu_serve.h"

#include "server/engine/fmu_description.h"
#include "server/engine/fmu_load.h"
#include "server/engine/fmu_pipe.h"
#include "server/engine/fmu_verbs.h"
#include "tests/fmus/controller.h"
#include "tests/fmus/shelf.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct mechd_pipe_wait forever;

struct host {
    int ours, its, status;
    pthread_t thread; /* that waits for the child, or */
    pid_t child;      /* with a sanitizer the child: a copy made by a thread may have a lock of the
                         allocator that another one held, for ever */
    struct mechd_pipe_message question, answer;
    const char *from; /* the library that it has as "shelf" */
    char folder[64], library[128];
};

/* It ends with this process, also when a test gives up. */
static int serve(void *context)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    mechd_fmu_serve(((const struct host *)context)->its);
    return 0;
}

static void *start_child(void *context)
{
    struct host *const h = context;
    h->status = unit_status_of(serve, h);
    return NULL;
}

/* "<folder>/binaries/<platform>/shelf.so"; made (1) or removed (0) with its folders. */
static void make_folder(struct host *h, bool make)
{
    char path[96], part[128];
    (void)snprintf(path, sizeof path, "%s/binaries", h->folder);
    (void)snprintf(part, sizeof part, "%s/%s", path, mechd_fmu_platform(MECHD_FMI_3));
    (void)snprintf(h->library, sizeof h->library, "%s/%s/shelf.so", path,
                   mechd_fmu_platform(MECHD_FMI_3));
    if (make) {
        CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
        CU_ASSERT_EQUAL(mkdir(part, 0700), 0);
        char command[512];
        (void)snprintf(command, sizeof command, "cp '%s' '%s'", h->from, h->library);
        CU_ASSERT_EQUAL_FATAL(system(command), 0);
    } else {
        CU_ASSERT_EQUAL(unlink(h->library), 0);
        CU_ASSERT_EQUAL(rmdir(part), 0);
        CU_ASSERT_EQUAL(rmdir(path), 0);
        CU_ASSERT_EQUAL(rmdir(h->folder), 0);
    }
}

static void begin_with(struct host *h, const char *library)
{
    int ends[2];
    *h = (struct host){.status = -1, .from = library, .folder = "/tmp/mechd-serve-XXXXXX"};
    (void)signal(SIGPIPE, SIG_IGN);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(h->folder));
    make_folder(h, true);
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    h->ours = ends[0];
    h->its = ends[1];
    if (UNIT_SANITIZED) {
        h->child = fork();
        CU_ASSERT_FATAL(h->child >= 0);
        if (h->child == 0) {
            _exit(serve(h));
        }
    } else {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&h->thread, NULL, start_child, h), 0);
    }
}

static void begin(struct host *h)
{
    begin_with(h, MECH_TESTS_SHELF);
}

/* The child ends by itself, with 0. */
static void end(struct host *h)
{
    if (UNIT_SANITIZED) {
        CU_ASSERT_EQUAL(waitpid(h->child, &h->status, 0), h->child);
    } else {
        CU_ASSERT_EQUAL(pthread_join(h->thread, NULL), 0);
    }
    CU_ASSERT(WIFEXITED(h->status));
    CU_ASSERT_EQUAL(WEXITSTATUS(h->status), 0);
    make_folder(h, false);
    (void)close(h->ours);
    (void)close(h->its);
    mechd_pipe_fini(&h->question);
    mechd_pipe_fini(&h->answer);
}

static struct mechd_pipe_message *question(struct host *h, uint32_t verb)
{
    mechd_pipe_begin(&h->question, verb);
    return &h->question;
}

/* 0, or the failure, with its text in h->answer. */
static uint32_t ask(struct host *h)
{
    CU_ASSERT_EQUAL_FATAL(mechd_pipe_send(h->ours, &h->question, &forever), 0);
    CU_ASSERT_EQUAL_FATAL(mechd_pipe_receive(h->ours, &h->answer, &forever), 0);
    if (h->answer.verb == MECHD_FMU_DONE) {
        return 0;
    }
    CU_ASSERT_EQUAL(h->answer.verb, MECHD_FMU_FAILED);
    const uint32_t failure = mechd_pipe_get_u32(&h->answer);
    (void)mechd_pipe_get_u32(&h->answer);
    return failure;
}

static uint32_t ask_open(struct host *h, uint32_t version, const char *folder, const char *token)
{
    struct mechd_pipe_message *const m = question(h, MECHD_FMU_OPEN);
    mechd_pipe_put_u32(m, version);
    mechd_pipe_put_u32(m, 0);
    mechd_pipe_put_u32(m, 0);
    mechd_pipe_put_u32(m, 1);
    mechd_pipe_put_text(m, folder);
    mechd_pipe_put_text(m, "shelf");
    mechd_pipe_put_text(m, token);
    mechd_pipe_put_text(m, "one");
    return ask(h);
}

/* One element of a variable, with sizes as they are said. */
static uint32_t exchange(struct host *h, uint32_t verb, uint32_t type, uint32_t size,
                         uint32_t count)
{
    struct mechd_pipe_message *const m = question(h, verb);
    const double value = 7.;
    mechd_pipe_put_u32(m, type);
    mechd_pipe_put_u32(m, 1);
    mechd_pipe_put_u32(m, size);
    mechd_pipe_put_u32(m, count);
    mechd_pipe_put_u32(m, 0);
    if (verb == MECHD_FMU_SET) {
        mechd_pipe_put_f64(m, &value, 1);
    }
    return ask(h);
}

static void a_whole_life_is_answered(void)
{
    static struct host h;
    begin(&h);
    CU_ASSERT_EQUAL_FATAL(ask_open(&h, MECHD_FMI_3, h.folder, SHELF_TOKEN), 0);
    mechd_pipe_put_f64(question(&h, MECHD_FMU_ENTER), (const double[]){NAN, 0., NAN}, 3);
    CU_ASSERT_EQUAL(ask(&h), 0);
    (void)question(&h, MECHD_FMU_EXIT);
    CU_ASSERT_EQUAL(ask(&h), 0);
    CU_ASSERT_EQUAL(exchange(&h, MECHD_FMU_SET, MECHD_FMU_FLOAT64, 8, 1), 0);
    CU_ASSERT_EQUAL(exchange(&h, MECHD_FMU_GET, MECHD_FMU_FLOAT64, 8, 1), 0);
    double value = 0.;
    mechd_pipe_get_f64(&h.answer, &value, 1);
    CU_ASSERT_EQUAL(value, 7.);
    mechd_pipe_put_f64(question(&h, MECHD_FMU_STEP), (const double[]){1., 0.5}, 2);
    CU_ASSERT_EQUAL(ask(&h), 0);
    mechd_pipe_get_f64(&h.answer, &value, 1);
    CU_ASSERT_EQUAL(value, 1.5);
    // watched: where it has ended, that it goes on, that there was no event
    mechd_pipe_put_f64(question(&h, MECHD_FMU_WATCHED), (const double[]){1.5, 0.5}, 2);
    mechd_pipe_put_u32(&h.question, 1);
    CU_ASSERT_EQUAL(ask(&h), 0);
    mechd_pipe_get_f64(&h.answer, &value, 1);
    CU_ASSERT_EQUAL(value, 2.);
    for (int k = 0; k < 3; k++) {
        CU_ASSERT_EQUAL(mechd_pipe_get_u32(&h.answer), 0);
    }
    CU_ASSERT(mechd_pipe_whole(&h.answer));
    // too late for the step: it has no answer
    (void)question(&h, MECHD_FMU_RETURN);
    CU_ASSERT_EQUAL(mechd_pipe_send(h.ours, &h.question, &forever), 0);
    (void)question(&h, MECHD_FMU_SAVE);
    CU_ASSERT_EQUAL(ask(&h), 0);
    const size_t size = h.answer.size;
    mechd_pipe_put(question(&h, MECHD_FMU_RESTORE), h.answer.bytes, size);
    CU_ASSERT_EQUAL(ask(&h), 0);
    (void)question(&h, MECHD_FMU_RESET);
    CU_ASSERT_EQUAL(ask(&h), 0);
    (void)question(&h, MECHD_FMU_CLOSE);
    CU_ASSERT_EQUAL(mechd_pipe_send(h.ours, &h.question, &forever), 0);
    end(&h);
}

/* A step that was not made is undone: what it was to return is not for the next one. */
static void what_was_for_a_step_is_forgotten_with_it(void)
{
    static struct host h;
    begin(&h);
    CU_ASSERT_EQUAL_FATAL(ask_open(&h, MECHD_FMI_3, h.folder, SHELF_TOKEN), 0);
    mechd_pipe_put_f64(question(&h, MECHD_FMU_ENTER), (const double[]){NAN, 0., NAN}, 3);
    CU_ASSERT_EQUAL(ask(&h), 0);
    (void)question(&h, MECHD_FMU_EXIT);
    CU_ASSERT_EQUAL(ask(&h), 0);
    (void)question(&h, MECHD_FMU_SAVE);
    CU_ASSERT_EQUAL(ask(&h), 0);
    const struct mechd_pipe_message saved = h.answer;
    h.answer = (struct mechd_pipe_message){0};
    const uint32_t trace[] = {8, 1, 0, MECHD_FMU_FLOAT64, 1};
    mechd_pipe_put(question(&h, MECHD_FMU_TRACE), trace, sizeof trace);
    CU_ASSERT_EQUAL(ask(&h), 0);
    mechd_pipe_put(question(&h, MECHD_FMU_RESTORE), saved.bytes, saved.size);
    CU_ASSERT_EQUAL(ask(&h), 0);
    free(saved.bytes);
    mechd_pipe_put_f64(question(&h, MECHD_FMU_STEP), (const double[]){0., 0.5}, 2);
    CU_ASSERT_EQUAL(ask(&h), 0);
    CU_ASSERT_EQUAL(h.answer.size, sizeof(double) + sizeof(uint32_t));
    (void)question(&h, MECHD_FMU_CLOSE);
    CU_ASSERT_EQUAL(mechd_pipe_send(h.ours, &h.question, &forever), 0);
    end(&h);
}

static void questions_that_are_none_are_refused(void)
{
    static struct host h;
    begin(&h);
    // fewer references than it says
    mechd_pipe_put_u32(question(&h, MECHD_FMU_REQUIRE), 2);
    mechd_pipe_put_u32(&h.question, 7);
    CU_ASSERT_EQUAL(ask(&h), MECHD_FMU_NO_QUESTION);
    CU_ASSERT_STRING_EQUAL(mechd_pipe_get_text(&h.answer), "require");
    (void)question(&h, MECHD_FMU_EXIT);
    CU_ASSERT_EQUAL(ask(&h), MECHD_FMU_NO_QUESTION);
    CU_ASSERT_STRING_EQUAL(mechd_pipe_get_text(&h.answer), "nothing is open");
    CU_ASSERT_EQUAL(ask_open(&h, 7, h.folder, SHELF_TOKEN), MECHD_FMU_NO_QUESTION);
    CU_ASSERT_EQUAL_FATAL(ask_open(&h, MECHD_FMI_3, h.folder, SHELF_TOKEN), 0);
    CU_ASSERT_EQUAL(ask_open(&h, MECHD_FMI_3, h.folder, SHELF_TOKEN), MECHD_FMU_NO_QUESTION);
    (void)question(&h, 77);
    CU_ASSERT_EQUAL(ask(&h), MECHD_FMU_NO_QUESTION);
    CU_ASSERT_STRING_EQUAL(mechd_pipe_get_text(&h.answer), "no such verb");
    mechd_pipe_put_u32(question(&h, MECHD_FMU_ENTER), 1);
    CU_ASSERT_EQUAL(ask(&h), MECHD_FMU_NO_QUESTION);
    mechd_pipe_put_u32(question(&h, MECHD_FMU_STEP), 1);
    CU_ASSERT_EQUAL(ask(&h), MECHD_FMU_NO_QUESTION);
    mechd_pipe_put_f64(question(&h, MECHD_FMU_WATCHED), (const double[]){1., 0.5}, 2);
    CU_ASSERT_EQUAL(ask(&h), MECHD_FMU_NO_QUESTION);
    // an FMU that was made without event mode
    (void)question(&h, MECHD_FMU_EVENT);
    CU_ASSERT_EQUAL(ask(&h), MECHD_FMU_NO_QUESTION);
    (void)question(&h, MECHD_FMU_RESUME);
    CU_ASSERT_EQUAL(ask(&h), MECHD_FMU_NO_QUESTION);
    CU_ASSERT_STRING_EQUAL(mechd_pipe_get_text(&h.answer), "the FMU was made without event mode");
    // elements of another size, too many of them, one that is not there, a type without numbers
    CU_ASSERT_EQUAL(exchange(&h, MECHD_FMU_GET, MECHD_FMU_FLOAT64, 4, 1), MECHD_FMU_NO_QUESTION);
    CU_ASSERT_EQUAL(exchange(&h, MECHD_FMU_GET, MECHD_FMU_FLOAT64, 8, 1u << 31),
                    MECHD_FMU_NO_QUESTION);
    CU_ASSERT_EQUAL(exchange(&h, MECHD_FMU_SET, MECHD_FMU_FLOAT64, 8, 2), MECHD_FMU_NO_QUESTION);
    CU_ASSERT_EQUAL(exchange(&h, MECHD_FMU_GET, MECHD_FMU_STRING, 8, 1), MECHD_FMU_NO_QUESTION);
    // derivatives without their numbers, and of fewer elements than variables
    static const uint32_t heads[][4] = {{1, 1, 1, 1}, {2, 1, 1, 1}, {1, 1, 1u << 31, 1u << 31}};
    for (size_t k = 0; k < sizeof heads / sizeof *heads; k++) {
        for (int n = 0; n < 4; n++) {
            mechd_pipe_put_u32(n == 0 ? question(&h, MECHD_FMU_DERIVE) : &h.question, heads[k][n]);
        }
        CU_ASSERT_EQUAL(ask(&h), MECHD_FMU_NO_QUESTION);
        CU_ASSERT_STRING_EQUAL(mechd_pipe_get_text(&h.answer), "derivatives");
    }
    // adjoint ones with a seed of the knowns in place of the unknowns
    static const uint32_t back[] = {1, 2, 1, 1, 0, 0};
    for (size_t n = 0; n < sizeof back / sizeof *back; n++) {
        mechd_pipe_put_u32(n == 0 ? question(&h, MECHD_FMU_ADJOIN) : &h.question, back[n]);
    }
    mechd_pipe_put_f64(&h.question, (const double[]){1.}, 1);
    CU_ASSERT_EQUAL(ask(&h), MECHD_FMU_NO_QUESTION);
    CU_ASSERT_STRING_EQUAL(mechd_pipe_get_text(&h.answer), "derivatives");
    // rates without their references, of more outputs than elements, and of too many
    static const uint32_t counts[][3] = {{1, 1, 0}, {2, 1, 2}, {1, 1u << 31, 1}};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        mechd_pipe_put_u32(question(&h, MECHD_FMU_RATES), counts[k][0]);
        mechd_pipe_put_u32(&h.question, counts[k][1]);
        for (uint32_t n = 0; n < counts[k][2]; n++) {
            mechd_pipe_put_u32(&h.question, 0);
        }
        CU_ASSERT_EQUAL(ask(&h), MECHD_FMU_NO_QUESTION);
        CU_ASSERT_STRING_EQUAL(mechd_pipe_get_text(&h.answer), "rates");
    }
    // references that come too late, a course that is not there
    mechd_pipe_put_u32(question(&h, MECHD_FMU_REQUIRE), 0);
    CU_ASSERT_EQUAL(ask(&h), MECHD_FMU_NO_QUESTION);
    CU_ASSERT_STRING_EQUAL(mechd_pipe_get_text(&h.answer), "require");
    mechd_pipe_put_u32(question(&h, MECHD_FMU_COURSES), 0);
    mechd_pipe_put_u32(&h.question, 1);
    CU_ASSERT_EQUAL(ask(&h), MECHD_FMU_NO_QUESTION);
    CU_ASSERT_STRING_EQUAL(mechd_pipe_get_text(&h.answer), "courses");
    // and it is alive
    CU_ASSERT_EQUAL(exchange(&h, MECHD_FMU_GET, MECHD_FMU_FLOAT64, 8, 1), 0);
    CU_ASSERT_EQUAL(shutdown(h.ours, SHUT_RDWR), 0);
    end(&h);
}

static void a_missing_folder_or_library_is_reported(void)
{
    static struct host h;
    begin(&h);
    char longer[1100];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    CU_ASSERT_EQUAL(ask_open(&h, MECHD_FMI_3, longer, SHELF_TOKEN), MECHD_FMU_NO_QUESTION);
    CU_ASSERT_EQUAL(shutdown(h.ours, SHUT_RDWR), 0);
    end(&h);
    begin(&h);
    CU_ASSERT_EQUAL(ask_open(&h, MECHD_FMI_3, "/tmp/mechd-no-such-folder", SHELF_TOKEN),
                    MECHD_FMU_NOT_JAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(mechd_pipe_get_text(&h.answer), "mechd-no-such-folder"));
    CU_ASSERT_EQUAL(shutdown(h.ours, SHUT_RDWR), 0);
    end(&h);
    begin(&h);
    CU_ASSERT_EQUAL(ask_open(&h, MECHD_FMI_3, h.folder, "{other}"), MECHD_FMU_NOT_LOADED);
    CU_ASSERT_EQUAL(shutdown(h.ours, SHUT_RDWR), 0);
    end(&h);
}

static void what_it_logs_comes_before_the_answer(void)
{
    static struct host h;
    begin_with(&h, MECH_TESTS_CONTROLLER);
    CU_ASSERT_EQUAL_FATAL(ask_open(&h, MECHD_FMI_3, h.folder, CONTROLLER_TOKEN), 0);
    mechd_pipe_put_f64(question(&h, MECHD_FMU_STEP), (const double[]){1., 0.5}, 2);
    CU_ASSERT_EQUAL(mechd_pipe_send(h.ours, &h.question, &forever), 0);
    CU_ASSERT_EQUAL_FATAL(mechd_pipe_receive(h.ours, &h.answer, &forever), 0);
    CU_ASSERT_EQUAL(h.answer.verb, MECHD_FMU_LOG);
    CU_ASSERT_EQUAL(mechd_pipe_get_u32(&h.answer), 0);
    CU_ASSERT_STRING_EQUAL(mechd_pipe_get_text(&h.answer), "steps");
    CU_ASSERT_STRING_EQUAL(mechd_pipe_get_text(&h.answer), "a step of the controller");
    CU_ASSERT(mechd_pipe_whole(&h.answer));
    CU_ASSERT_EQUAL_FATAL(mechd_pipe_receive(h.ours, &h.answer, &forever), 0);
    CU_ASSERT_EQUAL(h.answer.verb, MECHD_FMU_DONE);
    CU_ASSERT_EQUAL(shutdown(h.ours, SHUT_RDWR), 0);
    end(&h);
}

UNIT_TESTS(UNIT_TEST(a_whole_life_is_answered), UNIT_TEST(what_was_for_a_step_is_forgotten_with_it),
           UNIT_TEST(what_it_logs_comes_before_the_answer),
           UNIT_TEST(questions_that_are_none_are_refused),
           UNIT_TEST(a_missing_folder_or_library_is_reported))
