/* Binary frames from any bytes: what is read is written again to the same bytes. */
#include "protocol/frame/frame.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mechp_frame f;
    if (mechp_frame_read(data, size, &f) != 0) {
        return 0;
    }
    unsigned char *const again = malloc(size);
    double *const values = malloc((f.count + 1u) * sizeof *values);
    if (again == NULL || values == NULL || size != MECHP_FRAME_HEADER + 8 * (size_t)f.count) {
        abort();
    }
    mechp_frame_get_values(data + MECHP_FRAME_HEADER, values, f.count);
    mechp_frame_write(&f, again);
    mechp_frame_put_values(again + MECHP_FRAME_HEADER, values, f.count);
    if (memcmp(data, again, size) != 0 || mechp_frame_kind_name(f.kind)[0] == '?') {
        abort();
    }
    free(again);
    free(values);
    return 0;
}
