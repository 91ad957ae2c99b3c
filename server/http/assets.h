/* The page's files, embedded at build time by clients/web/embed.py. Static storage, any thread.
 *
 * GET <path> answers with `bytes`, Content-Type `type` and ETag `etag` (quotes included). The page
 * itself has the path "/", everything it loads stands under "/assets/".
 */
#pragma once

#include <stddef.h>

struct mechd_asset {
    const char *path;           /* "/" or "/assets/<name>" */
    const char *type;           /* media type */
    const unsigned char *bytes; /* [size] */
    size_t size;
    const char *etag; /* from the content, in quotes */
};

extern const struct mechd_asset mechd_assets[]; /* [mechd_asset_count] */
extern const size_t mechd_asset_count;
