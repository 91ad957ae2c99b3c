/* Settings of an FMU that connects to a server (settings.def): its description has them as text
 * variables behind those of the model, its binary reads them at the initialization. The colon keeps
 * their names apart from those of models.
 *
 * Constant data, for any thread. libc alone.
 */
#pragma once

#include <stdint.h>

enum mechp_fmi_setting {
#define MECHP_FMI_SETTING(symbol, name, start, doc) MECHP_FMI_SETTING_##symbol,
#include "protocol/fmi/settings.def"
#undef MECHP_FMI_SETTING
    MECHP_FMI_SETTINGS
};

/* the value reference of the first one, above those of all variables of a model */
#define MECHP_FMI_SETTING_REFERENCE UINT32_C(0x40000000)

struct mechp_fmi_setting_row {
    const char *name, *start, *doc;
};
extern const struct mechp_fmi_setting_row mechp_fmi_settings[]; /* [MECHP_FMI_SETTINGS] */
