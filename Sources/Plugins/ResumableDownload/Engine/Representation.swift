import Errand
import ErrandSupport

/// One version of a file on a server, as the head of an answer describes it.
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
        // Without a total nothing says where it ends, unless the server offers ranges by itself.
        let offersRanges = response.headers["Accept-Ranges"].map { $0.lowercased().contains("bytes") } ?? false
        let refusesRanges = response.headers["Accept-Ranges"]?.lowercased() == "none"
        validator = refusesRanges || total == nil && !offersRanges ? nil : Validator(strongIn: response.headers)
    }

    /// Why a part of an answer cannot be joined with what is here; nil if it can.
    func objection(to response: HTTPResponse, total other: Int64?) -> String? {
        guard let validator else { return "nothing says which version the part on disk is of" }
        if !validator.matches(response.headers) { return "the file has changed on the server" }
        if let total, let other, total != other { return "the file was \(total) bytes long and is now \(other)" }
        if coding != Self.coding(response.headers) { return "the content coding has changed" }
        return place == Self.place(of: response.url) ? nil : "the answer came from another place"
    }

    static func coding(_ headers: HTTPHeaders) -> String {
        (headers[.contentEncoding] ?? "").lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
            .filter { $0 != "identity" }.joined(separator: ",")
    }

    private static func place(of url: URL) -> String {
        let text = url.absoluteString
        let end = text.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
        return Hexadecimal.text(Array(SHA256Digest.digest(of: Array(text[..<end].utf8)).prefix(16)))
    }
}
