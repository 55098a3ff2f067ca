import Errand
import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax
import ErrandSupport

/// Shows that two responses are parts of the same version of a file, byte for byte (RFC 9110, section 8.8).
struct Validator: Codable, Hashable, Sendable {
    enum Kind: String, Codable, Sendable { case entityTag, date }

    let kind: Kind
    let value: String
    /// True where the bytes on the wire were Latin-1 and go back as such; nil otherwise, and in sidecars of earlier versions.
    private let isLatin1: Bool?

    /// The strong validator of a response; nil if it has none. A date is strong only where there is no entity tag at all
    /// (section 13.1.5), and a minute older than the response: a file may change twice within a second, and clocks differ.
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

    /// Whether a response is of this version; one without the validator is not.
    func matches(_ headers: HTTPHeaders) -> Bool {
        switch kind {
        case .entityTag: isOnly(.entityTag, in: headers)
        case .date: isOnly(.lastModified, in: headers) && !headers.contains(.entityTag)
        }
    }

    /// Whether the headers have one field of that name, with the same value byte by byte.
    private func isOnly(_ name: HTTPHeaderName, in headers: HTTPHeaders) -> Bool {
        let values = headers.values(of: name)
        return values.count == 1 && values[0].hasSameBytes(as: value)
    }

    /// The condition under which a range is requested (section 13.1.5), with the bytes that the server sent.
    var ifRange: HTTPHeaders.Field {
        var field = HTTPHeaders.Field(.ifRange, value)
        field.isLatin1 = isLatin1 ?? false
        return field
    }

    /// A strong entity tag of a length that fits in the sidecar.
    private static func isStrong(_ tag: String) -> Bool {
        tag.utf8.count <= 1024 && EntityTag(parsing: tag).map { !$0.isWeak } ?? false
    }
}
