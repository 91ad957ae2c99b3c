/* Units of the solver ("N m", "rad/s^2") as products of the base units that FMI knows. Constant
 * data, for any thread. Source: FMI 3.0.2, section 2.4.3; 2.0.5, section 2.2.2. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* kg m s A K mol cd rad, in the order of the standard */
enum { MECHP_FMI_BASE_UNITS = 8 };
extern const char *const mechp_fmi_base_units[MECHP_FMI_BASE_UNITS];

/* Exponents of the base units of [size] characters: units joined by spaces, each with an exponent
 * "^n" if it is not 1, at most one "/" before those that divide; "1" and "" have none. False: a
 * unit that is not known, or no such text. */
bool mechp_fmi_unit(const char *text, size_t size, int exponents[MECHP_FMI_BASE_UNITS]);
