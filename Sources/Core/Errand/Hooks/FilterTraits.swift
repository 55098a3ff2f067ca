/// The properties of a filter that make its place among the others matter.
///
/// ```swift
/// struct RetryTwice: Filter {
///     var traits: FilterTraits { .retries }
///
///     func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
///         do { return try await next(exchange) } catch { return try await next(exchange) }
///     }
/// }
/// ```
public struct FilterTraits: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: Int
    /// From bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Changes the URL, the headers or the body.
    public static let changesRequest = FilterTraits(rawValue: 1)
    /// Signs the request as it is at this place.
    public static let signs = FilterTraits(rawValue: 2)
    /// May respond from what is stored, under a key made of the request as it is at this place.
    public static let caches = FilterTraits(rawValue: 4)
    /// May call `next` again after a failure.
    public static let retries = FilterTraits(rawValue: 8)
    /// Adds credentials.
    public static let authenticates = FilterTraits(rawValue: 16)
    /// Changes only what caches leave out of their keys on purpose, because it does not identify the resource: the
    /// filter sets ``ResourceURL`` to the URL without it. Requests that differ in nothing else may share a response.
    /// Refines ``changesRequest``.
    public static let outsideCacheKey = FilterTraits(rawValue: 32)
    /// Keeps what is stored for one user apart from what is stored for others, so that credentials may be added later.
    /// Refines ``caches``.
    public static let separatesUsers = FilterTraits(rawValue: 64)
    /// May give several requests one response, which it compares as they are at this place.
    public static let shares = FilterTraits(rawValue: 128)
    /// May respond to a whole call, before redirects and all hop filters, so under a key without what those add.
    /// Refines ``caches``.
    public static let cachesCalls = FilterTraits(rawValue: 256)
    /// Adds cookies, which tell users apart as credentials do, and which an HTTP cache further out does not see.
    public static let addsCookies = FilterTraits(rawValue: 512)
    /// May send a request on the wire again as the call filters have left it, such as with a new credential.
    public static let repeatsHops = FilterTraits(rawValue: 1024)
    /// One of its type is enough for a call. Core leaves the filter out where another of its type stands further out,
    /// and where it comes from ``FilterProvidingRequest`` or ``FilterProvidingTag`` and the agent, the request or the
    /// call names one: the filter that is named applies, with its options and at its place.
    public static let unique = FilterTraits(rawValue: 2048)
}
