/* The language of expressions is muParser's: what is refused and where, and the bits of values. */
#include "tests/fuzz/formula_text.h"
#include "tests/fuzz/muparser.h"
#include "tests/unit/unit.h"

static void another_version_of_muparser_is_named_and_not_compared(void)
{
    const char *version = NULL;

    if (!muparser_is_compared(&version)) {
        (void)fprintf(stderr, "muParser %s is installed: only " MUPARSER_COMPARED " is compared\n",
                      version);
    }
    CU_ASSERT(version[0] != '\0');
}

static void values_are_compared_where_muparser_rounds_each_operation(void)
{
    const bool compared = muparser_values_are_compared();
    char what[256] = "";

    // one that has the same value however it is rounded
    CU_ASSERT_EQUAL(formula_compare("1+1", what), 0);
    if (!compared) {
        (void)fprintf(stderr, "muParser fuses operations here: values are not compared\n");
    }
#ifdef __x86_64__
    CU_ASSERT(compared || !muparser_is_compared(NULL));
#endif
}

static void check(const char *text)
{
    char what[256] = "";
    const int code = formula_compare(text, what);

    CU_ASSERT_EQUAL(code, 0);
    if (code != 0) {
        (void)fprintf(stderr, "'%s': %s\n", text, what);
    }
}

static void check_all(const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        check(texts[i]);
    }
}

static const char *const bindings[] = {
    "-2^2",        "2^-1",        "2^3^2",     "-t^2",        "(-t)^2",
    "2^-t^2",      "-2^-2",       "2*-3",      "2--3",        "2---3",
    "--2",         "+-2",         "- 2",       "-(-2)",       "1-2-3",
    "8/4/2",       "2/3*4",       "1+2*3^2",   "1<2<3",       "3>2>1",
    "1==1==1",     "1!=2==1",     "1<2==2>1",  "1+1<2*2",     "1&&0||1",
    "1||0&&0",     "0&&0||1",     "t&&u||x_1", "t>0&&u<1",    "1?2:3",
    "0?2:3",       "t?u:x_1",     "1?2?3:4:5", "1?0?3:4:5",   "0?1:0?2:3",
    "1?2:3+4",     "(1?2:3)+4",   "1+1?2:3",   "t<1?u+1:u-1", "t<0?1:t<1?2:t<2?3:4",
    "1?2:3?4:5",   "-1?2:3",      "!1",        "1!",          "t!",
    "-t?1:2",      "1 ? -t : -u", "2^t?1:0",   "(t)",         "((t))",
    "-(t)^2",      "sin(t)^2",    "-sin(t)^2", "t*t",         "t*t*t",
    "t^0",         "t^1",         "t^2",       "t^3",         "t^4",
    "t^5",         "t^-1",        "t^0.5",     "u^t",         "2^t",
    "t+t",         "t-t",         "t+u",       "t*2",         "2*t",
    "2*t+1",       "2*t*3",       "(2*t+1)*3", "3*(2*t+1)",   "(2*t+4)/2",
    "2*t/0",       "4*t/3",       "t/2",       "2/t",         "t+t+t",
    "1-t",         "t-1",         "2*t-3*t",   "2*t-3*u",     "1-(2*t+1)",
    "(t+1)-(t+2)", "(t+1)+u",     "t*0",       "0*t",         "t*-0",
    "-0*t",        "t+0",         "0-t",       "t-0"};

static void binding_is_that_of_muparser(void)
{
    check_all(bindings, sizeof bindings / sizeof *bindings);
}

