/* Archives of any bytes: refused with one fault, or read, and then each file has the size that its
 * directory says, or is refused. Nothing larger than the limits is made. */
#include "server/engine/fmu_archive.h"
#include "tests/fuzz/fuzz.h"

static void read_all(const struct mechd_archive *a, uint64_t most)
{
    for (size_t k = 0; k < mechd_archive_count(a); k++) {
        const struct mechd_archive_entry e = mechd_archive_at(a, k);
        struct mech_diag diag;
        char *bytes = NULL;
        size_t size = 0;
        mech_diag_init(&diag);
        const int rc = mechd_archive_read(a, e.path, most, &bytes, &size, &diag);
        if ((rc > 0) != (diag.total == 1) || (rc != 0 && bytes != NULL)) {
            fuzz_fail("a file is refused without a fault");
        }
        if (rc == 0 && (size != e.size || bytes[size] != 0)) {
            fuzz_fail("a file is not of its size");
        }
        if (e.path[0] == '/' || strstr(e.path, "..") == e.path) {
            fuzz_fail("a path leaves the folder");
        }
        free(bytes);
        mech_diag_fini(&diag);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct mechd_archive_limits limits = {
        .total = 1 << 20, .file = 1 << 18, .count = 64, .factor = 200};
    struct mechd_archive *a = NULL;
    struct mech_diag diag;
    char *const copy = fuzz_text(data, size);
    mech_diag_init(&diag);
    if (copy != NULL) {
        const int rc = mechd_archive_open(copy, size, limits, &a, &diag);
        if ((rc > 0) != (diag.total == 1) || (rc == 0) != (a != NULL)) {
            fuzz_fail("an archive is refused without a fault");
        }
        if (rc == 0) {
            read_all(a, limits.file);
        }
    }
    mechd_archive_close(a);
    mech_diag_fini(&diag);
    free(copy);
    return 0;
}
