public import ErrandHTTP
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// Keeps an operation of several calls with the user who began it, such as a socket that reconnects or a paginated
/// list.
///
/// Create a pin per operation, and send all calls with it:
///
/// ```swift
/// let pin = UserPin()
/// let first = try await agent.send(GetUser(id: 7), options: CallOptions().pinned(to: pin))
/// let second = try await agent.send(GetUser(id: 8), options: CallOptions().pinned(to: pin))
/// ```
///
/// The operation belongs to the user of its first request. A later request of another user isn't sent, and throws:
///
/// - If a session adds the credential, its filter decides. `ErrandAuthentication` throws `signedOut` or `userChanged`
///   of its `AuthenticationError`, but accepts a refreshed token of the same user.
/// - Otherwise the ``Exchange/userMarks`` are compared with the first request to the same origin. If they differ, the
///   pin throws ``ErrandError/Code/userChanged``. A filter whose header field changes for the same user, such as a
///   token that it refreshes, must declare the user with ``Exchange/assign(to:carriedBy:)``.
///
/// Cookies are compared one by one, and only if neither a session nor an ``OwnedRequest`` names the user. A changed
/// cookie counts as another user unless a response of this operation set it, and so does a request without any of the
/// earlier cookies. New cookies and a single missing cookie don't count. If the server changes its session cookie in
/// responses to *other* calls, declare the user: with an ``OwnedRequest``, or a hop filter after the cookies that calls
/// `assign(to:carriedBy:)` with the `Cookie` field.
///
/// If the first request is rejected with status 401 or 407, the next one counts as the first.
public final class UserPin: Sendable {
    private struct State {
        var values = CallValues()
        var checks: [@Sendable () throws -> Void] = []
        var identities: [Identity] = []
        var marks: Set<UserMark>?
        /// Whether a session keeps the operation with the user of its first request.
        var isVouchedFor = false
    }

    /// Above this number, the oldest origin other than the first is forgotten.
    private static let maximumOrigins = 32

    /// See ``init(sessionsOnly:)``.
    public let sessionsOnly: Bool
    private let state = Mutex(State())
    private let outer: UserPin?
    private let validation: (@Sendable (Set<UserMark>) throws -> Void)?

    /// Creates a pin, which belongs to the user of its first request.
    ///
    /// - Parameter sessionsOnly: whether only sessions keep their first user, without comparing anything else. Requests
    ///   sent without a user don't count. For requests of different kinds, one of which may sign in. Each ``Composite``
    ///   has such a pin by default. Defaults to false.
    public init(sessionsOnly: Bool = false) {
        (self.sessionsOnly, outer, validation) = (sessionsOnly, nil, nil)
    }

    /// Creates a pin for an operation that's part of another, or that an earlier process began.
    ///
    /// - Parameters:
    ///   - outer: the pin of the containing operation, so sessions keep the same user for both. Can be nil.
    ///   - check: receives the ``marks`` of the first request before it's sent. Throw if they don't match the
    ///     operation's record: the request isn't sent, and fails with that error.
    public init(within outer: UserPin?, checking check: @escaping @Sendable (Set<UserMark>) throws -> Void) {
        (sessionsOnly, self.outer, validation) = (false, outer, check)
    }

    /// The user's marks in the newest request to the operation's first origin. They include a session's marks, and a
    /// mark with the source `cookie NAME` for each cookie. Nil before the first request.
    ///
    /// To record them beyond the process, store a keyed hash of each ``ErrandHTTP/UserMark/identity``, never the
    /// identity itself.
    public var marks: Set<UserMark>? { state.withLock { $0.marks } }

    /// Throws if, as far as sessions know, the operation's user has signed out or another has signed in. Call it before
    /// an operation delivers or sends its user's data over an open connection.
    public func check() throws {
        let checks = state.withLock { $0.checks }
        for check in checks { try check() }
    }

    // MARK: Sessions

    /// Returns a value that all calls of the operation share. A filter with a session uses it to remember the
    /// operation's user.
    ///
    /// - Parameters:
    ///   - key: the key of the filter or its session.
    ///   - value: the value to set, unless there is one already.
    ///   - isOfUser: whether the value represents a user. If not, pins that are for sessions only ignore it. Defaults
    ///     to true.
    ///   - check: called by ``check()``. Throw if the session has another user. Must not block.
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

    /// Returns the operation's value of a key, or nil if it isn't set.
    public func value<Value: Sendable>(of key: CallKey<Value>) -> Value? {
        state.withLock { $0.values[key.number] } as? Value ?? outer?.value(of: key)
    }

