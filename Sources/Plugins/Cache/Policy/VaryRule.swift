import Errand
import ErrandMessageSyntax

/// The request header fields that selected a response (RFC 9111, section 4.1).
struct VaryRule: Sendable, Hashable {
    /// In lower case, sorted.
    let names: [String]
    /// Whether the response has `Vary: *`, and so matches no other request.
    let isStar: Bool

    init(_ headers: HTTPHeaders) {
        let all = Set(FieldList.items(headers.values(of: .vary)).map { $0.lowercased() })
        isStar = all.contains("*")
        names = all.sorted()
    }

    /// The value of a header field for comparison: several field lines combined, without white space around commas, as
    /// the section allows; nil if the field is absent.
    static func value(of name: String, in headers: HTTPHeaders) -> String? {
        let values = headers.values(of: HTTPHeaderName(name))
        if values.isEmpty { return nil }
        // Empty items are kept: an origin server may distinguish them.
        let normal = values.flatMap { FieldList.allItems($0) }.joined(separator: ",")
        return name == "accept-language" || name == "accept-encoding" ? normal.lowercased() : normal
    }
}
