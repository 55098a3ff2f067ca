public import ErrandHTTP
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// Keeps an operation that consists of several calls with the user who began it, such as a socket that reconnects or a
/// paginated list.
///
/// Create a pin for each operation, and send all of its calls with it:
///
/// ```swift
/// let pin = UserPin()
/// let first = try await agent.send(GetUser(id: 7), options: CallOptions().pinned(to: pin))
/// let second = try await agent.send(GetUser(id: 8), options: CallOptions().pinned(to: pin))
/// ```
///
/// The operation belongs to the user of its first request. A later request that would be sent as another user isn't
/// sent, and throws instead:
///
/// - If a session adds the credential, the session's filter decides. `ErrandAuthentication` throws `signedOut` or
///   `userChanged` of its `AuthenticationError`. Refreshing a token of the same user is allowed.
/// - Otherwise the pin compares the ``Exchange/userMarks`` with those of the first request to the same origin, and
///   throws ``ErrandError/Code/userChanged`` if they differ. A filter whose header field changes for the same user,
///   such as a token that it refreshes itself, must declare the user with ``Exchange/belongs(to:carriedBy:)``.
///
/// Cookies are compared one by one, and only if neither a session nor an ``OwnedRequest`` names the user. These count
/// as another user: a cookie with a changed value, unless a response of this operation set it, and a request with none
/// of the earlier cookies. New cookies, and a single missing cookie, are allowed. If a server changes its session
/// cookie with each response to *other* calls, you need to declare the user: see ``OwnedRequest``, or add a hop filter
/// after the cookies that calls `belongs(to:carriedBy:)` with the `Cookie` field.
///
/// If a server rejects the first request with status 401 or 407, the next request counts as the first.
public final class UserPin: Sendable {
    private struct State {
        var values = CallValues()
        var checks: [@Sendable () throws -> Void] = []
        var identities: [Identity] = []
        var marks: Set<UserMark>?
        /// Whether a session keeps the operation with the user of its first request.
        var isVouchedFor = false
    }

    /// The maximum number of origins to remember. Above it, the oldest origin other than the first is removed.
    private static let maximumOrigins = 32

    /// See ``init(sessionsOnly:)``.
    public let sessionsOnly: Bool
    private let state = Mutex(State())
    private let outer: UserPin?
    private let validation: (@Sendable (Set<UserMark>) throws -> Void)?

    /// Creates a pin, which doesn't belong to a user until its first request.
    ///
    /// - Parameter sessionsOnly: Defaults to false. If true, the operation belongs to the first user of each session,
    ///   nothing else is compared, and requests sent without a user don't count. Use it for requests of different
    ///   kinds, one of which may sign in. Each ``Composite`` has such a pin, unless its call specifies another.
    public init(sessionsOnly: Bool = false) {
        (self.sessionsOnly, outer, validation) = (sessionsOnly, nil, nil)
    }

    /// Creates a pin for an operation that's part of another operation, or that an earlier process began.
    ///
    /// - Parameters:
    ///   - outer: the pin of the operation that contains this one, so sessions keep the same user for both. Can be nil.
    ///   - check: receives the ``marks`` of the first request before it's sent. It should throw if they aren't the
    ///     marks in the operation's record of its user: the request then isn't sent, and fails with that error.
    public init(within outer: UserPin?, checking check: @escaping @Sendable (Set<UserMark>) throws -> Void) {
        (sessionsOnly, self.outer, validation) = (false, outer, check)
    }

    /// The marks of the user, from the newest request to the operation's first origin. They include a session's marks,
    /// and a mark with the source `cookie NAME` for each cookie. Nil before a request is sent.
    ///
    /// To record them beyond the process, store a keyed hash of each ``ErrandHTTP/UserMark/identity``, never the
    /// identity itself.
    public var marks: Set<UserMark>? { state.withLock { $0.marks } }

    /// Throws if sessions know that the operation's user has signed out or that another user has signed in. For an
    /// operation with an open connection, before it delivers or sends its user's data.
    public func check() throws {
        let checks = state.withLock { $0.checks }
        for check in checks { try check() }
    }

    // MARK: Sessions

    /// Returns a value that is the same for all calls of the operation. A filter with a session uses it to remember to
    /// which of its users the operation belongs.
    ///
    /// - Parameters:
    ///   - key: the key of the filter or its session.
    ///   - value: the value to set, unless there is one already.
    ///   - isOfUser: Defaults to true. If false, the value doesn't represent a user, and pins that are for sessions
    ///     only ignore it.
    ///   - check: throws if the session has another user; called by ``check()``. Must not block.
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

