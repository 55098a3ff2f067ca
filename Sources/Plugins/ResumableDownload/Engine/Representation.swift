import Errand
import ErrandDigests
import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax
import ErrandSupport

/// A version of a file on a server, as the head of a response describes it.
struct Representation: Codable, Hashable, Sendable {
    /// The validator with which the version is recognized later. It's nil if this isn't possible. The download then
    /// can't be resumed.
    var validator: StrongValidator?
    var total: Int64?
    /// The content coding in lower case. It's empty if the file isn't encoded.
    var coding: String
    /// A digest of the final URL without its query. It identifies the resource, because a validator is valid for only
    /// one resource.
    var source: String

    /// Creates a representation from a response with the status 200, or with 206 and the whole file's length.
    init(_ response: HTTPResponse, total: Int64?) {
        coding = Self.coding(response.headers)
        source = Self.source(of: response.url)
        self.total = total
        let refusesRanges = FieldList.contains("none", in: response.headers[.acceptRanges] ?? "")
        validator = refusesRanges ? nil : StrongValidator(strongIn: response.headers)
        // This response doesn't contain the file's length, but a later response for a part will. Only an entity tag
        // proves that the part belongs to the same version.
        if total == nil, validator?.kind != .entityTag || Self.hasNoFraming(response) { validator = nil }
    }

    /// Returns whether the end of the response isn't known, because the length is missing. URLSession may decode
    /// content even if no coding was requested, and then hides the length. In that case, byte offsets are unknown.
    static func hasNoFraming(_ response: HTTPResponse) -> Bool {
        let closes = FieldList.contains("close", in: response.headers[.connection] ?? "")
        let isFramed = closes || response.headers.contains(.transferEncoding)
        return !isFramed && !["1.0", "2", "3"].contains(response.version)
    }

    enum Objection: Equatable {
        case unknownVersion, changed, coding
        case length(Int64, Int64)
        /// The source is another resource. A validator is valid for only one resource (RFC 9110, section 8.8.3).
        case source

        var text: String {
            switch self {
            case .unknownVersion: "the bytes on disk have no validator that identifies their version"
            case .changed: "the file has changed on the server"
            case .coding: "the content coding has changed"
            case .length(let old, let new): "the file was \(old) bytes long and is now \(new)"
            case .source: "the response came from another URL than the bytes on disk"
            }
        }
    }

    func objection(to response: HTTPResponse, total other: Int64?, joiningSources: Bool) -> Objection? {
        guard let validator else { return .unknownVersion }
        if !validator.matches(response.headers) { return .changed }
        if let total, let other, total != other { return .length(total, other) }
        if coding != Self.coding(response.headers) { return .coding }
        return joiningSources || source == Self.source(of: response.url) ? nil : .source
    }

    static func coding(_ headers: HTTPHeaders) -> String {
        FieldList.items((headers[.contentEncoding] ?? "").lowercased()).filter { $0 != "identity" }
            .joined(separator: ",")
    }

    static func source(of url: URL) -> String {
        let text = url.absoluteString
        let end = text.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
        return Hexadecimal.text(Array(SHA256Digest.digest(of: Array(text[..<end].utf8)).prefix(16)))
    }
}

/// A validator that identifies a version byte for byte (RFC 9110, section 8.8).
struct StrongValidator: Codable, Hashable, Sendable {
    enum Kind: String, Codable, Sendable { case entityTag, date }

    let kind: Kind
    let value: String
    /// Whether the server sent Latin-1 bytes, which must be sent back unchanged.
    private let isLatin1: Bool?

    /// Creates a validator from a response's header fields. Prefers an entity tag. A date is strong only if there isn't
    /// an entity tag (RFC 9110, section 13.1.5), and if the date is at least a minute before the response's date.
    /// Otherwise the file could have changed twice within a second, or the clocks could differ.
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

    /// The `If-Range` field (RFC 9110, section 13.1.5). It contains the same bytes that the server sent.
    var ifRange: HTTPHeaders.Field {
        var field = HTTPHeaders.Field(.ifRange, value)
        field.isLatin1 = isLatin1 ?? false
        return field
    }

    private static func isStrong(_ tag: String) -> Bool {
        tag.utf8.count <= 1024 && EntityTag(parsing: tag).map { !$0.isWeak } ?? false
    }
}
