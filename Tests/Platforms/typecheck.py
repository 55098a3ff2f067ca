#!/usr/bin/env python3
"""Type-checks the modules of the package for other platforms; see check.

A module is compiled once: the step that emits its interface also checks the bodies and the flow of isolation. What passed
stays in the work directory and is compiled again only if its sources, those of a dependency or the stubs have changed. iOS
comes first: its stubs declare a part of what those of macOS declare, so a module whose sources are the same on both has
passed for both. For watchOS the libraries alone are checked, which is what an app for a watch links: that they compile
with the conditions of that platform, and that no constant needs more than the 32 bits that `Int` has there.

For Musl the headers of that C library stand in for those of the C library of this system, in whatever is imported: the module
`Musl` that this makes is `Glibc` over other headers. For Android there is a stub of the C library, as for Apple's platforms.
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

import availability
import evaluate
import width

WORK = pathlib.Path(sys.argv[1])
STUBS = pathlib.Path("Tests/Platforms/Stubs")
FRAMEWORKS = {"iOS": {"UIKit"}, "macOS": {"AppKit"}, "watchOS": {"UIKit"}}
MUSL = pathlib.Path(f"/usr/include/{os.uname().machine}-linux-musl")
# Where the libraries alone are checked.
LIBRARIES_ONLY = {"watchOS", "Musl", "Android"}
# Their names in the manifest, where these are others.
MANIFEST_NAMES = {"Musl": "linux"}
STUB_ORDER = ["Foundation", "os", "CryptoKit", "Security", "Network", "SwiftUI", "UIKit", "AppKit"]
STRICT = ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault", "NonisolatedNonsendingByDefault"]
STRICT_FLAGS = [flag for feature in STRICT for flag in ("-enable-upcoming-feature", feature)]
COMMON = [
    "-emit-module", "-wmo", "-swift-version", "6", "-D", "DEBUG", "-D", "SWIFT_PACKAGE", "-package-name", "errand",
    "-enable-testing", "-Xfrontend", "-disable-cross-import-overlays",
]
NAMES = pathlib.Path("Sources/Core/Syntax/International")
CODINGS, CURL = pathlib.Path("Sources/Plugins/Kits/Codings"), pathlib.Path("Sources/Plugins/CurlTransport/CShim")
IMPORT = re.compile(
    r"^\s*(?:@\w+(?:\(\w+\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?"
    r"import\s+(?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?(\w+)", re.M)
# Warnings count, as in the build on Linux.
DIAGNOSTIC = re.compile(r"\S+: (error|warning): ")
# The stub of Foundation re-exports the toolchain's essentials, so a type of those counts for no import of Foundation. That
# of Darwin is a Clang module without a Swift module above it, as Glibc has: its types count for no re-export of it.
# With other headers the compiler says that it has not found those of this system.
ARTEFACT = re.compile(
    r"warning: (public|package) import of '(Foundation|ErrandSupport)' was not used in|warning: libc not found for")
LEAF_LIBRARY = re.compile(r'"(lib[\w.+-]+\.(?:dylib|so)[.\d]*)"')
WRONG = """
#if canImport(Darwin)
import Foundation
func deliberatelyWrong(_ session: URLSession) { session.methodThatNoPlatformHas() }
#endif
"""
WRONG_ON_LINUX = """
#if canImport(Musl) || canImport(Android)
import ErrandSupport
func deliberatelyWrong() { _ = getrlimit(__rlimit_resource_t(7), nil) }
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


def clang_modules(*folders):
    return [flag for folder in folders for flag in ("-Xcc", f"-fmodule-map-file={folder.resolve()}/module.modulemap")]


def musl_headers(folder):
    """Puts together what Musl's headers and those of Linux are found in; returns the flags of a C compiler for it."""
    machine = os.uname().machine
    folder.mkdir(parents=True, exist_ok=True)
    kernel = {"linux": "/usr/include/linux", "asm-generic": "/usr/include/asm-generic",
              "asm": f"/usr/include/{machine}-linux-gnu/asm"}
    for name, place in kernel.items():
        link = folder / name
        if not link.is_symlink():
            link.symlink_to(place)
    return ["-nostdlibinc", "-isystem", str(MUSL), "-isystem", str(folder.resolve())]


