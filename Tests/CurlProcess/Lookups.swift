#if os(Linux)
import Errand
import ErrandCurlTransport
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Checks what happens to name lookups that are cancelled. The test preloads a library in which lookups of names that
/// end in ".slow.invalid" run until ``end()``.
enum Lookups {
    /// The line of the first failed check.
    struct Fault: Error { let line: Int32 }

    private final class Flag: Sendable {
        let isUp = Atomic(false)
    }

    private static func check(_ condition: Bool, line: Int = #line) throws {
        if !condition { throw Fault(line: Int32(line)) }
    }

    private static func wait(line: Int = #line, for condition: () -> Bool) async throws {
        let bound = ContinuousClock.now + .seconds(60)
        while !condition() {
            try check(ContinuousClock.now < bound, line: line)
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    private static func function<Function>(_ name: String, _: Function.Type) throws -> Function {
        guard let symbol = dlsym(nil, name) else { throw Fault(line: #line) }
        return unsafeBitCast(symbol, to: Function.self)
    }

    private static func running() -> Int {
        (try? function("slow_lookups", (@convention(c) () -> Int32).self)()).map(Int.init) ?? -1
    }

    private static func end() throws { try function("end_slow_lookups", (@convention(c) () -> Void).self)() }

    private static func get(_ text: String) throws -> HTTPRequest {
        guard let url = URL(string: text) else { throw Fault(line: #line) }
        return HTTPRequest(.get, url)
    }

    private static func failure(_ transport: CurlTransport, _ url: String) async throws -> ErrandError {
        do {
            _ = try await transport.send(try get(url), options: TransportOptions())
        } catch let error as ErrandError { return error }
        throw Fault(line: #line)
    }

    static func cancelMany(_ server: String, bound: Int) async throws {
        let transport = CurlTransport()
        var cancelled = 0
        var refused = 0
        for count in 0..<200 {
            let before = running()
            let ended = Flag()
            let code = try await withThrowingTaskGroup(of: ErrandError.Code?.self) { group in
                group.addTask {
                    defer { ended.isUp.store(true, ordering: .releasing) }
                    return try await failure(transport, "http://name\(count).slow.invalid/").code
                }
                try await wait { running() > before || ended.isUp.load(ordering: .acquiring) }
                group.cancelAll()
                return try await group.next() ?? nil
            }
            if code == .cancelled { cancelled += 1 }
            if code == .nameLookupFailed { refused += 1 }
        }
        try check(running() == bound)
        try check(cancelled == bound && refused == 200 - bound)
        // Requests that need no lookup still work.
        try check(try await transport.send(try get(server), options: TransportOptions()).status == 200)
        try end()
        try await wait { running() == 0 }
        // After those lookups have ended, new lookups work again.
        var error = try await failure(transport, "http://name.slow.invalid/")
        let limit = ContinuousClock.now + .seconds(20)
        while error.message.contains("still run") {
            try check(ContinuousClock.now < limit)
            error = try await failure(transport, "http://name.slow.invalid/")
        }
        try check(error.code == .nameLookupFailed)
    }

    /// Releases a transport while a cancelled lookup still runs.
    static func retire() async throws {
        // The lookup's thread has the name of the thread that started it.
        var before = 0
        func send() async throws {
            let transport = CurlTransport()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await failure(transport, "http://name.slow.invalid/") }
                try await wait { running() == 1 }
                // The transport's thread may not have started yet. Its name appears once it has.
                try await wait { threads(named: "errand-curl") > 0 }
                before = threads(named: "errand-curl")
                group.cancelAll()
                try await group.waitForAll()
            }
        }
        try await send()
        try await wait { threads(named: "errand-curl") == before - 1 }
        try check(running() == 1)
    }

    private static func threads(named name: String) -> Int {
        guard let directory = opendir("/proc/self/task") else { return 0 }
        defer { closedir(directory) }
        var count = 0
        while let entry = readdir(directory) {
            let id = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let data = try? Data(contentsOf: URL(filePath: "/proc/self/task/\(id)/comm")) else { continue }
            if String(decoding: data, as: UTF8.self) == name + "\n" { count += 1 }
        }
        return count
    }
}
#endif
