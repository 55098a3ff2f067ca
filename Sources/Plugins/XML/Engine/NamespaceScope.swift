/// Resolves names with the declared prefixes (Namespaces in XML 1.0).
struct NamespaceScope: Sendable {
    private struct Change: Sendable {
        let depth: Int
        let scope: Int
        var namespaces: [(prefix: String, before: String?)] = []
    }

    private var namespaces: [String: String] = ["xml": XMLName.xmlNamespace]
    private var changes: [Change] = []
    private var depth = 0
    /// Each set of namespace declarations has a number.
    private var scope = 0
    private var scopes = 0
    private var names = NameTable()

    /// An element's attributes may declare prefixes.
    mutating func enter(
        _ part: XMLPart, _ tag: StartTag
    ) throws(XMLError) -> (name: NameTable.Entry, attributes: [XMLName: String]) {
        depth += 1
        let declares = tag.attributes.contains { Self.isDeclaration(part, $0.name) }
        if declares { try declare(part, tag) }
        if tag.attributes.isEmpty { return (try resolve(part, tag.name, isElement: true), [:]) }
        var resolved = [XMLName: String](minimumCapacity: tag.attributes.count)
        for (name, value) in tag.attributes where !declares || !Self.isDeclaration(part, name) {
            guard resolved.updateValue(value, forKey: try resolve(part, name, isElement: false).name) == nil else {
                throw XMLError(.malformed, "an element has two attributes with the same name and namespace")
            }
        }
        return (try resolve(part, tag.name, isElement: true), resolved)
    }

    mutating func leave() {
        if let last = changes.last, last.depth == depth {
            changes.removeLast()
            for change in last.namespaces { namespaces[change.prefix] = change.before }
            scope = last.scope
        }
        depth -= 1
    }

    // MARK: Declarations

    private static let mark = Array("xmlns".utf8)

    private static func isDeclaration(_ part: XMLPart, _ name: Range<Int>) -> Bool {
        guard name.count >= 5, part[name.lowerBound] == UInt8(ascii: "x") else { return false }
        return part[name].starts(with: mark) && (name.count == 5 || part[name.lowerBound + 5] == UInt8(ascii: ":"))
    }

    private mutating func declare(_ part: XMLPart, _ tag: StartTag) throws(XMLError) {
        var change = Change(depth: depth, scope: scope)
        var declared: Set<String> = []
        for (name, value) in tag.attributes where Self.isDeclaration(part, name) {
            let prefix = Self.declaredPrefix(part.string(name))
            try check(prefix, value)
            guard declared.insert(prefix).inserted else {
                throw XMLError(.malformed, "an element has two attributes with the same name")
            }
            change.namespaces.append((prefix, namespaces[prefix]))
            namespaces[prefix] = value.isEmpty ? nil : value
        }
        changes.append(change)
        scopes += 1
        scope = scopes
    }

    /// Returns "" for `xmlns` and "a" for `xmlns:a`.
    private static func declaredPrefix(_ name: String) -> String {
        // `xmlns:` becomes a colon, which isn't a valid prefix, so the next check rejects it.
        name.utf8.count == 6 ? ":" : String(name.unicodeScalars.dropFirst(6))
    }

    private func check(_ prefix: String, _ namespace: String) throws(XMLError) {
        guard prefix.isEmpty || Self.isLocal(prefix) else {
            throw XMLError(.invalidNamespace, "a name has more than one colon, or begins or ends with one")
        }
        guard (prefix == "xml") == (namespace == XMLName.xmlNamespace), prefix != "xmlns",
            namespace != "http://www.w3.org/2000/xmlns/"
        else { throw XMLError(.invalidNamespace, "the prefixes xml and xmlns can't be redeclared") }
        guard prefix.isEmpty || !namespace.isEmpty else {
            throw XMLError(.invalidNamespace, "a prefix is declared without a namespace")
        }
    }

    // MARK: Names

    private static func isLocal(_ name: String) -> Bool {
        !name.utf8.contains(UInt8(ascii: ":")) && XMLCharacters.isName(name.utf8)
    }

    private mutating func resolve(
        _ part: XMLPart, _ range: Range<Int>, isElement: Bool
    ) throws(XMLError) -> NameTable.Entry {
        let bytes = part[range]
        if let known = names.find(bytes, scope, isElement: isElement) { return known }
        let name = try resolve(part.string(range), isElement: isElement)
        return names.add(bytes, name: name, scope: scope, isElement: isElement)
    }

    private func resolve(_ name: String, isElement: Bool) throws(XMLError) -> XMLName {
        guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            return XMLName(name, in: isElement ? namespaces[""] : nil)
        }
        let (prefix, local) = (String(name[..<colon]), String(name[name.utf8.index(after: colon)...]))
        guard !prefix.isEmpty, Self.isLocal(local) else {
            throw XMLError(.invalidNamespace, "a name has more than one colon, or begins or ends with one")
        }
        guard let namespace = namespaces[prefix] else {
            throw XMLError(.invalidNamespace, "a prefix isn't declared")
        }
        return XMLName(local, in: namespace, prefix: prefix)
    }
}

/// Caches resolved names by their written form, because most names occur many times.
///
/// The table has a fixed size, and new names replace old names. A malicious document can make the cache useless, but it
/// can't make the table large or slow.
struct NameTable: Sendable {
    struct Entry: Sendable {
        let written: [UInt8]
        let name: XMLName
        fileprivate let scope: Int
        fileprivate let isElement: Bool
    }

    private static let size = 128
    /// In bytes.
    private static let longest = 64

    /// By slot. Empty before the first name.
    private var entries: [Entry?] = []

    func find(_ bytes: ArraySlice<UInt8>, _ scope: Int, isElement: Bool) -> Entry? {
        guard !entries.isEmpty, bytes.count <= Self.longest, let entry = entries[Self.slot(bytes, isElement)] else {
            return nil
        }
        let isSame = entry.scope == scope && entry.isElement == isElement && entry.written[...] == bytes
        return isSame ? entry : nil
    }

    mutating func add(
        _ bytes: ArraySlice<UInt8>, name: XMLName, scope: Int, isElement: Bool
    ) -> Entry {
        let entry = Entry(written: Array(bytes), name: name, scope: scope, isElement: isElement)
        if bytes.count <= Self.longest {
            if entries.isEmpty { entries = [Entry?](repeating: nil, count: Self.size) }
            entries[Self.slot(bytes, isElement)] = entry
        }
        return entry
    }

    private static func slot(_ bytes: ArraySlice<UInt8>, _ isElement: Bool) -> Int {
        var hash: UInt32 = isElement ? 0 : 1
        for byte in bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        return Int((hash ^ hash >> 15) % UInt32(size))
    }
}