    /// Keeps the operation with the users of joined sessions, as if it had sent a request.
    func keepsSessions() { state.withLock { $0.isVouchedFor = !$0.checks.isEmpty } }

    // MARK: Requests

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
            "the user has changed since the operation began: \(changed) differs; a filter that changes it without "
                + "changing the user must declare the user with assign(to:carriedBy:)")
    }

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

private struct Identity {
    let origin: String
    /// Without cookies, and without marks that a session vouches for.
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

    /// All marks, with one for each cookie.
    var all: Set<UserMark> {
        marks.union(vouched).union(cookies.map { UserMark($0.value, source: "\(CookiePairs.source) \($0.key)") })
    }

    /// Returns the source of a mark that only one of the requests has, or nil if both have the same user.
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

    /// The name of the cookie in a `Set-Cookie` field.
    static func name(of setCookie: String) -> String {
        String(ASCII.trimmed(setCookie.prefix { $0 != ";" && $0 != "=" }))
    }
}

struct PinFilter: Filter {
    let pin: UserPin

    var stages: FilterStages { .wire }
    var explanation: String { "stops the operation if the user changes" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let isFirst = try pin.admit(exchange)
        let response = try await next(exchange)
        pin.learn(from: response, to: exchange, isFirst: isFirst)
        return response
    }
}

extension CallOptions {
    /// The pin of the call's operation. Defaults to nil.
    public var userPin: UserPin? { tags[PinnedOperation.self] }

    /// Returns options for a call of an operation that keeps its user; see ``UserPin``.
    public func pinned(to pin: UserPin) -> CallOptions {
        if userPin === pin { return self }
        var options = self
        options.tags[PinnedOperation.self] = pin
        if !pin.sessionsOnly { options.filters.append(PinFilter(pin: pin)) }
        return options
    }

    func pinnedAsComposite() -> CallOptions {
        userPin == nil ? pinned(to: UserPin(sessionsOnly: true)) : self
    }
}

extension Exchange {
    /// The pin of the call's operation, or nil.
    public var userPin: UserPin? { tags[PinnedOperation.self] }

    /// Declares that a session keeps the requests with one user, so a ``UserPin`` doesn't compare the mark and the
    /// fields. For filters that use ``UserPin/once(_:_:isOfUser:check:)``. Ignored without a pin.
    ///
    /// - Parameters:
    ///   - mark: the mark that the filter declared. Nil if the fields identify the user.
    ///   - fields: the header fields that the filter added.
    public mutating func vouch(for mark: UserMark?, carriedBy fields: [HTTPHeaders.Field]) {
        if userPin == nil { return }
        var headers = HTTPHeaders()
        for field in fields { headers.add(field.name, field.value, sensitive: true) }
        let marks = UserMarks.implied(by: headers, besides: nil).union(mark.map { [$0] } ?? [])
        tags[Vouchers.self] = tags[Vouchers.self].union(marks)
    }
}

enum PinnedOperation: TagKey {
    static var defaultValue: UserPin? { nil }
}

private enum Vouchers: TagKey {
    static var defaultValue: Set<UserMark> { [] }
}

/// For filters that replace one request with several, such as a resumed transfer.
extension Exchange {
    /// Makes all requests that the filter sends from now on one operation, which keeps its user.
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
    /// The request needs ``Filter/keepingUser`` among its `requiredFilters`, which compares each request on the wire.
    public mutating func pin(to pin: UserPin) { tags[PinnedOperation.self] = pin }
}

/// Compares each request on the wire with the first request of its operation, if a filter pinned it.
public struct PinnedExchangeFilter: Filter {
    init() {}

    /// ``FilterStages/wire``.
    public var stages: FilterStages { .wire }
    /// ``FilterTraits/unique``.
    public var traits: FilterTraits { .unique }
    /// A description for `explain`.
    public var explanation: String { "stops the operation if the user changes" }

    /// Throws instead of sending the request if the operation began as another user.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let pin = exchange.userPin, !pin.sessionsOnly else { return try await next(exchange) }
        return try await PinFilter(pin: pin).filter(exchange, next: next)
    }
}

extension Filter where Self == PinnedExchangeFilter {
    /// Keeps requests pinned with ``Exchange/pin(to:)`` with the first request's user. Other requests pass.
    public static var keepingUser: PinnedExchangeFilter { PinnedExchangeFilter() }
}
