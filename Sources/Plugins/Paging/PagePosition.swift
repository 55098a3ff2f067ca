public import Errand
public import ErrandEssentials

/// The position of a page in a list. It also specifies how the server names the list's pages.
///
/// ```swift
/// PagePosition.number()                   // 1, 2, 3 …, 10 items each
/// PagePosition.offset(size: 50)           // 0, 50, 100 …
/// PagePosition.cursor()                   // a text from the previous page
/// PagePosition.link()                     // the previous page's "next" link (RFC 8288)
/// ```
public struct PagePosition: Sendable, Hashable {
    /// The ways in which servers name pages.
    public enum Style: Sendable, Hashable {
        /// The server numbers its pages, starting with `first`.
        case number(first: Int)
        /// The server names a page by the number of items before it.
        case offset
        /// The server names a page by a text (cursor) in the previous page.
        case cursor
        /// The server names a page by a URL in the previous page's `Link` header.
        case link
    }

    /// How the server names its pages.
    public let style: Style
    /// The number of items to request per page, at least 1. Defaults to 10.
    public let size: Int
    /// The number of pages before this page.
    public internal(set) var index = 0
    /// The number of items before this page. After a jump to a page, this number may be an estimate.
    public internal(set) var offset = 0
    /// The cursor from the previous page. It's `nil` for the first page and in other styles.
    public internal(set) var cursor: String?
    /// The link from the previous page. It's `nil` for the first page and in other styles.
    public internal(set) var url: URL?
    /// The URL of the first page. The request's own secrets are sent only to this URL's origin.
    var source: URL?
    var history = PageHistory()

    private init(_ style: Style, size: Int) { (self.style, self.size) = (style, max(1, size)) }

    /// Returns the position of the first page, for a server that numbers its pages.
    public static func number(first: Int = 1, size: Int = 10) -> PagePosition {
        Self(.number(first: first), size: size)
    }
    /// Returns the position of the first page, for a server that names a page by the number of items before it.
    public static func offset(size: Int = 10) -> PagePosition { Self(.offset, size: size) }
    /// Returns the position of the first page, for a server that names a page by a cursor in the previous page.
    public static func cursor(size: Int = 10) -> PagePosition { Self(.cursor, size: size) }
    /// Returns the position of the first page, for a server that names a page by a link in the previous page's header.
    public static func link(size: Int = 10) -> PagePosition { Self(.link, size: size) }

    /// The page's number. Numbers start with the style's first number, or with 1 in other styles.
    public var number: Int {
        if case .number(let first) = style { return first &+ index }
        return index &+ 1
    }

    /// Whether this is the first page of the list.
    public var isFirst: Bool { index == 0 }

    /// Returns the path to request: the link from the previous page, or the given path for the first page.
    ///
    /// ```swift
    /// PagePosition.link().path("articles")      // "articles"; for a later page, its URL
    /// ```
    public func path(_ first: String) -> String { url?.absoluteString ?? first }

    /// Returns the query items that tell the server which page to send. They're empty if a link names the page.
    ///
    /// ```swift
    /// PagePosition.number().query("page", size: "per_page")       // page=1&per_page=10
    /// ```
    ///
    /// - Parameters:
    ///   - name: The server's name for the number, offset or cursor. It isn't used for the first page of a list with
    ///     cursors, or for links.
    ///   - sizeName: The server's name for the page size. Defaults to `nil`, which omits the size.
    public func query(_ name: String, size sizeName: String? = nil) -> Parameters {
        var items = Parameters()
        if url != nil { return items }
        switch style {
        case .number: items.append(name, number)
        case .offset: items.append(name, offset)
        case .cursor: if let cursor { items.append(name, cursor) }
        case .link: break
        }
        if let sizeName { items.append(sizeName, size) }
        return items
    }

    /// Whether the position follows from the number of pages or items. In other styles, the previous page names the
    /// next page.
    var isCounted: Bool {
        switch style {
        case .number, .offset: true
        case .cursor, .link: false
        }
    }

    func end(with count: Int) -> Int {
        // After a jump to a short page, the number of earlier items is unknown. This estimate assumes that all pages
        // have this page's size, so it's a lower bound.
        if case .number = style, index > 0, history.largest == 0, count < size { return (index &+ 1) &* count }
        return offset &+ count
    }

    var withoutContent: PagePosition {
        var position = self
        position.history.content = nil
        return position
    }

    var first: PagePosition { PagePosition(style, size: size) }

    /// Returns the position of the page with this index, or `nil` if only the previous page can name it. `largest` is
    /// the number of items on the first page, which the server may limit. It's 0 if that number isn't known.
    func at(index: Int, largest: Int) -> PagePosition? {
        if index == 0 { return first }
        let (offset, isTooLarge) = index.multipliedReportingOverflow(by: largest > 0 ? largest : size)
        guard index > 0, !isTooLarge else { return nil }
        switch style {
        case .number, .offset:
            var position = first
            (position.index, position.offset, position.history.largest) = (index, offset, largest)
            return position
        case .cursor, .link: return nil
        }
    }
}

/// Store a position if you want to continue a list when the app runs again. Pass the stored position to
/// ``PageController`` or `agent.pages(of:from:)`.
///
/// ```swift
/// let stored = try JSONEncoder().encode(PagePosition.offset(size: 50))
/// let position = try JSONDecoder().decode(PagePosition.self, from: stored)
/// ```
///
/// The encoded position contains the cursor or link unmasked, so protect it like the list itself.
extension PagePosition: Codable {
    private enum Key: String, CodingKey {
        case style, first, size, index, offset, cursor, url, source, largest
    }

    /// Decodes a position. Throws `DecodingError` for an unknown style, a size below 1, or a negative number.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let style: Style
        switch try values.decode(String.self, forKey: .style) {
        case "number": style = .number(first: try values.decode(Int.self, forKey: .first))
        case "offset": style = .offset
        case "cursor": style = .cursor
        case "link": style = .link
        case let other:
            throw DecodingError.dataCorruptedError(
                forKey: .style, in: values, debugDescription: "expected number, offset, cursor or link, found \(other)")
        }
        func count(_ key: Key, from least: Int) throws -> Int {
            let value = try values.decode(Int.self, forKey: key)
            guard value >= least else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: values, debugDescription: "expected at least \(least), found \(value)")
            }
            return value
        }
        self.init(style, size: try count(.size, from: 1))
        (index, offset) = (try count(.index, from: 0), try count(.offset, from: 0))
        history.largest = try count(.largest, from: 0)
        cursor = try values.decodeIfPresent(String.self, forKey: .cursor)
        url = try values.decodeIfPresent(URL.self, forKey: .url)
        source = try values.decodeIfPresent(URL.self, forKey: .source)
    }

    /// Encodes everything that is needed to request the page.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        switch style {
        case .number(let first):
            try values.encode("number", forKey: .style)
            try values.encode(first, forKey: .first)
        case .offset: try values.encode("offset", forKey: .style)
        case .cursor: try values.encode("cursor", forKey: .style)
        case .link: try values.encode("link", forKey: .style)
        }
        try values.encode(size, forKey: .size)
        try values.encode(index, forKey: .index)
        try values.encode(offset, forKey: .offset)
        try values.encode(history.largest, forKey: .largest)
        try values.encodeIfPresent(cursor, forKey: .cursor)
        try values.encodeIfPresent(url, forKey: .url)
        try values.encodeIfPresent(source, forKey: .source)
    }
}

extension PagePosition: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The page's number, without the cursor or link.
    public var description: String { "page \(number)" }
    /// The same text as `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so dumps show only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
