"""Finds uses of API of Swift's own libraries that the package's oldest macOS lacks. On Linux every version is new enough.

These libraries' symbol graphs record when each API came to Apple's systems; iOS, tvOS, watchOS and visionOS have the same API
as the macOS released with them. A debug build's index records which file uses which API, with conditions evaluated for Linux.
Such a use must be in a function that checks the system with `#available` first.
"""
import collections
import json
import pathlib
import re
import subprocess

LIBRARIES = ["Swift", "_Concurrency", "Synchronization", "Observation", "_StringProcessing", "RegexBuilder", "FoundationEssentials"]
OLDEST = (15, 0)
INDEX = pathlib.Path(".build/debug/index/store/v5/records")
FUNCTION = re.compile(r"^\s*(?:@\S+\s+)*(?:[\w()]+\s+)*(?:func\s|init[?(<]|deinit\b|subscript[(<])")
TEXT = re.compile(r'"(?:\\.|[^"\\])*"')


def newer(work):
    """Returns the names of API newer than the oldest macOS, by identifier; cached in the work directory."""
    version = subprocess.run(["swiftc", "--version"], capture_output=True, text=True, check=True).stdout
    file = work / "newer.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    if kept.get("version") == version:
        return kept["names"]
    information = subprocess.run(["swiftc", "-print-target-info"], capture_output=True, text=True, check=True).stdout
    target, folder, names = json.loads(information)["target"]["triple"], work / "symbols", {}
    folder.mkdir(exist_ok=True)
    for library in LIBRARIES:
        subprocess.run(["swift", "symbolgraph-extract", "-module-name", library, "-target", target, "-output-dir", folder],
                       capture_output=True, check=True)
    for graph in folder.glob("*.symbols.json"):
        for symbol in json.loads(graph.read_text())["symbols"]:
            for entry in symbol.get("availability", []):
                since = entry.get("introduced", {})
                if entry.get("domain") == "macOS" and (since.get("major", 0), since.get("minor", 0)) > OLDEST:
                    names[symbol["identifier"]["precise"]] = symbol["pathComponents"][-1]
        graph.unlink()
    file.write_text(json.dumps({"version": version, "names": names}))
    return names


def unguarded(text, name):
    """Returns the lines that use a name without an earlier availability check in the same function or around it."""
    word, found = re.compile(rf"(?<![\w`]){re.escape(name)}\b"), []
    # The indentation of the `#available` check; whether the next declaration has an `@available` attribute.
    asked, is_next = None, False
    for number, line in enumerate(text.splitlines(), 1):
        code = TEXT.sub('""', line).split("//")[0]
        indent = len(code) - len(code.lstrip())
        if FUNCTION.match(code):
            if is_next:
                asked, is_next = indent + 1, False
            elif asked is not None and indent < asked:
                asked = None
        if "#available(" in code:
            asked = indent
        is_next = is_next or "@available(" in code
        if word.search(code) and asked is None:
            found.append(number)
    return found


def findings(work, sources):
    """Returns each use of newer API, as "file:line: name", or None if there is no index or it contains no newer API at all."""
    names, by_name, seen, found = newer(work), collections.defaultdict(list), False, []
    for source in sources:
        by_name[source.name].append(source)
    symbols = [(identifier.encode(), name.split("(")[0]) for identifier, name in names.items()]
    records = collections.defaultdict(list)
    for record in INDEX.rglob("*.swift-*") if INDEX.exists() else []:
        records[record.name.rsplit("-", 1)[0]].append(record)
    # The index keeps the records of earlier builds: the newest ones are those of the sources as they are.
    for name, kept in sorted(records.items()):
        kept.sort(key=lambda record: -record.stat().st_mtime)
        records[name] = kept[:len(by_name[name])]
    for files, record in ((by_name[name], record) for name, kept in records.items() for record in kept):
        data = record.read_bytes()
        for name in sorted({name for identifier, name in symbols if name.isidentifier() and identifier in data}):
            seen = True
            found += [f"{file}:{line}: {name}" for file in files for line in unguarded(file.read_text(), name)]
    return sorted(set(found)) if seen else None


def notices():
    """Whether `unguarded` finds an unchecked use, and not a checked one."""
    wrong = """
        func ask() { if #available(macOS 26, *) {} }
    func run() {
        func inner() {}
        Task.immediate {}  // 5
    }
    """
    right = wrong.replace("    func inner", "    guard #available(macOS 26, *) else { return }\n        func inner")
    return unguarded(wrong, "immediate") == [5] and not unguarded(right, "immediate")
