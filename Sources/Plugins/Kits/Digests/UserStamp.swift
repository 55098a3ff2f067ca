package import ErrandHTTP
import ErrandSupport
import Synchronization

/// Whose something is that outlives the process, without a secret: a keyed hash of each identity.
///
/// Each stamp has a random key, so that two of them don't show that they are of one user.
package struct UserStamp: Codable, Hashable, Sendable {
    /// The source of an identity, such as the name of a header field, and the identity.
    package typealias Identity = (source: String, identity: String)

    private let key: [UInt8]
    /// The hashes of the sources and identities, sorted.
    private let users: [String]
    /// The hashes of the cookies' names and values.
    private let cookies: [String: String]

    /// The prefix of the source of a single cookie; its name follows.
    package static let cookiePrefix = "cookie "
    /// The most identities, and the most cookies, that are kept.
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
                // The length of the source keeps the two apart.
                users.insert(hash("\(source.utf8.count) \(source)\(identity)"))
            }
        }
        self.key = key
        self.users = Array(users.sorted().prefix(Self.limit))
        let names = cookies.keys.sorted().prefix(Self.limit)
        self.cookies = cookies.filter { names.contains($0.key) }
    }

    /// Whether nothing is known of the user.
    package var isEmpty: Bool { users.isEmpty && cookies.isEmpty }

    /// Whether these are the identities of the same user. A cookie may be new or missing, but not all of them, and none may
    /// have another value.
    package func matches(_ identities: [Identity]) -> Bool {
        let other = UserStamp(identities, key: key)
        return users == other.users && matchesCookies(of: other)
    }

    /// Whether all of the stamp's identities are among these. For a stamp that was made before a request had all of them.
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

/// A keyed digest (RFC 2104) over any of the digests here.
///
/// ```swift
/// let code = HMAC<SHA256Digest>.code(for: message, key: key)
/// ```
package struct HMAC<Digest: MessageDigest>: Sendable {
    private var inner = Digest()
    private var outer = Digest()

    /// The key may have any length; one that is longer than a block counts as its digest.
    package init(key: some Sequence<UInt8>) {
        var block = Array(key)
        if block.count > Digest.blockByteCount { block = Digest.digest(of: block) }
        block += repeatElement(0, count: Digest.blockByteCount - block.count)
        inner.update(block.map { $0 ^ 0x36 })
        outer.update(block.map { $0 ^ 0x5c })
    }

    package mutating func update(_ bytes: some Sequence<UInt8>) { inner.update(bytes) }

    /// The code of everything so far; more may follow.
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

/// Whose a transfer is that outlives its process: the user in its record, or else the one of its first request.
package final class TransferUser: Sendable {
    private struct State {
        /// The user in the record; nil for a transfer that begins.
        var expected: UserStamp?
        /// The marks that the newest stamp was made of, and that stamp.
        var newest: (marks: Set<UserMark>, stamp: UserStamp)?
    }

    private let state = Mutex(State())

    package init() {}

    /// The transfer continues what this user has begun; nil for one that begins.
    package func expect(_ stamp: UserStamp?) { state.withLock { $0 = State(expected: stamp) } }

    /// Throws ``AnotherUser`` unless a request with these marks is of the user who has begun.
    package func check(_ marks: Set<UserMark>) throws {
        guard let expected = state.withLock({ $0.expected }), !expected.matches(marks.identities) else { return }
        throw AnotherUser()
    }

    /// The user for the record, of the marks that the transfer's requests have; the one of the record before there is a
    /// request.
    package func stamp(of marks: Set<UserMark>?) -> UserStamp? {
        state.withLock { state in
            guard let marks else { return state.expected }
            if let newest = state.newest, newest.marks == marks { return newest.stamp }
            // The same stamp while it fits, so that a record changes only with its user's credential.
            let known = state.expected.flatMap { $0.matches(marks.identities) ? $0 : nil }
            let stamp = known ?? UserStamp(marks.identities)
            state.newest = (marks, stamp)
            return stamp
        }
    }
}

/// A transfer was begun by another user than the one whose request was about to be sent.
package struct AnotherUser: Error {
    package init() {}
}

extension Set<UserMark> {
    fileprivate var identities: [UserStamp.Identity] { map { ($0.source, $0.identity) } }
}
