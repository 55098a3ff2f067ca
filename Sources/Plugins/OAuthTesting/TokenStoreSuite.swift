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
/// A case can call the closure more than once. All stores that the closure returns must share one storage, which must
/// be empty at first. For a store in memory, return the same object each time.
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

        /// Runs the test. Throws ``Failure`` if the store doesn't meet the requirement, and rethrows the store's
        /// errors.
        public func run(_ makeStore: () async throws -> any TokenStore) async throws { try await body(makeStore) }
    }

    /// The store doesn't meet a requirement.
    public struct Failure: DescribedError, Sendable {
        /// How the store violates the requirement, as a sentence.
        public let description: String
        /// The code of the `NSError`. Always 1.
        public var errorCode: Int { 1 }
        /// The domain of the `NSError`: "Errand.TokenStoreSuite.Failure".
        public static var errorDomain: String { "Errand.TokenStoreSuite.Failure" }
    }

    /// The cases for every store.
    public static let cases: [Case] = basics + secrets + concurrency
    /// Additional cases for a store whose storage several sessions or processes share. Such a store implements
    /// `exclusively(_:)`.
    public static let exclusionCases: [Case] = exclusion

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
        Case("an empty store has no token, and removing a missing token succeeds") { make in
            let store = try await make()
            try expect(try await store.load() == nil, "a token exists that was never stored")
            try await store.remove()
            try expect(try await store.load() == nil, "a token exists after a removal")
        },
        Case("a token is returned with all its parts, each time it's read") { make in
            let store = try await make()
            try await store.save(token(1))
            try expect(try await store.load() == token(1), "the token differs from the saved token")
            try expect(try await store.load() == token(1), "the second read returned a different token")
        },
        Case("parts that a token doesn't have are missing afterward, too") { make in
            let store = try await make()
            try await store.save(token(1))
            try await store.save(OAuthToken("bare"))
            try expect(
                try await store.load() == OAuthToken("bare"), "parts of the old token are still in the stored one")
        },
        Case("a new token replaces the old one, whether it's longer or shorter") { make in
            let store = try await make()
            for (number, length) in [40, 20_000, 1, 300].enumerated() {
                try await store.save(token(number, length: length))
                try expect(
                    try await store.load() == token(number, length: length),
                    "token \(number) differs from the saved token")
            }
        },
        Case("a removed token is gone, and another one can be stored") { make in
            let store = try await make()
            try await store.save(token(1))
            try await store.remove()
            try expect(try await store.load() == nil, "the token still exists after its removal")
            try await store.save(token(2))
            try expect(try await store.load() == token(2), "the token after the removal differs from the saved token")
        },
        Case("two stores of one place see each other's tokens") { make in
            let (one, two) = (try await make(), try await make())
            try await one.save(token(1))
            try expect(try await two.load() == token(1), "the other store doesn't return the token that was saved")
            try await two.save(token(2))
            try expect(try await one.load() == token(2), "the store returns a token that the other store has replaced")
            try await one.remove()
            try expect(try await two.load() == nil, "the store returns a token that the other store has removed")
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
                            let length = number(of: found) / 8 * 100
                            try expect(
                                found == token(number(of: found), length: length),
                                "a token is made of parts of several tokens")
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await store.save(token(1000))
            try expect(try await store.load() == token(1000), "the stored token isn't the token that was written last")
        }
    ]

    private struct Thrown: Error {}

    private static let exclusion: [Case] = [
        Case("a closure's result and its error reach the caller, and the next closure runs") { make in
            let store = try await make()
            try expect(try await store.exclusively { 7 } == 7, "the closure's result didn't reach the caller")
            do {
                try await store.exclusively { throw Thrown() }
                throw Failure(description: "the closure's error didn't reach the caller")
            } catch is Thrown {}
            try expect(
                try await store.exclusively { 8 } == 8,
                "after an error, the next closure's result didn't reach the caller")
        },
        Case("stores that share storage run their closures one at a time, so no change is lost") { make in
            let (tasks, rounds) = (4, 6)
            try await make().save(token(0))
            var stores: [any TokenStore] = []
            for _ in 0..<tasks { stores.append(try await make()) }
            try await withThrowingTaskGroup { group in
                for store in stores {
                    group.addTask {
                        for _ in 0..<rounds {
                            try await store.exclusively {
                                let number = number(of: try await store.load())
                                for _ in 0..<20 { await Task.yield() }
                                try await store.save(token(number + 1))
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let last = number(of: try await make().load())
            try expect(last == tasks * rounds, "\(tasks * rounds - last) changes of the token are lost")
        },
        Case("a closure that waits can be cancelled, and the next one runs") { make in
            let (one, two) = (try await make(), try await make())
            try await one.exclusively {
                let waiting = Task { try await two.exclusively {} }
                waiting.cancel()
                do {
                    try await waiting.value
                    throw Failure(description: "a cancelled closure ran during another one")
                } catch is CancellationError {}
            }
            try expect(
                try await two.exclusively { 9 } == 9,
                "after a cancelled wait, the next closure's result didn't reach the caller")
        },
    ]

    private static func number(of token: OAuthToken?) -> Int {
        Int(token?.expiry?.timeIntervalSince1970 ?? 0) - 1_700_000_000
    }
}
