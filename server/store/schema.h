/* SQL that upgrades each version of the database's schema to the next one. A new database applies
 * all. Each is applied in one transaction with the new version number; none is ever changed once it
 * has been released. store.h describes the tables. */
#pragma once

extern const char *const mechd_schema[];
extern const int mechd_schema_version; /* the newest: how many there are */
