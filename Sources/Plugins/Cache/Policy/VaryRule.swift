import Errand
import ErrandMessageSyntax

/// The request header fields that selected a response (RFC 9111, section 4.1).
struct VaryRule: Sendable, Hashable {
    /// Lowercase names in sorted order.
    let names: [String]
    /// Whether the response has `Vary: *`, so it doesn't match any other request.
    let isStar: Bool

    init(_ headers: HTTPHeaders) {
        guard headers.contains(.vary) else {
            (names, isStar) = ([], false)
            return
        }
        let all = Set(FieldList.items(headers.values(of: .vary)).map { $0.lowercased() })
        isStar = all.contains("*")
        names = all.sorted()
    }

    /// Returns whether responses that are kept apart by another rule are also kept apart by this one.
    func isCovered(by other: VaryRule) -> Bool { !isStar && Set(names).isSubset(of: other.names) }

    /// Returns the value of a header field for comparison, or nil if it's absent. Combines lines and removes white
    /// space around commas, as section 4.1 allows.
    static func value(of name: String, in headers: HTTPHeaders) -> String? {
        let values = headers.values(of: HTTPHeaderName(name))
        if values.isEmpty { return nil }
        // Keep empty items, because servers may distinguish them.
        let normal = values.flatMap { FieldList.allItems($0) }.joined(separator: ",")
        return name == "accept-language" || name == "accept-encoding" ? normal.lowercased() : normal
    }
}
