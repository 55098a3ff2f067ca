import Errand
import ErrandDigests
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// One version of a file on a server, as the head of a response describes it.
struct Representation: Codable, Hashable, Sendable {
    /// Nil if the version cannot be recognised later, and so not be resumed.
    var validator: Validator?
    /// Nil until a response says how long the file is.
    var total: Int64?
    /// The codings that are part of the bytes, in lower case; empty for none.
    var coding: String
    /// The final URL without its query, as a digest: a validator identifies a version of one resource, not of another server's.
    var source: String

    /// From a 200, or from a 206 that says how long the whole file is.
    init(_ response: HTTPResponse, total: Int64?) {
        coding = Self.coding(response.headers)
        source = Self.source(of: response.url)
        self.total = total
        let refusesRanges = FieldList.contains("none", in: response.headers[.acceptRanges] ?? "")
        validator = refusesRanges ? nil : Validator(strongIn: response.headers)
        // Without a length only an entity tag shows that a later part is of this version; the part says how long it is.
        if total == nil, validator?.kind != .entityTag || Self.hasNoFraming(response) { validator = nil }
    }

    /// Whether nothing in the head of an HTTP/1.1 response says where its body ends. URLSession decodes what was requested
    /// without a coding, and then hides the length: the offsets of such bytes are not known.
    static func hasNoFraming(_ response: HTTPResponse) -> Bool {
        let closes = FieldList.contains("close", in: response.headers[.connection] ?? "")
        let isFramed = closes || response.headers.contains(.transferEncoding)
        return !isFramed && !["1.0", "2", "3"].contains(response.version)
    }

    /// The reason why a part cannot be joined with the bytes on disk.
    enum Objection: Equatable {
        case unknownVersion, changed, coding
        case length(Int64, Int64)
        /// Everything agrees, but a validator is valid for one resource (RFC 9110, section 8.8.3), and this is another.
        case source

        var text: String {
            switch self {
            case .unknownVersion: "the bytes on disk have no validator that identifies their version"
            case .changed: "the file has changed on the server"
            case .coding: "the content coding has changed"
            case .length(let old, let new): "the file was \(old) bytes long and is now \(new)"
            case .source: "the response came from another source"
            }
        }
    }

    /// The reason why a part of a response cannot be joined with the bytes on disk; nil if it can.
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
