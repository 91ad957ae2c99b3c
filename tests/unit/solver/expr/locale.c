/* Where the C library has no classic locale left, numbers are not read in another one. */
#include "solver/base/err.h"
#include "solver/expr/expr.h"

#include "tests/unit/unit.h"

#include <errno.h>
#include <locale.h>

/* The C library's own is not reached. */
locale_t newlocale(int mask, const char *locale, locale_t base)
{
    (void)mask;
    (void)locale;
    (void)base;
    errno = ENOMEM;
    return (locale_t)0;
}

static int created(const char *text)
{
    static const char *const names[] = {"t"};
    const struct mech_expr_vars vars = {names, NULL, 1};
    char message[200] = "";
    struct mech_expr *e = NULL;
    const int code = mech_expr_create(text, &vars, message, sizeof message, &e);

    CU_ASSERT_EQUAL(e == NULL, code != 0);
    mech_expr_destroy(e);
    return code;
}

static void numbers_need_the_classic_locale(void)
{
    CU_ASSERT_EQUAL(created("1.5*t"), MECH_NO_MEMORY);
    CU_ASSERT_EQUAL(created("t^2"), MECH_NO_MEMORY);
    CU_ASSERT_EQUAL(created("sin(t)*pi"), 0);
}

UNIT_TESTS(UNIT_TEST(numbers_need_the_classic_locale))
