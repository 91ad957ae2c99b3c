// Shortest decimal text of a double that reads back to the same bits (std::to_chars, which picks
// the shorter of plain and scientific notation). The one C++ file: C has no such function.
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>

extern "C" std::size_t mechp_number_text(double value, char *out);

extern "C" std::size_t mechp_number_text(double value, char *out)
{
    // many JSON readers take "-0" for the integer 0 and lose the sign
    if (value == 0.) {
        const bool negative = std::signbit(value);
        std::memcpy(out, negative ? "-0.0" : "0", negative ? 4 : 1);
        return negative ? 4 : 1;
    }
    // JSON has no other numbers
    if (!std::isfinite(value)) {
        std::memcpy(out, "null", 4);
        return 4;
    }
    const std::to_chars_result end = std::to_chars(out, out + 32, value);
    return static_cast<std::size_t>(end.ptr - out);
}
