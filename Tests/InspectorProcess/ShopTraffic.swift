import Errand
import ErrandBatch
import ErrandCache
import ErrandChain
import ErrandInspector
import ErrandRetry
import ErrandStreaming
import ErrandSystemTransport
import ErrandTesting
import ErrandWebSocket
import Foundation

/// The requests of an app's start, with a server in this process.
struct ShopTraffic {
    private struct Get: CacheableRequest {
        typealias Output = Data
        let path: String
        var cachePolicy: CachePolicy { .timed(.seconds(60)) }
    }

    private struct Chat: WebSocketRequest {
        var path: String { "chat" }
    }

    private struct Upload: Request {
        typealias Output = Data
        var path: String { "upload" }
        var method: HTTPMethod { .post }
        var body: RequestBody { .data(Data(repeating: 7, count: 3 << 20), contentType: "application/octet-stream") }
    }

    private let server: TestServer
    private let agent: NetworkAgent

    init(_ inspector: TrafficInspector) throws {
        server = try Self.server()
        agent = NetworkAgent(
            baseURL: server.url("v1"), transport: .system,
            filters: [.retry, .cache(.memory())] + inspector.filters, accessories: [inspector.named("shop")])
        inspector.explainRequests(of: agent, named: "shop")
    }

    private static func server() throws -> TestServer {
        let server = try TestServer()
        let catalog = (1...40).map {
            #"{"id":\#($0),"name":"Item \#($0)","price":\#(Double($0) * 1.5),"tags":["new","fruit"]}"#
        }
        server.on(
            .get, "/v1/catalog",
            TestResponse(
                status: 200, headers: ["Content-Type": "application/json"],
                body: Data(
                    #"{"items":[\#(catalog.joined(separator: ","))],"next":null,"token":"0123456789abcdef"}"#.utf8)
            ).delayed(by: .milliseconds(120)))
        server.on(.post, "/v1/session", .text("welcome").delayed(by: .milliseconds(60)))
        server.on(.get, "/v1/old-prices", .redirect(to: "/v1/prices"))
        server.on(.get, "/v1/prices", .text("apples 3, pears 4").delayed(by: .milliseconds(40)))
        server.on(.get, "/v1/sold-out", .text(#"{"error":"sold out"}"#, status: 404))
        server.on(
            .get, "/v1/logo.png",
            TestResponse(status: 200, headers: ["Content-Type": "image/png"], body: image).delayed(
                by: .milliseconds(30)))
        server.on(
            .get, "/v1/photo",
            TestResponse(
                status: 200, headers: ["Content-Type": "application/octet-stream"],
                body: Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            ).slowly(bytesPerChunk: 20_000, every: .milliseconds(20)))
        server.on(.post, "/v1/upload", .text("thanks").delayed(by: .milliseconds(20)))
        server.on(
            .get, "/v1/manual",
            TestResponse(
                status: 200, headers: ["Content-Type": "application/json", "Content-Encoding": "gzip"], body: manual))
        server.on(.get, "/v1/news", .events(["apples are back", "pears are new", "plums are gone"]))
        server.on(.get, "/v1/chat", .webSocket { try $0.echo() })
        for number in 1...4 {
            server.on(.get, "/v1/shelf/\(number)", .text("shelf \(number)").delayed(by: .milliseconds(30 * number)))
        }
        return server
    }

    /// A square of 8 × 8 pixels.
    private static let image =
        Data(
            base64Encoded: """
                iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAHUlEQVR42mP4Dwby8ReACJnNgFMCUwjC\
                xi1BBzsAl0OJYWNup+sAAAAASUVORK5CYII=
                """) ?? Data()

    /// 5,612 bytes of JSON, compressed to 92.
    private static let manual =
        Data(
            base64Encoded: """
                H4sIAAAAAAACA+3JsQmAMBRF0VUev3YCVxGLBxIJ6A+EpBJ3dw2Le9rzxO2cvmLVFmP2VB1qpch5qKV8umYs4jiO4ziO4ziO4ziO\
                4ziO4/56+/sBMDhOoOwVAAA=
                """) ?? Data()

    func run() async throws {
        _ = try await agent.run(
            Chain("open the shop") { steps in
                _ = try await steps.send(
                    Call<Data>(
                        .post, "session",
                        body: .data(
                            Data(#"{"user":"ada","password":"correct horse"}"#.utf8), contentType: "application/json")))
                _ = try await steps.run(Batch((1...4).map { Get(path: "shelf/\($0)") }, label: "shelves"))
                return try await steps.send(Get(path: "catalog"))
            })
        _ = try await agent.send(Get(path: "catalog"))
        _ = try await agent.send(Call<Data>(.get, "old-prices"))
        _ = try? await agent.send(Call<Data>(.get, "sold-out"))
        server.enqueue(TestResponse.text("busy", status: 503).header("Retry-After", "0"))
        _ = try await agent.send(Call<Data>(.get, "prices"))
        _ = try await agent.send(Call<Data>(.get, "logo.png"))
        _ = try await agent.send(Call<Data>(.get, "photo"))
        _ = try await agent.send(Call<Data>(.get, "manual"))
        _ = try await agent.send(Upload())
        var news = agent.events(Call<HTTPBody>(.get, "news"), EventOptions(reconnection: .off)).makeAsyncIterator()
        while try await news.next() != nil {}
        let chat = agent.webSocket(Chat())
        var received = chat.makeAsyncIterator()
        for text in ["hello", #"{"type":"join","token":"0123456789abcdef"}"#] {
            try await chat.send(.text(text))
            _ = try await received.next()
        }
        await chat.close()
        _ = try? await agent.send(Call<Data>(.get, "http://127.0.0.1:1/unreachable"))
    }
}
