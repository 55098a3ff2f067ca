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
/// The operation belongs to the user of its first request. A later request as another user isn't sent, and throws:
///
/// - If a session adds the credential, the session's filter decides. `ErrandAuthentication` throws
///   `AuthenticationError` with `signedOut` or `userChanged`, but accepts a refreshed token of the same user.
/// - Otherwise, the pin compares the ``Exchange/userMarks`` with the first request to the same origin. If the marks
///   differ, the pin throws ``ErrandError/Code/userChanged``. If a filter adds a header field that changes for the same
///   user, such as a refreshed token, the filter must declare the user with
///   ``Exchange/assign(to:carriedBy:queryItems:)``.
///
/// The pin compares cookies only if neither a session nor an ``OwnedRequest`` names the user. In that case, the user
/// counts as changed:
///
/// - if a cookie has changed, unless a response of this operation set it
/// - if all earlier cookies are missing
///
/// If the server changes its session cookie in responses to *other* calls, declare the user with an ``OwnedRequest``.
/// You can also write a hop filter that runs after the cookies are added, and calls `assign(to:carriedBy:)` with the
/// `Cookie` field.
///
/// If the first request is rejected with status 401 or 407, the next request counts as the first.
public final class UserPin: Sendable {
    private struct State {
        var values = CallValues()
        var checks: [@Sendable () throws -> Void] = []
        var identities: [PinnedIdentity] = []
        var marks: Set<UserMark>?
        var isVouchedFor = false
    }

    /// The most origins that a pin remembers. Above this number, the pin forgets the oldest origin other than the
    /// first.
    private static let maximumOrigins = 32

    /// Whether the pin only applies to sessions. See ``init(sessionsOnly:)``.
    public let sessionsOnly: Bool
    private let state = Mutex(State())
    private let outer: UserPin?
    private let validation: (@Sendable (Set<UserMark>) throws -> Void)?

    /// Creates a pin for an operation that belongs to the user of its first request.
    ///
    /// - Parameter sessionsOnly: Whether the pin only makes sessions keep their first user, and doesn't compare
    ///   anything else. Requests without a user then don't count. Use it if one of the requests may sign in. Each
    ///   ``Composite`` has such a pin by default. Defaults to false.
    public init(sessionsOnly: Bool = false) {
        (self.sessionsOnly, outer, validation) = (sessionsOnly, nil, nil)
    }

    /// Creates a pin for an operation within another operation, or for an operation that an earlier process began.
    ///
    /// - Parameters:
    ///   - outer: The pin of the containing operation, so sessions keep the same user for both. Can be nil.
    ///   - check: Receives the ``marks`` of the first request before it's sent. Throw if they don't match the
    ///     operation's record. The request then fails with that error.
    public init(within outer: UserPin?, checking check: @escaping @Sendable (Set<UserMark>) throws -> Void) {
        (sessionsOnly, self.outer, validation) = (false, outer, check)
    }

    /// The user's marks in the newest request to the operation's first origin, and a mark with the source `cookie NAME`
    /// for each cookie. Nil before the first request.
    ///
    /// If you store the marks beyond the process, store a MAC of each ``ErrandHTTP/UserMark/identity``, never the
    /// identity itself.
    public var marks: Set<UserMark>? { state.withLock { $0.marks } }

    /// Throws if a session knows that the operation's user has signed out or another has signed in. Call it before an
    /// operation delivers or sends its user's data over an open connection.
    public func check() throws {
        let checks = state.withLock { $0.checks }
        for check in checks { try check() }
    }

    // MARK: Sessions

    /// Returns a value that all calls of the operation share. A filter with a session uses it to remember the
    /// operation's user.
    ///
    /// - Parameters:
    ///   - key: The key of the filter or its session.
    ///   - value: The value to set, unless there's one already.
    ///   - isOfUser: Whether the value represents a user. If false, a pin created with `sessionsOnly: true` doesn't
    ///     keep the value. Defaults to true.
    ///   - check: Called by ``check()``. Throw if the session has another user. Must not block.
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

    /// Returns the value that ``once(_:_:isOfUser:check:)`` set in this operation, if any.
    public func value<Value: Sendable>(of key: CallKey<Value>) -> Value? {
        state.withLock { $0.values[key.number] } as? Value ?? outer?.value(of: key)
    }

    /// Makes sessions that joined the operation keep its user, as if it had sent a request.
    func keepsSessions() { state.withLock { $0.isVouchedFor = !$0.checks.isEmpty } }

    // MARK: Requests

    static func marks(of exchange: Exchange) -> Set<UserMark> { PinnedIdentity(exchange).all }

    /// Returns whether the request is the first to its origin.
    func admit(_ exchange: Exchange) throws -> Bool {
        let new = PinnedIdentity(exchange)
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
            "the user has changed since the operation began: \(changed) differs; if a filter changes it for the same "
                + "user, the filter must declare the user with assign(to:carriedBy:)")
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
