#!/usr/bin/env python3
"""Type-checks the modules of the package one after the other; see check."""
import json
import os
import pathlib
import subprocess
import sys

platform, work, wanted = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
files, modules = work / platform / "files", work / platform / "modules"
stubs = pathlib.Path("Tests/Apple/Stubs").resolve()
STRICT = ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault", "NonisolatedNonsendingByDefault"]
COMMON = [
    "-swift-version", "6", "-D", "DEBUG", "-D", "SWIFT_PACKAGE", "-package-name", "errand", "-I", str(modules),
    "-Xfrontend", "-disable-cross-import-overlays", "-Xfrontend", "-disable-availability-checking",
    "-Xcc", f"-fmodule-map-file={stubs}/Darwin/module.modulemap", "-suppress-warnings", "-enable-testing",
]


def swiftc(arguments):
    result = subprocess.run(["swiftc", *arguments], capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def emit(name, sources, strict, is_program=False):
    flags = [f for feature in STRICT for f in ("-enable-upcoming-feature", feature)] if strict else []
    if not any(path.name == "main.swift" for path in sources):
        flags.append("-parse-as-library")
    testing = ["-I", testing_folder()] if testing_folder() else []
    target = modules / f"{name.replace('-', '_')}.swiftmodule"
    code, text = swiftc(
        ["-emit-module", "-o", str(target), "-module-name", name.replace("-", "_"), *COMMON, *flags, *testing, *map(str, sources)])
    if code == 0:
        code, text = swiftc(
            ["-typecheck", "-module-name", name.replace("-", "_"), *COMMON, *flags, *testing, *map(str, sources)])
    errors = sorted({
        line.replace(str(files) + "/", "") for line in text.splitlines() if ": error:" in line and "emit-module" not in line
    })
    return code == 0, errors or text.splitlines()[-5:]


def testing_folder():
    info = json.loads(subprocess.check_output(["swiftc", "-print-target-info"]))
    path = pathlib.Path(info["paths"]["runtimeResourcePath"]) / "linux" / "testing"
    return str(path) if path.exists() else None


description = json.loads((work / "package.json").read_text())
targets = {target["name"]: target for target in description["targets"]}
order, done = [], set()


def visit(name):
    if name in done:
        return
    done.add(name)
    for other in targets[name].get("target_dependencies", []):
        visit(other)
    order.append(name)


for name in sorted(targets):
    visit(name)

failures = 0
for stub in ["Foundation", "os", "CryptoKit", "Security", "AppKit", "UIKit"]:
    sources = sorted((work / platform / "stubs").glob(f"{stub}*.swift"))
    if stub == ("UIKit" if platform == "macOS" else "AppKit") or not sources:
        continue
    ok, errors = emit(stub, sources, strict=False)
    if not ok:
        sys.exit("\n".join([f"apple: the stub of {stub} does not compile", *errors]))

count = 0
for name in order:
    target = targets[name]
    if target["module_type"] == "ClangTarget" or not target["path"].startswith(("Sources", "Examples", "Tests")):
        continue
    if wanted and name not in wanted and target["type"] not in ("library",):
        continue
    sources = [files / target["path"] / source for source in target["sources"]]
    ok, errors = emit(name, sources, strict=True)
    count += 1
    if not ok:
        failures += 1
        print(f"apple: {name} does not type-check for {platform}")
        print("\n".join(f"  {line}" for line in errors[: int(os.environ.get("APPLE_ERRORS", "12"))]))
print(f"apple: {count - failures} of {count} modules type-check for {platform}")
sys.exit(1 if failures else 0)
