/* The settings of an FMU that connects to a server, from their list. */
#include "protocol/fmi/settings.h"

const struct mechp_fmi_setting_row mechp_fmi_settings[] = {
#define MECHP_FMI_SETTING(symbol, name, start, doc) {name, start, doc},
#include "protocol/fmi/settings.def"
#undef MECHP_FMI_SETTING
};
