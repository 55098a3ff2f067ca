public import Errand
import ErrandEssentials
public import ErrandOAuth

/// A conformance suite for a `TokenStore`, as a list of cases for any test framework.
///
/// ```swift
/// @Test(arguments: TokenStoreSuite.cases) func conforms(_ test: TokenStoreSuite.Case) async throws {
///     let store = MemoryTokenStore()
///     try await test.run { store }
/// }
/// ```
///
/// A case creates one or more stores with the closure. All of them are stores of the same place, which must be empty when
/// the case begins. For a store in memory, return the same object each time.
public enum TokenStoreSuite {
    /// A test of one requirement.
    public struct Case: Sendable, CustomStringConvertible {
        /// The requirement, as a sentence.
        public let description: String
        private let body: @Sendable (Maker) async throws -> Void

        typealias Maker = () async throws -> any TokenStore

        init(_ description: String, _ body: @escaping @Sendable (Maker) async throws -> Void) {
            (self.description, self.body) = (description, body)
        }

        /// Creates a store and tests it. Throws ``Failure`` if the store doesn't meet the requirement, and rethrows the
        /// store's errors.
        public func run(_ makeStore: () async throws -> any TokenStore) async throws { try await body(makeStore) }
    }

    /// The error thrown when a store fails a case.
    public struct Failure: DescribedError, Sendable {
        /// How the store violated the requirement, as a sentence.
        public let description: String
        /// Always 1.
        public var errorCode: Int { 1 }
        /// "Errand.TokenStoreSuite.Failure"
        public static var errorDomain: String { "Errand.TokenStoreSuite.Failure" }
    }

    /// The cases for every store.
    public static let cases: [Case] = basics + secrets + concurrency

    private static func expect(_ condition: Bool, _ what: String) throws {
        if !condition { throw Failure(description: what) }
    }

    private static func token(_ number: Int, length: Int = 40) -> OAuthToken {
        let text = { (name: String) in "\(name)\(number)-" + String(repeating: "x", count: length) }
        return OAuthToken(
            text("canary-access-"), kind: number.isMultiple(of: 2) ? .bearer : .dpop,
            expiry: Date(timeIntervalSince1970: 1_700_000_000 + Double(number)), refreshToken: text("canary-refresh-"),
            scope: "openid profile", idToken: text("canary-id-"), owner: "ada-\(number)-ü\"\\ \u{1F600}")
    }

    private static let basics: [Case] = [
        Case("an empty store has no token, and removing nothing is fine") { make in
            let store = try await make()
            try expect(try await store.load() == nil, "a token exists that was never stored")
            try await store.remove()
            try expect(try await store.load() == nil, "a token exists after a removal")
        },
        Case("a token is returned with all its parts, and again") { make in
            let store = try await make()
            try await store.save(token(1))
            try expect(try await store.load() == token(1), "the token is another")
            try expect(try await store.load() == token(1), "the second reading differs")
        },
        Case("parts that a token doesn't have are missing afterward, too") { make in
            let store = try await make()
            try await store.save(token(1))
            try await store.save(OAuthToken("bare"))
            try expect(try await store.load() == OAuthToken("bare"), "parts of the old token are left")
        },
        Case("a new token replaces the old one, whether it's longer or shorter") { make in
            let store = try await make()
            for (number, length) in [40, 20_000, 1, 300].enumerated() {
                try await store.save(token(number, length: length))
                try expect(try await store.load() == token(number, length: length), "token \(number) is another")
            }
        },
        Case("a removed token is gone, and another one can be stored") { make in
            let store = try await make()
            try await store.save(token(1))
            try await store.remove()
            try expect(try await store.load() == nil, "the token is still there")
            try await store.save(token(2))
            try expect(try await store.load() == token(2), "the token after the removal is another")
        },
        Case("two stores of one place see each other's tokens") { make in
            let (one, two) = (try await make(), try await make())
            try await one.save(token(1))
            try expect(try await two.load() == token(1), "the other store doesn't have the token")
            try await two.save(token(2))
            try expect(try await one.load() == token(2), "the store has the token that the other one replaced")
            try await one.remove()
            try expect(try await two.load() == nil, "the token that the other store removed is still there")
        },
    ]

    private static let secrets: [Case] = [
        Case("descriptions and dumps don't show the token") { make in
            let store = try await make()
            try await store.save(token(1))
            var dumped = ""
            dump(store, to: &dumped)
            for text in ["\(store)", String(reflecting: store), dumped] {
                try expect(!text.contains("canary"), "the store's description contains the token")
            }
        }
    ]

    private static let concurrency: [Case] = [
        Case("16 tasks that write and read at the same time never see a mixed token, and the last one written stays") {
            make in
            let store = try await make()
            try await withThrowingTaskGroup { group in
                for task in 0..<16 {
                    group.addTask {
                        for round in 0..<8 {
                            try await store.save(token(task * 8 + round, length: task * 100))
                            guard let found = try await store.load() else {
                                throw Failure(description: "the token is missing while it's replaced")
                            }
                            let number = Int(found.expiry?.timeIntervalSince1970 ?? 0) - 1_700_000_000
                            let length = number / 8 * 100
                            try expect(found == token(number, length: length), "a token of parts of several")
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await store.save(token(1000))
            try expect(try await store.load() == token(1000), "the last token isn't the one that was written last")
        }
    ]
}
