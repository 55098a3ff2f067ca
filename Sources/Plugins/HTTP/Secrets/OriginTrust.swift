/// Whether a request may carry the agent's secrets, and those that it was built without.
package struct OriginTrust: Sendable {
    package var isTrusted: Bool
    package var withheld: HTTPHeaders

    package init(isTrusted: Bool = true, withheld: HTTPHeaders = HTTPHeaders()) {
        (self.isTrusted, self.withheld) = (isTrusted, withheld)
    }
}
