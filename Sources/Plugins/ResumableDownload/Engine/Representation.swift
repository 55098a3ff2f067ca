import Errand
import ErrandSupport

/// One version of a file on a server, as the head of a response describes it.
struct Representation: Codable, Hashable, Sendable {
    /// Nil if it cannot be known again, and so not be resumed.
    var validator: Validator?
    var total: Int64?
    /// The codings that are part of the bytes, in lower case; empty for none.
    var coding: String
    /// The final URL without its query, as a digest: a validator speaks of one resource, and not of another server's.
    var place: String

    /// Of a 200, or of a 206 that says how long the whole is.
    init(_ response: HTTPResponse, total: Int64?) {
        coding = Self.coding(response.headers)
        place = Self.place(of: response.url)
        self.total = total
        // Without a total nothing says where it ends, and a transport that has decoded the bytes leaves none.
        let refusesRanges = response.headers["Accept-Ranges"]?.lowercased() == "none"
        validator = refusesRanges || total == nil ? nil : Validator(strongIn: response.headers)
    }

    /// Why a part cannot be joined with the bytes on disk.
    enum Objection: Equatable {
        case unknownVersion, changed, coding
        case length(Int64, Int64)
        /// Everything agrees, but a validator speaks of one resource (RFC 9110, section 8.8.3), and this is another.
        case place

        var text: String {
            switch self {
            case .unknownVersion: "nothing says which version the part on disk is of"
            case .changed: "the file has changed on the server"
            case .coding: "the content coding has changed"
            case .length(let old, let new): "the file was \(old) bytes long and is now \(new)"
            case .place: "the response came from another place"
            }
        }
    }

    /// Why a part of a response cannot be joined with the bytes on disk; nil if it can.
    func objection(to response: HTTPResponse, total other: Int64?, joiningPlaces: Bool) -> Objection? {
        guard let validator else { return .unknownVersion }
        if !validator.matches(response.headers) { return .changed }
        if let total, let other, total != other { return .length(total, other) }
        if coding != Self.coding(response.headers) { return .coding }
        return joiningPlaces || place == Self.place(of: response.url) ? nil : .place
    }

    static func coding(_ headers: HTTPHeaders) -> String {
        (headers[.contentEncoding] ?? "").lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
            .filter { $0 != "identity" }.joined(separator: ",")
    }

    static func place(of url: URL) -> String {
        let text = url.absoluteString
        let end = text.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
        return Hexadecimal.text(Array(SHA256Digest.digest(of: Array(text[..<end].utf8)).prefix(16)))
    }
}
