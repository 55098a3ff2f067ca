import Errand
import ErrandEssentials
import ErrandTesting

enum ReuseCases {
    static let sentOnce = "a request that isn't idempotent is sent once, even if a reused connection closes"

    static let all: [ConformanceDraft] = [
        ConformanceDraft(.reuse, "consecutive requests share a connection") { bench in
            for _ in 0..<20 { _ = try await bench.exchange(.get, "/ok") }
            // A transport may use several clients, each with its own connections.
            let count = bench.server.connectionCount
            try bench.expect((1...4).contains(count), "at most 4 connections for 20 requests", came: "\(count)")
        },
        ConformanceDraft(.reuse, "an idle connection that the server closed is replaced without an error") { bench in
            bench.server.on("/last", TestResponse.text("last").closingSilently())
            for _ in 0..<5 {
                try bench.equal(try await bench.exchange(.get, "/last").text, "last", "the body")
                try await bench.server.waitUntilNoConnections()
            }
            _ = try await bench.exchange(.get, "/ok")
            bench.server.closeConnections()
            try await bench.expectWorking(after: "the server closed the connection")
        },
        ConformanceDraft(.reuse, "a connection that closes while it is being reused is replaced without an error") {
            bench in
            for _ in 0..<5 {
                bench.server.enqueue(TestResponse.text("first").closingSilently(atNextRequest: true))
                try bench.equal(try await bench.exchange(.get, "/ok").text, "first", "the body")
                try await bench.expectWorking(after: "a response that was the connection's last")
            }
        },
        ConformanceDraft(.reuse, sentOnce) { bench in
            bench.server.on(.post, "/order", TestResponse.text("").closing(afterBytes: 0))
            for body in [RequestBody.none, .text("payload")] {
                _ = try await bench.exchange(.get, "/ok")
                let before = bench.server.requestCount
                try await bench.failure(of: "a connection that closes without a response") {
                    try await bench.exchange(.post, "/order", body: body)
                }
                try bench.equal(bench.server.requestCount - before, 1, "requests at the server")
            }
        },
        ConformanceDraft(.reuse, "a connection isn't reused after Connection: close") { bench in
            bench.server.on("/bye", TestResponse.text("bye").keepAlive(false))
            for _ in 0..<3 { try bench.equal(try await bench.exchange(.get, "/bye").text, "bye", "the body") }
            try bench.equal(bench.server.connectionCount, 3, "connections for 3 requests")
            try await bench.server.waitUntilNoConnections()
        },
        ConformanceDraft(.reuse, "a response that is dropped unread doesn't affect the next one") { bench in
            bench.server.on("/long", .repeating(count: 4 << 20))
            for _ in 0..<10 {
                let response = try await bench.stream("/long")
                try bench.equal(response.status, 200, "the status")
                response.body.cancel()
                try await bench.expectWorking(after: "a body that was cancelled")
            }
        },
        ConformanceDraft(.load, "1,000 concurrent requests each get their own response") { bench in
            bench.server.on("/n/*") { request in .text(request.path) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<1_000 {
                    group.addTask {
                        let delivery: BodyDelivery = index % 2 == 0 ? .data : .stream
                        let received = try await bench.exchange(.get, "/n/\(index)", delivery: delivery)
                        try bench.equal(received.text, "/n/\(index)", "the body")
                    }
                }
                try await group.waitForAll()
            }
            try bench.equal(bench.server.requestCount, 1_000, "requests at the server")
        },
        ConformanceDraft(.load, "a slow response doesn't delay other requests", needsConcurrency: true) { bench in
            let gate = Gate()
            bench.server.on("/slow", TestResponse.text("slow").waiting(for: gate))
            async let slow = bench.exchange(.get, "/slow")
            try await gate.reached()
            for _ in 0..<20 { try await bench.expectWorking(after: "a slow response began") }
            gate.open()
            try bench.equal(try await slow.text, "slow", "the slow body")
        },
        ConformanceDraft(
            .load, "concurrent requests to one URL with different fields, methods or bodies get their own responses"
        ) { bench in
            let variants: [(HTTPMethod, HTTPHeaders, RequestBody)] = [
                (.get, [.authorization: "Bearer 1"], .none), (.get, [.authorization: "Bearer 2"], .none),
                (.get, ["Prefer": "a"], .none), (.get, [.cookie: "a=1"], .none), (.get, ["X-A": "1"], .none),
                (.get, [.range: "bytes=0-1"], .none), (.options, [:], .none), (.post, [:], .text("1")),
                (.post, [:], .text("2")), (.post, [:], .text("2")),
            ]
            for delivery in FramingCases.deliveries {
                let gate = Gate()
                bench.server.on("/same") { request in .text(summary(request)).waiting(for: gate) }
                let before = bench.server.requestCount
                let tasks = variants.map { method, headers, body in
                    Task { try await bench.exchange(method, "/same", headers: headers, body: body, delivery: delivery) }
                }
                // A transport may send fewer requests at once.
                try? await gate.reached(by: variants.count, within: .milliseconds(500))
                gate.open()
                for ((method, headers, body), task) in zip(variants, tasks) {
                    let text = String(decoding: body.data ?? Data(), as: UTF8.self)
                    try bench.equal(
                        try await task.value.text, summary(method, headers, text), "the response to its own request")
                }
                try bench.equal(bench.server.requestCount - before, variants.count, "requests at the server")
            }
        },
        ConformanceDraft(.load, "requests still work after many responses with error statuses") { bench in
            try await withLimit(.seconds(60)) {
                for status in [500, 502, 503, 429, 401, 404] {
                    let response = TestResponse.text("no", status: status).header(.retryAfter, "3600")
                    bench.server.on("/refused", response)
                    for _ in 0..<30 {
                        try bench.equal(try await bench.exchange(.get, "/refused").status, status, "the status")
                    }
                    try await bench.expectWorking(after: "30 responses with the status \(status)")
                }
            }
        },
        ConformanceDraft(.load, "requests still work after many streams that were dropped") { bench in
            let gate = Gate()
            let half = TestResponse.repeating(count: 100_000).waiting(for: gate, afterBodyBytes: 50_000)
            for index in 0..<120 {
                bench.server.on("/half", half.status(index.isMultiple(of: 4) ? 404 : 200))
                try await withLimit(.seconds(10)) {
                    let response = try await bench.stream("/half")
                    var iterator = response.body.makeAsyncIterator()
                    if index.isMultiple(of: 3) { _ = try await iterator.nextPromptly() }
                }
            }
            try await bench.expectWorking(after: "120 streams that were dropped")
        },
        ConformanceDraft(.lifetime, "a transport that is deallocated closes its connections") { bench in
            try await use(bench)
            try await bench.server.waitUntilNoConnections()
        },
        ConformanceDraft(.lifetime, "a streamed body can be read after its transport is released") { bench in
            let gate = Gate()
            let body = ConformanceBench.pattern(200_000)
            bench.server.on("/stream", TestResponse.data(body).waiting(for: gate, afterBodyBytes: 100_000))
            let response = try await open(bench, "/stream")
            gate.open()
            try bench.equal(try await response.body.collect(upTo: 1 << 20), body, "the body")
            try await bench.server.waitUntilNoConnections()
        },
    ]

    private static func summary(_ request: RecordedRequest) -> String {
        summary(request.method, request.headers, String(decoding: request.body, as: UTF8.self))
    }

    private static func summary(_ method: HTTPMethod, _ headers: HTTPHeaders, _ body: String) -> String {
        let names: [HTTPHeaderName] = [.authorization, .cookie, .range, "Prefer", "X-A"]
        return ([method.rawValue] + names.map { headers[$0] ?? "" } + [body]).joined(separator: "|")
    }

    private static func use(_ bench: ConformanceBench) async throws {
        let transport = try bench.make()
        for _ in 0..<3 { _ = try await transport.send(bench.request(.get, "/ok"), options: TransportOptions()) }
    }

    private static func open(_ bench: ConformanceBench, _ path: String) async throws -> HTTPResponse {
        let transport = try bench.make()
        return try await promptHead(of: path) {
            try await transport.send(bench.request(.get, path), options: TransportOptions(delivery: .stream))
        }
    }
}
