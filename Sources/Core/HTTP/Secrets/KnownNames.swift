import ErrandSupport

/// The kinds of header names that a redactor has seen. Only the rules decide the kind, consecutive messages mostly have
/// the same names in the same order, and finding a known name takes 20 instructions instead of 300.
package struct KnownNames: Sendable {
    /// How to mask a field that isn't sensitive.
    enum Kind: Sendable {
        case shown
        case masked
        /// Also masks the words of the value elsewhere, because the name looks secret.
        case secret
    }

    private var names: ContiguousArray<(name: String, kind: Kind)> = []
    /// The index after the name that was found last.
    private var next = 0
    private static let limit = 64

    package init() {}

    /// Returns a name's kind. Always use the same rules.
    mutating func kind(of name: HTTPHeaderName, in redaction: Redaction) -> Kind {
        let text = name.rawName
        for offset in names.indices {
            var index = next + offset
            if index >= names.count { index -= names.count }
            if text.hasSameBytes(asASCII: names[index].name) {
                next = index + 1 < names.count ? index + 1 : 0
                return names[index].kind
            }
        }
        let kind = redaction.kind(of: name)
        guard text.isASCII else { return kind }
        if names.count >= Self.limit { names.removeAll(keepingCapacity: true) }
        names.append((text, kind))
        next = 0
        return kind
    }
}

extension Redaction {
    func kind(of name: HTTPHeaderName) -> KnownNames.Kind {
        if shownHeaders.contains(name) { return .shown }
        return isSecret(name.rawName) ? .secret : .masked
    }
}
