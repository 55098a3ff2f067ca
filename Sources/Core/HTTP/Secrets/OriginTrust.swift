/// Whether a request may carry the agent's secrets, and the ones that were withheld from it.
package struct OriginTrust: Sendable {
    package var isTrusted: Bool
    package private(set) var withheld = HTTPHeaders()
    /// The marks of the users to whom the withheld fields belong.
    package private(set) var withheldUsers: UserMarks?

    package init(isTrusted: Bool = true) { self.isTrusted = isTrusted }

    /// Removes sensitive fields, and the name of the host, from header fields, and keeps the former.
    package mutating func withhold(from headers: inout HTTPHeaders) {
        withheld.merge(HTTPHeaders(headers.filter(\.isSensitive)))
        headers.removeAll { $0.isSensitive || $0.name == .host }
    }

    /// Removes from a request that a filter has moved to another origin what was added for the old one: sensitive fields,
    /// and the name of the host. Keeps the fields, and the marks of their users.
    ///
    /// A field that the filter has added for the new origin stays.
    ///
    /// - Parameters:
    ///   - request: the request at the new origin.
    ///   - before: the request at the old one.
    package mutating func withhold(from request: inout HTTPRequest, of users: UserMarks?, before: HTTPRequest) {
        let old = before.headers
        let names = Set(old.lazy.filter { $0.isSensitive || $0.name == .host }.map(\.name))
        let isOld = { (field: HTTPHeaders.Field) in
            names.contains(field.name)
                && (old.contains { $0.name == field.name && $0.value == field.value } || old[field.name] == field.value)
        }
        // Those of the old request: the filter may have taken the marks away.
        withheld.merge(HTTPHeaders(old.filter(\.isSensitive)))
        withheldUsers = users ?? withheldUsers
        if request.headers.contains(where: isOld) { request.headers.removeAll(where: isOld) }
    }
}
