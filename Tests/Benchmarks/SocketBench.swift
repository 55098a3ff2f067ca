#if os(Linux)
import CErrandBareCurl
import Errand
import ErrandSystemTransport
import ErrandTesting
import ErrandWebSocket
import Foundation

/// Sends messages of 1 KB to an echo server in C over 64 WebSockets, one at a time on each. Compares Errand with a C
/// client on libcurl's connections, and with PyPI's `websockets` if it's installed. Then opens 1,000 idle sockets.
enum SocketBench {
    private struct Echo: WebSocketRequest {
        typealias Incoming = Data
        typealias Outgoing = Data
        var path: String { "" }
    }

    private static let lanes = 64
    private static let bytes = 1024

    static func run() async throws {
        let port = bare_echo_start { key, accept in
            guard let key, let accept else { return }
            _ = TestWebSocket.accept(String(cString: key)).withCString { strcpy(accept, $0) }
        }
        try WireBench.check(port > 0 ? 0 : port)
        let agent = NetworkAgent(baseURL: "http://127.0.0.1:\(port)", transport: .system)
        try await echo(agent, "http://127.0.0.1:\(port)")
        try await idle(agent)
    }

    private static func echo(_ agent: NetworkAgent, _ url: String) async throws {
        let count = 64_000
        let base = "C on libcurl's connections, 64 sockets"
        let python = try await Foreign.find()
        if python == nil { print("websockets of PyPI is not installed") }
        var (rates, costs) = (Rounds(), Rounds())
        func take(_ name: String, _ body: () async throws -> Void) async throws {
            let cpu = WireBench.processorTime()
            try await rates.take(name) { 1e6 / (try await microseconds(count, body)) }
            await costs.take(name) { (WireBench.processorTime() - cpu) * 1e6 / Double(count) }
        }
        for _ in 0..<5 {
            try await take(base) { try WireBench.check(bare_socket_echo(url, Int32(lanes), count, bytes)) }
            try await take("ErrandWebSocket, 64 sockets") { try await echo(agent, count) }
            if let python {
                try await rates.take("websockets of PyPI, 64 sockets") {
                    let few = count / 4
                    return try await Double(few) / python.seconds(url, lanes, few, bytes)
                }
            }
        }
        rates.report("messages/s", against: base)
        costs.report("CPU µs a message with its server", against: base)
    }

    private static func echo(_ agent: NetworkAgent, _ count: Int) async throws {
        let content = Data(count: bytes)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<lanes {
                group.addTask {
                    let socket = agent.webSocket(Echo())
                    var messages = socket.makeAsyncIterator()
                    for _ in 0..<count / lanes {
                        try await socket.send(content)
                        try WireBench.check(try await messages.next()?.count == bytes ? 0 : -3)
                    }
                    socket.cancel()
                }
            }
            try await group.waitForAll()
        }
    }

    private static func idle(_ agent: NetworkAgent) async throws {
        let count = 1000
        let (memory, threads) = (residentBytes(), threadCount())
        let sockets = (0..<count).map { _ in agent.webSocket(Echo()) }
        for socket in sockets { try await socket.open() }
        let each = Double(max(0, residentBytes() - memory)) / 1024 / Double(count)
        print("\(Rounds.pad("an idle socket of 1,000", 44)) \(Rounds.number(each)) KiB")
        print("\(Rounds.pad("threads that they add", 44)) \(Rounds.number(Double(threadCount() - threads)))")
        for socket in sockets { socket.cancel() }
    }

    private static func threadCount() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
    }

    private struct Foreign {
        let env: Program

        static func find() async throws -> Foreign? {
            guard let env = Program("env") else { return nil }
            let output = try await env.run(["python3", "-c", "import websockets.asyncio.client"])
            return output.status == 0 ? Foreign(env: env) : nil
        }

        func seconds(_ url: String, _ lanes: Int, _ count: Int, _ bytes: Int) async throws -> Double {
            let numbers = [lanes, count, bytes].map(String.init)
            let address = url.replacing("http:", with: "ws:")
            let output = try await env.run(["python3", "-c", Self.text, address] + numbers)
            guard output.status == 0, let seconds = Double(output.text.filter { !$0.isWhitespace }) else {
                throw WireBench.Failure(code: output.status)
            }
            return seconds
        }

        private static let text = """
            import asyncio, sys, time
            from websockets.asyncio.client import connect
            url, lanes, count, size = sys.argv[1], *map(int, sys.argv[2:])
            async def lane(socket):
                content = bytes(size)
                for _ in range(count // lanes):
                    await socket.send(content)
                    await socket.recv()
            async def main():
                sockets = [await connect(url, compression=None) for _ in range(lanes)]
                start = time.perf_counter()
                await asyncio.gather(*map(lane, sockets))
                print(time.perf_counter() - start)
                for socket in sockets: await socket.close()
            asyncio.run(main())
            """
    }
}
#else
enum SocketBench {
    static func run() async throws { print("on Linux only") }
}
#endif
