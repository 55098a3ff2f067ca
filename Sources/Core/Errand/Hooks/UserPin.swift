public import ErrandHTTP
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// Keeps an operation of several calls with the user it began with, such as a socket that connects again or a list of
/// pages.
///
/// Make one for each operation, and send all of its calls with it:
///
/// ```swift
/// let pin = UserPin()
/// let first = try await agent.send(GetUser(id: 7), options: CallOptions().pinned(to: pin))
/// let second = try await agent.send(GetUser(id: 8), options: CallOptions().pinned(to: pin))
/// ```
///
/// The operation belongs to the user of its first request. A later request that would go out as somebody else isn't
/// sent, and throws instead:
///
/// - If a session adds the credential, its filter decides. `ErrandAuthentication` throws `signedOut` or `userChanged` of
///   its `AuthenticationError`; a refreshed token of the same user goes on.
/// - Otherwise the ``Exchange/userMarks`` are compared with those of the first request to the same origin, and a
///   difference throws ``ErrandError/Code/userChanged``. A filter whose header field changes although the user doesn't,
///   such as a token that it refreshes itself, declares the user with ``Exchange/belongs(to:carriedBy:)``.
///
/// Cookies are compared one by one, and only if no session and no ``OwnedRequest`` names the user. A cookie with another
/// value than before counts as another user, unless a response of this operation set it; so does a request without any
/// of the earlier cookies. New cookies, and a single one that is missing, don't count. A server that changes its session
/// cookie with each response to *other* calls needs a declared user: see ``OwnedRequest``, or a hop filter after the
/// cookies that calls `belongs(to:carriedBy:)` with the `Cookie` field.
///
/// If a server refuses the first request with status 401 or 407, the next request counts as the first.
public final class UserPin: Sendable {
    private struct State {
        var values = CallValues()
        var checks: [@Sendable () throws -> Void] = []
        var identities: [Identity] = []
        var marks: Set<UserMark>?
        /// Whether a session keeps the operation with the user of its first request.
        var isVouchedFor = false
    }

    /// The origins that are remembered; an operation that names more forgets the second one first.
    private static let maximumOrigins = 32

    /// See ``init(sessionsOnly:)``.
    public let sessionsOnly: Bool
    private let state = Mutex(State())
    private let outer: UserPin?
    private let validation: (@Sendable (Set<UserMark>) throws -> Void)?

    /// Makes a pin, which belongs to nobody until its first request.
    ///
    /// - Parameter sessionsOnly: false by default. With true the operation belongs to the first user of each session, and
    ///   nothing else is compared; requests that are sent without a user don't count. For requests of different kinds,
    ///   one of which may sign in. Each ``Composite`` has such a pin, unless its call names another.
    public init(sessionsOnly: Bool = false) {
        (self.sessionsOnly, outer, validation) = (sessionsOnly, nil, nil)
    }

    /// Makes a pin for an operation that is a part of another one, or that an earlier process began.
    ///
    /// - Parameters:
    ///   - outer: the pin of the operation that this one is a part of: sessions keep one user for both. Nil for none.
    ///   - check: receives the ``marks`` of the first request before it is sent, and throws if they aren't those of the
    ///     user in the operation's record: the request then isn't sent, and fails with that error.
    public init(within outer: UserPin?, checking check: @escaping @Sendable (Set<UserMark>) throws -> Void) {
        (sessionsOnly, self.outer, validation) = (false, outer, check)
    }

    /// The marks of the user, as the newest request to the operation's first origin has them: those of a session
    /// included, and each cookie as a mark with the source `cookie NAME`. Nil before a request is sent. For a record
    /// that outlives the process: store a keyed hash of each ``ErrandHTTP/UserMark/identity``, never the identity.
    public var marks: Set<UserMark>? { state.withLock { $0.marks } }

    /// Throws if the user of the operation has signed out, or another one has signed in, as far as sessions know. For
    /// an operation with an open connection, before it hands over or sends what belongs to its user.
    public func check() throws {
        let checks = state.withLock { $0.checks }
        for check in checks { try check() }
    }

    // MARK: Sessions

    /// A value that is the same for all calls of the operation; for a filter with a session, to keep which of its users
    /// the operation belongs to.
    ///
    /// - Parameters:
    ///   - key: the key of the filter or its session.
    ///   - value: the value, unless there is one already.
    ///   - isOfUser: true by default. A value that stands for nobody doesn't count for a pin that is for sessions only.
    ///   - check: throws when the session has another user; called by ``check()``. Must not block.
    /// - Returns: the value of the operation.
    public func once<Value: Sendable>(
        _ key: CallKey<Value>, _ value: Value, isOfUser: Bool = true,
        check: @escaping @Sendable () throws -> Void = {}
    ) -> Value {
        if !isOfUser, sessionsOnly { return value }
        let value = outer?.once(key, value, isOfUser: isOfUser, check: check) ?? value
        let known = state.withLock { state -> (any Sendable)? in
            if let known = state.values[key.number] { return known }
            state.values.add(value, for: key.number)
            state.checks.append(check)
            return nil
        }
        return known as? Value ?? value
    }

