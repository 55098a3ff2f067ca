import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Reports of the wire to a filter", .leakChecked) struct WireObserverTests {
    private func statuses(of log: Log<String>, _ name: String) -> ClosureFilter {
        ClosureFilter { exchange, next in
            var exchange = exchange
            exchange.observeTransport { event in
                if case .informational(let status, let headers) = event {
                    log.add("\(name) \(status) \(headers["X"] ?? "")")
                }
            }
            return try await next(exchange)
        }
    }

    @Test("1xx responses reach filters, from the inside out, and then accessories")
    func informational() async throws {
        let log = Log<String>()
        let stub = StubTransport(
            .text("ok").reporting(
                .informational(status: 104, headers: ["X": "a"]), .informational(status: 103, headers: [:])))
        let recorder = RecordingAccessory()
        let agent = NetworkAgent(
            baseURL: base, transport: stub, filters: [statuses(of: log, "outer"), statuses(of: log, "inner")],
            accessories: [recorder])
        _ = try await agent.send(Plain())
        #expect(log.all == ["inner 104 a", "outer 104 a", "inner 103 ", "outer 103 "])
        let events = recorder.records().map(\.name)
        #expect(events.count { $0 == "informational" } == 2)
    }

    @Test("a URL at another origin loses sensitive fields and trust, and a URL at the same origin keeps both")
    func followed() async throws {
        for (target, keeps) in [(base + "/elsewhere", true), ("https://other.example/elsewhere", false)] {
            let stub = StubTransport(.text("ok"))
            let trusted = Log<Bool>()
            let url = try #require(URL(string: target))
            let leading = ClosureFilter { exchange, next in
                var exchange = exchange
                exchange.follow(to: url)
                trusted.add(exchange.isTrusted)
                return try await next(exchange)
            }
            let agent = NetworkAgent(baseURL: base, transport: stub, filters: [leading])
            _ = try await agent.send(
                Plain { $0.headers = [.authorization: "secret", "X-Plain": "plain"] })
            let sent = try #require(stub.received.first)
            #expect(sent.url == url && sent.headers["X-Plain"] == "plain")
            #expect(sent.headers.contains(.authorization) == keeps && trusted.all == [keeps])
        }
    }

    @Test("the Location of a response is resolved against its URL, without credentials; an invalid URL is nil")
    func location() throws {
        let url = try #require(URL(string: "https://a.example/uploads/"))
        func location(_ text: String?) -> String? {
            HTTPResponse(url: url, status: 201, headers: text.map { [.location: $0] } ?? [:]).location?.absoluteString
        }
        #expect(location("7") == "https://a.example/uploads/7" && location("/7") == "https://a.example/7")
        #expect(location("https://u:p@b.example/7") == "https://b.example/7")
        #expect(location(nil) == nil && location("mailto:a@b.example") == nil)
    }
}
