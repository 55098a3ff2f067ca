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
