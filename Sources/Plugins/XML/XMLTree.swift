public import Errand
public import ErrandEssentials

/// An XML element with its attributes and all its content. The root element represents the document.
///
/// ```swift
/// let feed = try await agent.send(Call<XMLTree>(.get, "feed.xml")).value
/// for item in feed["channel"]?.all("item") ?? [] {
///     print(item["title"]?.text ?? "", item["link"]?.attribute("href") ?? "")
/// }
/// ```
///
/// A `String` matches a local name in any namespace. An ``XMLName`` also matches the namespace. Comments and processing
/// instructions are left out. CDATA sections become text.
public struct XMLTree: Sendable, Hashable {
    /// A part of an element's content, in document order.
    public enum Content: Sendable, Hashable {
        /// A child element, with all its content.
        case element(XMLTree)
        /// Text with references resolved. Two texts are never adjacent.
        case text(String)
    }

    /// The element's name, with its namespace.
    public var name: XMLName
    /// The attributes, without namespace declarations.
    public var attributes: [XMLName: String]
    /// Elements and text in document order. Whitespace between elements is text too.
    public var content: [Content]

    /// Creates an element, for example for a test. By default, it doesn't have attributes or content.
    public init(_ name: XMLName, attributes: [XMLName: String] = [:], content: [Content] = []) {
        (self.name, self.attributes, self.content) = (name, attributes, content)
    }

    /// The child elements.
    public var children: [XMLTree] {
        content.compactMap { if case .element(let child) = $0 { child } else { nil } }
    }

    /// All text in the element and its descendants, in document order.
    public var text: String {
        if content.count == 1, case .text(let text) = content[0] { return text }
        var all = ""
        appendText(to: &all)
        return all
    }

    private func appendText(to all: inout String) {
        for part in content {
            switch part {
            case .element(let child): child.appendText(to: &all)
            case .text(let text): all += text
            }
        }
    }

    /// The first child with a local name.
    public subscript(_ local: String) -> XMLTree? { first { $0.name.local == local } }

    /// The first child with a local name and namespace.
    public subscript(_ name: XMLName) -> XMLTree? { first { $0.name == name } }

    private func first(where matches: (XMLTree) -> Bool) -> XMLTree? {
        for case .element(let child) in content where matches(child) { return child }
        return nil
    }

    /// Returns all children with a local name.
    public func all(_ local: String) -> [XMLTree] { children.filter { $0.name.local == local } }

    /// Returns all children with a local name and namespace.
    public func all(_ name: XMLName) -> [XMLTree] { children.filter { $0.name == name } }

    /// Returns an attribute's value, or `nil` if the attribute is missing.
    ///
    /// If several attributes have this local name, returns the value of the attribute without a namespace, or `nil` if
    /// all of them have a namespace.
    public func attribute(_ local: String) -> String? {
        if let value = attributes[XMLName(local)] { return value }
        let named = attributes.filter { $0.key.local == local }
        return named.count == 1 ? named.first?.value : nil
    }

    /// Returns the value of the attribute with a local name and namespace, or `nil` if the attribute is missing.
    public func attribute(_ name: XMLName) -> String? { attributes[name] }
}

extension XMLTree: CustomStringConvertible {
    /// The element's name and the numbers of its attributes and child elements.
    public var description: String { "<\(name)> with \(attributes.count) attributes and \(children.count) elements" }
}

extension XMLTree {
    /// Parses a document. Throws ``XMLError``.
    ///
    /// - Parameter charset: the charset from a header. It takes precedence over the XML declaration, but not over a
    ///   byte order mark. Defaults to `nil`.
    public init(_ data: Data, charset: String? = nil, limits: XMLLimits = .standard) throws(XMLError) {
        let limits = limits.forTree
        var builder = TreeBuilder(limits)
        var pieces = DataPieces(data)
        var parser = DocumentParser(charset: charset, limits: limits)
        var isOver = false
        while !isOver {
            // An error while building the tree takes precedence over a parser error, because the parser's error is
            // later in the document.
            var failure: XMLError?
            do throws(XMLError) {
                if let piece = pieces.next() {
                    try parser.read(piece)
                } else {
                    isOver = true
                    try parser.finish()
                }
            } catch { failure = error }
            do throws(XMLError) { for event in parser.takeEvents() { try builder.add(event) } } catch {
                throw XMLError(error.code, error.message, at: parser.location)
            }
            if let failure { throw failure }
        }
        guard let root = builder.finished.first else { throw XMLError(.truncated, "the document has no root element") }
        self = root
    }
}

/// Small pieces of data, which produce few events at a time.
struct DataPieces {
    private var rest: Data

    /// In bytes.
    static let size = 32 << 10

    init(_ data: Data) { rest = data }

    mutating func next() -> Data? {
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(Self.size) }
        return rest.prefix(Self.size)
    }
}

extension HTTPResponse {
    /// Parses a body in memory as XML. The charset comes from `Content-Type` or the document.
    ///
    /// ```swift
    /// let response = try await agent.send(Call<HTTPResponse>(.get, "feed.xml")).value
    /// let title = try response.xml()["channel"]?["title"]?.text
    /// ```
    ///
    /// Throws an `ErrandError` with the code `decodingFailed` and an ``XMLError`` as `underlying`.
    public func xml(limits: XMLLimits = .standard) throws -> XMLTree {
        do { return try XMLTree(data, charset: charsetLabel, limits: limits) } catch {
            throw ErrandError(.decodingFailed, "expected XML: \(error)", response: self, underlying: error)
        }
    }

    /// Returns the body as a stream of XML. The charset comes from `Content-Type` or the document.
    public func xmlEvents(limits: XMLLimits = .streaming) -> XMLEvents {
        XMLEvents(body, charset: charsetLabel, limits: limits)
    }
}

/// The name of an element or attribute: a local name and its namespace (Namespaces in XML 1.0).
///
/// Two names are equal if their local names and namespaces are equal. Prefixes don't matter.
///
/// ```swift
/// let entry = XMLName("entry", in: "http://www.w3.org/2005/Atom")
/// ```
public struct XMLName: Sendable, Hashable, CustomStringConvertible {
    /// The name without its prefix, such as "entry".
    public let local: String
    /// The namespace's URI, or `nil` if the name isn't in a namespace.
    public let namespace: String?
    /// The prefix in the document, without the colon, or `nil`.
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

    /// The name as in the document, such as "atom:entry".
    public var description: String { prefix.map { "\($0):\(local)" } ?? local }
}
