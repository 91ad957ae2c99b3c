/* Diagnostics and paths. Paths are cut at the end of a whole UTF-8 character, because they travel
 * in JSON. */
#include "solver/base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mech_diag_init(struct mech_diag *d)
{
    *d = (struct mech_diag){.count = 0};
}

void mech_diag_fini(struct mech_diag *d)
{
    free(d->entries);
    free(d->warnings);
    *d = (struct mech_diag){.count = 0};
}

/* A place for one more entry of a list, or NULL. */
static struct mech_diag_entry *reserve(struct mech_diag_entry **list, size_t count,
                                       size_t *capacity)
{
    if (count == *capacity) {
        size_t more = count == 0 ? 4 : 2 * count;
        more = more > MECH_DIAG_MOST ? MECH_DIAG_MOST : more;
        struct mech_diag_entry *const grown =
            more > count ? realloc(*list, more * sizeof *grown) : NULL;
        if (!grown) {
            return NULL;
        }
        *list = grown;
        *capacity = more;
    }
    return &(*list)[count];
}

__attribute__((format(printf, 3, 0))) static void
write_entry(struct mech_diag_entry *e, const char *path, const char *format, va_list arguments)
{
    size_t length = strnlen(path, MECH_DIAG_PATH);
    if (length == MECH_DIAG_PATH) {
        length = mech_text_whole(path, MECH_DIAG_PATH - 1);
    }
    memcpy(e->path, path, length);
    e->path[length] = '\0';
    mech_text_format_list(e->text, sizeof e->text, format, arguments);
}

void mech_diag_add(struct mech_diag *d, const char *path, const char *format, ...)
{
    struct mech_diag_entry *const e = reserve(&d->entries, d->count, &d->capacity);
    d->total++;
    if (e) {
        va_list arguments;
        va_start(arguments, format);
        write_entry(e, path, format, arguments);
        va_end(arguments);
        d->count++;
    }
}

void mech_diag_warn(struct mech_diag *d, const char *path, const char *format, ...)
{
    struct mech_diag_entry *const e = reserve(&d->warnings, d->warning_count, &d->warning_capacity);
    if (e) {
        va_list arguments;
        va_start(arguments, format);
        write_entry(e, path, format, arguments);
        va_end(arguments);
        d->warning_count++;
    }
}

void mech_diag_prefix(struct mech_diag_entry *entries, size_t count, const char *base)
{
    for (size_t k = 0; k < count; k++) {
        char path[MECH_DIAG_PATH];
        memcpy(path, entries[k].path, sizeof path);
        path[MECH_DIAG_PATH - 1] = '\0';
        const int written = snprintf(entries[k].path, MECH_DIAG_PATH, "%s%s", base, path);
        if (written >= MECH_DIAG_PATH) {
            entries[k].path[mech_text_whole(entries[k].path, MECH_DIAG_PATH - 1)] = '\0';
        }
    }
}

void mech_diag_append(struct mech_diag *to, const struct mech_diag *from, const char *base)
{
    const size_t count = to->count, warning_count = to->warning_count;
    for (size_t k = 0; k < from->count; k++) {
        mech_diag_add(to, from->entries[k].path, "%s", from->entries[k].text);
    }
    to->total += from->total - from->count;
    for (size_t k = 0; k < from->warning_count; k++) {
        mech_diag_warn(to, from->warnings[k].path, "%s", from->warnings[k].text);
    }
    if (to->count > count) {
        mech_diag_prefix(to->entries + count, to->count - count, base);
    }
    if (to->warning_count > warning_count) {
        mech_diag_prefix(to->warnings + warning_count, to->warning_count - warning_count, base);
    }
}

void mech_diag_give_warnings(struct mech_diag *from, struct mech_diag *to)
{
    to->warnings = from->warnings;
    to->warning_count = from->warning_count;
    to->warning_capacity = from->warning_capacity;
    from->warnings = NULL;
    from->warning_count = 0;
    from->warning_capacity = 0;
}

/* Append bytes that belong together; false, and nothing done, when they do not fit. */
static bool append(struct mech_path *p, const char *bytes, size_t count)
{
    if (count > sizeof p->text - 1 - p->length) {
        return false;
    }
    memcpy(p->text + p->length, bytes, count);
    p->length += count;
    p->text[p->length] = '\0';
    return true;
}

size_t mech_path_push(struct mech_path *p, const char *key)
{
    const size_t mark = p->length;
    bool fits = append(p, "/", 1);
    for (const char *c = key; fits && *c != '\0'; c++) {
        fits = *c == '~' ? append(p, "~0", 2) : *c == '/' ? append(p, "~1", 2) : append(p, c, 1);
    }
    if (!fits) {
        mech_path_cut(p, mech_text_whole(p->text, p->length));
    }
    return mark;
}

size_t mech_path_push_index(struct mech_path *p, size_t index)
{
    char segment[24];
    const int written = snprintf(segment, sizeof segment, "/%zu", index);
    const size_t mark = p->length;
    // an index is whole or absent: a cut number would name another place
    if (written > 0) {
        append(p, segment, (size_t)written);
    }
    return mark;
}

void mech_path_cut(struct mech_path *p, size_t mark)
{
    p->length = mark < p->length ? mark : p->length;
    p->text[p->length] = '\0';
}
