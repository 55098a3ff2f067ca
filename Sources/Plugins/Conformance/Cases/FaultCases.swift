import Errand
import ErrandEssentials
import ErrandTesting

enum FaultCases {
    static let all: [ConformanceDraft] = [
        ConformanceDraft(.faults, "a connection that closes at any byte of the head is an error") { bench in
            let response = TestResponse.text("hello")
            let head = response.wireBytes().count - 5
            try await cuts(bench, 0..<head) { response.closing(afterBytes: $0) }
        },
        ConformanceDraft(.faults, "a connection that closes at any byte of the body is an error") { bench in
            let response = TestResponse.text("hello, body")
            let count = response.wireBytes().count
            try await cuts(bench, (count - 11)..<count) { response.closing(afterBytes: $0) }
        },
        ConformanceDraft(.faults, "a connection that closes at any byte of a chunked body is an error") { bench in
            let response = TestResponse.text("hello").chunked(sizes: [2, 3])
            // The last two bytes are always sent, because a client doesn't have to wait for the empty line at the end.
            let framed = response.wireBytes().count - TestResponse.text("").chunked().wireBytes().count + 5
            try await cuts(bench, 0..<(framed - 2)) { response.closing(afterBodyBytes: $0) }
        },
        ConformanceDraft(.faults, "a connection that is reset at any byte of the head is an error") { bench in
            let response = TestResponse.text("hello")
            try await cuts(bench, 0..<(response.wireBytes().count - 5)) { response.resetting(afterBytes: $0) }
        },
        ConformanceDraft(.faults, "a connection that is reset at any byte of the body is an error") { bench in
            let response = TestResponse.text("hello, body")
            let count = response.wireBytes().count
            try await cuts(bench, (count - 11)..<count) { response.resetting(afterBytes: $0) }
        },
        ConformanceDraft(.faults, "requests still work after more than a thousand failures") { bench in
            let gone = try TestServer()
            let address = gone.url("/gone")
            gone.stop()
            guard let url = URL(string: address) else { throw ConformanceFailure(expected: "a URL", came: address) }
            bench.server.on("/cut", TestResponse.text("hello, body").closing(afterBodyBytes: 5))
            let cut = try bench.request(.get, "/cut")
            let failures = Watched(0)
            do {
                try await withLimit(.seconds(60)) {
                    await withTaskGroup(of: Void.self) { group in
                        for _ in 0..<8 {
                            group.addTask {
                                for index in 0..<150 where !Task.isCancelled {
                                    let request = index.isMultiple(of: 10) ? cut : HTTPRequest(.get, url)
                                    _ = try? await bench.transport.send(request, options: TransportOptions())
                                    failures.update { $0 += 1 }
                                }
                            }
                        }
                    }
                    for _ in 0..<8 { try await bench.expectWorking(after: "1,200 failures") }
                }
            } catch let failure as ConformanceFailure where failure.expected.hasSuffix("to end") {
                throw ConformanceFailure(
                    expected: "a request to end after \(failures.read { $0 }) failed requests",
                    came: "a request that still waits: a failed request must release its slot and its connection")
            }
        },
        ConformanceDraft(.faults, "a truncated streamed body ends with an error") { bench in
            for response in [
                TestResponse.data(ConformanceBench.pattern(300_000)).truncated(to: 200_000),
                TestResponse.data(ConformanceBench.pattern(300_000)).chunked(sizes: [100_000]).truncated(to: 200_000),
            ] {
                bench.server.on("/cut", response)
                let request = try bench.request(.get, "/cut")
                try await bench.failure(of: "a truncated stream") {
                    try await bench.viaAgent(request, delivery: .stream)
                }
            }
            try await bench.expectWorking(after: "truncated streams")
        },
        ConformanceDraft(.faults, "an error after the head contains the response, with every delivery") {
            bench in
            let cut = TestResponse.repeating(count: 1_000).header("X-Trace", "7")
            for (response, what) in [
                (cut.truncated(to: 400), "a body cut short"),
                (cut.chunked(sizes: [200, 200]).closing(afterBodyBytes: 400), "a chunked body cut short"),
                (cut.resetting(afterBodyBytes: 400), "a connection reset in the body"),
            ] {
                bench.server.on("/cut", response)
                let request = try bench.request(.get, "/cut")
                for delivery in FramingCases.deliveries {
                    let error = try await bench.failure(of: what) {
                        try await bench.viaAgent(request, delivery: delivery)
                    }
                    try evidence(error, "\(what), delivered as \(delivery)", bench)
                }
            }
            bench.server.on("/big", cut)
            let request = try bench.request(.get, "/big")
            let error = try await bench.failure(of: "a long body, with a limit of 100 bytes", .bodyTooLarge) {
                try await bench.viaAgent(request, limit: 100)
            }
            try evidence(error, "a long body, with a limit of 100 bytes", bench)
        },
        ConformanceDraft(.faults, "a connection that is closed or reset immediately is an error") { bench in
            for plan in [ConnectionPlan.close, .reset] {
                let server = try TestServer()
                guard let url = URL(string: server.url("/")) else { return }
                // A transport may retry, and each of its attempts needs a plan.
                server.enqueueConnections(plan, plan, plan, plan)
                try await bench.failure(
                    of: "a connection that the server closes or resets immediately", .connectionLost, .cannotConnect
                ) {
                    try await bench.viaAgent(HTTPRequest(.get, url))
                }
                server.stop()
            }
            try await bench.expectWorking(after: "connections that the server closed or reset immediately")
        },
        ConformanceDraft(.faults, "connecting to a port without a listener fails with cannotConnect") { bench in
            let gone = try TestServer()
            let address = gone.url("/")
            gone.stop()
            guard let url = URL(string: address) else { return }
            try await bench.failure(of: "a closed port", .cannotConnect) {
                try await bench.viaAgent(HTTPRequest(.get, url))
            }
            // The server keeps its port as long as it's referenced.
            withExtendedLifetime(gone) {}
        },
        ConformanceDraft(.faults, "a host name that doesn't exist is an error") { bench in
            guard let url = URL(string: "http://no-such-host.invalid/") else { return }
            try await bench.failure(of: "a name under .invalid", .nameLookupFailed, .cannotConnect) {
                try await bench.viaAgent(HTTPRequest(.get, url))
            }
        },
        ConformanceDraft(.faults, "a response that isn't HTTP is an error") { bench in
            for text in ["HTP/1.1 200 OK\r\n\r\n", "\u{1}\u{2}\u{3}", "SSH-2.0-OpenSSH_9.2\r\n", "<html></html>"] {
                bench.server.on("/nonsense", .raw(text))
                let request = try bench.request(.get, "/nonsense")
                try await bench.failure(of: text.debugDescription) { try await bench.viaAgent(request) }
            }
            try await bench.expectWorking(after: "nonsense")
        },
        ConformanceDraft(.faults, "a response with contradictory or malformed lengths is an error") { bench in
            let heads = [
                "Content-Length: 2\r\nContent-Length: 3\r\n", "Content-Length: -1\r\n", "Content-Length: two\r\n",
                "Content-Length: 99999999999999999999999\r\n",
            ]
            for head in heads {
                bench.server.on("/odd", .raw("HTTP/1.1 200 OK\r\n\(head)\r\nok!"))
                let request = try bench.request(.get, "/odd")
                try await bench.failure(of: head) { try await bench.viaAgent(request) }
            }
            for size in ["x\r\nok\r\n0\r\n\r\n", "-2\r\nok\r\n0\r\n\r\n", "ffffffffffffffffff\r\nok"] {
                bench.server.on("/odd", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(size)"))
                let request = try bench.request(.get, "/odd")
                try await bench.failure(of: "the chunk \(size.debugDescription)") { try await bench.viaAgent(request) }
            }
            try await bench.expectWorking(after: "contradictions")
        },
        ConformanceDraft(
            .faults,
            "a Content-Length that isn't a single number is invalidResponse and ends the connection"
        ) { bench in
            let heads = [
                "Content-Length: 2\r\nContent-Length: 3\r\n", "Content-Length: +2\r\n", "Content-Length: 6, 5\r\n",
                "Content-Length: 00000000000000000000000000000002, 3\r\n", "Content-Length: 18446744073709551616\r\n",
                "Content-Length: 2\r\nContent-Length: \r\n", "Content-Length: 0x2\r\n",
            ]
            for head in heads {
                // The connection stays open, because closing it would end the body.
                bench.server.on("/odd", .raw("HTTP/1.1 200 OK\r\n\(head)\r\nok").keepAlive(true))
                let request = try bench.request(.get, "/odd")
                for delivery in FramingCases.deliveries {
                    let before = bench.server.connectionCount
                    try await bench.failure(of: head, .invalidResponse) {
                        try await bench.viaAgent(request, delivery: delivery)
                    }
                    try await bench.expectWorking(after: head)
                    try bench.expect(
                        bench.server.connectionCount > before, "another connection after \(head)",
                        came: "the same connection")
                }
            }
        },
        ConformanceDraft(.faults, "malformed chunks are invalidResponse, not connectionLost") {
            bench in
            for body in [
                "x\r\nok\r\n0\r\n\r\n", "2\r\nok-\r\n0\r\n\r\n", "ffffffffffffffffff\r\nok",
                "2\r\nok\r\n0\r\nno field\r\n\r\n",
            ] {
                bench.server.on("/odd", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"))
                let request = try bench.request(.get, "/odd")
                for delivery in FramingCases.deliveries {
                    try await bench.failure(of: body.debugDescription, .invalidResponse) {
                        try await bench.viaAgent(request, delivery: delivery)
                    }
                }
            }
            try await bench.expectWorking(after: "broken chunks")
        },
        ConformanceDraft(.faults, "a transfer coding other than chunked is invalidResponse") { bench in
            let chunks = "2\r\nok\r\n0\r\n\r\n"
            bench.server.on("/odd", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n\(chunks)"))
            let request = try bench.request(.get, "/odd")
            try await bench.failure(of: "gzip, chunked", .invalidResponse) { try await bench.viaAgent(request) }
            try await bench.expectWorking(after: "an unknown transfer coding")
        },
        ConformanceDraft(.faults, "a header field that starts with a carriage return is invalidResponse") { bench in
            bench.server.on("/odd", .raw("HTTP/1.1 200 OK\r\nX-A: 1\r\n\rX-B: 2\r\nContent-Length: 2\r\n\r\nok"))
            let request = try bench.request(.get, "/odd")
            try await bench.failure(of: "a carriage return", .invalidResponse) { try await bench.viaAgent(request) }
            try await bench.expectWorking(after: "a field that begins with a carriage return")
        },
        ConformanceDraft(.faults, "bytes after the announced length aren't part of this response or the next") {
            bench in
            bench.server.on("/long", TestResponse.text("hello").contentLength(3))
            let request = try bench.request(.get, "/long")
            let received = try await bench.receivedOrFailure(of: "a body that is too long") {
                try await bench.viaAgent(request)
            }
            if let received { try bench.equal(received.text, "hel", "the body") }
            let next = try await bench.receivedOrFailure(of: "the request after it") {
                try await bench.exchange(.get, "/ok")
            }
            if let next { try bench.equal(next.text, "ok", "the response to the next request") }
            try await bench.expectWorking(after: "a body that was longer than its Content-Length")
        },
        ConformanceDraft(.faults, "a body above the size limit is a bodyTooLarge error") { bench in
            bench.server.on("/big", .repeating(count: 100_000))
            bench.server.on("/endless", TestResponse.repeating(count: 1 << 30).chunked(sizes: []))
            for path in ["/big", "/endless"] {
                let request = try bench.request(.get, path)
                let before = bench.server.sentBytes
                try await bench.failure(of: "100,000 bytes, with a limit of 1,000", .bodyTooLarge) {
                    try await bench.viaAgent(request, limit: 1_000)
                }
                let sent = bench.server.sentBytes - before
                try bench.expect(
                    sent < 512 << 20, "a transfer that ends once the limit is exceeded", came: "\(sent) bytes")
            }
        },
        ConformanceDraft(.faults, "a body of exactly the size limit is accepted, and a longer one is bodyTooLarge") {
            bench in
            let body = ConformanceBench.pattern(100_000)
            let plain = TestResponse.data(body)
            let request = try bench.request(.get, "/body")
            for response in [plain, plain.chunked(sizes: [60_000]), plain.untilClose()] {
                bench.server.on("/body", response)
                try bench.equal(try await bench.viaAgent(request, limit: body.count).data, body, "the body")
                try await bench.failure(of: "one byte more than the limit", .bodyTooLarge) {
                    try await bench.viaAgent(request, limit: body.count - 1)
                }
                let streamed = TransportOptions(delivery: .stream, maximumBodyBytes: 1_000)
                let stream = try await bench.stream("/body", options: streamed).body
                try bench.equal(try await stream.collect(upTo: 1 << 20), body, "a stream, which has no limit")
            }
            bench.server.on("/body", .repeating(count: 40 << 20))
            try bench.equal(try await bench.viaAgent(request).data.count, 40 << 20, "the bytes of a large body")
        },
    ]

    private static func evidence(_ error: ErrandError, _ what: String, _ bench: ConformanceBench) throws {
        let response = error.response
        try bench.equal(response?.status, 200, "the status in the error of \(what)")
        try bench.equal(response?.headers["X-Trace"], "7", "a header in the error of \(what)")
        try bench.expect(
            response?.data.count ?? 0 <= 1_000, "the beginning of the body in the error of \(what)",
            came: "\(response?.data.count ?? 0) bytes")
    }

    private static func cuts(
        _ bench: ConformanceBench, _ lengths: Range<Int>, _ response: (Int) -> TestResponse
    ) async throws {
        let request = try bench.request(.get, "/cut")
        for length in lengths {
            bench.server.on("/cut", response(length))
            let error = try await bench.failure(of: "the end after byte \(length)") {
                try await bench.viaAgent(request)
            }
            try bench.expectNotOwn(error, "a network error after byte \(length)")
        }
        try await bench.expectWorking(after: "broken connections")
    }
}
