#!/usr/bin/env python3
"""Turn the page's files into one C file, so that the daemon carries them.

usage: embed.py OUTPUT.c FILE...

index.html answers at "/", every other file at "/assets/<name>". The generated table is
declared in server/http/assets.h: path, media type, bytes, size, and an entity tag made of the
content.
"""
import hashlib
import os
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def path_of(name):
    return "/" if name == "index.html" else "/assets/" + name


def array_of(index, data):
    """One C array; a final zero keeps an empty file legal."""
    rows = [data[i : i + 24] for i in range(0, len(data), 24)]
    text = ",\n".join(",".join(str(b) for b in row) for row in rows)
    body = text + ",\n" if text else ""
    return "static const unsigned char bytes_%d[] = {\n%s0};\n" % (index, body)


def entry_of(index, name, data):
    tag = hashlib.sha256(data).hexdigest()[:20]
    media = TYPES[os.path.splitext(name)[1]]
    form = '    {.path = "%s", .type = "%s", .bytes = bytes_%d, .size = %d, .etag = "\\"%s\\""},\n'
    return form % (path_of(name), media, index, len(data), tag)


def main(arguments):
    output, files = arguments[0], sorted(arguments[1:], key=os.path.basename)
    arrays, entries = [], []
    for index, file in enumerate(files):
        with open(file, "rb") as f:
            data = f.read()
        name = os.path.basename(file)
        arrays.append(array_of(index, data))
        entries.append(entry_of(index, name, data))
    text = (
        "/* The page's files, written by clients/web/embed.py. */\n"
        '#include "server/http/assets.h"\n\n'
        + "\n".join(arrays)
        + "\nconst struct mechd_asset mechd_assets[] = {\n"
        + "".join(entries)
        + "};\nconst size_t mechd_asset_count = sizeof mechd_assets / sizeof *mechd_assets;\n"
    )
    with open(output, "w", encoding="ascii") as f:
        f.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
