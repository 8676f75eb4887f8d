#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Joins the report page into one self-contained HTML document, cut in two where the profile goes.

    build.py OUT.c [SOURCE...]           the two pieces as C arrays (src/profile/page.h)
    build.py --html OUT [SOURCE...]      the two pieces as OUT.head and OUT.tail

SOURCE: page.html, style sheets and scripts; scripts are joined in any order, but app.js last.
Without any: those of this folder.

The page must run under its own Content-Security-Policy, from disk, on any machine. So the hashes in
the policy are those of the very bytes that stand between the tags, the output is ASCII (no charset or
signedness can change it), and it depends on nothing but the sources: same sources, same bytes.
"""
import base64
import hashlib
import pathlib
import re
import sys

SOURCES = ("page.html", "style.css", "text.js", "decode.js", "tree.js", "layout.js", "color.js",
           "flame.js", "table.js", "card.js", "facts.js", "input.js", "app.js")
POLICY = ("default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; "
          "img-src data:; base-uri 'none'; form-action 'none'")


def read_sources(names):
    folder = pathlib.Path(__file__).resolve().parent
    paths = [pathlib.Path(name) for name in names] or [folder / name for name in SOURCES]
    texts = {".html": "", ".css": "", ".js": ""}
    for path in sorted(paths, key=lambda path: path.name == "app.js"):
        if path.suffix not in texts:
            sys.exit(f"build.py: cannot use {path}: it is no .html, .css or .js file")
        texts[path.suffix] += path.read_text(encoding="ascii")
    return texts[".html"], texts[".css"], texts[".js"]


def policy_hash(text):
    return base64.b64encode(hashlib.sha256(text.encode("ascii")).digest()).decode("ascii")


def join_page(page, style, script):
    """Returns the bytes before and after the profile."""
    script = "(() => {\n'use strict';\n" + script + "})();"
    for what, text, end in (("style", style, "</style"), ("script", script, "</script")):
        if end in text.lower() or "<!--" in text:
            sys.exit(f"build.py: the {what} holds '{end}' or '<!--', which would end it early")
    parts = {
        "@POLICY@": POLICY.format(style=policy_hash(style), script=policy_hash(script)),
        "@STYLE@": style,
        "@SCRIPT@": script,
    }
    page = re.sub(r"<!--.*?-->\s*", "", page, flags=re.S)
    for mark in [*parts, "@PROFILE@"]:
        if page.count(mark) != 1:
            sys.exit(f"build.py: the page must hold {mark} once")
    page = re.sub(r"@(POLICY|STYLE|SCRIPT)@", lambda mark: parts[mark.group()], page)
    head, tail = page.split("@PROFILE@")
    return head.encode("ascii"), tail.encode("ascii")


def c_array(name, data):
    rows = [",".join(str(byte) for byte in data[at:at + 24]) for at in range(0, len(data), 24)]
    body = ",\n".join(rows)
    return f"const char {name}[] = {{\n{body}\n}};\nconst size_t {name}_size = sizeof {name};\n"


def c_source(head, tail):
    return ("/* Made by viewer/build.py. */\n#include \"profile/page.h\"\n\n"
            + c_array("viewer_head", head) + "\n" + c_array("viewer_tail", tail))


def main(arguments):
    html = arguments[:1] == ["--html"]
    if len(arguments) < 1 + html:
        sys.exit("usage: build.py OUT.c [SOURCE...] | build.py --html OUT [SOURCE...]")
    out, *sources = arguments[html:]
    head, tail = join_page(*read_sources(sources))
    if html:
        pathlib.Path(out + ".head").write_bytes(head)
        pathlib.Path(out + ".tail").write_bytes(tail)
    else:
        pathlib.Path(out).write_text(c_source(head, tail), encoding="ascii", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