    /// The value of a key in this operation; nil before there is one.
    public func value<Value: Sendable>(of key: CallKey<Value>) -> Value? {
        state.withLock { $0.values[key.number] } as? Value ?? outer?.value(of: key)
    }

    /// From now on the sessions that have joined keep the operation with their user, as if it had sent a request.
    func keepsSessions() { state.withLock { $0.isVouchedFor = !$0.checks.isEmpty } }

    // MARK: Requests

    /// The marks that a pin knows the user of a request by; see ``marks``.
    static func marks(of exchange: Exchange) -> Set<UserMark> { Identity(exchange).all }

    /// Admits a request on the wire, and returns whether it is the first to its origin.
    func admit(_ exchange: Exchange) throws -> Bool {
        let new = Identity(exchange)
        if let validation, state.withLock({ $0.identities.isEmpty && !$0.isVouchedFor }) { try validation(new.all) }
        let (isFirst, changed) = state.withLock { state -> (Bool, String?) in
            if let index = state.identities.firstIndex(where: { $0.origin == new.origin }) {
                if let source = state.identities[index].difference(from: new) { return (false, source) }
                state.identities[index].cookies.merge(new.cookies) { old, _ in old }
                if index == 0 { state.marks = new.all }
                return (false, nil)
            }
            let known = Set(state.identities.flatMap(\.marks))
            let other = new.marks.first { mark in !known.contains(mark) && known.contains { $0.source == mark.source } }
            if let other { return (false, other.source) }
            if state.identities.count == Self.maximumOrigins { state.identities.remove(at: 1) }
            if state.identities.isEmpty { (state.marks, state.isVouchedFor) = (new.all, !new.vouched.isEmpty) }
            state.identities.append(new)
            return (true, nil)
        }
        guard let changed else { return isFirst }
        throw ErrandError(
            .userChanged,
            "the operation began as another user, as \(changed) shows; a filter that changes it for the same user "
                + "declares the user with belongs(to:carriedBy:)")
    }

    /// Learns from the response to an admitted request.
    func learn(from response: HTTPResponse, to exchange: Exchange, isFirst: Bool) {
        let changed = response.headers.values(of: .setCookie).map(CookiePairs.name)
        let isRefused = isFirst && (response.status == 401 || response.status == 407)
        if changed.isEmpty, !isRefused { return }
        let origin = URLSyntax.origin(of: exchange.http.url)
        state.withLock { state in
            for index in state.identities.indices {
                for name in changed { state.identities[index].cookies[name] = nil }
            }
            if isRefused {
                state.identities.removeAll { $0.origin == origin }
                if state.identities.isEmpty { state.marks = nil }
            }
        }
    }
}

/// What the requests to one origin have shown of their user.
private struct Identity {
    let origin: String
    /// Without those that a session vouches for, and without cookies.
    let marks: Set<UserMark>
    let vouched: Set<UserMark>
    /// Empty where something else names the user.
    var cookies: [String: String] = [:]

    init(_ exchange: Exchange) {
        origin = URLSyntax.origin(of: exchange.http.url)
        let vouchers = exchange.tags[Vouchers.self]
        var implied = UserMarks.implied(by: exchange.http.headers, besides: exchange.users)
        let cookie = implied.first { $0.source == CookiePairs.source }
        if let cookie { implied.remove(cookie) }
        let all = implied.union(exchange.userMarks.subtracting(cookie.map { [$0] } ?? []))
        let isOwned = (exchange.request as? any OwnedRequest)?.owners.isEmpty == false
        (marks, vouched) = (all.subtracting(vouchers), all.intersection(vouchers))
        if let cookie, vouchers.isEmpty, !isOwned { cookies = CookiePairs.read(cookie.identity) }
    }

    /// All that shows whose the request is.
    var all: Set<UserMark> {
        marks.union(vouched).union(cookies.map { UserMark($0.value, source: "\(CookiePairs.source) \($0.key)") })
    }

    /// The source of a mark that another request to the same origin has, and this one has not, or the reverse; nil if
    /// both are of the same user.
    func difference(from new: Identity) -> String? {
        if let mark = marks.symmetricDifference(new.marks).first { return mark.source }
        if cookies.isEmpty { return nil }
        var isWithout = true
        for (name, value) in new.cookies {
            guard let old = cookies[name] else { continue }
            if !old.hasSameBytes(as: value) { return CookiePairs.source }
            isWithout = false
        }
        return isWithout ? CookiePairs.source : nil
    }
}

