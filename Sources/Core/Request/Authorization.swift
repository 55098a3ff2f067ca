import ErrandSupport

/// Credentials for the `Authorization` header; never shown by a description.
public struct Authorization: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
    let value: String
    private let scheme: String

    /// RFC 7617, in UTF-8.
    public static func basic(user: String, password: String) -> Authorization {
        custom(scheme: "Basic", credentials: Data("\(user):\(password)".utf8).base64EncodedString())
    }

    /// RFC 6750.
    public static func bearer(_ token: String) -> Authorization { custom(scheme: "Bearer", credentials: token) }

    public static func custom(scheme: String, credentials: String) -> Authorization {
        Authorization(value: "\(scheme) \(credentials)", scheme: scheme)
    }

    public var description: String { "\(scheme) •••" }
    public var debugDescription: String { description }
}
