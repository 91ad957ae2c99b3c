/* Reading of an archive whose directory has passed fmu_names.c, by libzip. */
#include "server/engine/fmu_archive.h"
#include "server/engine/fmu_names.h"
#include "server/engine/fmu_pour.h"
#include "solver/base/err.h"

#include <stdlib.h>
#include <string.h>
#include <zip.h>

struct mechd_archive {
    zip_t *zip;
    struct mechd_archive_head *heads; /* [count] as in the directory, whose order libzip keeps */
    size_t count;
};

struct mechd_archive_limits mechd_archive_limits(void)
{
    return (struct mechd_archive_limits){
        .total = (uint64_t)512 << 20, .file = (uint64_t)256 << 20, .count = 10000, .factor = 200};
}

static int refuse(struct mech_diag *diag, int outcome, const char *path, const char *text)
{
    char place[MECH_DIAG_PATH] = "/";
    mech_text_copy(place + (path[0] == 0 ? 0 : 1), sizeof place - 1, path);
    mech_diag_add(diag, place, "%s", text);
    return outcome;
}

static int open_zip(const void *bytes, size_t size, struct mechd_archive *a, struct mech_diag *diag)
{
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *const source = zip_source_buffer_create(bytes, size, 0, &error);
    a->zip =
        source != NULL ? zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error) : NULL;
    int rc = 0;
    if (a->zip == NULL) {
        zip_source_free(source);
        rc = zip_error_code_zip(&error) == ZIP_ER_MEMORY
                 ? MECH_NO_MEMORY
                 : refuse(diag, MECHD_ARCHIVE_BROKEN, "", zip_error_strerror(&error));
    }
    zip_error_fini(&error);
    return rc;
}

/* libzip sees what the directory says. */
static int agree(const struct mechd_archive *a, struct mech_diag *diag)
{
    if (zip_get_num_entries(a->zip, 0) != (zip_int64_t)a->count) {
        return refuse(diag, MECHD_ARCHIVE_BROKEN, "", "has two central directories");
    }
    for (size_t i = 0; i < a->count; i++) {
        zip_stat_t s;
        zip_stat_init(&s);
        if (zip_stat_index(a->zip, i, ZIP_FL_ENC_RAW, &s) != 0 || (s.valid & ZIP_STAT_SIZE) == 0 ||
            s.size != a->heads[i].size || strcmp(s.name, a->heads[i].path) != 0) {
            return refuse(diag, MECHD_ARCHIVE_BROKEN, a->heads[i].path,
                          "has a size or path that can be read in two ways");
        }
    }
    return 0;
}

int mechd_archive_open(const void *bytes, size_t size, struct mechd_archive_limits limits,
                       struct mechd_archive **out, struct mech_diag *diag)
{
    *out = NULL;
    struct mechd_archive *const a = calloc(1, sizeof *a);
    if (a == NULL) {
        return MECH_NO_MEMORY;
    }
    int rc = mechd_archive_heads(bytes, size, &limits, &a->heads, &a->count, diag);
    if (rc == 0) {
        rc = open_zip(bytes, size, a, diag);
    }
    if (rc == 0) {
        rc = agree(a, diag);
    }
    if (rc != 0) {
        mechd_archive_close(a);
        return rc;
    }
    *out = a;
    return 0;
}

void mechd_archive_close(struct mechd_archive *a)
{
    if (a == NULL) {
        return;
    }
    if (a->zip != NULL) {
        zip_discard(a->zip);
    }
    mechd_archive_heads_free(a->heads, a->count);
    free(a);
}

size_t mechd_archive_count(const struct mechd_archive *a)
{
    return a->count;
}

struct mechd_archive_entry mechd_archive_at(const struct mechd_archive *a, size_t i)
{
    return (struct mechd_archive_entry){a->heads[i].path, a->heads[i].size};
}

/* Checksums are compared by libzip at the end of the data, which is where the size says. */
int mechd_archive_pour(const struct mechd_archive *a, size_t i, mechd_archive_sink *sink,
                       void *context, struct mech_diag *diag)
{
    enum { PIECE = 32768 };
    const struct mechd_archive_head *const head = &a->heads[i];
    char piece[PIECE];
    zip_file_t *const file = zip_fopen_index(a->zip, i, 0);
    uint64_t done = 0;
    zip_int64_t n = -1;
    int rc = 0;
    while (file != NULL && rc == 0 && (n = zip_fread(file, piece, sizeof piece)) > 0) {
        done += (uint64_t)n;
        if (done > head->size) {
            break;
        }
        rc = sink(context, piece, (size_t)n);
    }
    if (file != NULL) {
        (void)zip_fclose(file);
    }
    if (rc == 0 && (n != 0 || done != head->size)) {
        return refuse(diag, MECHD_ARCHIVE_BROKEN, head->path,
                      "its bytes do not have the size and checksum of the central directory");
    }
    return rc;
}

struct copy {
    char *to;
    size_t done;
};

static int copy_piece(void *context, const char *piece, size_t size)
{
    struct copy *const c = context;
    memcpy(c->to + c->done, piece, size);
    c->done += size;
    return 0;
}

int mechd_archive_read(const struct mechd_archive *a, const char *path, uint64_t most, char **out,
                       size_t *size, struct mech_diag *diag)
{
    size_t i = 0;
    *out = NULL;
    *size = 0;
    while (i < a->count && strcmp(a->heads[i].path, path) != 0) {
        i++;
    }
    if (i == a->count) {
        return refuse(diag, MECHD_ARCHIVE_MISSING, path, "is not in the archive");
    }
    if (a->heads[i].size > most) {
        return refuse(diag, MECHD_ARCHIVE_SIZE, path, "is larger than it may be");
    }
    struct copy copy = {malloc((size_t)a->heads[i].size + 1), 0};
    if (copy.to == NULL) {
        return MECH_NO_MEMORY;
    }
    const int rc = mechd_archive_pour(a, i, copy_piece, &copy, diag);
    if (rc != 0) {
        free(copy.to);
        return rc;
    }
    copy.to[copy.done] = 0;
    *out = copy.to;
    *size = copy.done;
    return 0;
}
