public import Errand
public import ErrandEssentials

/// An element of a document with all that it contains; the root element stands for the document.
///
/// ```swift
/// let feed = try await agent.send(Call<XMLTree>(.get, "feed.xml")).value
/// for item in feed["channel"]?.all("item") ?? [] {
///     print(item["title"]?.text ?? "", item["link"]?.attribute("href") ?? "")
/// }
/// ```
///
/// Names that are given as a `String` are local names, in any namespace; an ``XMLName`` is matched with its namespace.
/// Comments and processing instructions are left out; CDATA sections are text.
public struct XMLTree: Sendable, Hashable {
    /// A part of an element's content, in the order of the document.
    public enum Content: Sendable, Hashable {
        /// An element.
        case element(XMLTree)
        /// Text, with references resolved; no two texts are adjacent.
        case text(String)
    }

    /// The name of the element.
    public var name: XMLName
    /// The attributes, without the declarations of namespaces.
    public var attributes: [XMLName: String]
    /// Elements and text, in the order of the document. White space between elements is text.
    public var content: [Content]

    /// Makes an element, for a test.
    public init(_ name: XMLName, attributes: [XMLName: String] = [:], content: [Content] = []) {
        (self.name, self.attributes, self.content) = (name, attributes, content)
    }

    /// The direct child elements.
    public var children: [XMLTree] {
        content.compactMap { if case .element(let child) = $0 { child } else { nil } }
    }

    /// All text within the element and its descendants, in the order of the document.
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

    /// The first child with a name.
    public subscript(_ name: XMLName) -> XMLTree? { first { $0.name == name } }

    private func first(where matches: (XMLTree) -> Bool) -> XMLTree? {
        for case .element(let child) in content where matches(child) { return child }
        return nil
    }

    /// All children with a local name.
    public func all(_ local: String) -> [XMLTree] { children.filter { $0.name.local == local } }

    /// All children with a name.
    public func all(_ name: XMLName) -> [XMLTree] { children.filter { $0.name == name } }

    /// The value of the attribute with a name in no namespace; without one, of the attribute with that local name, if
    /// only one has it.
    public func attribute(_ local: String) -> String? {
        if let value = attributes[XMLName(local)] { return value }
        let named = attributes.filter { $0.key.local == local }
        return named.count == 1 ? named.first?.value : nil
    }

    /// The value of the attribute with a name.
    public func attribute(_ name: XMLName) -> String? { attributes[name] }
}

extension XMLTree: CustomStringConvertible {
    /// The name and the number of attributes and elements, without text and values.
    public var description: String { "<\(name)> with \(attributes.count) attributes and \(children.count) elements" }
}

extension XMLTree {
    /// Reads a document.
    ///
    /// - Parameters:
    ///   - data: the bytes of the document.
    ///   - charset: the charset of a header; it follows a byte order mark and precedes the XML declaration. Nil by
    ///     default.
    ///   - limits: the limits of the document.
    /// - Throws: ``XMLError``.
    public init(_ data: Data, charset: String? = nil, limits: XMLLimits = .standard) throws(XMLError) {
        let limits = limits.forTree
        var builder = TreeBuilder(limits)
        var pieces = DataPieces(data)
        var parser = DocumentParser(charset: charset, limits: limits)
        var isOver = false
        while !isOver {
            // A failure of the tree precedes one that the parser finds behind it.
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
        guard let root = builder.finished.first else { throw XMLError(.truncated, "there is no root element") }
        self = root
    }
}

/// The pieces of some data: small ones, so that the events of each are few.
struct DataPieces {
    private var rest: Data

    /// The maximum number of bytes of a piece.
    static let size = 32 << 10

    init(_ data: Data) { rest = data }

    /// The next one; nil at the end.
    mutating func next() -> Data? {
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(Self.size) }
        return rest.prefix(Self.size)
    }
}

extension HTTPResponse {
    /// A body in memory as XML, by the charset of `Content-Type` or of the document.
    ///
    /// ```swift
    /// let response = try await agent.send(Call<HTTPResponse>(.get, "feed.xml")).value
    /// let title = try response.xml()["channel"]?["title"]?.text
    /// ```
    ///
    /// - Throws: an `ErrandError` with the code `decodingFailed` and an ``XMLError`` as `underlying`.
    public func xml(limits: XMLLimits = .standard) throws -> XMLTree {
        do { return try XMLTree(data, charset: charsetLabel, limits: limits) } catch {
            throw ErrandError(.decodingFailed, "XML expected: \(error)", response: self, underlying: error)
        }
    }

    /// The body as a stream of XML, by the charset of `Content-Type` or of the document.
    public func xmlEvents(limits: XMLLimits = .streaming) -> XMLEvents {
        XMLEvents(body, charset: charsetLabel, limits: limits)
    }
}
