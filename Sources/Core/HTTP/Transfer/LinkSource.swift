public import ErrandEssentials
import ErrandMessageSyntax

/// The URL that the app requested, where a server's response has led from there to the URL of this request, as a "next"
/// link does; nil, the default, where the app named the URL itself.
///
/// A request goes where the app sends it, with its own secrets. A URL that a server has chosen may have another origin:
/// there the request is sent without its own authorization, sensitive header fields and cookies, unless the agent
/// trusts that origin. A filter that vouches for the origin adds them by `exchange.trustOrigin()`, as it does the
/// agent's.
///
/// ```swift
/// var options = CallOptions()
/// options.tags[LinkSource.self] = response.url
/// let next = try await agent.send(Call<String>(.get, "https://other.example/2"), options: options).value
/// ```
public enum LinkSource: TagKey {
    /// Nil.
    public static var defaultValue: URL? { nil }
}

extension Tags {
    /// Whether a server has led from the origin that the app requested to that of a URL.
    package func leadAway(to url: URL) -> Bool {
        guard let source = self[LinkSource.self] else { return false }
        return URLSyntax.origin(of: source) != URLSyntax.origin(of: url)
    }
}
