#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Each test runs in a separate process, so only its own descriptors and memory count.
@Suite("Many concurrent transfers over libcurl", .endsInTime, .leakChecked)
struct ScaleTests {
    private static func server() throws -> RawServer {
        let body = String(repeating: "x", count: 1024)
        return try RawServer { peer in
            while peer.readHead() != nil { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1024\r\n\r\n\(body)") }
        }
    }

    @Test("1,000 concurrent requests succeed over the allowed number of connections")
    func thousand() async throws {
        let server = try Self.server()
        var configuration = CurlConfiguration()
        configuration.maximumConnectionsPerHost = 20
        let transport = CurlTransport(configuration)
        let request = try request(.get, server.url())
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<1000 { group.addTask { try await transport.send(request, options: .of()).data.count } }
            var count = 0
            for try await size in group where size == 1024 { count += 1 }
            #expect(count == 1000)
        }
        #expect(server.accepted <= 20)
    }

    /// The number of requests. Set `ERRAND_REQUESTS` in the environment to change it.
    private static let requests = getenv("ERRAND_REQUESTS").flatMap { Int(String(cString: $0)) } ?? 4000

    @Test("consecutive requests, and 64 concurrent requests, don't leak memory or descriptors")
    func flat() async throws {
        await #expect(processExitsWith: .success) {
            let before = openSockets()
            let server = try Self.server()
            let transport = CurlTransport()
            let request = try request(.get, server.url())
            func lanes(_ count: Int, _ width: Int) async throws {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<width {
                        group.addTask {
                            for _ in 0..<count / width {
                                let response = try await transport.send(request, options: .of())
                                precondition(response.data.count == 1024)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            try await lanes(2000, 64)
            try await lanes(500, 1)
            // A leak grows with every round, while pools and the allocator's arenas fill up once.
            var grown = Int.max
            for _ in 0..<5 where grown >= 300 {
                let memory = residentBytes()
                try await lanes(Self.requests / 2, 1)
                try await lanes(Self.requests / 2, 64)
                grown = (residentBytes() - memory) / Self.requests
            }
            // A sanitizer allocates additional memory.
            precondition(grown < 300 || isSanitized, "\(grown) bytes a request")
            // Both ends of each connection and the listener are in this process.
            precondition(openSockets() <= before + 2 * 64 + 4, "sockets")
            precondition(server.accepted <= 64, "connections")
        }
    }

    @Test("a transport that is made, used and dropped leaves no descriptor and no thread")
    func transports() async throws {
        await #expect(processExitsWith: .success) {
            let server = try Self.server()
            let request = try request(.get, server.url())
            // The runtime may open a few descriptors in the meantime. Each transport has three.
            try await Task.sleep(for: .milliseconds(1))
            let before = openDescriptors().count
            for _ in 0..<50 {
                let response = try await CurlTransport().send(request, options: .of())
                precondition(response.status == 200)
            }
            try await eventually { openDescriptors().count < before + 10 && threads(named: "errand-curl") == 0 }
        }
    }
}

var isSanitized: Bool { dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil }

func threads(named name: String) -> Int {
    guard let directory = opendir("/proc/self/task") else { return 0 }
    defer { closedir(directory) }
    var count = 0
    while let entry = readdir(directory) {
        let id = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        let comm = try? String(contentsOf: URL(filePath: "/proc/self/task/\(id)/comm"), encoding: .utf8)
        if comm == name + "\n" { count += 1 }
    }
    return count
}
#endif
