#!/usr/bin/env python3
"""Type-checks the modules of the package for other platforms; see check.

Each module is compiled once: the step that emits its interface also checks function bodies and data-race isolation. Results
stay in the work directory, and a module is compiled again only if its sources, a dependency's sources or the stubs have
changed. iOS comes first: its stubs are a subset of macOS's, so a module whose sources are the same on both has passed for
both. For watchOS, only the libraries are checked, which a watch app links: they must compile with that platform's conditions,
and no constant may need more than the 32 bits that `Int` has there.

For Musl, its headers replace this system's C headers in all imports: the module `Musl` is `Glibc` over Musl's headers. For
Android there is a stub of the C library, as for Apple's platforms.
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
# Platforms for which only the libraries are checked.
LIBRARIES_ONLY = {"watchOS", "Musl", "Android"}
# Names in the manifest that differ.
MANIFEST_NAMES = {"Musl": "linux"}
STUB_ORDER = [
    "Foundation", "os", "CryptoKit", "Security", "Network", "SwiftUI", "UIKit", "AppKit", "AuthenticationServices",
]
STRICT = ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault", "NonisolatedNonsendingByDefault"]
STRICT_FLAGS = [flag for feature in STRICT for flag in ("-enable-upcoming-feature", feature)]
COMMON = [
    "-emit-module", "-wmo", "-swift-version", "6", "-D", "DEBUG", "-D", "SWIFT_PACKAGE", "-package-name", "errand",
    "-enable-testing", "-Xfrontend", "-disable-cross-import-overlays",
]
NAMES, KEYS = pathlib.Path("Sources/Core/Syntax/International"), pathlib.Path("Sources/Plugins/Kits/Keys/CShim")
CODINGS, CURL = pathlib.Path("Sources/Plugins/Kits/Codings"), pathlib.Path("Sources/Plugins/CurlTransport/CShim")
IMPORT = re.compile(
    r"^\s*(?:@\w+(?:\(\w+\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?"
    r"import\s+(?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?(\w+)", re.M)
# Warnings count, as in the build on Linux.
DIAGNOSTIC = re.compile(r"\S+: (error|warning): ")
# False warnings of this setup. The Foundation stub re-exports the toolchain's essentials, so using their types doesn't
# count as using the import of Foundation. The Darwin stub is a Clang module without a Swift overlay such as Glibc's, so
# its types don't count as using the re-export. With Musl's headers, the compiler reports that it hasn't found this
# system's libc.
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
# The first six lines need more than 32 bits; the others don't.
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
    """Returns the modules that an evaluated source imports. Ignores multi-line string literals."""
    return IMPORT.findall(re.sub(r'(?s)""".*?"""', "", text))


def digest(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def module_name(name):
    return name.replace("-", "_")


def clang_modules(*folders):
    return [flag for folder in folders for flag in ("-Xcc", f"-fmodule-map-file={folder.resolve()}/module.modulemap")]


def musl_headers(folder):
    """Assembles a folder with Musl's and Linux's headers, and returns the C compiler flags that use it."""
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
    """Returns the Swift compiler flags for importing over Musl's headers."""
    headers = work / "headers"
    flags = [*musl_headers(headers), "-Wno-#warnings", "-D_GNU_SOURCE"]
    information = subprocess.run(["swiftc", "-print-target-info"], capture_output=True, text=True, check=True).stdout
    resources = pathlib.Path(json.loads(information)["paths"]["runtimeResourcePath"])
    shutil.copy(resources / "linux" / os.uname().machine / "SwiftGlibc.h", headers)
    (headers / "module.modulemap").write_text('module SwiftGlibc [system] { header "SwiftGlibc.h" export * }\n')
    cache = ["-module-cache-path", str(work / "cache")]
    return [*cache, *(part for flag in flags for part in ("-Xcc", flag)), *clang_modules(headers)]


