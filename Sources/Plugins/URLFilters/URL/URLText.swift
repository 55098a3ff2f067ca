import ErrandSupport
import ErrandHTTPSyntax

public import ErrandEssentials

/// The percent-encoded text of a request's URL, edited in place.
///
/// ```swift
/// try address.append(["q": "swift & more"])       // …?q=swift%20%26%20more
/// try address.prefixPath("/api/v2")
/// address.removeQuery { $0.hasPrefix("utm_") }
/// ```
///
/// Nothing is decoded and encoded again, so what was there stays as it was, byte by byte: escapes, order, repeated
/// names, empty values. Each edit is also made to the URL that a cache's key is made of, if that is another one and the
/// filter at work is one that the key sees.
public struct URLText: Sendable {
    /// As it goes over the wire. May hold secrets; `description` masks them.
    public internal(set) var text: String
    /// What the cache's key is made of, where that is another.
    var keyText: String?
    private(set) var isChanged = false
    /// The name of the filter at work, for errors.
    var filter = ""
    /// Whether the filter at work is one that the cache's key does not see.
    var isHidden = false

    /// The text of an absolute URL.
    public init(_ url: URL) { text = url.absoluteString }

    init(_ url: URL, key: URL?) {
        text = url.absoluteString
        keyText = key?.absoluteString
    }

    /// The URL as it is now. Throws ``URLFilterError/Code/invalidURL`` where the text is none.
    public func url() throws -> URL { try url(of: text) }

    /// The URL for the cache's key, where that is another.
    func keyURL() throws -> URL? { try keyText.map(url(of:)) }

    private func url(of text: String) throws -> URL {
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw error(.invalidURL, "it made a URL that cannot be read")
        }
        // Resolved as the agent does when it builds a request, so that nothing below sees another path.
        return URLSyntax.mayHaveDotSegments(text) ? url.standardized : url
    }

    /// Makes an edit to the text, and to the key's where the key sees it.
    mutating func change(_ edit: (inout String) throws -> Void) rethrows {
        if isHidden {
            keyText = keyText ?? text
        } else if var key = keyText {
            try edit(&key)
            keyText = key
        }
        try edit(&text)
        isChanged = true
    }

    func error(_ code: URLFilterError.Code, _ message: String) -> URLFilterError {
        URLFilterError(code, filter: filter, message)
    }
}

extension URLText: CustomStringConvertible, CustomReflectable {
    /// The URL with the values of its query masked, and without its fragment.
    public var description: String { URLSyntax.redacted(text) }
    /// Nothing, since the text may hold secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Where the parts of a URL's text stand, as offsets in UTF-8.
struct URLLayout {
    /// Where the authority ends and the path begins; nil if there is no scheme.
    var pathStart: Int?
    /// Where the question mark stands, or the query would.
    var queryStart: Int
    var hasQuery: Bool
    /// Where the fragment's `#` stands, or the end.
    var end: Int

    init(_ text: String) {
        var text = text
        self = text.withUTF8 { bytes in URLLayout(bytes) }
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
        let mark = bytes[..<end].firstIndex(of: UInt8(ascii: "?"))
        (queryStart, hasQuery) = (mark ?? end, mark != nil)
        let beforeQuery = bytes[..<queryStart]
        guard let colon = beforeQuery.firstIndex(of: UInt8(ascii: ":")),
            beforeQuery[(colon + 1)...].starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")])
        else { return }
        pathStart = beforeQuery[(colon + 3)...].firstIndex(of: UInt8(ascii: "/")) ?? queryStart
    }
}

extension String {
    /// The piece between two offsets in UTF-8.
    subscript(offsets range: Range<Int>) -> Substring {
        self[utf8.index(startIndex, offsetBy: range.lowerBound)..<utf8.index(startIndex, offsetBy: range.upperBound)]
    }

    /// Puts text in the place of the piece between two offsets in UTF-8.
    mutating func replace(offsets range: Range<Int>, with text: some Collection<Character>) {
        let start = utf8.index(startIndex, offsetBy: range.lowerBound)
        replaceSubrange(start..<utf8.index(startIndex, offsetBy: range.upperBound), with: text)
    }
}
