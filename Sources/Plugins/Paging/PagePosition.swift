public import Errand
public import ErrandEssentials

/// The position of a page in a list, and how a request names it.
///
/// ```swift
/// PagePosition.number()                   // 1, 2, 3 …, 10 items each
/// PagePosition.offset(size: 50)           // 0, 50, 100 …
/// PagePosition.cursor()                   // what the page before names
/// PagePosition.link()                     // the "next" link of the page before (RFC 8288)
/// ```
public struct PagePosition: Sendable, Hashable {
    /// The way in which a server names its pages.
    public enum Style: Sendable, Hashable {
        /// By number, beginning with this one.
        case number(first: Int)
        /// By the number of items before the page.
        case offset
        /// By a text from the page before.
        case cursor
        /// By a URL in the `Link` header of the page before.
        case link
    }

    /// The way in which the server names its pages.
    public let style: Style
    /// The requested number of items in a page; 10 by default, 1 at least.
    public let size: Int
    /// The number of pages before it.
    public internal(set) var index = 0
    /// The number of items before it, as far as it was reached page by page.
    public internal(set) var offset = 0
    /// The cursor from the page before; nil for the first page, and in other styles.
    public internal(set) var cursor: String?
    /// The link of the page before; nil for the first page, and in other styles.
    public internal(set) var url: URL?
    /// The URL of the first page, once a link has led on from there: its origin gets the request's own secrets.
    var source: URL?
    /// The pages before.
    var history = PageHistory()

    private init(_ style: Style, size: Int) { (self.style, self.size) = (style, max(1, size)) }

    /// Pages by number; the first number is 1 by default.
    public static func number(first: Int = 1, size: Int = 10) -> PagePosition {
        Self(.number(first: first), size: size)
    }
    /// Pages by the number of items before them.
    public static func offset(size: Int = 10) -> PagePosition { Self(.offset, size: size) }
    /// Pages by a cursor from the page before.
    public static func cursor(size: Int = 10) -> PagePosition { Self(.cursor, size: size) }
    /// Pages by the `Link` header of the page before.
    public static func link(size: Int = 10) -> PagePosition { Self(.link, size: size) }

    /// The number of the page: counted from the first number of the style, or from 1.
    public var number: Int {
        if case .number(let first) = style { return first &+ index }
        return index &+ 1
    }

    /// Whether the page is the first of the list.
    public var isFirst: Bool { index == 0 }

    /// The path of the page: the link of the page before, or the given path.
    ///
    /// ```swift
    /// PagePosition.link().path("articles")      // "articles"; for a later page, its URL
    /// ```
    public func path(_ first: String) -> String { url?.absoluteString ?? first }

    /// The query items that name the page, by the names that the server uses for them; none where a link names it.
    ///
    /// ```swift
    /// PagePosition.number().query("page", size: "per_page")       // page=1&per_page=10
    /// ```
    ///
    /// - Parameters:
    ///   - name: for the number, the offset or the cursor; not used for the first page of cursors and links.
    ///   - sizeName: for the size of a page; none by default.
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

    /// Whether the server counts pages or items; in other styles the page before names the next one.
    var isCounted: Bool {
        switch style {
        case .number, .offset: true
        case .cursor, .link: false
        }
    }

    /// The number of items up to the end of a page of this many.
    func end(with count: Int) -> Int {
        // How many are before a numbered page that was jumped to isn't known, if pages are smaller than what they were asked
        // for: at least as many as if all had the size of this one.
        if case .number = style, index > 0, history.largest == 0, count < size { return (index &+ 1) &* count }
        return offset &+ count
    }

    /// The same position for a page that is shown alone, whatever the page before shows.
    var withoutContent: PagePosition {
        var position = self
        position.history.content = nil
        return position
    }

    /// The first page in the same style.
    var first: PagePosition { PagePosition(style, size: size) }

    /// The page after this many others; nil where only the page before can name it.
    ///
    /// - Parameter largest: the number of items of the first page, which a server may limit; 0 if it isn't known.
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

/// A position can be stored, and a list be read on from there in another run of the app: ``PageController`` and
/// `agent.pages(of:from:)` take it.
///
/// ```swift
/// let stored = try JSONEncoder().encode(PagePosition.offset(size: 50))
/// let position = try JSONDecoder().decode(PagePosition.self, from: stored)
/// ```
///
/// A cursor or a link is stored as it is: keep the data where the list itself may be kept.
extension PagePosition: Codable {
    private enum Key: String, CodingKey {
        case style, first, size, index, offset, cursor, url, source, largest
    }

    /// Throws `DecodingError` for an unknown style, a size below 1, and numbers below 0.
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
                forKey: .style, in: values, debugDescription: "number, offset, cursor or link expected, not \(other)")
        }
        func count(_ key: Key, from least: Int) throws -> Int {
            let value = try values.decode(Int.self, forKey: key)
            guard value >= least else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: values, debugDescription: "at least \(least) expected, not \(value)")
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

    /// Writes what another run needs to request the page.
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
    /// The number of the page, without a cursor or a link.
    public var description: String { "page \(number)" }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Empty: children would show what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
