#!/usr/bin/env python3
"""Type-checks the modules of the package for Apple's platforms; see check.

A module is compiled once: the step that emits its interface also checks the bodies and the flow of isolation. What passed
stays in the work directory and is compiled again only if its sources, those of a dependency or the stubs have changed. iOS
comes first: its stubs declare a part of what those of macOS declare, so a module whose sources are the same on both has
passed for both. For watchOS the libraries alone are checked, which is what an app for a watch links: that they compile
with the conditions of that platform, and that no constant needs more than the 32 bits that `Int` has there.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import evaluate
import width

WORK = pathlib.Path(sys.argv[1])
STUBS = pathlib.Path("Tests/Apple/Stubs")
FRAMEWORKS = {"iOS": {"UIKit"}, "macOS": {"AppKit"}, "watchOS": {"UIKit"}}
STUB_ORDER = ["Foundation", "os", "CryptoKit", "Security", "Network", "SwiftUI", "UIKit", "AppKit"]
STRICT = ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault", "NonisolatedNonsendingByDefault"]
STRICT_FLAGS = [flag for feature in STRICT for flag in ("-enable-upcoming-feature", feature)]
COMMON = [
    "-emit-module", "-wmo", "-swift-version", "6", "-D", "DEBUG", "-D", "SWIFT_PACKAGE", "-package-name", "errand",
    "-enable-testing", "-Xfrontend", "-disable-cross-import-overlays",
    "-Xcc", f"-fmodule-map-file={STUBS.resolve()}/Darwin/module.modulemap",
    # The one C shim that Apple's platforms use.
    "-Xcc", f"-fmodule-map-file={pathlib.Path('Sources/Core/System/Codings/include/module.modulemap').resolve()}",
]
IMPORT = re.compile(
    r"^\s*(?:@\w+(?:\(\w+\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?"
    r"import\s+(?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?(\w+)", re.M)
# Warnings count, as in the build on Linux.
DIAGNOSTIC = re.compile(r"\S+: (error|warning): ")
# The stub of Foundation re-exports the toolchain's essentials, so a type of those counts for no import of Foundation. That
# of Darwin is a Clang module without a Swift module above it, as Glibc has: its types count for no re-export of it.
ARTEFACT = re.compile(r"warning: (public|package) import of '(Foundation|ErrandSupport)' was not used in")
LEAF_LIBRARY = re.compile(r'"(lib[\w.+-]+\.(?:dylib|so)[.\d]*)"')
WRONG = """
#if canImport(Darwin)
import Foundation
func deliberatelyWrong(_ session: URLSession) { session.methodThatNoPlatformHas() }
#endif
"""
# Each of them needs more than 32 bits, at its line; what follows them does not.
WIDE = """let literal: Duration = .seconds(3_155_760_000)
let product = min(24 * 60 * 60, 24 * 60 * 60 * 1_000_000)
let shift = Double(1 << 33)
func assign(_ value: inout Int) { value >>= 40 }
let unsigned = 5_000_000_000 as UInt
let negative = "\\(-3_000_000_000)"
let long: Duration = .seconds(3_155_760_000 as Int64)
let bits = (1 << 40 as UInt64) | UInt64(1 << 30)
let limits = (-2_147_483_648, 2_147_483_647, 0xffff_ffff as UInt)
"""


def imports(text):
    """The modules that an evaluated source imports; what stands in a text of several lines is none."""
    return IMPORT.findall(re.sub(r'(?s)""".*?"""', "", text))


def digest(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def module_name(name):
    return name.replace("-", "_")


class Platform:
    """The evaluated sources and the stubs of one platform, and what has been compiled of them."""

    def __init__(self, name):
        self.name, self.rules = name, evaluate.PLATFORMS[name]
        self.files, self.modules = WORK / name / "files", WORK / name / "modules"
        shutil.rmtree(self.files, ignore_errors=True)
        self.modules.mkdir(parents=True, exist_ok=True)
        self.keys, self.failed, self.texts = {}, {}, {}

    def write(self, path):
        text = evaluate.evaluated(pathlib.Path(path).read_text(), self.rules, str(path))
        self.texts[str(path)] = text
        copy = self.files / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)
        return copy

    def compile(self, name, sources, flags):
        target = self.modules / f"{module_name(name)}.swiftmodule"
        arguments = ["-o", str(target), "-module-name", module_name(name), "-I", str(self.modules), *COMMON,
                     "-Xcc", f"-DAPPLE_{self.name}", *flags]
        if not any(path.name == "main.swift" for path in sources):
            arguments.append("-parse-as-library")
        result = subprocess.run(["swiftc", *arguments, *map(str, sources)], capture_output=True, text=True)
        text = (result.stdout + result.stderr).replace(f"{self.files}/", "")
        errors = {line for line in text.splitlines() if DIAGNOSTIC.match(line) and not ARTEFACT.search(line)}
        if result.returncode == 0 or errors:
            return sorted(errors)
        return text.splitlines()[-5:]

    def too_wide(self, name, sources, flags):
        """What of a module that type-checks does not fit into the 32 bits of `Int` on a watch."""
        arguments = ["-dump-ast", "-module-name", module_name(name), "-I", str(self.modules), *COMMON[2:],
                     "-Xcc", f"-DAPPLE_{self.name}", *flags]
        # The tree of several files is written to the standard error.
        with subprocess.Popen(
            ["swiftc", *arguments, "-parse-as-library", *map(str, sources)], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
        ) as process:
            found = width.findings(process.stdout)
        if process.returncode:
            return [f"the tree of {name} could not be made"]
        return [line.replace(f"{self.files.resolve()}/", "").replace(f"{self.files}/", "") for line in found]

    def passed(self, name):
        """The key with which a module passed last."""
        path = self.modules / f"{module_name(name)}.key"
        return path.read_text() if path.exists() else None

    def record(self, name, key):
        (self.modules / f"{module_name(name)}.key").write_text(key)

    def compile_stubs(self):
        self.stub_key = digest(" ".join(COMMON), *(p.read_text() for p in sorted(STUBS.rglob("*")) if p.is_file()))
        for stub in STUB_ORDER:
            sources = [self.write(path) for path in sorted(STUBS.glob(f"{stub}*.swift"))]
            if stub in {"UIKit", "AppKit"} - FRAMEWORKS[self.name] or self.passed(stub) == self.stub_key:
                continue
            errors = self.compile(stub, sources, ["-suppress-warnings"])
            if errors:
                sys.exit("\n".join([f"apple: the stub of {stub} does not compile for {self.name}", *errors]))
            self.record(stub, self.stub_key)


class NotChecked(Exception):
    """A dependency has failed."""


class Package:
    def __init__(self):
        description = json.loads((WORK / "package.json").read_text())
        self.targets = {
            target["name"]: target for target in description["targets"] if target["module_type"] == "SwiftTarget"
        }
        self.declared, self.isolation = {}, {}
        for target in json.loads((WORK / "manifest.json").read_text())["targets"]:
            kinds = [setting["kind"] for setting in target["settings"]]
            self.isolation[target["name"]] = [
                flag for kind in kinds if "defaultIsolation" in kind
                for flag in ("-default-isolation", kind["defaultIsolation"]["_0"])
            ]
            self.declared[target["name"]] = [self.dependency(entry) for entry in target["dependencies"]]
        self.every_name = {module_name(name) for name in self.declared}

    @staticmethod
    def dependency(entry):
        (name, condition), = [value for kind, value in entry.items() if kind in ("byName", "target")]
        return name, {p.lower() for p in (condition or {}).get("platformNames", [])}

    def dependencies(self, name, platform):
        """What the manifest gives a target on a platform."""
        return [
            other for other, platforms in self.declared[name]
            if other in self.targets and (not platforms or platform.name.lower() in platforms)
        ]

    def libraries(self):
        return [name for name, target in self.targets.items() if target["type"] == "library"
                and target["path"].startswith("Sources/")]

    def order(self, wanted, platform):
        order, seen = [], set()

        def visit(name):
            if name not in seen:
                seen.add(name)
                for other in self.dependencies(name, platform):
                    visit(other)
                order.append(name)

        for name in wanted:
            visit(name)
        return order

    def imports_without_dependency(self, name, platform, text):
        """Modules of the package that a source imports although its target has no dependency on them on this platform.
        A manifest that forgets one builds by luck, in the order that the build happens to take."""
        order = self.order([name], platform)
        # C targets too, which are not compiled here.
        declared = {
            other for each in order for other, platforms in self.declared[each]
            if not platforms or platform.name.lower() in platforms
        }
        allowed = {module_name(other) for other in declared.union(order)}
        return sorted({module for module in imports(text) if module in self.every_name} - allowed)


def check(package, platform, name, earlier):
    """Compiles one module, if it has to be; returns its errors."""
    target = package.targets[name]
    sources = [platform.write(pathlib.Path(target["path"]) / source) for source in target["sources"]]
    texts = [platform.texts[str(pathlib.Path(target["path"]) / source)] for source in target["sources"]]
    needed = package.dependencies(name, platform)
    broken = [other for other in needed if other in platform.failed]
    if broken:
        raise NotChecked
    key = digest(platform.stub_key, *texts, *(platform.keys[other] for other in sorted(needed)))
    if any(module in FRAMEWORKS[platform.name] for text in texts for module in imports(text)):
        key = digest(platform.name, key)
    platform.keys[name] = key
    undeclared = package.imports_without_dependency(name, platform, "\n".join(texts))
    if undeclared:
        return [f"Package.swift gives {name} no dependency on {', '.join(undeclared)} for {platform.name}"]
    # The compiler would find these: the machine that rehearses has them.
    absent = evaluate.ABSENT - platform.rules["import"]
    missing = [
        f"{path}: imports {module}, which {platform.name} lacks"
        for path, text in zip(target["sources"], texts) for module in imports(text) if module in absent
    ]
    if missing:
        return missing
    if platform.passed(name) == key:
        return []
    if earlier and earlier.passed(name) == key:
        file = f"{module_name(name)}.swiftmodule"
        shutil.copy(earlier.modules / file, platform.modules / file)
        platform.record(name, key)
        return []
    errors = platform.compile(name, sources, STRICT_FLAGS + package.isolation[name])
    if not errors:
        platform.record(name, key)
    return errors


def check_width(package, platform, name):
    """Looks for constants of more than 32 bits in a module that has passed, if it was not done for the same sources."""
    key = platform.keys[name]
    record = platform.modules / f"{module_name(name)}.width"
    if record.exists() and record.read_text() == key:
        return []
    target = package.targets[name]
    sources = [platform.files / target["path"] / source for source in target["sources"]]
    found = platform.too_wide(name, sources, STRICT_FLAGS + package.isolation[name])
    if not found:
        record.write_text(key)
    return found


def check_one(package, platform, name, earlier):
    errors = check(package, platform, name, earlier)
    if errors or platform.name != "watchOS":
        return errors
    return check_width(package, platform, name)


def check_all(package, platform, wanted, earlier):
    waiting, running = package.order(wanted, platform), {}
    total, shown = len(waiting), int(os.environ.get("APPLE_ERRORS", "12"))
    finished, left = set(), []
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("APPLE_JOBS", os.cpu_count() or 1))) as pool:
        while waiting or running:
            for name in [n for n in waiting if finished.issuperset(package.dependencies(n, platform))]:
                waiting.remove(name)
                running[pool.submit(check_one, package, platform, name, earlier)] = name
            for future in concurrent.futures.wait(running, return_when="FIRST_COMPLETED").done:
                name = running.pop(future)
                finished.add(name)
                try:
                    errors = future.result()
                except NotChecked:
                    platform.failed[name] = left
                    left.append(name)
                    continue
                if errors:
                    platform.failed[name] = errors
                    print(f"apple: {name} does not type-check for {platform.name}")
                    print("\n".join(f"  {line}" for line in errors[:shown]), flush=True)
    if left:
        print(f"apple: not checked, because what they depend on failed: {', '.join(left)}")
    print(f"apple: {total - len(platform.failed)} of {total} modules type-check for {platform.name}", flush=True)


def notices_wrong_line(package, platform):
    """Whether a wrong line behind a fence for Apple's platforms is found."""
    name = "ErrandURLSessionTransport"
    target = package.targets[name]
    sources = [platform.write(pathlib.Path(target["path"]) / source) for source in target["sources"]]
    wrong = WORK / "Wrong+Darwin.swift"
    wrong.write_text(WRONG)
    errors = platform.compile("Wrong", [*sources, platform.write(wrong)], [])
    return any("Wrong+Darwin.swift:4" in line and "methodThatNoPlatformHas" in line for line in errors)


