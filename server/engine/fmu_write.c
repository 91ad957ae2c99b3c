/* Writing of an archive into memory, by libzip. */
#include "server/engine/fmu_write.h"

#include "solver/base/err.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <zip.h>

/* 1980-01-01 00:00, the first time that an archive can say (APPNOTE 4.4.6); a readable file */
enum { NO_DATE = 1 << 5 | 1, NO_TIME = 0, NOWHERE = -1 };
static const zip_uint32_t plain_file = (zip_uint32_t)0100644 << 16;

/* Where all is in memory nothing fails for another reason than memory, but a path that is there. */
static int failed(zip_t *zip)
{
    return zip_error_code_zip(zip_get_error(zip)) == ZIP_ER_EXISTS ? MECH_INTERNAL : MECH_NO_MEMORY;
}

static int add(zip_t *zip, const struct mechd_archive_part *part)
{
    zip_source_t *const source = zip_source_buffer(zip, part->bytes, part->size, 0);
    const zip_int64_t at =
        source ? zip_file_add(zip, part->path, source, ZIP_FL_ENC_UTF_8) : NOWHERE;

    if (at < 0) {
        zip_source_free(source);
        return failed(zip);
    }
    const zip_uint64_t i = (zip_uint64_t)at;
    return zip_set_file_compression(zip, i, ZIP_CM_DEFLATE, 6) != 0 ||
                   zip_file_set_dostime(zip, i, NO_TIME, NO_DATE, 0) != 0 ||
                   zip_file_set_external_attributes(zip, i, 0, ZIP_OPSYS_UNIX, plain_file) != 0
               ? failed(zip)
               : 0;
}

/* What has been written into the source. */
static int take(zip_source_t *whole, void **out, size_t *size)
{
    if (zip_source_open(whole) != 0) {
        return MECH_NO_MEMORY;
    }
    const zip_int64_t end = zip_source_seek(whole, 0, SEEK_END) == 0 ? zip_source_tell(whole) : -1;
    const bool there = end > 0 && zip_source_seek(whole, 0, SEEK_SET) == 0;
    void *const bytes = there ? malloc((size_t)end) : NULL;
    const bool read = bytes && zip_source_read(whole, bytes, (zip_uint64_t)end) == end;
    (void)zip_source_close(whole);
    if (!read) {
        free(bytes);
        return MECH_NO_MEMORY;
    }
    *out = bytes;
    *size = (size_t)end;
    return 0;
}

int mechd_archive_write(const struct mechd_archive_part *parts, size_t n, void **out, size_t *size)
{
    zip_source_t *const whole = zip_source_buffer_create(NULL, 0, 0, NULL);
    zip_t *const zip = whole != NULL ? zip_open_from_source(whole, ZIP_TRUNCATE, NULL) : NULL;
    int code = 0;

    *out = NULL;
    *size = 0;
    if (zip == NULL) {
        zip_source_free(whole);
        return MECH_NO_MEMORY;
    }
    zip_source_keep(whole);
    for (size_t i = 0; code == 0 && i < n; i++) {
        code = add(zip, &parts[i]);
    }
    if (code) {
        zip_discard(zip);
    } else if (zip_close(zip) != 0) {
        code = failed(zip);
        zip_discard(zip);
    }
    code = code ? code : take(whole, out, size);
    zip_source_free(whole);
    return code;
}