def musl_flags(work):
    """The flags of the Swift compiler for what is imported over Musl's headers."""
    headers = work / "headers"
    flags = [*musl_headers(headers), "-Wno-#warnings", "-D_GNU_SOURCE"]
    information = subprocess.run(["swiftc", "-print-target-info"], capture_output=True, text=True, check=True).stdout
    resources = pathlib.Path(json.loads(information)["paths"]["runtimeResourcePath"])
    shutil.copy(resources / "linux" / os.uname().machine / "SwiftGlibc.h", headers)
    (headers / "module.modulemap").write_text('module SwiftGlibc [system] { header "SwiftGlibc.h" export * }\n')
    cache = ["-module-cache-path", str(work / "cache")]
    return [*cache, *(part for flag in flags for part in ("-Xcc", flag)), *clang_modules(headers)]


class Platform:
    """The evaluated sources and the stubs of one platform, and what has been compiled of them."""

    def __init__(self, name):
        self.name, self.rules = name, evaluate.PLATFORMS[name]
        self.manifest_name = MANIFEST_NAMES.get(name, name.lower())
        self.files, self.modules = WORK / name / "files", WORK / name / "modules"
        self.is_apple = "Darwin" in self.rules["import"]
        if self.is_apple:
            # The one C shim that Apple's platforms use.
            self.flags = [*COMMON, *clang_modules(STUBS / "Darwin", CODINGS / "include", NAMES / "include")]
        else:
            library = musl_flags(WORK / name) if name == "Musl" else clang_modules(STUBS / "Android")
            self.flags = [*COMMON, *library, *clang_modules(CODINGS / "include", CURL / "include", NAMES / "include")]
        shutil.rmtree(self.files, ignore_errors=True)
        self.modules.mkdir(parents=True, exist_ok=True)
        self.keys, self.failed, self.texts = {}, {}, {}
        self.frameworks = FRAMEWORKS.get(name, set())

    def write(self, path):
        text = evaluate.evaluated(pathlib.Path(path).read_text(), self.rules, str(path))
        self.texts[str(path)] = text
        copy = self.files / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)
        return copy

    def compile(self, name, sources, flags):
        target = self.modules / f"{module_name(name)}.swiftmodule"
        arguments = ["-o", str(target), "-module-name", module_name(name), "-I", str(self.modules), *self.flags,
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
        arguments = ["-dump-ast", "-module-name", module_name(name), "-I", str(self.modules), *self.flags[2:],
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
        self.stub_key = digest(" ".join(self.flags), *(p.read_text() for p in sorted(STUBS.rglob("*")) if p.is_file()))
        order = STUB_ORDER if self.is_apple else ["Musl"] if self.name == "Musl" else []
        for stub in order:
            sources = [self.write(path) for path in sorted(STUBS.glob(f"{stub}*.swift"))]
            if stub in {"UIKit", "AppKit"} - self.frameworks or self.passed(stub) == self.stub_key:
                continue
            errors = self.compile(stub, sources, ["-suppress-warnings"])
            if errors:
                sys.exit("\n".join([f"platforms: the stub of {stub} does not compile for {self.name}", *errors]))
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
            if other in self.targets and (not platforms or platform.manifest_name in platforms)
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
            if not platforms or platform.manifest_name in platforms
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
    if any(module in platform.frameworks for text in texts for module in imports(text)):
        key = digest(platform.name, key)
    platform.keys[name] = key
    undeclared = package.imports_without_dependency(name, platform, "\n".join(texts))
    if undeclared:
        return [f"Package.swift gives {name} no dependency on {', '.join(undeclared)} for {platform.name}"]
    # The compiler would find these: the machine that rehearses has them.
    absent = evaluate.SOMEWHERE - platform.rules["import"]
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
    total, shown = len(waiting), int(os.environ.get("PLATFORMS_ERRORS", "12"))
    finished, left = set(), []
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("PLATFORMS_JOBS", os.cpu_count() or 1))) as pool:
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
                    print(f"platforms: {name} does not type-check for {platform.name}")
                    print("\n".join(f"  {line}" for line in errors[:shown]), flush=True)
    if left:
        print(f"platforms: not checked, because what they depend on failed: {', '.join(left)}")
    print(f"platforms: {total - len(platform.failed)} of {total} modules type-check for {platform.name}", flush=True)


