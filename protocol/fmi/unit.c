/* Units as exponents of base units. */
#include "protocol/fmi/unit.h"

#include <string.h>

const char *const mechp_fmi_base_units[MECHP_FMI_BASE_UNITS] = {"kg", "m",   "s",  "A",
                                                                "K",  "mol", "cd", "rad"};

/* all coherent: their factor is 1 */
static const struct {
    const char *name;
    int exponents[MECHP_FMI_BASE_UNITS];
} units[] = {
    {"1", {0}},          {"A", {0, 0, 0, 1}},    {"Hz", {0, 0, -1}},
    {"J", {1, 2, -2}},   {"K", {0, 0, 0, 0, 1}}, {"N", {1, 1, -2}},
    {"Pa", {1, -1, -2}}, {"V", {1, 2, -3, -1}},  {"W", {1, 2, -3}},
    {"kg", {1}},         {"m", {0, 1}},          {"rad", {0, 0, 0, 0, 0, 0, 0, 1}},
    {"s", {0, 0, 1}},
};

/* Add sign × exponent of the word [length], "m^2", or false. */
static bool add(const char *word, size_t length, int sign, int exponents[MECHP_FMI_BASE_UNITS])
{
    const char *const hat = memchr(word, '^', length);
    const size_t n = hat ? (size_t)(hat - word) : length;
    int power = 1;

    if (hat) {
        /* one digit: the solver has none beyond */
        if (length != n + 2 || hat[1] < '1' || hat[1] > '9') {
            return false;
        }
        power = hat[1] - '0';
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) == n && memcmp(units[i].name, word, n) == 0) {
            for (int k = 0; k < MECHP_FMI_BASE_UNITS; k++) {
                exponents[k] += sign * power * units[i].exponents[k];
            }
            return true;
        }
    }
    return false;
}

bool mechp_fmi_unit(const char *text, size_t size, int exponents[MECHP_FMI_BASE_UNITS])
{
    int sign = 1;
    size_t from = 0;

    memset(exponents, 0, MECHP_FMI_BASE_UNITS * sizeof *exponents);
    for (size_t i = 0; i <= size && size > 0; i++) {
        if (i < size && text[i] != ' ' && text[i] != '/') {
            continue;
        }
        if (!add(text + from, i - from, sign, exponents)) {
            return false;
        }
        if (i < size && text[i] == '/') {
            if (sign < 0) {
                return false;
            }
            sign = -1;
        }
        from = i + 1;
    }
    return true;
}
