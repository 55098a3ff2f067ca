public import ErrandEssentials
import ErrandMessageSyntax

/// The URL that your app requested, if a server's response led from there to this request's URL, for example with a
/// "next" link. Defaults to `nil`: your app chose the URL.
///
/// A request's own secrets go wherever your app sends it. But if a server chose a URL of another origin, the request is
/// sent without its authorization, sensitive header fields and cookies, unless the agent trusts that origin. A filter
/// that vouches for the origin restores them, along with the agent's secrets, by calling `exchange.trustOrigin()`.
///
/// ```swift
/// var options = CallOptions()
/// options.tags[LinkSource.self] = response.url
/// let next = try await agent.send(Call<String>(.get, "https://other.example/2"), options: options).value
/// ```
public enum LinkSource: TagKey {
    /// Defaults to `nil`.
    public static var defaultValue: URL? { nil }
}

extension Tags {
    /// Returns whether a server led from the origin that the app requested to another origin.
    package func leadAway(to url: URL) -> Bool {
        guard let source = self[LinkSource.self] else { return false }
        return URLSyntax.origin(of: source) != URLSyntax.origin(of: url)
    }
}
