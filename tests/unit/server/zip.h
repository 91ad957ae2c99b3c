/* ZIP archives for tests, with anything in their records.
 *
 *     struct zip z = {0};
 *     zip_add(&z, (struct zip_file){.path = "a.txt", .bytes = "hello"});
 *     zip_end(&z);                 z.bytes [z.size] is the archive; no memory of its own
 *
 * Files are stored, or compressed by deflate. What is not given is what is right. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ZIP_MOST = 1 << 21, ZIP_FILES = 64 };

struct zip_file {
    const char *path;
    size_t path_length; /* 0: strlen(path) */
    const char *bytes;  /* NULL: none */
    size_t size;        /* of the bytes; 0: strlen(bytes) */
    size_t zeros;       /* instead of bytes: this many, by deflate */
    bool deflate;
    uint32_t declared;      /* another expanded size in both records; 0: the right one */
    uint32_t crc_change;    /* is added to the checksum */
    uint16_t flags, method; /* are added */
    uint32_t mode;          /* of Unix; 0: made by DOS */
    bool shares;            /* the directory names the body of the first file */
    const char *other_path; /* of the extra field "Unicode path", in both records; NULL: none */
};

struct zip {
    unsigned char bytes[ZIP_MOST], directory[ZIP_MOST];
    size_t size, directory_size, count;
    size_t first_at[1];
    size_t rest; /* zeros behind the directory that count as its bytes */
    bool large;  /* the end record has the numbers of ZIP64 */
};

void zip_add(struct zip *z, struct zip_file f);
/* The directory and the end record. */
void zip_end(struct zip *z);
