"""Finds what the oldest macOS of the package lacks of Swift's own libraries: on Linux every version of them is new enough.

The symbol graphs of these libraries say since when Apple's systems have what; those of iOS, tvOS, watchOS and visionOS that
came with a macOS have the same. The index that a debug build leaves says which file uses what, conditions evaluated for Linux.
Such a use has to stand in a function that asks for the system with `#available`, before the use.
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
    """By identifier, the name of what came with a later macOS than the oldest; kept in the work directory."""
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
    """The lines of a source that use a name without having asked for the system before, in the same function or around it."""
    word, found = re.compile(rf"(?<![\w`]){re.escape(name)}\b"), []
    # How far the question is indented; whether the declaration that comes next has one in its attributes.
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
    """Each use of something newer, as "file:line: what"; None without an index, or with one that has none of them at all."""
    names, by_name, seen, found = newer(work), collections.defaultdict(list), False, []
    for source in sources:
        by_name[source.name].append(source)
    symbols = [(identifier.encode(), name.split("(")[0]) for identifier, name in names.items()]
    for record in sorted(INDEX.rglob("*")) if INDEX.exists() else []:
        files = by_name.get(record.name.rsplit("-", 1)[0], [])
        if not files or not record.is_file():
            continue
        data = record.read_bytes()
        for name in sorted({name for identifier, name in symbols if name.isidentifier() and identifier in data}):
            seen = True
            found += [f"{file}:{line}: {name}" for file in files for line in unguarded(file.read_text(), name)]
    return sorted(set(found)) if seen else None


def notices():
    """Whether a use without a question is found, and one with it is not."""
    wrong = """
        func ask() { if #available(macOS 26, *) {} }
    func run() {
        func inner() {}
        Task.immediate {}  // 5
    }
    """
    right = wrong.replace("    func inner", "    guard #available(macOS 26, *) else { return }\n        func inner")
    return unguarded(wrong, "immediate") == [5] and not unguarded(right, "immediate")
