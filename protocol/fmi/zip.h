/* ZIP archives, written from the first byte to the last: one file after the other, then their
 * directory. The same files give the same bytes: no times, no owners, deflate at a fixed level.
 *
 *   struct mechp_zip zip = {.w = &text};
 *   mechp_zip_add(&zip, "resources/model.json", bytes, size);
 *   mechp_zip_end(&zip);
 *
 * A file that is large and the same each time is packed once (mechp_packed) and put into many
 * archives: its bytes go where the text goes, or past it by the caller (mechp_zip_head).
 * Files of up to 4 GiB, 65535 of them; ZIP64 is not used. owner: one thread. Source: APPNOTE.TXT
 * 6.3.10 (PKWARE), sections 4.3 and 4.4.
 */
#pragma once

#include "protocol/wire/text.h"

#include <stdint.h>

/* A file as an archive stores it. */
struct mechp_packed {
    unsigned char *bytes; /* [stored], malloc'd */
    size_t stored;
    size_t size; /* of the file */
    uint32_t crc;
    bool deflated; /* otherwise as it is */
};

/* Deflated where that makes it smaller. 0; MECH_NO_MEMORY; MECH_INVALID: larger than 4 GiB. */
int mechp_pack(const void *bytes, size_t size, struct mechp_packed *out);
void mechp_packed_fini(struct mechp_packed *p);

enum { MECHP_ZIP_FILES = 1024, MECHP_ZIP_NAME = 200 };

struct mechp_zip {
    struct mechp_text *w; /* failed: no memory */
    uint64_t past;        /* bytes of the archive that went past the text */
    size_t before;        /* of the text that are not the archive's, or that have been sent */
    size_t count;
    bool full; /* too many files, or too long a name: nothing more is added */
    struct mechp_zip_file {
        char name[MECHP_ZIP_NAME];
        uint64_t at; /* of its head */
        size_t stored, size;
        uint32_t crc;
        bool deflated;
    } files[MECHP_ZIP_FILES];
};

/* The name is a path with '/', of ASCII, not yet in the archive. 0; MECH_NO_MEMORY; MECH_INVALID:
 * see `full`, or beyond 4 GiB. */
int mechp_zip_add(struct mechp_zip *z, const char *name, const void *bytes, size_t size);
int mechp_zip_put(struct mechp_zip *z, const char *name, const struct mechp_packed *p);
/* The head of such a file alone: p->stored bytes follow, which the caller sends behind the text. */
int mechp_zip_head(struct mechp_zip *z, const char *name, const struct mechp_packed *p);
/* Checksum of bytes that follow those of `before`, 0: of none. */
uint32_t mechp_crc(uint32_t before, const void *bytes, size_t size);
/* The directory. */
int mechp_zip_end(struct mechp_zip *z);