class Platform:
    """The evaluated sources and the stubs of one platform, and their compiled modules."""

    def __init__(self, name):
        self.name, self.rules = name, evaluate.PLATFORMS[name]
        self.manifest_name = MANIFEST_NAMES.get(name, name.lower())
        self.files, self.modules = WORK / name / "files", WORK / name / "modules"
        self.is_apple = "Darwin" in self.rules["import"]
        if self.is_apple:
            # The only C shim that Apple's platforms use.
            self.flags = [*COMMON, *clang_modules(STUBS / "Darwin", CODINGS / "include", NAMES / "include")]
        else:
            library = musl_flags(WORK / name) if name == "Musl" else clang_modules(STUBS / "Android")
            shims = (folder / "include" for folder in (CODINGS, CURL, NAMES, KEYS))
            self.flags = [*COMMON, *library, *clang_modules(*shims)]
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
        """Returns the constants of a type-checked module that don't fit into the 32 bits of `Int` on a watch."""
        arguments = ["-dump-ast", "-module-name", module_name(name), "-I", str(self.modules), *self.flags[2:],
                     "-Xcc", f"-DAPPLE_{self.name}", *flags]
        # The tree of several files is written to standard error.
        with subprocess.Popen(
            ["swiftc", *arguments, "-parse-as-library", *map(str, sources)], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
        ) as process:
            found = width.findings(process.stdout)
        if process.returncode:
            return [f"the tree of {name} could not be made"]
        return [line.replace(f"{self.files.resolve()}/", "").replace(f"{self.files}/", "") for line in found]

    def passed(self, name):
        """Returns the key with which a module last passed."""
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
    """Raised if a dependency has failed."""


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
        """Returns a target's dependencies on a platform, according to the manifest."""
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
        """Returns the package's modules that a source imports without a dependency of its target on this platform.
        Without the dependency, success depends on the build order."""
        order = self.order([name], platform)
        # Includes C targets, which aren't compiled here.
        declared = {
            other for each in order for other, platforms in self.declared[each]
            if not platforms or platform.manifest_name in platforms
        }
        allowed = {module_name(other) for other in declared.union(order)}
        return sorted({module for module in imports(text) if module in self.every_name} - allowed)


def check(package, platform, name, earlier):
    """Compiles one module if necessary, and returns its errors."""
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
    # The compiler wouldn't report these, because this machine has the modules.
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
    """Looks for constants of more than 32 bits in a module that has passed, unless the same sources were checked before."""
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
    """Whether the check finds a wrong line inside a condition for the platform."""
    name = "ErrandURLSessionTransport" if platform.is_apple else "ErrandCurlTransport"
    target = package.targets[name]
    sources = [platform.write(pathlib.Path(target["path"]) / source) for source in target["sources"]]
    wrong = WORK / "Wrong.swift"
    wrong.write_text(WRONG if platform.is_apple else WRONG_ON_LINUX)
    errors = platform.compile("Wrong", [*sources, platform.write(wrong)], [])
    word = "methodThatNoPlatformHas" if platform.is_apple else "__rlimit_resource_t"
    return any("Wrong.swift:4" in line and word in line for line in errors)


def leaf_libraries():
    """Returns libraries that are loaded without a path. Apple's dlopen also searches the current directory for them."""
    found = []
    for path in sorted(p for folder in ("Sources", "Examples") for p in pathlib.Path(folder).rglob("*.*")):
        if path.suffix not in (".swift", ".c", ".h") or ".build" in path.parts:
            continue
        text = path.read_text()
        if path.suffix == ".swift":
            text = evaluate.evaluated(text, evaluate.PLATFORMS["macOS"], str(path))
        names = LEAF_LIBRARY.findall(text)
        # C isn't evaluated, so its names other than .dylib belong to branches for other platforms.
        found += [f"{path}: {name}" for name in names if path.suffix == ".swift" or name.endswith(".dylib")]
    return found


def shim_errors():
    """Returns a C compiler's errors in the shims over Musl's headers: with and without the trait, and for Android."""
    flags, errors = ["-std=gnu11", "-Wall", "-Werror", *musl_headers(WORK / "Musl" / "headers")], []
    for folder in (CODINGS, CURL, NAMES, KEYS):
        for source in sorted(folder.glob("*.c")):
            for defines in ([], ["-DERRAND_LINKED_LIBCURL"], ["-D__ANDROID__"]):
                command = ["clang", "-fsyntax-only", *flags, *defines, "-I", str(folder / "include"), str(source)]
                errors += subprocess.run(command, capture_output=True, text=True).stderr.splitlines()
    return errors


def are_available(package):
    """Whether all API in use exists on the oldest macOS. Prints API that doesn't."""
    sources = [pathlib.Path(target["path"]) / source for target in package.targets.values() for source in target["sources"]]
    found = availability.findings(WORK, sources)
    if found is None:
        print("NOT RUN: no debug build has left an index to search for API that the oldest macOS lacks", file=sys.stderr)
        return True
    lines = [f"platforms: newer than the oldest macOS, and used without a question: {line}" for line in found]
    is_noticed = availability.notices()
    lines.append(f"platforms: a planted use of API that is too new is {'found' if is_noticed else 'NOT found'}")
    print("\n".join(lines), flush=True)
    return is_noticed and not found


def notices_wide_constants(platform):
    """Whether the check finds every constant that is too wide for a watch, and no other."""
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
    if arguments == ["availability"]:
        sys.exit(0 if are_available(package) else 1)
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