    /// Returns the value of a key in this operation, or nil if it isn't set.
    public func value<Value: Sendable>(of key: CallKey<Value>) -> Value? {
        state.withLock { $0.values[key.number] } as? Value ?? outer?.value(of: key)
    }

    /// Makes the sessions that have joined keep the operation with their user from now on, as if it had sent a request.
    func keepsSessions() { state.withLock { $0.isVouchedFor = !$0.checks.isEmpty } }

    // MARK: Requests

    /// Returns the marks by which a pin recognizes the user of a request; see ``marks``.
    static func marks(of exchange: Exchange) -> Set<UserMark> { Identity(exchange).all }

    /// Admits a request on the wire, and returns whether it's the first to its origin.
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

    /// Updates the expected cookies from the response to an admitted request.
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

/// The evidence of the user in requests to one origin.
private struct Identity {
    let origin: String
    /// The marks without cookies, and without marks that a session vouches for.
    let marks: Set<UserMark>
    let vouched: Set<UserMark>
    /// Empty if something else names the user.
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

    /// All marks, including one for each cookie.
    var all: Set<UserMark> {
        marks.union(vouched).union(cookies.map { UserMark($0.value, source: "\(CookiePairs.source) \($0.key)") })
    }

    /// Returns the source of a mark that only one of two requests to the same origin has, or nil if both are from the
    /// same user.
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

/// Parses the pairs of a `Cookie` field (RFC 6265, section 4.2.1).
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

    /// Returns the name of the cookie that a `Set-Cookie` field sets.
    static func name(of setCookie: String) -> String {
        String(ASCII.trimmed(setCookie.prefix { $0 != ";" && $0 != "=" }))
    }
}

/// Compares each request on the wire with the first request of its operation.
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
    /// The pin of the operation that the call is a part of. Defaults to nil, for a separate call.
    public var userPin: UserPin? { tags[PinnedOperation.self] }

    /// Returns the options for a call that belongs to an operation and keeps its user; see ``UserPin``.
    public func pinned(to pin: UserPin) -> CallOptions {
        if userPin === pin { return self }
        var options = self
        options.tags[PinnedOperation.self] = pin
        if !pin.sessionsOnly { options.filters.append(PinFilter(pin: pin)) }
        return options
    }

    /// Returns the options for a composite.
    func pinnedAsComposite() -> CallOptions {
        userPin == nil ? pinned(to: UserPin(sessionsOnly: true)) : self
    }
}

extension Exchange {
    /// The pin of the operation that the call is a part of. Nil for a separate call.
    public var userPin: UserPin? { tags[PinnedOperation.self] }

    /// Declares that a session keeps the operation's requests with one user, regardless of the values of the mark and
    /// the fields, so a ``UserPin`` doesn't compare them. For filters that keep their user with
    /// ``UserPin/once(_:_:isOfUser:check:)``. Has no effect without a pin.
    ///
    /// - Parameters:
    ///   - mark: the mark that the filter declared. Nil if the fields themselves identify the user.
    ///   - fields: the header fields that the filter added.
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

/// The marks that sessions vouch for.
private enum Vouchers: TagKey {
    static var defaultValue: Set<UserMark> { [] }
}

/// For filters that replace one request with several, such as a resumed transfer.
extension Exchange {
    /// Makes the requests that the filter sends from now on an operation that keeps its user.
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
    /// The request must include the filter ``Filter/keepingUser`` in its `requiredFilters`. It compares each request on
    /// the wire.
    public mutating func pin(to pin: UserPin) { tags[PinnedOperation.self] = pin }
}

/// Compares each request on the wire with the first request of the operation that a filter pinned it to.
public struct PinnedExchangeFilter: Filter {
    init() {}

    /// Runs as a wire filter.
    public var stages: FilterStages { .wire }
    /// Applies at most once per request.
    public var traits: FilterTraits { .unique }
    /// A description for `explain`.
    public var explanation: String { "keeps the operation with its user" }

    /// Throws instead of sending the request if the operation began as another user.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let pin = exchange.userPin, !pin.sessionsOnly else { return try await next(exchange) }
        return try await PinFilter(pin: pin).filter(exchange, next: next)
    }
}

extension Filter where Self == PinnedExchangeFilter {
    /// A filter that keeps requests pinned with ``Exchange/pin(to:)`` with the user of the first one. Other requests
    /// pass unchanged.
    public static var keepingUser: PinnedExchangeFilter { PinnedExchangeFilter() }
}
