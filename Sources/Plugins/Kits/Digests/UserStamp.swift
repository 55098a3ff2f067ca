import ErrandSupport

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
