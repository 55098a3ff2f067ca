import Errand
import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax

/// Evaluates a request's conditions and range against a stored response (RFC 9111, section 4.3.2; RFC 9110, sections 13
/// and 14).
enum HTTPConditions {
    enum Outcome: Sendable, Hashable {
        case whole
        case notModified
        case part(Range<Int64>)
        /// The request must be sent, because only the server can evaluate it.
        case forward
    }

    static func areAny(in headers: HTTPHeaders) -> Bool {
        headers.contains(.ifNoneMatch) || headers.contains(.ifModifiedSince) || headers.contains(.ifMatch)
            || headers.contains(.ifUnmodifiedSince) || headers.contains(.range)
    }

    /// - Parameter received: The date on which the response was received. It counts as the modification date of a
    ///   response that has neither `Last-Modified` nor `Date`.
    static func evaluate(
        _ request: HTTPRequest, status: Int, headers: HTTPHeaders, length: Int64, received: Date
    ) -> Outcome {
        let fields = request.headers
        if fields.contains(.ifMatch) || fields.contains(.ifUnmodifiedSince) { return .forward }
        // Conditions apply only to successful responses (RFC 9110, section 13.2.1).
        guard (200...299).contains(status) else { return .whole }
        if let condition = fields[.ifNoneMatch] {
            let isNamed = EntityTagCondition(parsing: condition) == .any
            if isNamed || storedTag(headers)?.isNamed(byCondition: condition) == true { return .notModified }
        } else if let since = fields.values(of: .ifModifiedSince).first
            .flatMap({ HTTPDate.parse($0, now: received) })
        {
            let modified = headers.values(of: .lastModified).first ?? headers.values(of: .date).first
            if modified.flatMap({ HTTPDate.parse($0, now: received) }) ?? received <= since { return .notModified }
        }
        guard request.method == .get, status == 200, let range = fields[.range] else { return .whole }
        if let condition = fields.values(of: .ifRange).first, !holds(condition, headers) { return .whole }
        return singleRange(range, length: length).map(Outcome.part) ?? .forward
    }

    /// Whether an `If-Range` condition holds (RFC 9110, section 13.1.5): its strong entity tag matches, or its date is
    /// exactly the stored date.
    private static func holds(_ condition: String, _ headers: HTTPHeaders) -> Bool {
        if storedTag(headers)?.matchesStrongly(condition) == true { return true }
        return HTTPDate.parse(condition) != nil && headers.values(of: .lastModified).first == condition
    }

    private static func storedTag(_ headers: HTTPHeaders) -> StoredEntityTag? {
        headers.values(of: .entityTag).first.map(StoredEntityTag.init)
    }

    /// Returns the range of a `Range` field, or nil if the server has to handle it: several ranges, other units or
    /// malformed text.
    private static func singleRange(_ value: String, length: Int64) -> Range<Int64>? {
        guard let ranges = ByteRange.parse(value), ranges.count == 1 else { return nil }
        return ranges.first?.resolved(length: length)
    }
}
