import Errand
import ErrandHTTPSyntax
import ErrandSupport

import ErrandEssentials

/// How a stored response answers a request that has conditions or a range of its own (RFC 9111, section 4.3.2, RFC 9110,
/// sections 13 and 14).
enum HTTPConditions {
    enum Answer: Sendable, Hashable {
        case whole
        case notModified
        case part(Range<Int64>)
        /// Only the server can say.
        case forward
    }

    static let names: [HTTPHeaderName] = ["If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since"]

    /// - Parameters:
    ///   - length: of the stored body, in bytes.
    ///   - received: when it came, in place of a `Last-Modified` and a `Date` that are missing.
    static func answer(
        to request: HTTPRequest, status: Int, headers: HTTPHeaders, length: Int64, received: Date
    ) -> Answer {
        let asked = request.headers
        if asked.contains("If-Match") || asked.contains("If-Unmodified-Since") { return .forward }
        if let tags = asked["If-None-Match"] {
            if let tag = headers.values(of: "ETag").first, EntityTag.list(tags, contains: tag) { return .notModified }
        } else if let since = asked.values(of: "If-Modified-Since").first.flatMap({ HTTPDate.parse($0, now: received) })
        {
            let modified = headers.values(of: "Last-Modified").first ?? headers.values(of: "Date").first
            if modified.flatMap({ HTTPDate.parse($0, now: received) }) ?? received <= since { return .notModified }
        }
        guard request.method == .get, status == 200, let range = asked["Range"] else { return .whole }
        if let condition = asked.values(of: "If-Range").first, !holds(condition, headers) { return .whole }
        return byteRange(range, of: length).map(Answer.part) ?? .forward
    }

    /// Whether `If-Range` holds: a strong tag, or exactly the date.
    private static func holds(_ condition: String, _ headers: HTTPHeaders) -> Bool {
        if let tag = headers.values(of: "ETag").first, EntityTag.matchesStrongly(condition, tag) { return true }
        return HTTPDate.parse(condition) != nil && headers.values(of: "Last-Modified").first == condition
    }

    /// One range of bytes that can be satisfied; several, other units and nonsense are nil.
    static func byteRange(_ text: String, of length: Int64) -> Range<Int64>? {
        guard text.lowercased().hasPrefix("bytes="), length > 0 else { return nil }
        let bounds = text.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard bounds.count == 2 else { return nil }
        let (first, last) = (HTTPList.trimmed(bounds[0]), HTTPList.trimmed(bounds[1]))
        if first.isEmpty {
            guard let count = number(last), count > 0 else { return nil }
            return max(0, length - count)..<length
        }
        guard let start = number(first), start < length else { return nil }
        if last.isEmpty { return start..<length }
        guard let end = number(last), end >= start else { return nil }
        return start..<min(length, end == .max ? length : end + 1)
    }

    private static func number(_ text: String) -> Int64? {
        text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") } ? Int64(text) : nil
    }
}

/// Which request headers chose a response (RFC 9111, section 4.1).
struct VaryRule: Sendable, Hashable {
    /// In lower case, sorted.
    let names: [String]
    /// `Vary: *`: no other request is answered by it.
    let isStar: Bool

    init(_ headers: HTTPHeaders) {
        let all = Set(headers.values(of: "Vary").flatMap(HTTPList.items).map { $0.lowercased() }).subtracting([""])
        isStar = all.contains("*")
        names = all.sorted()
    }

    /// The value of a header for comparison: several fields joined, without white space around commas, as the section
    /// allows; nil where there is none.
    static func value(of name: String, in headers: HTTPHeaders) -> String? {
        let values = headers.values(of: HTTPHeaderName(name))
        if values.isEmpty { return nil }
        let normal = values.flatMap(HTTPList.items).joined(separator: ",")
        return name == "accept-language" || name == "accept-encoding" ? normal.lowercased() : normal
    }
}
