import Errand
import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax
import ErrandSupport

/// Proves that two responses contain the same version of a file, byte for byte (RFC 9110, section 8.8).
struct Validator: Codable, Hashable, Sendable {
    enum Kind: String, Codable, Sendable { case entityTag, date }

    let kind: Kind
    let value: String
    /// `true` if the server sent Latin-1 bytes, which are sent back unchanged. Otherwise, and in sidecars of earlier
    /// versions, `nil`.
    private let isLatin1: Bool?

    /// Creates a strong validator from response headers, or returns `nil` if there isn't one. A date is only strong if
    /// there is no entity tag (section 13.1.5) and it's a minute older than the response, because a file can change
    /// twice within a second, and clocks differ.
    init?(strongIn headers: HTTPHeaders) {
        let tags = headers.filter { $0.name == .entityTag }
        if !tags.isEmpty {
            guard tags.count == 1, Self.isStrong(tags[0].value) else { return nil }
            (kind, value, isLatin1) = (.entityTag, tags[0].value, tags[0].isLatin1 ? true : nil)
            return
        }
        let dates = headers.values(of: .lastModified)
        guard dates.count == 1, let modified = HTTPDate.parse(dates[0]), let sent = headers[.date],
            let date = HTTPDate.parse(sent), date.timeIntervalSince(modified) >= 60
        else { return nil }
        (kind, value, isLatin1) = (.date, dates[0], nil)
    }

    /// Whether a response is of this version. Without the validator, it isn't.
    func matches(_ headers: HTTPHeaders) -> Bool {
        switch kind {
        case .entityTag: isOnly(.entityTag, in: headers)
        case .date: isOnly(.lastModified, in: headers) && !headers.contains(.entityTag)
        }
    }

    private func isOnly(_ name: HTTPHeaderName, in headers: HTTPHeaders) -> Bool {
        let values = headers.values(of: name)
        return values.count == 1 && values[0].hasSameBytes(as: value)
    }

    /// The `If-Range` field of a range request (section 13.1.5), with the same bytes that the server sent.
    var ifRange: HTTPHeaders.Field {
        var field = HTTPHeaders.Field(.ifRange, value)
        field.isLatin1 = isLatin1 ?? false
        return field
    }

    private static func isStrong(_ tag: String) -> Bool {
        tag.utf8.count <= 1024 && EntityTag(parsing: tag).map { !$0.isWeak } ?? false
    }
}
