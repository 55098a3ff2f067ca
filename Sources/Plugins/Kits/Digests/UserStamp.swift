package import ErrandHTTP
import ErrandSupport
import Synchronization

/// Identifies the user who owns persistent state. The stamp contains HMACs of the user's credentials, which don't
/// reveal secrets.
///
/// Each stamp has a random key, so two stamps don't reveal that they belong to the same user.
package struct UserStamp: Codable, Hashable, Sendable {
    /// The source is for example the name of a header field.
    package typealias Identity = (source: String, identity: String)

    private let key: [UInt8]
    private let users: [String]
    /// The hashes of cookie values, by the hash of the cookie's name.
    private let cookies: [String: String]

    /// A cookie's source is this prefix and the cookie's name.
    private static let cookiePrefix = "cookie "
    private static let limit = 32

    package init(_ identities: [Identity]) {
        self.init(identities, key: (0..<16).map { _ in UInt8.random(in: 0...255) })
    }

    private init(_ identities: [Identity], key: [UInt8]) {
        func hash(_ text: String) -> String {
            Hexadecimal.text(Array(HMAC<SHA256Digest>.code(for: text.utf8, key: key).prefix(16)))
        }
        var (users, cookies) = (Set<String>(), [String: String]())
        for (source, identity) in identities {
            if source.hasPrefix(Self.cookiePrefix) {
                cookies[hash(source)] = hash(identity)
            } else {
                // The length separates the source from the identity.
                users.insert(hash("\(source.utf8.count) \(source)\(identity)"))
            }
        }
        self.key = key
        self.users = Array(users.sorted().prefix(Self.limit))
        let names = cookies.keys.sorted().prefix(Self.limit)
        self.cookies = cookies.filter { names.contains($0.key) }
    }

    package var isEmpty: Bool { users.isEmpty && cookies.isEmpty }

    /// Returns whether the identities belong to this user. Cookies may have been added or removed, but at least one
    /// cookie must be the same, and no cookie may have another value.
    package func matches(_ identities: [Identity]) -> Bool {
        let other = UserStamp(identities, key: key)
        return users == other.users && matchesCookies(of: other)
    }

    /// Returns whether the identities contain all identities of this stamp. Use it for a stamp from before the request
    /// had all its identities. Compares cookies as ``matches(_:)`` does.
    package func isContained(in identities: [Identity]) -> Bool {
        let other = UserStamp(identities, key: key)
        return Set(users).isSubset(of: other.users) && matchesCookies(of: other)
    }

    private func matchesCookies(of other: UserStamp) -> Bool {
        if cookies.isEmpty { return true }
        var isWithout = true
        for (name, value) in other.cookies {
            guard let own = cookies[name] else { continue }
            if own != value { return false }
            isWithout = false
        }
        return !isWithout
    }
}

/// An HMAC, a message authentication code from a digest and a key (RFC 2104).
///
/// ```swift
/// let code = HMAC<SHA256Digest>.code(for: message, key: key)
/// ```
package struct HMAC<Digest: MessageDigest>: Sendable {
    private var inner = Digest()
    private var outer = Digest()

    package init(key: some Sequence<UInt8>) {
        var block = Array(key)
        if block.count > Digest.blockByteCount { block = Digest.digest(of: block) }
        block += repeatElement(0, count: Digest.blockByteCount - block.count)
        inner.update(block.map { $0 ^ 0x36 })
        outer.update(block.map { $0 ^ 0x5c })
    }

    package mutating func update(_ bytes: some Sequence<UInt8>) { inner.update(bytes) }

    package func finalized() -> [UInt8] {
        var outer = outer
        outer.update(inner.finalized())
        return outer.finalized()
    }

    package static func code(for message: some Sequence<UInt8>, key: some Sequence<UInt8>) -> [UInt8] {
        var hmac = HMAC(key: key)
        hmac.update(message)
        return hmac.finalized()
    }
}

/// The user who owns a persistent transfer: the user in the transfer's record, or else the user of its first request.
package final class TransferUser: Sendable {
    private struct State {
        var expected: UserStamp?
        var newest: (marks: Set<UserMark>, stamp: UserStamp)?
    }

    private let state = Mutex(State())

    package init() {}

    package func expect(_ stamp: UserStamp?) { state.withLock { $0 = State(expected: stamp) } }

    package func check(_ marks: Set<UserMark>) throws {
        guard let expected = state.withLock({ $0.expected }), !expected.matches(marks.identities) else { return }
        throw AnotherUser()
    }

    /// Before the first request, returns the recorded user.
    package func stamp(of marks: Set<UserMark>?) -> UserStamp? {
        state.withLock { state in
            guard let marks else { return state.expected }
            if let newest = state.newest, newest.marks == marks { return newest.stamp }
            // The record changes only if the user's credentials have changed.
            let known = state.expected.flatMap { $0.matches(marks.identities) ? $0 : nil }
            let stamp = known ?? UserStamp(marks.identities)
            state.newest = (marks, stamp)
            return stamp
        }
    }
}

package struct AnotherUser: Error {
    package init() {}
}

extension Set<UserMark> {
    fileprivate var identities: [UserStamp.Identity] { map { ($0.source, $0.identity) } }
}
