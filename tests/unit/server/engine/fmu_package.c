/* An upload that its disk does not take leaves nothing behind; the archive is read as it came. */
#include "tests/unit/server/engine/hosting.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ROOT = 64 };

/* A description beside a small library; the archive has both, and more. */
static void fill(struct zip *z)
{
    static char library[2000];
    char path[64];
    memset(z, 0, sizeof *z);
    memset(library, 'x', sizeof library);
    zip_add(z, (struct zip_file){.path = "modelDescription.xml",
                                 .bytes = describe(MECHD_FMI_3, all_of_3, "startTime=\"1\"")});
    (void)snprintf(path, sizeof path, "binaries/%s/controller.so", mechd_fmu_platform(MECHD_FMI_3));
    zip_add(z, (struct zip_file){.path = path, .bytes = library, .size = sizeof library});
    zip_end(z);
}

/* The entries of a folder. */
static int entries(const char *root)
{
    DIR *const folder = opendir(root);
    int n = 0;
    for (const struct dirent *e = folder != NULL ? readdir(folder) : NULL; e != NULL;
         e = readdir(folder)) {
        n += e->d_name[0] != '.';
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return n;
}

static void make_root(char root[ROOT])
{
    (void)snprintf(root, ROOT, "/tmp/mechd-package-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(root));
}

/* The package, or NULL with the outcome and the first text of why. */
static struct mechd_fmu_package *open_in(const char *root, const struct zip *z, int *outcome,
                                         char said[MECH_DIAG_TEXT])
{
    struct mechd_fmu_package *p = NULL;
    struct mech_diag diag;
    mech_diag_init(&diag);
    *outcome = mechd_fmu_package_open(z->bytes, z->size, root, &p, &diag);
    (void)snprintf(said, MECH_DIAG_TEXT, "%s", diag.count > 0 ? diag.entries[0].text : "");
    mech_diag_fini(&diag);
    return p;
}

static void an_archive_is_read_as_it_came(void)
{
    static struct zip z;
    char root[ROOT], said[MECH_DIAG_TEXT], *const bytes = malloc(ZIP_MOST);
    int outcome = 0;
    fill(&z);
    make_root(root);
    struct mechd_fmu_package *const p = open_in(root, &z, &outcome, said);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    CU_ASSERT_EQUAL(p->size, z.size);
    CU_ASSERT(mechd_fmu_package_read(p, 0, bytes, z.size));
    CU_ASSERT_EQUAL(memcmp(bytes, z.bytes, z.size), 0);
    CU_ASSERT(!mechd_fmu_package_read(p, 1, bytes, z.size));
    mechd_fmu_package_unref(p);
    CU_ASSERT_EQUAL(entries(root), 0);
    CU_ASSERT_EQUAL(rmdir(root), 0);
    free(bytes);
}

static void a_root_that_is_not_there_takes_nothing(void)
{
    static struct zip z;
    char said[MECH_DIAG_TEXT];
    int outcome = 0;
    fill(&z);
    CU_ASSERT_PTR_NULL(open_in("/tmp/mechd-no-such-root", &z, &outcome, said));
    CU_ASSERT_EQUAL(outcome, MECHD_FMU_NO_STORAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "no folder can be made in /tmp/mechd-no-such-root"));
}

/* Its folder is made, and goes again, although it cannot be opened. */
static void a_process_without_descriptors_keeps_nothing(void)
{
    static struct zip z;
    char root[ROOT], said[MECH_DIAG_TEXT];
    int outcome = 0;
    struct rlimit whole;
    fill(&z);
    make_root(root);
    const int first = dup(STDIN_FILENO); // the next one
    CU_ASSERT_FATAL(first >= 0);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &whole), 0);
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = (rlim_t)first,
                                                              .rlim_max = whole.rlim_max}),
                    0);
    (void)close(first);
    CU_ASSERT_PTR_NULL(open_in(root, &z, &outcome, said));
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &whole), 0);
    CU_ASSERT_EQUAL(outcome, MECHD_FMU_NO_STORAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "cannot be opened"));
    CU_ASSERT_EQUAL(entries(root), 0);
    CU_ASSERT_EQUAL(rmdir(root), 0);
}

/* Files of at most so many bytes: the library does not fit, then all but the archive do. */
static void a_disk_that_takes_less_keeps_nothing(void)
{
    static const char *const words[] = {"", "cannot be written"};
    static struct zip z;
    char root[ROOT];
    struct rlimit whole;
    fill(&z);
    make_root(root);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_FSIZE, &whole), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    const rlim_t most[] = {1000, z.size - 1};
    for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
        char said[MECH_DIAG_TEXT];
        int outcome = 0;
        CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = most[k],
                                                                 .rlim_max = whole.rlim_max}),
                        0);
        CU_ASSERT_PTR_NULL(open_in(root, &z, &outcome, said));
        CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &whole), 0);
        CU_ASSERT_EQUAL(outcome, MECHD_FMU_NO_STORAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(said, words[k]));
        CU_ASSERT_EQUAL(entries(root), 0);
    }
    CU_ASSERT_EQUAL(rmdir(root), 0);
}

UNIT_TESTS(UNIT_TEST(an_archive_is_read_as_it_came),
           UNIT_TEST(a_root_that_is_not_there_takes_nothing),
           UNIT_TEST(a_process_without_descriptors_keeps_nothing),
           UNIT_TEST(a_disk_that_takes_less_keeps_nothing))
