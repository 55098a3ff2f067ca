/// A member of a type, or a requirement of a protocol.
struct Member {
    enum Kind { case property, method, type }

    let id: String
    let kind: Kind
    let isStatic: Bool
    /// Includes a method's argument labels: `decode(_:)`.
    let name: String
    /// A property's type, or empty for other members.
    let valueType: String
    /// A method's parameters as `label:Type`, without spaces.
    let parameters: [String]
    /// As shown in its module's interface.
    let declaration: String
    let symbol: SymbolGraph.Symbol

    /// Returns nil for a symbol that isn't a property, a method or a type.
    init?(_ symbol: SymbolGraph.Symbol) {
        switch symbol.kind.identifier {
        case "swift.property": (kind, isStatic) = (.property, false)
        case "swift.type.property": (kind, isStatic) = (.property, true)
        case "swift.method": (kind, isStatic) = (.method, false)
        case "swift.type.method": (kind, isStatic) = (.method, true)
        case "swift.typealias", "swift.associatedtype": (kind, isStatic) = (.type, false)
        default: return nil
        }
        id = symbol.identifier.precise
        name = symbol.pathComponents.last ?? ""
        self.symbol = symbol
        var text = symbol.declarationFragments.map(\.spelling).joined()
        for access in ["public ", "internal ", "package ", "private ", "fileprivate "] where text.hasPrefix(access) {
            text = String(text.dropFirst(access.count))
        }
        declaration = text
        let after = kind == .property ? text.split(separator: ":", maxSplits: 1).dropFirst().first : nil
        valueType = (after ?? "").prefix { $0 != "{" && $0 != "=" }.filter { $0 != " " }
        let labels = name.drop { $0 != "(" }.dropFirst().dropLast().split(separator: ":")
        let types = (symbol.functionSignature?.parameters ?? []).map { parameter in
            parameter.declarationFragments.map(\.spelling).joined().drop { $0 != ":" }.dropFirst()
                .filter { $0 != " " }
        }
        parameters = zip(labels, types).map { "\($0):\($1)" }
    }

    /// A property's type, unwrapped if it's an optional.
    var wrappedType: Substring { valueType.hasSuffix("?") ? valueType.dropLast() : valueType[...] }

    /// The name without labels.
    var baseName: String { String(name.prefix { $0 != "(" }) }
}
