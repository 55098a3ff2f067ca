/// Selects the base URL that a path is appended to.
public struct RequestBaseURL: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case standard, named(String), url(String)
    }

    package let kind: Kind

    /// The agent's `baseURL`.
    public static let standard = RequestBaseURL(kind: .standard)

    /// Selects one of the agent's `namedBaseURLs`, for example for uploads. If that name is missing, the request fails;
    /// it never falls back to another base URL.
    public static func named(_ name: String) -> RequestBaseURL { RequestBaseURL(kind: .named(name)) }

    /// Uses the request's own base URL.
    public static func url(_ text: String) -> RequestBaseURL { RequestBaseURL(kind: .url(text)) }

    package var isURL: Bool { if case .url = kind { true } else { false } }
}
