/// Whether a request may carry the agent's secrets, and the ones that were withheld from it.
package struct OriginTrust: Sendable {
    package var isTrusted: Bool
    package private(set) var withheld = HTTPHeaders()

    package init(isTrusted: Bool = true) { self.isTrusted = isTrusted }

    /// Removes sensitive fields, and the name of the host, from header fields, and keeps the former.
    package mutating func withhold(from headers: inout HTTPHeaders) {
        withheld.merge(HTTPHeaders(headers.filter(\.isSensitive)))
        headers.removeAll { $0.isSensitive || $0.name == .host }
    }
}
