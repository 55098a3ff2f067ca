import ErrandEssentials
import ErrandOAuth
import ErrandOAuthTesting
import ErrandSupport
import Foundation
import Testing

@Suite("Stores of tokens", .endsInTime, .leakChecked) struct StoreTests {
    @Test("memory conforms", arguments: TokenStoreSuite.cases) func memory(test: TokenStoreSuite.Case) async throws {
        let store = MemoryTokenStore()
        try await test.run { store }
    }

    @Test("a file conforms", arguments: TokenStoreSuite.cases) func file(test: TokenStoreSuite.Case) async throws {
        let folder = TemporaryDirectory()
        try await test.run { FileTokenStore(folder.url.appending(path: "new/folder/token.json")) }
    }

    @Test("the suite finds a store that forgets, mixes or reveals") func suite() async throws {
        struct Forgetful: TokenStore {
            func load() async throws -> OAuthToken? { nil }
            func save(_ token: OAuthToken) async throws {}
            func remove() async throws {}
        }
        final class Merging: TokenStore {
            let base = MemoryTokenStore()
            func load() async throws -> OAuthToken? { base.load() }
            func save(_ token: OAuthToken) async throws {
                var token = token
                token.refreshToken = token.refreshToken ?? base.load()?.refreshToken
                base.save(token)
            }
            func remove() async throws { base.remove() }
        }
        final class Lasting: TokenStore {
            let base = MemoryTokenStore()
            func load() async throws -> OAuthToken? { base.load() }
            func save(_ token: OAuthToken) async throws { base.save(token) }
            func remove() async throws {}
        }
        final class Open: TokenStore, CustomStringConvertible {
            let base = MemoryTokenStore()
            var description: String { base.load()?.accessToken ?? "" }
            func load() async throws -> OAuthToken? { base.load() }
            func save(_ token: OAuthToken) async throws { base.save(token) }
            func remove() async throws { base.remove() }
        }
        func failures(_ make: () -> any TokenStore) async throws -> Int {
            var count = 0
            for test in TokenStoreSuite.cases {
                let store = make()
                do { try await test.run { store } } catch is TokenStoreSuite.Failure { count += 1 }
            }
            return count
        }
        #expect(try await failures { Forgetful() } == 6)
        #expect(try await failures { Merging() } == 1)
        #expect(try await failures { Lasting() } == 2)
        #expect(try await failures { Open() } == 1)
        #expect(try await failures { MemoryTokenStore() } == 0)
    }

    @Test("only the owner can read the file and its folder, whatever the process's umask and an old file allow")
    func permissions() async throws {
        let folder = TemporaryDirectory()
        let url = folder.url.appending(path: "tokens/token.json")
        let store = FileTokenStore(url)
        try await store.save(OAuthToken("a"))
        func mode(_ path: String) throws -> mode_t { try FileStatus(at: path).permissions }
        #expect(try mode(url.path) == 0o600 && mode(url.deletingLastPathComponent().path) == 0o700)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: url.path)
        let error = await #expect(throws: OAuthError.self) { try await store.load() }
        #expect(error?.code == .storeFailed && error?.message.contains("others can read") == true)
        try await store.save(OAuthToken("b"))
        #expect(try mode(url.path) == 0o600)
        #expect(try await store.load() == OAuthToken("b"))
        // No other file is left.
        #expect(try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path).count == 1)
    }

    @Test("a link, a folder, a damaged file and one that's too large are errors, which don't show the content")
    func damaged() async throws {
        let folder = try Folder(["target": #"{"accessToken":"canary"}"#])
        let url = folder.file("token.json")
        let store = FileTokenStore(url)
        func failure() async -> OAuthError? {
            await #expect(throws: OAuthError.self) { try await store.load() }
        }
        try FileManager.default.createSymbolicLink(at: url, withDestinationURL: folder.file("target"))
        #expect(await failure()?.code == .storeFailed)
        // Saving replaces the link, not its target.
        try await store.save(OAuthToken("a"))
        #expect(try folder.data("target") == Data(#"{"accessToken":"canary"}"#.utf8))
        for text in ["", "canary", #"{"accessToken":"canary"}"#, #"{"accessToken":"canary","kind":"Evil"}"#] {
            try Data(text.utf8).write(to: url)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
            let error = try #require(await failure())
            var dumped = ""
            dump(error, to: &dumped)
            #expect(error.code == .storeFailed && !"\(error)\(dumped)".contains("canary"))
        }
        try Data(count: (1 << 20) + 1).write(to: url)
        #expect(await failure()?.message == "the file is too large")
        try await store.remove()
        #expect(try await store.load() == nil)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        #expect(await failure()?.code == .storeFailed)
        await #expect(throws: OAuthError.self) { try await store.save(OAuthToken("a")) }
        await #expect(throws: OAuthError.self) { try await store.remove() }
    }
}