static const char *const words[] = {"1",
                                    "0",
                                    "00",
                                    "007",
                                    "1.",
                                    ".1",
                                    ".",
                                    "..",
                                    "1..2",
                                    "1.2.3",
                                    "1e3",
                                    "1E3",
                                    "1e+3",
                                    "1e-3",
                                    "1e",
                                    "1e+",
                                    "1e-",
                                    "1ee3",
                                    "1e3e",
                                    "1e3.5",
                                    ".e3",
                                    "5.e3",
                                    "5.e",
                                    ".5e3",
                                    "1e308",
                                    "1e309",
                                    "1e400",
                                    "1e-308",
                                    "1e-320",
                                    "1e-400",
                                    "0e999",
                                    "1.7976931348623157e308",
                                    "1.7976931348623159e308",
                                    "123456789012345678901234567890",
                                    "0.1",
                                    "0x10",
                                    "0x1p3",
                                    "1f",
                                    "1,5",
                                    "1'000",
                                    "inf",
                                    "nan",
                                    "infinity",
                                    "INF",
                                    "1_000",
                                    "1 000",
                                    "t",
                                    "T",
                                    "u",
                                    "x_1",
                                    "x_",
                                    "_",
                                    "_x",
                                    "x_1x",
                                    "tu",
                                    "t u",
                                    "2t",
                                    "2 t",
                                    "t2",
                                    "pi",
                                    "PI",
                                    "_pi",
                                    "_e",
                                    "e",
                                    "2e",
                                    "2e3",
                                    "2 e",
                                    "e2",
                                    "ee",
                                    "pi e",
                                    "2pi",
                                    "pi2",
                                    "sin",
                                    "sin t",
                                    "sin(t)",
                                    "sin (t)",
                                    "sin\t(t)",
                                    "Sin(t)",
                                    "sin(t",
                                    "sint)",
                                    "2sin(t)",
                                    "sin2(t)",
                                    "t(1)",
                                    "2(1)",
                                    "(1)2",
                                    "(1)t",
                                    "(1)(2)",
                                    "(1)sin(1)",
                                    "sin(1)cos(1)",
                                    "pi(1)",
                                    "foo",
                                    "foo(1)",
                                    "foo + )",
                                    "foo bar",
                                    "1 foo",
                                    "é",
                                    "\x01",
                                    "1 # 2",
                                    "1 % 2",
                                    "1 & 2",
                                    "1 | 2",
                                    "~1",
                                    "1 $",
                                    "[1]",
                                    "{1}",
                                    "1;2",
                                    "@"};

static void numbers_and_names_are_those_of_muparser(void)
{
    check_all(words, sizeof words / sizeof *words);
}

static const char *const calls[] = {"sin()",
                                    "sin(1,2)",
                                    "sin(1,)",
                                    "sin(,1)",
                                    "sin(,)",
                                    "atan2(1)",
                                    "atan2(1,2)",
                                    "atan2(t,u)",
                                    "atan2(1,2,3)",
                                    "atan2()",
                                    "max()",
                                    "min()",
                                    "sum()",
                                    "avg()",
                                    "max(1)",
                                    "max(t)",
                                    "max(t)+t",
                                    "max(2)*3*t",
                                    "max(0.5)&&1",
                                    "min(t,u)",
                                    "min(t,u,x_1)",
                                    "max(t,u,x_1,0)",
                                    "sum(t)",
                                    "sum(-0)",
                                    "sum(t,u,1,2)",
                                    "avg(t)",
                                    "avg(t,u)",
                                    "avg(t,u,x_1)",
                                    "sum(t,t)",
                                    "sum(1,2)*t",
                                    "max((1,2))",
                                    "max(1,(2))",
                                    "(1,2)",
                                    "1,2",
                                    "1,2,3",
                                    ",1",
                                    "1,",
                                    "(1,2)+3",
                                    "-(1,2)",
                                    "max(1?2:3,4)",
                                    "max(1?2,3:4)",
                                    "max(t?u:1,2,u?1:t)",
                                    "max(1,2)?3:4",
                                    "1?(2,3):4",
                                    "1?2,3:4",
                                    "1?2:3,4",
                                    "max(1?max(1,2):3,sum(1,2,3))",
                                    "sum(sin(1),cos(t))",
                                    "sqrt(-1)",
                                    "ln(0)",
                                    "ln(-t)",
                                    "log2(8)",
                                    "log10(1000)",
                                    "log(t)",
                                    "exp(t)",
                                    "exp(710)",
                                    "rint(0.5)",
                                    "rint(-0.5)",
                                    "rint(t)",
                                    "rint(2.5)",
                                    "sign(t)",
                                    "sign(-0)",
                                    "abs(t)",
                                    "abs(-0)",
                                    "asinh(t)",
                                    "acosh(t)",
                                    "atanh(t)",
                                    "asin(2)",
                                    "tan(t)",
                                    "sinh(t)",
                                    "cosh(t)",
                                    "tanh(t)",
                                    "acos(t)",
                                    "atan(t)",
                                    "cot(t)",
                                    "rnd(1)",
                                    "rnd()",
                                    "0.5&&1",
                                    "t&&1",
                                    "0.5||0",
                                    "1e10&&1",
                                    "-0.9||0",
                                    "(1/0)&&1",
                                    "(0/0)||0",
                                    "1/0",
                                    "-1/0",
                                    "0/0",
                                    "2^0.5",
                                    "(-8)^(1/3)",
                                    "0^0",
                                    "0^-1",
                                    "1 == 1",
                                    "1 <= t",
                                    "t >= u",
                                    "t != u"};