/// The pairs of a `Cookie` field (RFC 6265, section 4.2.1).
private enum CookiePairs {
    /// The source of the mark that a `Cookie` field implies.
    static let source = "cookie"

    static func read(_ field: String) -> [String: String] {
        var pairs: [String: String] = [:]
        for pair in field.split(separator: ";") {
            let text = ASCII.trimmed(pair)
            let end = text.firstIndex(of: "=") ?? text.endIndex
            pairs[String(text[..<end])] = String(text[end...])
        }
        return pairs
    }

    /// The name of the cookie that a `Set-Cookie` field sets.
    static func name(of setCookie: String) -> String {
        String(ASCII.trimmed(setCookie.prefix { $0 != ";" && $0 != "=" }))
    }
}

/// Compares each request on the wire with the first of its operation.
struct PinFilter: Filter {
    let pin: UserPin

    var stages: FilterStages { .wire }
    var explanation: String { "keeps the operation with its user" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let isFirst = try pin.admit(exchange)
        let response = try await next(exchange)
        pin.learn(from: response, to: exchange, isFirst: isFirst)
        return response
    }
}

extension CallOptions {
    /// The pin of the operation that the call is a part of; nil, the default, for a call by itself.
    public var userPin: UserPin? { tags[PinnedOperation.self] }

    /// The same options for a call of an operation that keeps its user; see ``UserPin``.
    public func pinned(to pin: UserPin) -> CallOptions {
        if userPin === pin { return self }
        var options = self
        options.tags[PinnedOperation.self] = pin
        if !pin.sessionsOnly { options.filters.append(PinFilter(pin: pin)) }
        return options
    }

    /// The same options for a composite.
    func pinnedAsComposite() -> CallOptions {
        userPin == nil ? pinned(to: UserPin(sessionsOnly: true)) : self
    }
}

extension Exchange {
    /// The pin of the operation that the call is a part of; nil for a call by itself.
    public var userPin: UserPin? { tags[PinnedOperation.self] }

    /// Declares that a session keeps the operation's requests with one user, whatever values the mark and the fields have:
    /// a ``UserPin`` then doesn't compare them. For a filter that keeps its user with
    /// ``UserPin/once(_:_:isOfUser:check:)``; without a pin it does nothing.
    ///
    /// - Parameters:
    ///   - mark: the mark that the filter has declared; nil if the fields stand for themselves.
    ///   - fields: the header fields that the filter has added.
    public mutating func vouch(for mark: UserMark?, carriedBy fields: [HTTPHeaders.Field]) {
        if userPin == nil { return }
        var headers = HTTPHeaders()
        for field in fields { headers.add(field.name, field.value, sensitive: true) }
        let marks = UserMarks.implied(by: headers, besides: nil).union(mark.map { [$0] } ?? [])
        tags[Vouchers.self] = tags[Vouchers.self].union(marks)
    }
}

/// The operation of a call.
enum PinnedOperation: TagKey {
    static var defaultValue: UserPin? { nil }
}

/// The marks for which sessions vouch.
private enum Vouchers: TagKey {
    static var defaultValue: Set<UserMark> { [] }
}

/// For a filter that sends several requests in the place of one, such as a transfer that resumes.
extension Exchange {
    /// Makes the requests that the filter sends from here on an operation that keeps its user.
    ///
    /// ```swift
    /// struct SendTwice: Filter {
    ///     func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
    ///         var pinned = exchange
    ///         pinned.pin(to: UserPin(within: exchange.userPin) { marks in print(marks.count) })
    ///         _ = try await next(pinned)
    ///         return try await next(pinned)
    ///     }
    /// }
    /// ```
    ///
    /// The request needs the filter ``Filter/keepingUser`` among its `requiredFilters`, which compares each request on
    /// the wire.
    public mutating func pin(to pin: UserPin) { tags[PinnedOperation.self] = pin }
}

/// Compares each request on the wire with the first of the operation that a filter has pinned it to.
public struct PinnedExchangeFilter: Filter {
    init() {}

    /// ``FilterStages/wire``
    public var stages: FilterStages { .wire }
    /// ``FilterTraits/unique``
    public var traits: FilterTraits { .unique }
    /// A description for `explain`.
    public var explanation: String { "keeps the operation with its user" }

    /// Throws, instead of sending the request, if the operation began as another user.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let pin = exchange.userPin, !pin.sessionsOnly else { return try await next(exchange) }
        return try await PinFilter(pin: pin).filter(exchange, next: next)
    }
}

extension Filter where Self == PinnedExchangeFilter {
    /// Keeps requests that a filter has pinned with ``Exchange/pin(to:)`` with the user of the first one; others pass.
    public static var keepingUser: PinnedExchangeFilter { PinnedExchangeFilter() }
}
