#!/usr/bin/env python3
"""Prints the instructions of a send with plugins, counted by callgrind on the sending thread: `instructions.py PROGRAM`.

The program calls errand_cost_mark before and after 200 sends of each row. Prints "NAME INSTRUCTIONS"
of one send per row.
"""
import pathlib, re, subprocess, sys, tempfile

with tempfile.TemporaryDirectory() as folder:
    # Old valgrind versions can't read new compilers' debug information; function names suffice.
    program = f"{folder}/program"
    subprocess.run(["strip", "--strip-debug", "-o", program, sys.argv[1]], check=True)
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--separate-threads=yes", "--dump-before=errand_cost_mark",
         f"--callgrind-out-file={folder}/counts", program, "plugins"],
        capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr[-2000:])
    for number, line in enumerate(run.stdout.splitlines()):
        # Each mark ends a part: first the row's warm-up, then its sends.
        part = pathlib.Path(f"{folder}/counts.{2 * number + 2}-01").read_text(errors="replace")
        print(line.split()[0], int(re.search(r"^(?:totals|summary): (\d+)", part, re.M).group(1)) // 200)
