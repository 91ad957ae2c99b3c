#include "server/store/database.h"

#define MECHD_DATABASE(name) extern const struct mechd_database_ops mechd_database_##name;
#include "server/store/databases.def"
#undef MECHD_DATABASE

#define MECHD_DATABASE(name) &mechd_database_##name,
static const struct mechd_database_ops *const kinds[] = {
#include "server/store/databases.def"
};
#undef MECHD_DATABASE

enum { KINDS = sizeof kinds / sizeof *kinds };

const struct mechd_database_ops *mechd_database_at(size_t k)
{
    return k < KINDS ? kinds[k] : NULL;
}

const struct mechd_database_ops *mechd_database_of(const char *place)
{
    size_t k = 0;
    while (k + 1 < KINDS && !kinds[k]->serves(place)) {
        k++;
    }
    return kinds[k];
}
