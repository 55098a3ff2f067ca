public import Errand

/// A change that a filter makes on purpose, so its conformance suite accepts it.
///
/// ```swift
/// FilterConformance.cases(for: { MyFilter() }, effects: [.url])
/// ```
///
/// Without effects, the suite derives them from the filter's ``Errand/FilterTraits``: a filter that changes, signs, or
/// authenticates requests may change the URL, the body, and well-known fields. If you pass an effect on the request,
/// the filter may make only the changes that you list.
public struct FilterEffect: Sendable, Hashable {
    /// How long a value of a field stays the same.
    enum Lifetime: Hashable { case call, attempt }
    /// The requests that the filter repeats.
    struct Repetition: Hashable {
        /// An empty set stands for all methods.
        var methods: Set<HTTPMethod>
        /// Whether the server can have processed the request.
        var isEvenIfReceived: Bool

        func includes(_ method: HTTPMethod) -> Bool { methods.isEmpty || methods.contains(method) }
    }
    enum Kind: Hashable { case method, url, headers, body, timeout, priority, delivery, tags, response, error }

    let kind: Kind?
    var names: Set<HTTPHeaderName> = []
    var lifetime: Lifetime?
    var repetition: Repetition?
    var isResponding = false
    var isWaiting = false
    /// The most requests to a host at the same time.
    var limit: Int?

    private init(_ kind: Kind?) { self.kind = kind }

    /// The filter changes the request's method.
    public static let method = FilterEffect(.method)
    /// The filter changes the request's URL.
    public static let url = FilterEffect(.url)
    /// The filter changes the request's body and the fields that describe it.
    public static let body = FilterEffect(.body)
    /// The filter changes the timeout.
    public static let timeout = FilterEffect(.timeout)
    /// The filter changes the priority.
    public static let priority = FilterEffect(.priority)
    /// The filter changes how it receives the body.
    public static let delivery = FilterEffect(.delivery)
    /// The filter replaces or removes other code's tags.
    public static let tags = FilterEffect(.tags)
    /// The filter changes the status, the fields, or the body of responses.
    public static let response = FilterEffect(.response)
    /// The filter replaces errors with its own.
    public static let error = FilterEffect(.error)
    /// The filter adds, changes, or removes only the fields with these names.
    public static func headers(_ names: HTTPHeaderName...) -> FilterEffect {
        var effect = FilterEffect(.headers)
        effect.names = Set(names)
        return effect
    }
    /// The filter sets these fields to a value that it chooses for each call, such as an idempotency key. All attempts
    /// and redirects of the call have the same value. Only these fields may change, as with ``headers(_:)``.
    public static func headersPerCall(_ names: HTTPHeaderName...) -> FilterEffect {
        var effect = FilterEffect(.headers)
        (effect.names, effect.lifetime) = (Set(names), .call)
        return effect
    }
    /// The filter sets these fields to a new value in each attempt and after each redirect, such as a nonce. Only these
    /// fields may change, as with ``headers(_:)``.
    public static func headersPerAttempt(_ names: HTTPHeaderName...) -> FilterEffect {
        var effect = FilterEffect(.headers)
        (effect.names, effect.lifetime) = (Set(names), .attempt)
        return effect
    }
    /// The filter can repeat requests with these methods. Without methods, it can repeat all requests.
    ///
    /// A request that isn't idempotent, such as a POST, may only be repeated if the server can't have processed it, or
    /// if all attempts have the same `Idempotency-Key`. The server hasn't processed a request if it couldn't be
    /// reached, or if it responded with a status from 400 to 499 other than 408. After any other outcome, for example a
    /// lost connection or a 503, a second request can place a second order. A filter that nevertheless repeats such
    /// requests has to declare `evenIfReceived`.
    ///
    /// - Parameters:
    ///   - methods: The methods of the requests. By default, all methods.
    ///   - evenIfReceived: Whether the filter repeats a request that the server may have processed. Defaults to
    ///     `false`.
    public static func repeats(_ methods: HTTPMethod..., evenIfReceived: Bool = false) -> FilterEffect {
        var effect = FilterEffect(nil)
        effect.repetition = Repetition(methods: Set(methods), isEvenIfReceived: evenIfReceived)
        return effect
    }
    /// The filter can respond without sending the request.
    public static let responds: FilterEffect = {
        var effect = FilterEffect(nil)
        effect.isResponding = true
        return effect
    }()
    /// The filter can delay a request even if no other request is running.
    public static let waits: FilterEffect = {
        var effect = FilterEffect(nil)
        effect.isWaiting = true
        return effect
    }()
    /// The filter sends at most this many requests to a host at the same time. It holds others back until one of them
    /// ends.
    public static func limits(_ count: Int) -> FilterEffect {
        var effect = FilterEffect(nil)
        effect.limit = count
        return effect
    }
}

