#if os(Linux) || os(macOS)
import Foundation

/// Runs Debian's `redis-server` for tests: in memory only, on its own loopback port.
final class RedisServer: Sendable {
    let port: UInt16
    private let process: Process

    private static let path = [
        "/usr/bin/redis-server", "/usr/local/bin/redis-server", "/opt/homebrew/bin/redis-server",
    ]
    .first { FileManager.default.isExecutableFile(atPath: $0) }
    static var isInstalled: Bool { path != nil }

    /// Shared by all tests. It ends with the process.
    static let shared = Task { try await RedisServer() }

    private init() async throws {
        guard let path = Self.path else { throw RedisError(description: "redis-server is not installed") }
        let directory = FileManager.default.temporaryDirectory
        var started: (UInt16, Process)?
        for _ in 0..<10 where started == nil {
            let port = UInt16.random(in: 20_000..<60_000)
            let process = Process()
            process.executableURL = URL(filePath: "/bin/sh")
            // The server ends within a second of this process, even if the process crashes.
            let script =
                "\"$0\" --port $1 --bind 127.0.0.1 --save '' --appendonly no --dir \"$2\" & server=$!; "
                + "while kill -0 $PPID 2>/dev/null && kill -0 $server; do sleep 1; done; kill -9 $server"
            process.arguments = ["-c", script, path, "\(port)", directory.path]
            process.standardInput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            if await Self.isReady(port) { started = (port, process) } else { process.terminate() }
        }
        guard let (port, process) = started else { throw RedisError(description: "redis-server doesn't start") }
        self.port = port
        self.process = process
    }

    /// Tries to connect until the server responds, for at most 10 seconds.
    private static func isReady(_ port: UInt16) async -> Bool {
        for _ in 0..<200 {
            if (try? await RedisConnection(port: port).send(Data("PING".utf8))) == .text("PONG") { return true }
            try? await Task.sleep(for: .milliseconds(50))
        }
        return false
    }
}
#endif
