/// The name of an element or attribute: a local name and its namespace (Namespaces in XML 1.0).
///
/// Two names are equal if their local names and namespaces are equal, whatever prefixes the document uses.
///
/// ```swift
/// let entry = XMLName("entry", in: "http://www.w3.org/2005/Atom")
/// ```
public struct XMLName: Sendable, Hashable, CustomStringConvertible {
    /// The name without its prefix, such as "entry".
    public let local: String
    /// The URI of the namespace, or `nil` if the name isn't in a namespace.
    public let namespace: String?
    /// The prefix in the document, without the colon; `nil` without a prefix.
    public let prefix: String?

    /// Creates a name. By default, it isn't in a namespace.
    public init(_ local: String, in namespace: String? = nil, prefix: String? = nil) {
        (self.local, self.namespace, self.prefix) = (local, namespace, prefix)
    }

    /// The namespace of `xml:lang` and `xml:space`, which doesn't need a declaration.
    public static let xmlNamespace = "http://www.w3.org/XML/1998/namespace"

    /// Compares local names and namespaces byte by byte, and ignores prefixes.
    public static func == (a: XMLName, b: XMLName) -> Bool {
        guard a.local.utf8.elementsEqual(b.local.utf8) else { return false }
        guard let one = a.namespace, let other = b.namespace else { return a.namespace == b.namespace }
        return one.utf8.elementsEqual(other.utf8)
    }

    /// Hashes the local name and the namespace.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(local)
        hasher.combine(namespace)
    }

    /// The name as the document spells it, such as "atom:entry".
    public var description: String { prefix.map { "\($0):\(local)" } ?? local }
}
