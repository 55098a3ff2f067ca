/// Properties that restrict the order of filters.
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
    /// The raw bits.
    public let rawValue: Int
    /// Creates traits from raw bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Changes the URL, the headers or the body.
    public static let changesRequest = FilterTraits(rawValue: 1)
    /// Signs the request in its current form.
    public static let signs = FilterTraits(rawValue: 2)
    /// Can respond from a store, whose key is derived from the request in its current form.
    public static let caches = FilterTraits(rawValue: 4)
    /// Can call `next` again after a failure.
    public static let retries = FilterTraits(rawValue: 8)
    /// Adds credentials.
    public static let authenticates = FilterTraits(rawValue: 16)
    /// Changes only parts that don't identify the resource and that caches ignore: the filter sets ``ResourceURL`` to
    /// the URL without them. Requests that differ only in these parts can share a response. Refines ``changesRequest``.
    public static let outsideCacheKey = FilterTraits(rawValue: 32)
    /// Stores responses separately for each user, so credentials can be added later. Refines ``caches``.
    public static let separatesUsers = FilterTraits(rawValue: 64)
    /// Can give several requests the same response, after comparing them in their current form.
    public static let shares = FilterTraits(rawValue: 128)
    /// Can answer a whole call, with a key that lacks additions by redirects and hop filters. Refines ``caches``.
    public static let cachesCalls = FilterTraits(rawValue: 256)
    /// Adds cookies, which identify users but aren't visible to an HTTP cache further out.
    public static let addsCookies = FilterTraits(rawValue: 512)
    /// Can repeat a request on the wire in the form in which the call filters left it, for example with a new
    /// credential.
    public static let repeatsHops = FilterTraits(rawValue: 1024)
    /// Applies at most once per call. Core omits the filter if another of its type is further out. A filter that comes
    /// from ``FilterProvidingRequest`` or ``FilterProvidingTag`` is also omitted if the agent, the request or the call
    /// lists one, which then applies with its options and at its place.
    public static let unique = FilterTraits(rawValue: 2048)
}
