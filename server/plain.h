/* Plain text through the growing buffer of JSON text: bytes are appended with no comma between. */
#pragma once

#include "protocol/wire/text.h"

static inline void mechd_plain(struct mechp_text *w, const char *bytes, size_t size)
{
    w->comma[0] = false;
    mechp_text_raw(w, bytes, size);
}
