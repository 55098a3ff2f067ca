import ErrandEssentials

/// Credentials for the `Authorization` header. Descriptions never show them.
///
/// An agent sends its credentials only to the origins of its base URLs and to its `trustedOrigins`. A request's own
/// credentials are sent to the request's URL, and aren't sent along a redirect to another origin.
public struct Authorization: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The field's value. With `nil`, no credentials are sent.
    package let value: String?
    private let scheme: String

    /// Returns Basic credentials in UTF-8 (RFC 7617). The user name can't contain a colon: the server would read the
    /// text after it as the password.
    public static func basic(user: String, password: String) -> Authorization {
        custom(scheme: "Basic", credentials: Data("\(user):\(password)".utf8).base64EncodedString())
    }

    /// Returns a bearer token (RFC 6750).
    public static func bearer(_ token: String) -> Authorization { custom(scheme: "Bearer", credentials: token) }

    /// Returns credentials for any other scheme (RFC 9110, section 11.4).
    public static func custom(scheme: String, credentials: String) -> Authorization {
        Authorization(value: "\(scheme) \(credentials)", scheme: scheme)
    }

    /// Sends the request without the agent's credentials. A `nil` authorization keeps them.
    ///
    /// ```swift
    /// struct SignIn: Request { var authorization: Authorization? { .omitted } }
    /// ```
    public static let omitted = Authorization(value: nil, scheme: "")

    /// The scheme and a mask for the credentials.
    public var description: String { value == nil ? "omitted" : "\(scheme) •••" }
    /// Returns `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPHeaders {
    /// Replaces the `Authorization` header and marks it as sensitive. ``Authorization/omitted`` removes the header.
    public mutating func authorize(_ authorization: Authorization) {
        guard let value = authorization.value else { return remove(.authorization) }
        // Don't set an equal value again, because this would copy the headers.
        if values(of: .authorization) != [value] { set(.authorization, value, sensitive: true) }
    }
}
