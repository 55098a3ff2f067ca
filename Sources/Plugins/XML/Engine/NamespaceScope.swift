/// The prefixes that are declared where a document is read, and the names that follow from them (Namespaces in XML 1.0).
struct NamespaceScope: Sendable {
    private var namespaces: [String: String] = ["xml": XMLName.xmlNamespace]
    private var changes: [[(prefix: String, before: String?)]] = []

    /// An element begins: its name and its attributes, which may declare prefixes.
    mutating func enter(
        _ name: String, _ attributes: [(name: String, value: String)]
    ) throws(XMLError) -> (name: XMLName, attributes: [XMLName: String]) {
        var changed: [(prefix: String, before: String?)] = []
        var declared: Set<String> = []
        for (name, value) in attributes {
            guard let prefix = Self.declaredPrefix(name) else { continue }
            try check(prefix, value)
            guard declared.insert(prefix).inserted else {
                throw XMLError(.malformed, "an element has two attributes of the same name")
            }
            changed.append((prefix, namespaces[prefix]))
            namespaces[prefix] = value.isEmpty ? nil : value
        }
        changes.append(changed)
        var resolved: [XMLName: String] = [:]
        resolved.reserveCapacity(attributes.count)
        for (name, value) in attributes where Self.declaredPrefix(name) == nil {
            guard resolved.updateValue(value, forKey: try resolve(name, isElement: false)) == nil else {
                throw XMLError(.malformed, "an element has two attributes of the same name and namespace")
            }
        }
        return (try resolve(name, isElement: true), resolved)
    }

    /// The element that began last ends.
    mutating func leave() {
        for change in changes.popLast() ?? [] { namespaces[change.prefix] = change.before }
    }

    /// "" for `xmlns`, "a" for `xmlns:a`; nil for any other attribute.
    private static func declaredPrefix(_ name: String) -> String? {
        guard name.utf8.starts(with: "xmlns".utf8) else { return nil }
        if name.utf8.count == 5 { return "" }
        guard name.utf8.dropFirst(5).first == UInt8(ascii: ":") else { return nil }
        // A colon alone is no prefix; what is checked next says so.
        return name.utf8.count == 6 ? ":" : String(name.unicodeScalars.dropFirst(6))
    }

    private func check(_ prefix: String, _ namespace: String) throws(XMLError) {
        guard prefix.isEmpty || Self.isLocal(prefix) else {
            throw XMLError(.namespace, "a name has a colon where none is allowed")
        }
        guard (prefix == "xml") == (namespace == XMLName.xmlNamespace), prefix != "xmlns",
            namespace != "http://www.w3.org/2000/xmlns/"
        else { throw XMLError(.namespace, "the prefixes xml and xmlns cannot be declared anew") }
        guard prefix.isEmpty || !namespace.isEmpty else {
            throw XMLError(.namespace, "a prefix is declared without a namespace")
        }
    }

    /// Whether a part of a name is a name without a colon.
    private static func isLocal(_ name: String) -> Bool {
        !name.utf8.contains(UInt8(ascii: ":")) && XMLCharacters.isName(name.utf8)
    }

    private func resolve(_ name: String, isElement: Bool) throws(XMLError) -> XMLName {
        guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            return XMLName(name, in: isElement ? namespaces[""] : nil)
        }
        let (prefix, local) = (String(name[..<colon]), String(name[name.utf8.index(after: colon)...]))
        guard !prefix.isEmpty, Self.isLocal(local) else {
            throw XMLError(.namespace, "a name has a colon where none is allowed")
        }
        guard let namespace = namespaces[prefix] else {
            throw XMLError(.namespace, "a prefix has no namespace")
        }
        return XMLName(local, in: namespace, prefix: prefix)
    }
}
