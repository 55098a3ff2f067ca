/// The name of an element or an attribute: a local name, and the namespace that it belongs to (Namespaces in XML 1.0).
///
/// Two names are equal if their local names and namespaces are, whatever prefixes the document uses.
///
/// ```swift
/// let entry = XMLName("entry", in: "http://www.w3.org/2005/Atom")
/// ```
public struct XMLName: Sendable, Hashable, CustomStringConvertible {
    /// The name without its prefix: "entry".
    public let local: String
    /// The URI of the namespace; nil for none.
    public let namespace: String?
    /// The prefix that the document has written, without the colon; nil for none.
    public let prefix: String?

    /// Makes a name; of no namespace by default.
    public init(_ local: String, in namespace: String? = nil, prefix: String? = nil) {
        (self.local, self.namespace, self.prefix) = (local, namespace, prefix)
    }

    /// The namespace of `xml:lang` and `xml:space`, which needs no declaration.
    public static let xmlNamespace = "http://www.w3.org/XML/1998/namespace"

    /// Whether local name and namespace are equal, character by character.
    public static func == (a: XMLName, b: XMLName) -> Bool {
        guard a.local.utf8.elementsEqual(b.local.utf8) else { return false }
        guard let one = a.namespace, let other = b.namespace else { return a.namespace == b.namespace }
        return one.utf8.elementsEqual(other.utf8)
    }

    /// Hashes local name and namespace.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(local)
        hasher.combine(namespace)
    }

    /// The name as the document has written it: "atom:entry".
    public var description: String { prefix.map { "\($0):\(local)" } ?? local }
}