static void calls_are_those_of_muparser(void)
{
    check_all(calls, sizeof calls / sizeof *calls);
}

static const char *const broken[] = {"",
                                     " ",
                                     "\n",
                                     "()",
                                     "(",
                                     ")",
                                     "((1)",
                                     "(1))",
                                     "1+",
                                     "+1",
                                     "+",
                                     "-",
                                     "1+-",
                                     "1+)",
                                     "(+)",
                                     "1*",
                                     "*1",
                                     "1**2",
                                     "1*/2",
                                     "1^^2",
                                     "1<>2",
                                     "1=<2",
                                     "1=>2",
                                     "1=1",
                                     "1===1",
                                     "1!==1",
                                     "1< =2",
                                     "= 1",
                                     "1&&",
                                     "&&1",
                                     "1&&&1",
                                     "1 & & 1",
                                     "||",
                                     "1?",
                                     "1?2",
                                     "1?2:",
                                     "1:2",
                                     "?",
                                     ":",
                                     "1?:2",
                                     "1??2:3",
                                     "1?2::3",
                                     "1?2:3:4",
                                     "(1?2):3",
                                     "1?(2:3)",
                                     "((1?2):3)",
                                     "(1?2:3",
                                     "1?2:3)",
                                     "- ? 1 : 2",
                                     "3, - ? 1 : 2",
                                     "max(3, - ? 1 : 2)",
                                     "1 ? - : 2",
                                     "1 - ? 2 : 3",
                                     "sin(1?2):3",
                                     "1?sin(2:3)",
                                     "max(1,-)",
                                     "max(-,1)",
                                     "(-)",
                                     "(1-)",
                                     "1,-",
                                     "1 2",
                                     "1 t",
                                     "t 1",
                                     "t t",
                                     "1\"a\"",
                                     "t+foo*2",
                                     "foo*(",
                                     "foo+1e",
                                     "1e(",
                                     "sin(foo)",
                                     "sin(foo",
                                     "foo,bar",
                                     "1,foo",
                                     "(foo)",
                                     "foo ? 1",
                                     "1 foo 2"};

static void broken_texts_are_refused_in_the_same_words(void)
{
    check_all(broken, sizeof broken / sizeof *broken);
}

/* Numbers that look random, the same in each run. */
static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void texts_put_together_give_the_same(void)
{
    uint64_t state = 88172645463325252u;
    char text[FORMULA_TEXT];

    for (int k = 0; k < 4000; k++) {
        uint64_t bits[64];

        for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
            bits[i] = next(&state);
        }
        struct fuzz_bytes b = {(const uint8_t *)bits, sizeof bits};
        formula_text(&b, text);
        check(text);
    }
}

UNIT_TESTS(UNIT_TEST(another_version_of_muparser_is_named_and_not_compared),
           UNIT_TEST(values_are_compared_where_muparser_rounds_each_operation),
           UNIT_TEST(binding_is_that_of_muparser),
           UNIT_TEST(numbers_and_names_are_those_of_muparser),
           UNIT_TEST(calls_are_those_of_muparser),
           UNIT_TEST(broken_texts_are_refused_in_the_same_words),
           UNIT_TEST(texts_put_together_give_the_same))
