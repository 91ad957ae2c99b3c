/* A fuzz target without the fuzzer: runs every input of the folders that are named once, so that
 * what was found stays found, and its beginnings: input from outside may end anywhere. Ends with
 * "N passed, N failed", an input and its beginnings one; what fails ends the process, after its
 * name. */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST = 1 << 20,
    CUTS = 16, /* beginnings of an input */
    // bytes up to which inputs are cut; seeds of the generator are longer, and each of their
    // beginnings would be a model of its own, for minutes under a sanitizer
    SHORT = 1024
};

/* Run the first `size` bytes. Not 0: no memory. */
static int run(const char *path, const uint8_t *bytes, size_t size)
{
    // at its exact end, so that a byte too far is seen
    uint8_t *const exact = malloc(size + (size == 0));
    if (exact == NULL) {
        return 1;
    }
    memcpy(exact, bytes, size);
    (void)fprintf(stderr, "%s: %zu bytes\n", path, size);
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return 0;
}

/* Run one file. Not 0: it cannot be read. */
static int replay(const char *folder, const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "rb");
    uint8_t *const bytes = file != NULL ? malloc(MOST) : NULL;
    if (bytes == NULL) {
        if (file != NULL) {
            (void)fclose(file);
        }
        return 1;
    }
    const size_t size = fread(bytes, 1, MOST, file);
    (void)fclose(file);
    int code = 0;
    for (size_t cut = size <= SHORT ? 1 : CUTS; code == 0 && cut <= CUTS; cut++) {
        // those of a short input once each
        if (cut == CUTS || size * cut / CUTS > size * (cut - 1) / CUTS) {
            code = run(path, bytes, size * cut / CUTS);
        }
    }
    free(bytes);
    return code;
}

int main(int argc, char **argv)
{
    int passed = 0;
    int failed = 0;
    for (int k = 1; k < argc; k++) {
        DIR *const folder = opendir(argv[k]);
        if (folder == NULL) {
            printf("FAILED there is no %s\n", argv[k]);
            failed++;
            continue;
        }
        for (const struct dirent *e = readdir(folder); e != NULL; e = readdir(folder)) {
            if (e->d_name[0] != '.') {
                const int bad = replay(argv[k], e->d_name);
                failed += bad;
                passed += !bad;
            }
        }
        (void)closedir(folder);
    }
    if (passed == 0) {
        printf("FAILED there is no input\n");
        failed++;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
