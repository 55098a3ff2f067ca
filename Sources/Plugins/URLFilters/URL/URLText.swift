import Errand
public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// The percent-encoded text of a request's URL, edited in place.
///
/// ```swift
/// try address.append(["q": "swift & more"])       // …?q=swift%20%26%20more
/// try address.prefixPath("/api/v2")
/// address.removeQuery { $0.hasPrefix("utm_") }
/// ```
///
/// Nothing is decoded and encoded again, so that the existing text is not changed: escapes, order, repeated names, empty
/// values. If the URL of the cache's key differs, and the key contains the filter's change, each edit applies to both.
public struct URLText: Sendable {
    /// The URL as it is sent. May contain secrets; `description` masks them.
    public internal(set) var text: String
    /// The URL of the cache's key, if it differs.
    var keyText: String?
    private(set) var isChanged = false
    /// The name of the running filter, for errors.
    var filter = ""
    /// Whether the cache's key does not contain the changes of the running filter.
    var isHidden = false

    /// Makes the text of an absolute URL.
    public init(_ url: URL) { text = url.absoluteString }

    init(_ url: URL, key: URL?) {
        text = url.absoluteString
        keyText = key?.absoluteString
    }

    /// The current URL. Throws ``URLFilterError/Code/invalidURL`` if the text is not a valid URL.
    public func url() throws -> URL { try url(of: text) }

    /// The URL of the cache's key, if it differs.
    func keyURL() throws -> URL? { try keyText.map(url(of:)) }

    private func url(of text: String) throws -> URL {
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw error(.invalidURL, "it made a URL that cannot be read")
        }
        // Dot segments are removed as when the agent builds a request, so that later steps use the same path.
        return URLSyntax.mayHaveDotSegments(text) ? url.standardized : url
    }

    /// Applies an edit to the text, and to the URL of the cache's key if the key contains it.
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
    /// The URL without its fragment, with the values that `Redaction` masks by default.
    public var description: String {
        var redactor = Redactor()
        return redactor.url(text)
    }
    /// No children, since the text may contain secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The offsets of the parts of a URL's text, in UTF-8 bytes.
struct URLLayout {
    /// Where the authority ends and the path starts; nil if there is no scheme.
    var pathStart: Int?
    /// The offset of the question mark; without a query, the end of the path.
    var queryStart: Int
    var hasQuery: Bool
    /// The offset of the fragment's `#`; without a fragment, the end of the text.
    var end: Int

    init(_ text: String) { self = text.withSpan { URLLayout($0) } }

    private init(_ bytes: Span<UInt8>) {
        end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
        let mark = bytes.firstIndex(of: UInt8(ascii: "?"), in: 0..<end)
        (queryStart, hasQuery) = (mark ?? end, mark != nil)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":"), in: 0..<queryStart),
            bytes.extracting(..<queryStart).contains(Array("//".utf8), at: colon + 1)
        else { return }
        pathStart = bytes.firstIndex(of: UInt8(ascii: "/"), in: (colon + 3)..<queryStart) ?? queryStart
    }
}

extension String {
    /// The text between two UTF-8 offsets.
    subscript(offsets range: Range<Int>) -> Substring {
        self[utf8.index(startIndex, offsetBy: range.lowerBound)..<utf8.index(startIndex, offsetBy: range.upperBound)]
    }

    /// Replaces the text between two UTF-8 offsets.
    mutating func replace(offsets range: Range<Int>, with text: some Collection<Character>) {
        let start = utf8.index(startIndex, offsetBy: range.lowerBound)
        replaceSubrange(start..<utf8.index(startIndex, offsetBy: range.upperBound), with: text)
    }
}
