/* Documents that a test prints piece by piece. */
#pragma once

#include "tests/unit/unit.h"

#include <stdarg.h>
#include <stdio.h>

enum { MOST_TEXT = 60000 };

struct text {
    char at[MOST_TEXT];
    size_t n;
};

/* Append; the test ends where there is no room. */
__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    t->n += (size_t)vsnprintf(t->at + t->n, MOST_TEXT - t->n, format, arguments);
    va_end(arguments);
    CU_ASSERT_FATAL(t->n < MOST_TEXT);
}
