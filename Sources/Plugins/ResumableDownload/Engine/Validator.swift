import Errand
import ErrandHTTPSyntax
import ErrandSupport

/// What says that two answers are parts of the same version of a file, byte for byte (RFC 9110, section 8.8).
struct Validator: Codable, Hashable, Sendable {
    enum Kind: String, Codable, Sendable { case entityTag, date }

    let kind: Kind
    let value: String

    /// The strong validator of an answer; nil if it has none. A date is strong only where there is no entity tag at all
    /// (section 13.1.5), and a minute older than the answer: a file may change twice within a second, and clocks differ.
    init?(strongIn headers: HTTPHeaders) {
        let tags = headers.values(of: "ETag")
        if !tags.isEmpty {
            guard tags.count == 1, Self.isStrong(tags[0]) else { return nil }
            (kind, value) = (.entityTag, tags[0])
            return
        }
        let dates = headers.values(of: "Last-Modified")
        guard dates.count == 1, let modified = HTTPDate.parse(dates[0]), let sent = headers["Date"],
            let date = HTTPDate.parse(sent), date.timeIntervalSince(modified) >= 60
        else { return nil }
        (kind, value) = (.date, dates[0])
    }

    /// Whether an answer is of this version; one that does not say so is not.
    func matches(_ headers: HTTPHeaders) -> Bool {
        switch kind {
        case .entityTag: headers.values(of: "ETag") == [value]
        case .date: headers.values(of: "Last-Modified") == [value] && !headers.contains("ETag")
        }
    }

    /// An `opaque-tag` (section 8.8.3) of a length that a sidecar takes. A space may not be in it, but is, on some servers,
    /// and comes back as it was sent.
    private static func isStrong(_ tag: String) -> Bool {
        let bytes = Array(tag.utf8)
        guard bytes.count >= 2, bytes.count <= 1024, bytes.first == UInt8(ascii: "\""), bytes.last == bytes.first else {
            return false
        }
        return bytes.dropFirst().dropLast().allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != 0x7F }
    }
}
