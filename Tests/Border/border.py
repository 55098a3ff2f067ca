"""Type-checks the plugins as modules of another package; see check.

Only modules of the same package see `package` declarations, so the compiler finds each use of one. Copies of modules that
aren't products get different names, because Errand's own interfaces import the originals.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

work, interfaces = map(pathlib.Path, sys.argv[1:])
features = ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault", "NonisolatedNonsendingByDefault"]
flags = [
    "-emit-module", "-wmo", "-parse-as-library", "-swift-version", "6", "-package-name", "outside", "-Onone", "-D", "DEBUG",
    *(part for feature in features for part in ("-enable-upcoming-feature", feature)),
    "-module-cache-path", str(work / "cache"), "-I", str(work), "-I", str(interfaces),
]

description = json.loads((work / "package.json").read_text())
public = {name for product in description["products"] for name in product["targets"]}
# Kits that are products are used as other packages use them; the other support modules of plugins are copied too.
targets = {
    target["name"]: target for target in description["targets"]
    if target["path"].startswith("Sources/") and target["name"] not in public
    or target["path"].startswith("Sources/Plugins/") and not target["path"].startswith("Sources/Plugins/Kits/")
}
swift = {name: target for name, target in targets.items() if target["module_type"] == "SwiftTarget"}
for name, target in targets.items():
    if name not in swift:
        headers = pathlib.Path(target["path"]).resolve() / "include"
        flags += ["-Xcc", f"-fmodule-map-file={headers}/module.modulemap"]


def outside(text):
    """Returns a source whose imports use the names of the copies."""
    for name in swift:
        text = re.sub(rf"\bimport {name}\b", f"import Outside{name}", text)
    return text


def checked(name):
    """Compiles a module, whose dependencies must be compiled already, and returns its errors."""
    target = swift[name]
    for needed in target.get("target_dependencies", []):
        if needed not in targets and needed not in public:
            return [f"{name} depends on {needed}, which is no product"]
    sources = []
    for path in target["sources"]:
        copy = work / "sources" / name / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(outside((pathlib.Path(target["path"]) / path).read_text()))
        sources.append(str(copy))
    module = f"Outside{name}"
    run = subprocess.run(
        ["swiftc", *flags, "-module-name", module, "-o", str(work / f"{module}.swiftmodule"), *sources],
        capture_output=True, text=True)
    if run.returncode == 0:
        return []
    text = (run.stdout + run.stderr).replace(str(work / "sources") + "/", "")
    return sorted({line for line in text.splitlines() if re.match(r"\S+: error: ", line)})[:20] or text.splitlines()[-5:]


failures, done = [], set()
waiting = dict(swift)
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    running = {}
    while waiting or running:
        for name in [n for n, t in waiting.items() if not (set(t.get("target_dependencies", [])) & swift.keys()) - done]:
            del waiting[name]
            running[pool.submit(checked, name)] = name
        for finished in concurrent.futures.wait(running, return_when="FIRST_COMPLETED").done:
            name = running.pop(finished)
            failures += finished.result()
            done.add(name)

if failures:
    sys.exit("\n".join([*failures, "border: a plugin uses what a plugin of another package could not"]))
print(f"border: {len(swift)} modules fit together outside of the package")
