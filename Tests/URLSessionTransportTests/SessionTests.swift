import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandURLSessionTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The session's reports and configuration", .endsInTime, .leakChecked)
struct SessionTests {
    private struct Get: Request {
        typealias Output = String
        let path: String
    }

    private static func background() -> URLSessionConfiguration {
        #if canImport(FoundationNetworking)
        let configuration = URLSessionConfiguration.default
        configuration.identifier = "errand.tests"
        return configuration
        #else
        .background(withIdentifier: "errand.tests")
        #endif
    }

    @Test("a background configuration is refused with a typed error before anything is sent")
    func background() async throws {
        let server = try TestServer()
        server.on("/", .text("ok"))
        let agent = NetworkAgent(baseURL: server.url, transport: .urlSession(Self.background()))
        let error = await #expect(throws: ErrandError.self) { try await agent.send(Get(path: "/")) }
        #expect(error?.code == .transportUnavailable)
        #expect(error?.message.contains("background") == true)
        #expect(server.received.isEmpty)
    }

    @Test(
        "a body that the session reports as lost is truncated after the head, and connectionLost otherwise",
        arguments: [
            (nil, 0, .connectionLost), ("10", 4, .truncated), (nil, 4, .truncated), ("10", 0, .truncated),
            ("4", 4, .connectionLost),
        ] as [(String?, Int, ErrandError.Code)])
    func truncated(length: String?, received: Int, expected: ErrandError.Code) async throws {
        let transfer = try await transfer()
        if expected == .truncated || length != nil {
            let fields = length.map { ["Content-Length": $0] } ?? [:]
            transfer.receive(
                try #require(
                    HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)))
            if received > 0 { transfer.receive(Data(repeating: 1, count: received)) }
        }
        transfer.complete(
            URLSession(configuration: .ephemeral).dataTask(with: URLRequest(url: url)), URLError(.networkConnectionLost)
        )
        #expect(transfer.state.withLock { $0.failure?.code } == expected)
    }

    @Test("a wait for a network is reported as an event of its request")
    func waiting() async throws {
        final class Waits: Accessory {
            let count = Mutex(0)
            func activity(_ activity: Activity, did event: ActivityEvent) {
                if case .transport(.waitingForConnectivity) = event { count.withLock { $0 += 1 } }
            }
        }
        let waits = Waits()
        let gate = Gate()
        let server = try TestServer()
        server.on("/held", .text("held").waiting(for: gate))
        let transport = URLSessionTransport()
        let agent = NetworkAgent(baseURL: server.url, transport: transport, accessories: [waits])
        async let response = agent.send(Get(path: "/held"))
        try await gate.reached()
        let tasks = await withCheckedContinuation { continuation in
            transport.session.getAllTasks { continuation.resume(returning: $0) }
        }
        for task in tasks {
            transport.delegate.urlSession(transport.session, taskIsWaitingForConnectivity: task)
        }
        gate.open()
        #expect(try await response.value == "held")
        #expect(waits.count.withLock { $0 } == 1)
    }

    private let url: URL

    init() throws { url = try #require(URL(string: "http://127.0.0.1/")) }

    private func transfer() async throws -> SessionTransfer {
        SessionTransfer(
            HTTPRequest(.get, url), options: TransportOptions(),
            upload: try await SessionUpload(.none, TransportOptions()),
            transport: URLSessionTransport())
    }
}
