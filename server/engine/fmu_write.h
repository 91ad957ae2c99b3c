/* Archives that go out: an .fmu of parts in memory. The same parts give the same bytes with one
 * version of libzip and zlib: no time, no owner.
 *
 *   const struct mechd_archive_part parts[] = {{"modelDescription.xml", xml, strlen(xml)}, …};
 *   MECH_TRY(mechd_archive_write(parts, 3, &bytes, &size));
 *
 * owner: the caller; one thread. Source: APPNOTE.TXT 6.3.10 (PKWARE), section 4.4. */
#pragma once

#include <stddef.h>

struct mechd_archive_part {
    const char *path; /* within the archive, with '/' between folders */
    const void *bytes;
    size_t size;
};

/* Parts [n] in their order: malloc'ed, the caller's. 0; negative: no memory, or a path twice. */
int mechd_archive_write(const struct mechd_archive_part *parts, size_t n, void **out, size_t *size);
