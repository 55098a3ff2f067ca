import Errand
import ErrandEssentials
import ErrandTesting

/// Tests content codings (RFC 9110, section 8.4), trailers, 1xx responses, and ranges.
enum CodingCases {
    static let text = String(repeating: "one answer, coded\n", count: 20)
    // These bytes were compressed by gzip and zlib, because the code under test must not produce its own input.
    static let gzip =
        Data(base64Encoded: "H4sIAAAAAAACA8vPS1VIzCsuTy3SUUjOT0lN4cofFaGBCADl3wqlaAEAAA==") ?? Data()
    private static let deflate = Data(base64Encoded: "eNrLz0tVSMwrLk8t0lFIzk9JTeHKHxWhgQgAzhB9jQ==") ?? Data()

    static let all: [ConformanceDraft] = [
        ConformanceDraft(.codings, "a compressed body is decoded and loses Content-Encoding, or both stay") { bench in
            for (name, bytes) in [("gzip", gzip), ("deflate", deflate)] {
                let coded = TestResponse.data(bytes, contentType: "text/plain").header(.contentEncoding, name)
                for response in [
                    coded, coded.chunked(sizes: [1, 5, 9]), coded.slowly(bytesPerChunk: 1, every: .zero),
                    coded.untilClose(),
                ] {
                    bench.server.on("/coded", response)
                    for delivery in FramingCases.deliveries {
                        try check(try await bench.exchange(.get, "/coded", delivery: delivery), name, bytes, bench)
                    }
                }
            }
        },
        ConformanceDraft(.codings, "a response to HEAD with a Content-Encoding has no body") { bench in
            bench.server.on("/coded", TestResponse.data(gzip).header(.contentEncoding, "gzip"))
            for delivery in FramingCases.deliveries {
                let received = try await bench.exchange(.head, "/coded", delivery: delivery)
                try bench.equal(received.status, 200, "the status")
                try bench.equal(received.data.count, 0, "bytes of the body")
            }
        },
        ConformanceDraft(.codings, "a response without a body can have a Content-Encoding") { bench in
            for (status, name) in [(304, "gzip"), (204, "gzip"), (200, "gzip"), (200, "deflate")] {
                let empty = status == 200 ? TestResponse.data(Data()) : TestResponse.status(status)
                bench.server.on("/coded", empty.header(.contentEncoding, name))
                for delivery in FramingCases.deliveries {
                    let received = try await bench.exchange(.get, "/coded", delivery: delivery)
                    try bench.equal(received.status, status, "the status")
                    try bench.equal(received.data.count, 0, "bytes of the body")
                }
            }
        },
        ConformanceDraft(.codings, "a body with an unknown Content-Encoding isn't changed, or is an error") { bench in
            bench.server.on("/coded", TestResponse.data(gzip).header(.contentEncoding, "x-law"))
            bench.server.on("/identity", TestResponse.data(gzip).header(.contentEncoding, "identity"))
            for delivery in FramingCases.deliveries {
                let request = try bench.request(.get, "/coded")
                let received = try await bench.receivedOrFailure(of: "an unknown coding") {
                    try await bench.viaAgent(request, delivery: delivery)
                }
                if let received {
                    try bench.equal(received.data, gzip, "the body with an unknown coding")
                    try bench.equal(received.headers[.contentEncoding], "x-law", "Content-Encoding")
                }
                let plain = try await bench.exchange(.get, "/identity", delivery: delivery)
                try bench.equal(plain.data, gzip, "the body with the coding identity")
            }
        },
        ConformanceDraft(.codings, "a gzip body of two members is decoded completely, is an error, or stays coded") {
            bench in
            bench.server.on("/coded", TestResponse.data(gzip + gzip).header(.contentEncoding, "gzip"))
            let request = try bench.request(.get, "/coded")
            for delivery in FramingCases.deliveries {
                let received = try await bench.receivedOrFailure(of: "two members") {
                    try await bench.viaAgent(request, delivery: delivery)
                }
                guard let received else { continue }
                let isCoded = received.headers.contains(.contentEncoding)
                try bench.equal(received.data, isCoded ? gzip + gzip : Data((text + text).utf8), "the body")
            }
        },
        ConformanceDraft(.codings, "an invalid compressed body is an error, or is returned undecoded") { bench in
            var damaged = gzip
            damaged[damaged.startIndex + 12] ^= 0xFF
            try await broken([Data("no gzip".utf8), damaged], bench)
        },
        ConformanceDraft(.codings, "a truncated compressed body is an error, or is returned undecoded") { bench in
            try await broken([gzip.prefix(5), gzip.prefix(30), gzip.dropLast(1)], bench)
        },
        ConformanceDraft(.codings, "a body without Content-Encoding isn't changed") { bench in
            bench.server.on("/file", .data(gzip, contentType: "application/gzip"))
            let received = try await bench.exchange(.get, "/file")
            try bench.equal(received.data, gzip, "the bytes of a gzip file")
            try bench.equal(received.headers[.contentLength], "\(gzip.count)", "Content-Length")
        },
        ConformanceDraft(.trailers, "trailers are reported and don't affect the body") { bench in
            let body = ConformanceBench.pattern(5_000)
            bench.server.on("/trailers", TestResponse.data(body).trailers(["X-Sum": "7", "X-Other": "a, b"]))
            let recording = RecordingAccessory()
            let request = try bench.request(.get, "/trailers")
            let received = try await bench.viaAgent(request, accessories: [recording])
            try bench.equal(received.data, body, "the body")
            let record = try await recording.wait(for: "trailers", within: .seconds(10))
            guard case .transport(.trailers(let trailers)) = record.event else { return }
            try bench.equal(trailers["X-Sum"], "7", "the trailer X-Sum")
            try bench.equal(trailers["X-Other"], "a, b", "the trailer X-Other")
            try bench.equal(received.headers["X-Sum"], nil, "the trailer X-Sum, not among the headers")
            try await bench.expectWorking(after: "trailers")
        },
        ConformanceDraft(.informational, "1xx responses don't replace the final response") { bench in
            bench.server.on(
                "/early",
                TestResponse.text("real").informational(100).informational(103, [.link: "</a.css>"])
                    .informational(103, [.link: "</b.css>"]))
            for delivery in FramingCases.deliveries {
                let received = try await bench.exchange(.get, "/early", delivery: delivery)
                try bench.equal(received.status, 200, "the status")
                try bench.equal(received.text, "real", "the body")
                try bench.equal(received.headers[.link], nil, "Link of the real response")
            }
            let posted = try await bench.exchange(.post, "/early", body: .text("payload"))
            try bench.equal(posted.text, "real", "the body of the response to POST")
        },
        ConformanceDraft(.ranges, "a range request gets the requested bytes, with 206 or 416") { bench in
            let whole = ConformanceBench.pattern(10_000)
            bench.server.on("/film", .ranges(whole, etag: "\"v1\""))
            let cases: [(String, Range<Int>)] = [
                ("bytes=0-0", 0..<1), ("bytes=100-199", 100..<200), ("bytes=9990-", 9_990..<10_000),
                ("bytes=-5", 9_995..<10_000), ("bytes=9000-20000", 9_000..<10_000),
            ]
            for (range, expected) in cases {
                let received = try await bench.exchange(.get, "/film", headers: [.range: range, .ifRange: "\"v1\""])
                try bench.equal(received.status, 206, "the status for \(range)")
                try bench.equal(received.data, whole.subdata(in: expected), "the body for \(range)")
                let described = "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/10000"
                try bench.equal(received.headers[.contentRange], described, "Content-Range")
            }
            let stale = try await bench.exchange(.get, "/film", headers: [.range: "bytes=5-", .ifRange: "\"v0\""])
            try bench.equal(stale.status, 200, "the status for another version")
            try bench.equal(stale.data, whole, "the body for another version")
            let beyond = try await bench.exchange(.get, "/film", headers: [.range: "bytes=10000-"])
            try bench.equal(beyond.status, 416, "the status for a range past the end")
        },
    ]

    private static func broken(_ bodies: [Data], _ bench: ConformanceBench) async throws {
        for bytes in bodies {
            bench.server.on("/coded", TestResponse.data(bytes).header(.contentEncoding, "gzip"))
            let request = try bench.request(.get, "/coded")
            for delivery in FramingCases.deliveries {
                let received = try await bench.receivedOrFailure(of: "a broken coding") {
                    try await bench.viaAgent(request, delivery: delivery)
                }
                if let received { try bench.equal(received.data, bytes, "the body of a response without an error") }
            }
        }
        try await bench.expectWorking(after: "broken codings")
    }

    private static func check(
        _ received: ConformanceBench.Received, _ name: String, _ bytes: Data, _ bench: ConformanceBench
    ) throws {
        if let coding = received.headers[.contentEncoding] {
            try bench.equal(coding, name, "Content-Encoding")
            return try bench.equal(received.data, bytes, "the compressed body, unchanged")
        }
        try bench.equal(received.text, text, "the decoded body")
        try bench.equal(received.headers[.contentLength], nil, "Content-Length of a decoded body")
    }
}
