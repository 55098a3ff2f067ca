#!/usr/bin/env python3
"""Prints the sizes of a binary's async frames (ELF, 64 bits), from its symbols: `frames.py PROGRAM [MODULE …]`.

A symbol that ends in Tu is an async function pointer: the function's offset and its frame's size in bytes, 32 bits each.
Prints "BYTES NAME" for the modules' functions, largest first.
"""
import struct, subprocess, sys

program, modules = sys.argv[1], sys.argv[2:] or ["Errand", "ErrandHTTP"]
data = open(program, "rb").read()
(sections,) = struct.unpack_from("<Q", data, 0x28)
size, count = struct.unpack_from("<HH", data, 0x3A)
headers = [struct.unpack_from("<IIQQQQIIQQ", data, sections + i * size) for i in range(count)]
frames = {}
for header in headers:
    if header[1] != 2:  # SHT_SYMTAB
        continue
    strings = headers[header[6]][4]
    for place in range(header[4], header[4] + header[5], 24):
        name, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", data, place)
        if not 0 < section < count:
            continue
        end = data.index(b"\0", strings + name)
        text = data[strings + name : end].decode()
        if not text.endswith("Tu"):
            continue
        home = headers[section]
        _, bytes_ = struct.unpack_from("<iI", data, value - home[3] + home[4])
        frames[text[:-2]] = bytes_
marks = [f"{len(module)}{module}" for module in modules]
names = [name for name in frames if any(name.startswith(("$s" + mark, "$ss" + mark)) or mark in name[:60] for mark in marks)]
plain = subprocess.run(
    ["swift", "demangle", "--simplified", "--compact"], input="\n".join(names), capture_output=True, text=True, check=True)
for name, text in sorted(zip(names, plain.stdout.splitlines()), key=lambda pair: -frames[pair[0]]):
    print(frames[name], text)