def notices_wrong_line(package, platform):
    """Whether a wrong line behind a fence for the platform is found."""
    name = "ErrandURLSessionTransport" if platform.is_apple else "ErrandCurlTransport"
    target = package.targets[name]
    sources = [platform.write(pathlib.Path(target["path"]) / source) for source in target["sources"]]
    wrong = WORK / "Wrong.swift"
    wrong.write_text(WRONG if platform.is_apple else WRONG_ON_LINUX)
    errors = platform.compile("Wrong", [*sources, platform.write(wrong)], [])
    word = "methodThatNoPlatformHas" if platform.is_apple else "__rlimit_resource_t"
    return any("Wrong.swift:4" in line and word in line for line in errors)


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


def shim_errors():
    """What a C compiler says of the shims over Musl's headers: with the trait and without it, and for Android too."""
    flags, errors = ["-std=gnu11", "-Wall", "-Werror", *musl_headers(WORK / "Musl" / "headers")], []
    for folder in (CODINGS, CURL, NAMES):
        for source in sorted(folder.glob("*.c")):
            for defines in ([], ["-DERRAND_LINKED_LIBCURL"], ["-D__ANDROID__"]):
                command = ["clang", "-fsyntax-only", *flags, *defines, "-I", str(folder / "include"), str(source)]
                errors += subprocess.run(command, capture_output=True, text=True).stderr.splitlines()
    return errors


def are_available(package):
    """Whether nothing is used that the oldest macOS lacks; says what is."""
    sources = [pathlib.Path(target["path"]) / source for target in package.targets.values() for source in target["sources"]]
    found = availability.findings(WORK, sources)
    if found is None:
        print("NOT RUN: no debug build has left an index to search for API that the oldest macOS lacks", file=sys.stderr)
        return True
    lines = [f"platforms: newer than the oldest macOS, and used without a question: {line}" for line in found]
    is_noticed = availability.notices()
    lines.append(f"platforms: API that is too new is {'found' if is_noticed else 'NOT found'}")
    print("\n".join(lines), flush=True)
    return is_noticed and not found


def notices_wide_constants(platform):
    """Whether each constant that is too wide for a watch is found, and no other."""
    wide = WORK / "Wide.swift"
    wide.write_text(WIDE)
    found = platform.too_wide("Wide", [platform.write(wide)], [])
    lines = [int(line.split(".swift:")[1].split(":")[0]) for line in found if ".swift:" in line]
    return sorted(set(lines)) == [1, 2, 3, 4, 5, 6]


def main():
    arguments = sys.argv[2:]
    every = ["iOS", "macOS", "watchOS", "Musl", "Android"]
    names = [arguments.pop(0)] if arguments[:1] and arguments[0] in evaluate.PLATFORMS else every
    package = Package()
    unknown = [name for name in arguments if name not in package.targets]
    if unknown:
        sys.exit(f"platforms: no such module: {', '.join(unknown)}")
    earlier, leaves = None, leaf_libraries()
    failed = bool(leaves)
    for leaf in leaves:
        print(f"platforms: loaded by a name without a path: {leaf}")
    if "Musl" in names and not MUSL.exists():
        names.remove("Musl")
        print(f"NOT RUN: there are no headers of Musl in {MUSL}, which Debian's musl-dev has", file=sys.stderr)
    for name in names:
        platform = Platform(name)
        platform.compile_stubs()
        everything = sorted(package.libraries() if name in LIBRARIES_ONLY else package.targets)
        check_all(package, platform, arguments or everything, earlier)
        failed = failed or bool(platform.failed)
        if not arguments and not platform.failed:
            found = notices_wrong_line(package, platform)
            failed = failed or not found
            print(f"platforms: a wrong line for {name} is {'found' if found else 'NOT found'}")
        if name == "macOS" and not arguments:
            failed = not are_available(package) or failed
        if name == "watchOS":
            found = notices_wide_constants(platform)
            failed = failed or not found
            print(f"platforms: constants of more than 32 bits are {'found' if found else 'NOT found'}")
        if name == "Musl":
            errors = shim_errors()
            failed = failed or bool(errors)
            print("\n".join([*errors, f"platforms: the C shims {'do NOT compile' if errors else 'compile'} with Musl's headers"]))
        earlier = earlier or platform
    sys.exit(1 if failed else 0)


main()
