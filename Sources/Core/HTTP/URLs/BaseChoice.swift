/// Which base URL a path is appended to.
public struct BaseChoice: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case standard, named(String), url(String)
    }

    package let kind: Kind

    /// The agent's `baseURL`.
    public static let standard = BaseChoice(kind: .standard)

    /// One of the agent's `namedBaseURLs`, such as that of the uploads; without one of that name the request fails and
    /// never falls back to another.
    public static func named(_ name: String) -> BaseChoice { BaseChoice(kind: .named(name)) }

    /// A base URL of the request's own.
    public static func url(_ text: String) -> BaseChoice { BaseChoice(kind: .url(text)) }

    package var isURL: Bool { if case .url = kind { true } else { false } }
}
