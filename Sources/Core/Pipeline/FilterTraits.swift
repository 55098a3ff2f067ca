/// What a filter does that makes its place among the others matter.
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
    /// Changes only what caches leave out of their keys on purpose, because it does not identify the resource: the filter
    /// sets ``ResourceURL`` to the URL without it. Refines ``changesRequest``.
    public static let outsideCacheKey = FilterTraits(rawValue: 32)
    /// Keeps what is stored for one user apart from what is stored for others, so that credentials may be added later.
    /// Refines ``caches``.
    public static let separatesUsers = FilterTraits(rawValue: 64)
    /// May give several requests one response, which it compares as they are at this place.
    public static let shares = FilterTraits(rawValue: 128)
    /// May respond to a whole call, before redirects and all hop filters, so under a key without what those add. Refines
    /// ``caches``.
    public static let cachesCalls = FilterTraits(rawValue: 256)
    /// Adds cookies, which tell users apart as credentials do, and which an HTTP cache further out does not see.
    public static let addsCookies = FilterTraits(rawValue: 512)
    /// May send a request on the wire again as the call filters have left it, such as with a new credential.
    public static let repeatsHops = FilterTraits(rawValue: 1024)
}

/// Orders of filters that are known to be wrong.
enum FilterOrder {
    /// What is wrong with an order, a sentence each. A filter that stands in both stages has its place among the call
    /// filters: what it adds there is known to those that follow.
    static func problems(_ filters: [any Filter], for request: any Request) -> [String] {
        let redirects = filters.firstIndex { $0 is RedirectStep } ?? filters.endIndex
        let traits = filters.map { $0.traits(for: request) }
        var problems: [String] = []
        for (index, outer) in filters.enumerated() {
            for (place, inner) in filters.enumerated().dropFirst(index + 1) {
                let crosses = index < redirects && place > redirects
                if crosses, inner.stages.contains(.call) { continue }
                let known = problem(traits[index], traits[place], crosses)
                guard let problem = known ?? inner.orderProblem(after: outer) else { continue }
                let text = "\(outer.explanation) runs before \(inner.explanation): \(problem)"
                if !problems.contains(text) { problems.append(text) }
            }
        }
        return problems
    }

    /// - Parameter crosses: whether the outer one is a call filter and the inner one is none.
    private static func problem(_ outer: FilterTraits, _ inner: FilterTraits, _ crosses: Bool) -> String? {
        let storesForAll = outer.contains(.caches) && !outer.contains(.separatesUsers)
        if storesForAll, inner.contains(.addsCookies), !crosses || outer.contains(.cachesCalls) {
            return "what is stored for one user could be served to another, since the key lacks the cookies"
        }
        if storesForAll, !inner.isDisjoint(with: [.signs, .authenticates]) {
            return "what is stored for one user could be served to another, since the key lacks what is added later"
        }
        if outer.contains(.caches), inner.contains(.changesRequest), !inner.contains(.outsideCacheKey) {
            return "the key of the cache lacks what is changed later, so different requests share an entry"
        }
        if outer.contains(.shares), !inner.isDisjoint(with: [.signs, .authenticates]) {
            return "requests of different users could share a response, since what is added later is not compared"
        }
        if outer.contains(.shares), inner.contains(.addsCookies) {
            return "requests of different users could share a response, since their cookies are not compared"
        }
        if outer.contains(.shares), inner.contains(.changesRequest) {
            return "what is changed later is not compared, so different requests could share a response"
        }
        if outer.contains(.signs), inner.contains(.changesRequest) {
            return "the signature does not cover what is changed later"
        }
        if outer.contains(.signs), inner.contains(.retries) {
            return "every attempt repeats the signature of the first, with its time"
        }
        if outer.contains(.signs), inner.contains(.repeatsHops) {
            return "what is sent again after a refresh repeats the signature made before it"
        }
        if outer.contains(.caches), inner.contains(.retries) {
            return "a stale response is served only after the last attempt has failed"
        }
        return nil
    }
}
