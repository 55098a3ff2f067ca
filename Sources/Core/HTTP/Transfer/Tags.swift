public import ErrandEssentials
import ErrandMessageSyntax

/// A key for a typed value in ``Tags``. Declare a type for each kind of tag.
///
/// ```swift
/// enum Screen: TagKey { static let defaultValue = "" }
/// var tags: Tags { Tags().with(Screen.self, "profile") }
/// agent.cancelAll { $0.tags[Screen.self] == "profile" }
/// ```
public protocol TagKey: SendableMetatype {
    /// The type of the tag's values.
    associatedtype Value: Sendable
    /// The value of a tag that isn't set.
    static var defaultValue: Value { get }
    /// Whether the value can change the response. If so, filters that share responses keep requests with different
    /// values apart. Defaults to false.
    static var affectsResponse: Bool { get }
}

extension TagKey {
    /// Returns false.
    public static var affectsResponse: Bool { false }
}

/// Typed values that travel with a request, for filters, accessories and the transport.
public struct Tags: Sendable {
    @usableFromInline var entries: [(key: ObjectIdentifier, value: any Sendable, affectsResponse: Bool)] = []

    /// Creates tags without values.
    public init() {}

    /// The value for a key, or else the key's `defaultValue`.
    public subscript<Key: TagKey>(key: Key.Type) -> Key.Value {
        @inlinable get {
            for entry in entries where entry.key == ObjectIdentifier(key) {
                return entry.value as? Key.Value ?? Key.defaultValue
            }
            return Key.defaultValue
        }
        set {
            entries.removeAll { $0.key == ObjectIdentifier(key) }
            entries.append((ObjectIdentifier(key), newValue, key.affectsResponse))
        }
    }

    /// Returns whether the values that affect the response are equal. Values that aren't `Equatable` count as
    /// different.
    public func haveSameEffect(as other: Tags) -> Bool {
        if entries.isEmpty, other.entries.isEmpty { return true }
        let (own, others) = (entries.filter(\.affectsResponse), other.entries.filter(\.affectsResponse))
        return own.count == others.count
            && own.allSatisfy { entry in
                others.contains { $0.key == entry.key && Self.areEqual(entry.value, $0.value) }
            }
    }

    private static func areEqual(_ a: any Sendable, _ b: any Sendable) -> Bool {
        func isEqual<Value: Equatable>(_ a: Value) -> Bool { b as? Value == a }
        return (a as? any Equatable).map { isEqual($0) } ?? false
    }

    package var isEmpty: Bool { entries.isEmpty }

    package var values: [any Sendable] { entries.map(\.value) }

    /// Returns a copy that contains a value.
    public func with<Key: TagKey>(_ key: Key.Type, _ value: Key.Value) -> Tags {
        var copy = self
        copy[key] = value
        return copy
    }

    /// Returns a copy with the tags of `other`, which take precedence.
    public func merging(_ other: Tags) -> Tags {
        if entries.isEmpty || other.entries.isEmpty { return entries.isEmpty ? other : self }
        var copy = self
        copy.entries.removeAll { old in other.entries.contains { $0.key == old.key } }
        copy.entries += other.entries
        return copy
    }
}

/// Whether the response is an endless stream, such as an event stream. Filters that store or share responses ignore
/// such calls. Defaults to false.
public enum LiveStream: TagKey {
    /// False, because most responses end.
    public static let defaultValue = false
}

/// The URL that your app requested, if a server then led the app to this request's URL, for example with a "next" link.
/// Defaults to `nil`, which means that your app chose the URL itself.
///
/// If a server chose a URL with another origin, the request loses its authorization, sensitive header fields and
/// cookies, unless the agent trusts that origin. A filter that vouches for the origin restores them with
/// `exchange.trustOrigin()`, along with the agent's secrets.
///
/// If a server chose an http URL and this URL is an https URL, the request throws ``ErrandError/Code/redirectFailed``,
/// unless the redirect policy allows it (`allowsInsecure`) or the agent trusts the http origin.
///
/// ```swift
/// var options = CallOptions()
/// options.tags[LinkSource.self] = response.url
/// let next = try await agent.send(Call<String>(.get, "https://other.example/2"), options: options).value
/// ```
public enum LinkSource: TagKey {
    /// Nil, which means that your app chose the URL.
    public static var defaultValue: URL? { nil }
}

extension Tags {
    package func leadAway(to url: URL) -> Bool {
        guard let source = self[LinkSource.self] else { return false }
        return URLSyntax.origin(of: source) != URLSyntax.origin(of: url)
    }
}

/// The URL that identifies the resource, if it differs from the URL that is sent. Defaults to `nil`.
///
/// Caches derive their keys from this URL, and downloads their file names. If your filter adds a token or a time to the
/// URL, put the URL without the addition into `exchange.tags[ResourceURL.self]`. If your filter adds something that
/// identifies the resource, such as a version, add it to both URLs.
///
/// The tag applies only to the call's first request on the wire, because a redirect leads to another URL.
public enum ResourceURL: TagKey {
    /// Nil, which means that the URL that is sent identifies the resource.
    public static var defaultValue: URL? { nil }
}

/// A request's path with named variables, such as `/users/{id}`. Defaults to `nil`.
///
/// Metrics and traces group requests by this template. Use a few fixed texts. Don't use the path itself, because there
/// are as many paths as users.
///
/// ```swift
/// struct GetUser: Request {
///     typealias Output = User
///     let id: Int
///     var path: String { "users/\(id)" }
///     var tags: Tags { Tags().with(URLTemplate.self, "/users/{id}") }
/// }
/// ```
///
/// The template isn't sent. A redirect keeps it.
public enum URLTemplate: TagKey {
    /// Nil, because a request has no template unless you set one.
    public static var defaultValue: String? { nil }
}
