"""Creates one DocC catalogue of the package: the symbol graphs of its modules, their landing pages, README and docs/.

    catalogue.py GRAPHS OUTPUT

Writes graphs/ and Errand.docc/ to OUTPUT. Each text has one source: the landing pages are next to the code, as
Sources/…/MODULE.docc/MODULE.md, with the topics of the module's types; the guides are the pages of docs/. Fails if a
module's public type isn't in a topic of its landing page.
"""
import collections
import json
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
TOP_LEVEL = 1


def stable_hash(identifier):
    """Returns the suffix with which DocC distinguishes overloads: FNV-1 in 32 bits, folded to 24, in base 36."""
    value = 0x811C9DC5
    for byte in identifier.encode():
        value = (value * 0x01000193) & 0xFFFFFFFF
        value ^= byte
    value = (value >> 24) ^ (value & 0xFFFFFF)
    digits = ""
    while value:
        value, digit = divmod(value, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits or "0"


class Symbols:
    """The public symbols of all modules, by path."""

    def __init__(self, folder):
        self.graphs = {}
        self.paths = collections.defaultdict(list)  # (module, name, …): identifiers
        self.extensions = collections.defaultdict(list)  # module: (path, symbol) of other modules' types
        libraries = {page.stem for page in (DOCS / "api").glob("*.txt")}
        for path in sorted(folder.glob("Errand*.symbols.json")):
            owner, _, extended = path.name.removesuffix(".symbols.json").partition("@")
            graph = json.loads(path.read_text()) if owner in libraries else {"symbols": []}
            if not graph["symbols"]:
                continue
            self.graphs[path.name] = (owner, extended or owner, graph)
            for symbol in graph["symbols"]:
                key = (extended or owner, *symbol["pathComponents"])
                self.paths[key].append(symbol["identifier"]["precise"])
                if extended:
                    self.extensions[owner].append((key, symbol))
        self.modules = {owner for owner, extended, _ in self.graphs.values() if owner == extended}

    def top_level(self, module):
        _, _, graph = self.graphs[f"{module}.symbols.json"]
        return [s["pathComponents"][0] for s in graph["symbols"] if len(s["pathComponents"]) == TOP_LEVEL]

    def link(self, key, identifier=None):
        """Returns an absolute link to a symbol, with the hash that overloads need."""
        text = "/" + "/".join(key)
        return f"{text}-{stable_hash(identifier)}" if identifier and len(self.paths[key]) > 1 else text

    def resolve(self, module, scope, names):
        """Returns an absolute link for names that DocC can't find from a scope: another module's, or via the alias `Code`."""
        for end in range(len(scope), -1, -1):
            if (module, *scope[:end], *names) in self.paths:
                return None  # DocC finds it.
        if names[0] in self.modules:
            module, names = names[0], names[1:]
            if not names or (module, *names) in self.paths:
                return self.link((module, *names))
        for other in sorted(self.modules, key=lambda name: (name != module, name)):
            if (other, *names) in self.paths and (other != module or len(names) > 1):
                return self.link((other, *names))
        # Cases of codes are static members of FailureCode, in an extension for one error.
        if "Code" in names or scope[-1:] == ["Code"]:
            error = names[names.index("Code") - 1] if names.index("Code") else scope[0]
            return self.code(error, names[-1])
        if "Reason" in names:
            return self.code(names[0], names[-1])
        return None

    def code(self, error, case):
        key = ("ErrandHTTP", "FailureCode", case)
        for owner, extended, graph in self.graphs.values():
            for symbol in graph["symbols"]:
                where = symbol.get("swiftExtension", {}).get("constraints", [])
                if symbol["pathComponents"] == ["FailureCode", case] and any(c["rhs"] == error for c in where):
                    return self.link(key, symbol["identifier"]["precise"])
        return None

    def write(self, folder):
        """Writes the graphs, and makes links in comments to other modules absolute."""
        folder.mkdir(parents=True)
        for name, (owner, extended, graph) in self.graphs.items():
            for symbol in graph["symbols"]:
                for line in symbol.get("docComment", {}).get("lines", []):
                    line["text"] = re.sub(
                        r"``([^`]+)``",
                        lambda m: self.rewritten(m, owner if extended not in self.modules else extended, owner, symbol),
                        line["text"])
            (folder / name).write_text(json.dumps(graph))

    def rewritten(self, match, home, owner, symbol):
        if match[1].startswith("/"):
            return match[0]
        names = match[1].split("/")
        scope = symbol["pathComponents"]
        link = self.resolve(home, scope, names)
        if link is None and home != owner:
            keys = [(owner, *scope[:end], *names) for end in range(len(scope), -1, -1)]
            found = next((key for key in keys if key in self.paths), None)
            isNear = any((home, *scope[:end], *names) in self.paths for end in range(len(scope), -1, -1))
            link = self.link(found) if found and not isNear else None
        return f"``{link}``" if link else match[0]


class Pages:
    """The pages of docs/ and README as articles."""

    def __init__(self):
        self.files = [*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md")]
        self.names = {page.resolve(): page.stem for page in [*self.files, ROOT / "README.md"]}
        self.images = set()

    def article(self, page):
        inside, lines = False, []
        for line in page.read_text().splitlines():
            if line.startswith("```"):
                inside = not inside
            lines.append(line if inside else self.line(line, page))
        return "\n".join(lines) + "\n"

    def line(self, line, page):
        line = re.sub(r"!\[([^\]]*)\]\(([^)]+)\)", lambda m: self.image(m, page), line)
        return re.sub(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^)#:]*)(?:#([^)]+))?\)", lambda m: self.linked(m, page), line)

    def image(self, match, page):
        file = (page.parent / match[2]).resolve()
        self.images.add(file)
        return f"![{match[1]}]({file.name})"

    def linked(self, match, page):
        text, place, anchor = match[1], match[2], match[3]
        target = (page.parent / place).resolve() if place else page.resolve()
        if target in self.images:
            return match[0]
        if target not in self.names:
            return text  # a file of the repository, which the site does not have
        name = "Errand-package" if target == ROOT / "README.md" else self.names[target]
        fragment = f"#{self.heading(target, anchor)}" if anchor else ""
        return f"[{text}](<doc:{name}{fragment}>)"

    def heading(self, page, anchor):
        """Returns DocC's fragment for a heading that a page links to with GitHub's fragment."""
        for title in re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE):
            slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            if slug == anchor:
                return re.sub(r"\s+", "-", re.sub(r"[^\w\-\s]", "", title).strip())
        raise SystemExit(f"{page.name} has no heading #{anchor}")

    def title(self, page):
        return page.read_text().split("\n", 1)[0].lstrip("# ").strip()


def guides_of_modules():
    """Returns the pages that README's table of modules names."""
    found = {}
    for line in (ROOT / "README.md").read_text().splitlines():
        if line.startswith("|") and (modules := re.findall(r"^\| ((?:`Errand\w*`(?:, )?)+)", line)):
            names = re.findall(r"docs/([\w-]+)\.md", line)
            for module in re.findall(r"`(\w+)`", modules[0]):
                found[module] = list(dict.fromkeys(names))
    return found


def landing(module, symbols, guides, problems):
    """Returns a module's landing page, with its guides and its extensions of other modules."""
    page = next(iter(ROOT.glob(f"Sources/**/{module}.docc/{module}.md")), None)
    if page is None:
        problems.append(f"{module} has no landing page {module}.docc/{module}.md in its folder")
        return ""
    text = page.read_text()
    named = re.findall(r"^- ``([^`]+)``", text, re.MULTILINE)
    types = set(symbols.top_level(module))
    problems += [f"{module}: {name} stands in no topic of {page.relative_to(ROOT)}" for name in sorted(types - set(named))]
    problems += [f"{page.relative_to(ROOT)}: {name} is twice in its topics" for name in sorted({n for n in named if named.count(n) > 1})]
    head, _, topics = text.partition("## Topics\n")
    if guides:
        topics = "\n### Guides\n\n" + "".join(f"- <doc:{guide}>\n" for guide in guides) + topics
    added, foreign = collections.defaultdict(list), []
    for key, symbol in symbols.extensions[module]:
        if key[0] in symbols.modules:
            added[key[1]].append(f"- ``{symbols.link(key, symbol['identifier']['precise'])}``\n")
        else:
            foreign.append(symbol)
    for owner in sorted(added):
        topics += f"\n### Added to {owner}\n\n" + "".join(sorted(set(added[owner])))
    if foreign:
        head += "\n## What it adds to types of the system\n\n" + "".join(
            f"- `{'.'.join(s['pathComponents'])}`{summary(s)}\n" for s in foreign) + "\n"
    return f"{head}## Topics\n{topics}"


def summary(symbol):
    lines = [line["text"] for line in symbol.get("docComment", {}).get("lines", [])]
    text = " ".join(lines[: lines.index("")] if "" in lines else lines)
    return f": {re.sub('``', '`', text)}" if text else ""


def main():
    graphs, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    catalogue = output / "Errand.docc"
    catalogue.mkdir(parents=True)
    symbols, pages, guides, problems = Symbols(graphs), Pages(), guides_of_modules(), []
    symbols.write(output / "graphs")
    for module in sorted(symbols.modules):
        (catalogue / f"{module}.md").write_text(landing(module, symbols, guides.get(module, []), problems))
    if problems:
        raise SystemExit("\n".join(problems))
    for page in pages.files:
        (catalogue / f"{page.stem}.md").write_text(pages.article(page))
    # In README's order, if README names them.
    readme = (ROOT / "README.md").read_text()
    named = [place.split("/")[-1] for place in re.findall(r"\(docs/([\w/-]+)\.md", readme[readme.index("## Documentation") :])]
    order = sorted(pages.files, key=lambda page: (named.index(page.stem) if page.stem in named else len(named), page.stem))
    tutorials = [page.stem for page in order if page.parent != DOCS]
    articles = [page.stem for page in order if page.parent == DOCS]
    package = pages.article(ROOT / "README.md")
    title, _, rest = package.partition("\n")
    package = f"{title}\n\n@Metadata {{\n    @TechnologyRoot\n}}\n{rest}\n## Topics\n"
    if tutorials:
        package += "\n### Tutorials\n\n" + "".join(f"- <doc:{name}>\n" for name in tutorials)
    package += "\n### Pages\n\n" + "".join(f"- <doc:{name}>\n" for name in articles)
    package += "\n### Reference\n\n" + "".join(f"- ``/{name}``\n" for name in sorted(symbols.modules))
    (catalogue / "Errand-package.md").write_text(package)
    for image in pages.images:
        shutil.copy(image, catalogue)


main()