def leaf_libraries():
    """Libraries that are loaded by a name without a path. Apple's dlopen looks for it in the current directory too."""
    found = []
    for path in sorted(p for folder in ("Sources", "Examples") for p in pathlib.Path(folder).rglob("*.*")):
        if path.suffix not in (".swift", ".c", ".h") or ".build" in path.parts:
            continue
        text = path.read_text()
        if path.suffix == ".swift":
            text = evaluate.evaluated(text, evaluate.PLATFORMS["macOS"], str(path))
        names = LEAF_LIBRARY.findall(text)
        # What a shim loads elsewhere stands in another branch, which is not evaluated here.
        found += [f"{path}: {name}" for name in names if path.suffix == ".swift" or name.endswith(".dylib")]
    return found


def notices_wide_constants(platform):
    """Whether each constant that is too wide for a watch is found, and no other."""
    wide = WORK / "Wide.swift"
    wide.write_text(WIDE)
    found = platform.too_wide("Wide", [platform.write(wide)], [])
    lines = [int(line.split(".swift:")[1].split(":")[0]) for line in found if ".swift:" in line]
    return sorted(set(lines)) == [1, 2, 3, 4, 5, 6]


def main():
    arguments = sys.argv[2:]
    names = [arguments.pop(0)] if arguments[:1] and arguments[0] in evaluate.PLATFORMS else ["iOS", "macOS", "watchOS"]
    package = Package()
    unknown = [name for name in arguments if name not in package.targets]
    if unknown:
        sys.exit(f"apple: no such module: {', '.join(unknown)}")
    earlier, leaves = None, leaf_libraries()
    failed = bool(leaves)
    for leaf in leaves:
        print(f"apple: loaded by a name without a path: {leaf}")
    for name in names:
        platform = Platform(name)
        platform.compile_stubs()
        everything = sorted(package.libraries() if name == "watchOS" else package.targets)
        check_all(package, platform, arguments or everything, earlier)
        failed = failed or bool(platform.failed)
        if not arguments and "ErrandURLSessionTransport" not in platform.failed:
            found = notices_wrong_line(package, platform)
            failed = failed or not found
            print(f"apple: a wrong line for {name} is {'found' if found else 'NOT found'}")
        if name == "watchOS":
            found = notices_wide_constants(platform)
            failed = failed or not found
            print(f"apple: constants of more than 32 bits are {'found' if found else 'NOT found'}")
        earlier = earlier or platform
    sys.exit(1 if failed else 0)


main()
