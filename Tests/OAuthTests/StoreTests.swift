import Errand
import ErrandEssentials
import ErrandOAuth
import ErrandOAuthTesting
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("Stores of tokens", .endsInTime, .leakChecked) struct StoreTests {
    @Test("memory conforms", arguments: TokenStoreSuite.cases) func memory(test: TokenStoreSuite.Case) async throws {
        let store = MemoryTokenStore()
        try await test.run { store }
    }

    @Test("a file conforms", arguments: TokenStoreSuite.cases) func file(test: TokenStoreSuite.Case) async throws {
        let folder = TemporaryDirectory()
        try await test.run { FileTokenStore(folder.url.appending(path: "new/folder/token.json")) }
    }

    @Test("a store in memory runs one closure at a time", arguments: TokenStoreSuite.exclusionCases)
    func memoryIsExclusive(test: TokenStoreSuite.Case) async throws {
        let store = MemoryTokenStore()
        try await test.run { store }
    }

    @Test("a store in a file runs one closure at a time", arguments: TokenStoreSuite.exclusionCases)
    func fileIsExclusive(test: TokenStoreSuite.Case) async throws {
        let folder = TemporaryDirectory()
        try await test.run { FileTokenStore(folder.url.appending(path: "new/token.json"), time: Patience()) }
    }

    @Test("the suite finds a store that forgets, mixes or reveals tokens") func suite() async throws {
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
        func failures(
            _ cases: [TokenStoreSuite.Case] = TokenStoreSuite.cases, _ make: () -> any TokenStore
        ) async throws -> Int {
            var count = 0
            for test in cases {
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
        // With the default implementation, changes are lost, and a closure doesn't wait.
        let lasting = Lasting()
        #expect(try await failures(TokenStoreSuite.exclusionCases) { lasting } == 2)
    }

    #if os(Linux)
    @Test("a lock that another process holds is waited for, by the clock, for two minutes") func lockOfOtherProcess()
        async throws
    {
        let folder = try Folder()
        let (url, time) = (folder.url.appending(path: "token.json"), ManualTimeSource())
        let store = FileTokenStore(url, time: time)
        let other = try LockHolder(url.path + ".lock")
        let waiting = Task { try await store.exclusively { "mine" } }
        try await time.waitForSleepers()
        try other.release()
        // The next attempt finds the lock free.
        time.advance(by: .milliseconds(100))
        #expect(try await waiting.value == "mine")
        let next = try LockHolder(url.path + ".lock")
        let late = Task { try await store.exclusively {} }
        try await time.waitForSleepers()
        time.advance(by: .seconds(121))
        let error = await #expect(throws: OAuthError.self) { try await late.value }
        #expect(error?.code == .storeFailed && error?.message.contains("another process") == true)
        try next.release()
        let own = folder.url.appending(path: "own.json")
        try await FileTokenStore(own).exclusively {}
        #expect(try FileStatus(at: own.path + ".lock").permissions == 0o600)
    }

    @Test("a process that ends gives up its lock; a lock file that can't be created doesn't stop a renewal")
    func lockIsGone() async throws {
        let folder = try Folder()
        let url = folder.url.appending(path: "token.json")
        let other = try LockHolder(url.path + ".lock")
        try other.kill()
        #expect(try await FileTokenStore(url).exclusively { 1 } == 1)
        let blocked = folder.url.appending(path: "blocked.json")
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "blocked.json.lock"), withIntermediateDirectories: false)
        #expect(try await FileTokenStore(blocked).exclusively { 2 } == 2)
    }
    #endif

    @Test("only the owner can read the file and its folder, with any umask and existing file")
    func permissions() async throws {
        let folder = TemporaryDirectory()
        let url = folder.url.appending(path: "tokens/token.json")
        let store = FileTokenStore(url)
        try await store.save(OAuthToken("a"))
        func mode(_ path: String) throws -> mode_t { try FileStatus(at: path).permissions }
        #expect(try mode(url.path) == 0o600 && mode(url.deletingLastPathComponent().path) == 0o700)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: url.path)
        let error = await #expect(throws: OAuthError.self) { try await store.load() }
        #expect(error?.code == .storeFailed && error?.message.contains("other users can read") == true)
        try await store.save(OAuthToken("b"))
        #expect(try mode(url.path) == 0o600)
        #expect(try await store.load() == OAuthToken("b"))
        // No other file is left.
        #expect(try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path).count == 1)
    }

    @Test("a link, a folder, a damaged file or an oversized file is an error that doesn't show the content")
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

#if os(Linux)
@discardableResult
private func sendSignal(_ process: Int32, _ signal: Int32) -> Int32 { kill(process, signal) }

/// Another process that holds the lock of a file.
final class LockHolder {
    private let process = Process()
    private let input = Pipe()

    /// Returns when the process holds the lock.
    init(_ path: String) throws {
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/flock")
        process.arguments = ["--exclusive", "--no-fork", path, "/bin/sh", "-c", "echo held; exec cat >/dev/null"]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        let text = try output.fileHandleForReading.read(upToCount: 5) ?? Data()
        try #require(text == Data("held\n".utf8))
    }

    /// Releases the lock and waits until it's free.
    func release() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    /// Ends the process as a crash does.
    func kill() throws {
        // Sends a signal that can't be ignored, because the process inherits which signals are ignored.
        sendSignal(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try input.fileHandleForWriting.close()
    }
}
#endif

/// Sleeps for real, but never reaches a limit, so a busy machine doesn't end a wait.
private struct Patience: TimeSource {
    let now = ContinuousClock.now
    var date: Date { Date() }

    func sleep(until instant: ContinuousClock.Instant) async throws {
        try await Task.sleep(for: now.duration(to: instant))
    }
}
