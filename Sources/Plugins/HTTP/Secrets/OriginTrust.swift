/// Whether a request may carry the agent's secrets, and those that it was built without.
package struct OriginTrust: Sendable {
    package var isTrusted: Bool
    package private(set) var withheld = HTTPHeaders()

    package init(isTrusted: Bool = true) { self.isTrusted = isTrusted }

    /// Takes what is sensitive, and the name of the host, out of header fields, and keeps the former.
    package mutating func withhold(from headers: inout HTTPHeaders) {
        withheld.merge(HTTPHeaders(headers.filter(\.isSensitive)))
        headers.removeAll { $0.isSensitive || $0.name == .host }
    }
}
