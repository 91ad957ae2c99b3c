/* SQL that leads from each version of the database's schema to the next one. A new database goes
 * through all. Each is applied in one transaction with the version that it leads to; none is ever
 * changed once it has been released. store.h says what the tables hold. */
#pragma once

extern const char *const mechd_schema[];
extern const int mechd_schema_version; /* the newest: how many there are */
