/* Values of XML Schema: boolean, double with INF and NaN, unsignedInt (part 2, section 3.2 and
 * 3.4). strtod reads them in the C locale, in which the programs run. */
#include "server/engine/fmu_attributes.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 4096 };
static const char blanks[] = " \t\r\n";

int mechd_fmu_refuse(struct mechd_fmu_reading *r, int outcome, int line, const char *format, ...)
{
    char text[MECH_DIAG_TEXT];
    va_list list;
    if (r->outcome != 0) {
        return r->outcome;
    }
    r->outcome = outcome;
    if (outcome > 0) {
        va_start(list, format);
        mech_text_format_list(text, sizeof text, format, list);
        va_end(list);
        const int at = line > 0 ? line : (int)XML_GetCurrentLineNumber(r->parser);
        mech_diag_add(r->diag, "/modelDescription.xml", "line %d: %s", at, text);
    }
    if (r->parser != NULL) {
        (void)XML_StopParser(r->parser, XML_FALSE);
    }
    return outcome;
}

static int no_memory(struct mechd_fmu_reading *r)
{
    // the arena has a limit of its own, below that of the machine
    return mechd_fmu_refuse(r, MECHD_DESCRIPTION_LIMIT, 0, "it needs more memory than is allowed");
}

void *mechd_fmu_list_add(struct mechd_fmu_reading *r, struct mech_arena_list *list, size_t size)
{
    if (list->count >= MECHD_DESCRIPTION_COUNT_MOST) {
        (void)mechd_fmu_refuse(r, MECHD_DESCRIPTION_LIMIT, 0, "more than %d of one kind",
                               (int)MECHD_DESCRIPTION_COUNT_MOST);
        return NULL;
    }
    void *const added = mech_arena_add(&r->d->arena, list, size);
    if (added == NULL) {
        (void)no_memory(r);
    }
    return added;
}

const char *mechd_fmu_attribute(const char **attributes, const char *name)
{
    for (size_t k = 0; attributes[k] != NULL; k += 2) {
        if (strcmp(attributes[k], name) == 0) {
            return attributes[k + 1];
        }
    }
    return NULL;
}

static int lacks(struct mechd_fmu_reading *r, const char *name)
{
    return mechd_fmu_refuse(r, MECHD_DESCRIPTION_CONTENT, 0, "the attribute %s is missing", name);
}

static int is_not(struct mechd_fmu_reading *r, const char *name, const char *value,
                  const char *what)
{
    char shown[64];
    mech_text_copy(shown, sizeof shown, value);
    return mechd_fmu_refuse(r, MECHD_DESCRIPTION_CONTENT, 0, "%s: \"%s\" is not %s", name, shown,
                            what);
}

int mechd_fmu_read_text(struct mechd_fmu_reading *r, const char **attributes, const char *name,
                        const char *otherwise, const char **out)
{
    const char *const value = mechd_fmu_attribute(attributes, name);
    const size_t most = strcmp(name, "start") == 0 || strcmp(name, "dependencies") == 0
                            ? MECHD_DESCRIPTION_TEXT_MOST
                            : TEXT_MOST;
    *out = otherwise;
    if (value == NULL) {
        return otherwise == NULL ? lacks(r, name) : 0;
    }
    if (strlen(value) > most) {
        return mechd_fmu_refuse(r, MECHD_DESCRIPTION_LIMIT, 0, "%s has more than %zu bytes", name,
                                most);
    }
    *out = mech_arena_strdup(&r->d->arena, value);
    return *out == NULL ? no_memory(r) : 0;
}

int mechd_fmu_next_number(const char **at, double *out)
{
    *at += strspn(*at, blanks);
    const size_t length = strcspn(*at, blanks);
    char text[64], *end = NULL;
    if (length == 0) {
        return 0;
    }
    if (length >= sizeof text) {
        return -1;
    }
    memcpy(text, *at, length);
    text[length] = 0;
    *at += length;
    if (strcmp(text, "INF") == 0 || strcmp(text, "+INF") == 0) {
        *out = INFINITY;
        return 1;
    }
    if (strcmp(text, "-INF") == 0 || strcmp(text, "NaN") == 0) {
        *out = text[0] == '-' ? -INFINITY : NAN;
        return 1;
    }
    *out = strtod(text, &end);
    return *end == 0 && strspn(text, "+-.0123456789eE") == length && isfinite(*out) ? 1 : -1;
}

int mechd_fmu_read_number(struct mechd_fmu_reading *r, const char **attributes, const char *name,
                          double *out)
{
    const char *const value = mechd_fmu_attribute(attributes, name), *at = value;
    double number = 0., more = 0.;
    if (value == NULL) {
        return 0;
    }
    if (mechd_fmu_next_number(&at, &number) != 1 || mechd_fmu_next_number(&at, &more) != 0) {
        return is_not(r, name, value, "a number");
    }
    *out = number;
    return 0;
}

int mechd_fmu_read_natural(struct mechd_fmu_reading *r, const char **attributes, const char *name,
                           bool need, uint32_t *out)
{
    const char *const value = mechd_fmu_attribute(attributes, name);
    uint64_t number = 0;
    if (value == NULL) {
        return need ? lacks(r, name) : 0;
    }
    const size_t from = strspn(value, blanks), digits = strspn(value + from, "0123456789");
    const size_t to = from + digits + strspn(value + from + digits, blanks);
    for (size_t k = from; k < from + digits && number <= UINT32_MAX; k++) {
        number = 10 * number + (uint64_t)(value[k] - '0');
    }
    if (digits == 0 || value[to] != 0 || number > UINT32_MAX) {
        return is_not(r, name, value, "a whole number of 32 bits");
    }
    *out = (uint32_t)number;
    return 0;
}

int mechd_fmu_read_bit(struct mechd_fmu_reading *r, const char **attributes, const char *name,
                       unsigned bit, unsigned *out)
{
    const char *const value = mechd_fmu_attribute(attributes, name);
    if (value == NULL || strcmp(value, "false") == 0 || strcmp(value, "0") == 0) {
        return 0;
    }
    if (strcmp(value, "true") != 0 && strcmp(value, "1") != 0) {
        return is_not(r, name, value, "true or false");
    }
    *out |= bit;
    return 0;
}

int mechd_fmu_read_word(struct mechd_fmu_reading *r, const char **attributes, const char *name,
                        const char *const *words, unsigned *out)
{
    const char *const value = mechd_fmu_attribute(attributes, name);
    if (value == NULL) {
        return 0;
    }
    for (unsigned k = 0; words[k] != NULL; k++) {
        if (strcmp(words[k], value) == 0) {
            *out = k;
            return 0;
        }
    }
    return is_not(r, name, value, "one of its values in the standard");
}