/// The changes that a filter may make to a call, derived from its effects and traits.
struct Permissions: Sendable {
    /// Whether the effects list changes of the request. Only these changes are then allowed.
    let isListed: Bool
    let kinds: Set<FilterEffect.Kind>
    let names: Set<HTTPHeaderName>
    /// The fields whose value belongs to a call.
    let namesPerCall: Set<HTTPHeaderName>
    /// The fields with a new value in each attempt.
    let namesPerAttempt: Set<HTTPHeaderName>
    private let repetitions: [FilterEffect.Repetition]
    let mayRespond: Bool
    /// With `.responds`, the filter may respond to any request without sending it.
    let isResponder: Bool
    let mayWait: Bool
    /// The most requests to a host at the same time. `nil` if the filter doesn't declare a limit.
    let limit: Int?
    let traits: FilterTraits

    init(_ effects: [FilterEffect], traits: FilterTraits) {
        self.traits = traits
        kinds = Set(effects.compactMap(\.kind))
        names = effects.reduce(into: []) { $0.formUnion($1.names) }
        namesPerCall = effects.filter { $0.lifetime == .call }.reduce(into: []) { $0.formUnion($1.names) }
        namesPerAttempt = effects.filter { $0.lifetime == .attempt }.reduce(into: []) { $0.formUnion($1.names) }
        repetitions = effects.compactMap(\.repetition)
        isListed = !kinds.isDisjoint(with: [.method, .url, .headers, .body])
        mayRespond =
            effects.contains(where: \.isResponding) || !traits.isDisjoint(with: [.caches, .shares, .cachesCalls])
        isResponder = effects.contains(where: \.isResponding)
        mayWait = effects.contains(where: \.isWaiting)
        limit = effects.compactMap(\.limit).min()
    }

    /// The author's list of allowed changes replaces the traits.
    private var changesRequest: Bool {
        !isListed
            && !traits.isDisjoint(with: [.changesRequest, .signs, .authenticates, .outsideCacheKey, .addsCookies])
    }

    var retries: Bool { traits.contains(.retries) }

    func mayChange(_ kind: FilterEffect.Kind) -> Bool {
        kinds.contains(kind) || changesRequest && [.method, .url, .body].contains(kind)
    }

    func mayChange(_ name: HTTPHeaderName) -> Bool {
        if names.contains(name) { return true }
        if kinds.contains(.body), Self.aboutBodies.contains(name) { return true }
        if !traits.isDisjoint(with: [.caches, .cachesCalls]), Self.aboutStored.contains(name) { return true }
        return changesRequest && !LawVocabulary.isForeign(name)
    }

    func declaresRepeats(of method: HTTPMethod) -> Bool { repetitions.contains { $0.includes(method) } }

    func mayRepeat(_ method: HTTPMethod) -> Bool {
        declaresRepeats(of: method) || traits.contains(.retries) && method.isIdempotent
    }

    /// Whether the filter may repeat a request that the server can have processed.
    func mayRepeatReceived(_ method: HTTPMethod) -> Bool {
        mayRepeat(method) && method.isIdempotent
            || repetitions.contains { $0.isEvenIfReceived && $0.includes(method) }
    }

    private static let aboutBodies: Set<HTTPHeaderName> = [.contentType, .contentLength, .contentEncoding]
    private static let aboutStored: Set<HTTPHeaderName> = [
        .ifNoneMatch, .ifModifiedSince, .cacheControl, .pragma, .range, .ifRange,
    ]
}

extension Filter {
    func lawTraits(for request: any Request) -> FilterTraits {
        let own = traits.union(traits(for: request))
        guard let group = self as? any FilterGroup else { return own }
        return group.filters.reduce(own) { $0.union($1.lawTraits(for: request)) }
    }
}
