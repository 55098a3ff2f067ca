public import ErrandEssentials
public import ErrandHTTP
public import ErrandMessageSyntax

/// A link in a `Link` field (RFC 8288), such as `<https://example.com/?page=2>; rel="next"`.
///
/// ```swift
/// let links = LinkValue.parse(response.headers)
/// let next = links.first { $0.relations.contains("next") }?.url(relativeTo: response.url)
/// ```
public struct LinkValue: Sendable, Hashable {
    /// The target as sent, a URI reference that may be relative.
    public var target: String
    /// The parameters as sent, such as `rel`.
    public var parameters: FieldParameters
    /// Whether the target was sent as Latin-1 instead of UTF-8. Defaults to `false`.
    public var isLatin1 = false

    /// Creates a link from its target and parameters.
    public init(target: String, parameters: FieldParameters) {
        self.target = target
        self.parameters = parameters
    }

    /// Parses the links in `Link` field lines, in order. Skips text that isn't a link. Returns at most 256 links.
    public static func parse(_ values: [String]) -> [LinkValue] {
        var links: [LinkValue] = []
        for value in values {
            var scanner = LinkScanner(value)
            while links.count < 256, let link = scanner.next() { links.append(link) }
        }
        return links
    }

    /// Parses the links in a message's `Link` fields, in order. Skips text that isn't a link. Returns at most 256
    /// links.
    public static func parse(_ headers: HTTPHeaders) -> [LinkValue] {
        let links = headers.lazy.filter { $0.name == .link }.flatMap { field in
            parse([field.value]).map { link in
                var link = link
                link.isLatin1 = field.isLatin1
                return link
            }
        }
        return Array(links.prefix(256))
    }

    /// The relation types in lowercase, from the first `rel` parameter (section 3.3). Single quotes around a value, as
    /// some servers write them, aren't part of a relation type, which begins with a letter.
    public var relations: [String] {
        var value = (parameters["rel"] ?? "")[...]
        if value.count > 1, value.first == "'", value.last == "'" { value = value.dropFirst().dropLast() }
        return value.split(whereSeparator: { $0 == " " || $0 == "\t" }).map { $0.lowercased() }
    }

    /// The title of the target. Prefers `title*` over `title` (section 3.4.1).
    public var title: String? { parameters["title*"].flatMap { ExtendedValue.decode($0) } ?? parameters["title"] }

    /// The URI reference of the link's context. `nil` if the context is the resource itself.
    public var anchor: String? { parameters["anchor"] }

    /// Resolves the target against the response's URL, as browsers do (WHATWG URL). Returns `nil` if the result isn't a
    /// URL.
    public func url(relativeTo base: URL) -> URL? { try? reference.resolved(against: base) }

    /// The target as a URL reference, with its original bytes.
    public var reference: URLReference { URLReference(target, isLatin1: isLatin1) }
}

extension LinkValue: CustomStringConvertible {
    /// The link as it appears in a field.
    public var description: String { "<\(target)>\(parameters)" }
}

/// A comma in `<…>` or in a quoted string doesn't end a link.
private struct LinkScanner {
    private var rest: Substring

    init(_ value: String) { rest = value[...] }

    mutating func next() -> LinkValue? {
        guard let open = rest.utf8.firstIndex(of: UInt8(ascii: "<")) else { return nil }
        let start = rest.utf8.index(after: open)
        guard let close = rest.utf8[start...].firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let target = String(ASCII.trimmed(rest[start..<close]))
        let tail = rest[rest.utf8.index(after: close)...]
        let end = endOfParameters(tail)
        rest = tail[end...]
        return LinkValue(target: target, parameters: FieldParameters(parsing: tail[..<end]))
    }

    private func endOfParameters(_ text: Substring) -> Substring.Index {
        var (isQuoted, isEscaped) = (false, false)
        for index in text.utf8.indices {
            switch text.utf8[index] {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = isQuoted
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted: return index
            default: break
            }
        }
        return text.endIndex
    }
}
