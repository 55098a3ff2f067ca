#!/usr/bin/env python3
"""Prints the instructions of a send with plugins, counted by callgrind: `instructions.py PROGRAM [plugins|whole] [ROW…]`.

`plugins`, the default, counts the sending thread, and `whole` all threads. The program calls errand_cost_mark before
and after the sends of each row: 200, or 3,000 with `whole`. Prints "NAME INSTRUCTIONS" of one send per row.
"""
import pathlib, re, subprocess, sys, tempfile

mode = sys.argv[2] if len(sys.argv) > 2 else "plugins"
(separate, ending, sends) = ("no", "", 3000) if mode == "whole" else ("yes", "-01", 200)

with tempfile.TemporaryDirectory() as folder:
    # Old valgrind versions can't read new compilers' debug information; function names suffice.
    program = f"{folder}/program"
    subprocess.run(["strip", "--strip-debug", "-o", program, sys.argv[1]], check=True)
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--separate-threads={separate}", "--dump-before=errand_cost_mark",
         f"--callgrind-out-file={folder}/counts", program, mode, *sys.argv[3:]],
        capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr[-2000:])
    for number, line in enumerate(run.stdout.splitlines()):
        # Each mark ends a part: first the row's warm-up, then its sends.
        part = pathlib.Path(f"{folder}/counts.{2 * number + 2}{ending}").read_text(errors="replace")
        print(line.split()[0], int(re.search(r"^(?:totals|summary): (\d+)", part, re.M).group(1)) // sends)
