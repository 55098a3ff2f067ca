import ErrandSupport

/// Credentials for the `Authorization` header; never shown by a description.
///
/// Those of an agent are sent only to the origins of its base URLs and to its `trustedOrigins`; those of a request go
/// where the request goes, but not along with a redirect to another origin.
public struct Authorization: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// Nil for none.
    package let value: String?
    private let scheme: String

    /// RFC 7617, in UTF-8.
    public static func basic(user: String, password: String) -> Authorization {
        custom(scheme: "Basic", credentials: Data("\(user):\(password)".utf8).base64EncodedString())
    }

    /// RFC 6750.
    public static func bearer(_ token: String) -> Authorization { custom(scheme: "Bearer", credentials: token) }

    /// A scheme of one's own (RFC 9110, section 11.4).
    public static func custom(scheme: String, credentials: String) -> Authorization {
        Authorization(value: "\(scheme) \(credentials)", scheme: scheme)
    }

    /// No credentials: the request is sent without those of the agent. A `nil` authorization keeps them.
    ///
    /// ```swift
    /// struct SignIn: Request { var authorization: Authorization? { .omitted } }
    /// ```
    public static let omitted = Authorization(value: nil, scheme: "")

    /// The scheme, the credentials masked.
    public var description: String { value == nil ? "omitted" : "\(scheme) •••" }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Empty: children would show what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPHeaders {
    /// Replaces the credentials by others, as a sensitive field; ``Authorization/omitted`` removes them.
    public mutating func authorize(_ authorization: Authorization) {
        guard let value = authorization.value else { return remove(.authorization) }
        // Unchanged where nothing changes, so that nothing is copied.
        if values(of: .authorization) != [value] { set(.authorization, value, sensitive: true) }
    }
}
