import Errand
import ErrandEssentials
import ErrandTesting

extension FilterDraft {
    /// Other methods get a response with a body, as from a real server, so the filter must not change the method.
    private static func keepsBodiless(_ bench: FilterBench, _ method: HTTPMethod, _ status: Int) async throws {
        let transport = BenchTransport { request, _ in
            if request.method == method, status != 200 { return HTTPResponse(to: request, status: status) }
            return .text("body", for: request)
        }
        let response = try await bench.send(BenchRequest(method: method), over: transport)
        // A filter that responds itself chooses its own status.
        let isOwn = bench.mayRespond && transport.arrivals.isEmpty
        if isOwn, method != .head { return }
        let data = try await response.body.collect(upTo: 1 << 20)
        try bench.expect(
            data.isEmpty, "no body in a response to \(method) with \(status)", came: "\(data.count) bytes")
        if !isOwn {
            try bench.equal(transport.ownArrivals.map(\.request.method), [method], "the methods that were sent")
        }
    }

    static let messages: [FilterDraft] = [
        FilterDraft("a response keeps its status, fields and bytes", assuming: [.response]) { bench in
            let bytes = ConformanceBench.pattern(10_000)
            let transport = BenchTransport { request, _ in
                var headers: HTTPHeaders = [.contentType: "application/octet-stream"]
                headers.add("X-Conformance", "one")
                headers.add("X-Conformance", "two")
                return HTTPResponse(to: request, status: 201, headers: headers, body: HTTPBody(bytes))
            }
            let response = try await bench.send(over: transport)
            try bench.equal(response.status, 201, "the status")
            try bench.equal(response.headers.values(of: "X-Conformance"), ["one", "two"], "a field of the response")
            let data = try await response.body.collect(upTo: 1 << 20)
            try bench.expect(data == bytes, "the \(bytes.count) bytes of the response", came: "\(data.count) bytes")
        },
        FilterDraft("a response with any status is returned", assuming: [.response]) { bench in
            for status in [200, 202, 204, 206, 304, 404, 410, 418, 451, 500] {
                let transport = BenchTransport { request, _ in HTTPResponse(to: request, status: status) }
                let response = try await bench.send(BenchRequest(method: .post), over: transport)
                try bench.equal(response.status, status, "the status")
            }
        },
        FilterDraft("a response to HEAD doesn't get a body") { bench in try await keepsBodiless(bench, .head, 200) },
        FilterDraft("a response with 204 or 304 doesn't get a body", assuming: [.response]) { bench in
            for status in [204, 304] { try await keepsBodiless(bench, .get, status) }
        },
        FilterDraft("a request keeps its method, path and body", assuming: [.method, .url, .body]) { bench in
            let transport = BenchTransport()
            let request = BenchRequest(method: .post, path: "orders/7", body: .text("conformance"))
            _ = try await bench.send(request, over: transport)
            let arrivals = transport.ownArrivals
            try bench.equal(arrivals.map(\.request.method), [.post], "the methods that were sent")
            for arrival in arrivals {
                let url = arrival.request.url
                try bench.expect(url.path.hasSuffix("orders/7"), "a path that ends with orders/7", came: url.path)
                try bench.equal(String(decoding: arrival.body, as: UTF8.self), "conformance", "the body")
            }
        },
        FilterDraft("unknown request fields reach the transport, including repeated ones") { bench in
            let transport = BenchTransport()
            var headers: HTTPHeaders = ["X-Conformance-Plain": "plain"]
            headers.add(BenchRequest.trace, "one")
            headers.add(BenchRequest.trace, "two")
            _ = try await bench.send(BenchRequest(headers: headers), over: transport)
            let sent = transport.ownArrivals.first?.request.headers ?? [:]
            try bench.equal(sent.values(of: "X-Conformance-Plain"), ["plain"], "an unknown field")
            try bench.equal(sent.values(of: BenchRequest.trace), ["one", "two"], "a field that appears twice")
        },
        FilterDraft("a field that is marked as sensitive stays marked") { bench in
            let transport = BenchTransport()
            _ = try await bench.send(.secret(), over: transport)
            let field = transport.ownArrivals.first?.request.headers.first { $0.name == BenchRequest.key }
            try bench.equal(field?.value, BenchRequest.secrets[1], "the value of a sensitive field")
            try bench.expect(
                field?.isSensitive == true, "the mark of a sensitive field", came: "a field without the mark")
        },
        FilterDraft("unknown tags reach the transport", assuming: [.tags]) { bench in
            let transport = BenchTransport()
            let mark = BenchMark()
            _ = try await bench.send(BenchRequest(tags: Tags().with(BenchTag.self, mark)), over: transport)
            let arrived = transport.ownArrivals.first?.tags[BenchTag.self]
            try bench.expect(arrived === mark, "the tag at the transport", came: "none")
        },
    ]
}

extension FilterDraft {
    /// Header fields that occur several times, or whose commas are ambiguous.
    private static let fields: HTTPHeaders = {
        var fields: HTTPHeaders = [
            .contentType: "text/plain; charset=\"utf-8\"", .entityTag: "W/\"conformance\"",
            .lastModified: "Sat, 29 Oct 1994 19:43:31 GMT", "X-cOnFoRmAnCe": "a  b", "X-Conformance-Empty": "",
        ]
        for cookie in ["a=1; Path=/; Expires=Wed, 09 Jun 2100 10:18:14 GMT", "b=\"2,3\"; Secure", "a=3"] {
            fields.add(.setCookie, cookie)
        }
        for challenge in ["Basic realm=\"a, b\"", "Digest realm=\"c\", nonce=\"d\""] {
            fields.add(.wwwAuthenticate, challenge)
        }
        for link in ["</2>; rel=\"next\"", "</0>; rel=prev"] { fields.add(.link, link) }
        for name in ["Accept", "X-Conformance-Key"] { fields.add(.vary, name) }
        return fields
    }()

    static let responses: [FilterDraft] = [
        FilterDraft("a response's fields stay separate, unchanged and in order", assuming: [.response]) { bench in
            for (status, method) in [(200, HTTPMethod.get), (201, .post), (400, .get), (403, .put)] {
                let transport = BenchTransport { request, _ in
                    HTTPResponse(to: request, status: status, headers: fields, body: HTTPBody(Data("body".utf8)))
                }
                let response = try await bench.send(BenchRequest(method: method), over: transport)
                for name in Set(fields.map(\.name)) {
                    try bench.equal(
                        response.headers.values(of: name), fields.values(of: name), "the field \(name) of \(status)")
                    try bench.equal(
                        response.headers.first { $0.name == name }?.name.rawName,
                        fields.first { $0.name == name }?.name.rawName, "the name of the field \(name)")
                }
                let order = response.headers.map(\.name).filter { fields.contains($0) }
                try bench.equal(order, fields.map(\.name), "the order of the fields")
            }
        },
        FilterDraft("a response keeps its URL, version and source", assuming: [.response]) { bench in
            let url = URL(string: "https://conformance.example/moved/7") ?? URL(filePath: "/")
            let stored = ResponseSource.stored("conformance", age: .seconds(7), reason: "it is fresh")
            for (source, delivery) in [
                (ResponseSource.network, BodyDelivery.data), (stored, .data), (ResponseSource("conformance"), .stream),
            ] {
                let inner = ClosureFilter(.wire) { _, _ in
                    HTTPResponse(
                        url: url, status: 200, headers: [.contentType: "text/plain"],
                        body: HTTPBody(Data("kept".utf8)), version: "3", source: source)
                }
                let response = try await bench.send(
                    BenchRequest(delivery: delivery), inside: [inner], over: BenchTransport())
                try bench.equal(response.source, source, "the source")
                try bench.equal(response.url, url, "the URL")
                try bench.equal(response.version, "3", "the version")
            }
        },
        FilterDraft("a streamed response keeps its length and the order of its bytes", assuming: [.response]) { bench in
            let bytes = ConformanceBench.pattern(64_000)
            for length in [Int64(bytes.count), nil] {
                let transport = BenchTransport { request, _ in
                    let pulled = Counter()
                    let body = HTTPBody(length: length) {
                        let start = (pulled.increment() - 1) * 1_000
                        return start < bytes.count ? bytes[start..<start + 1_000] : nil
                    }
                    return HTTPResponse(to: request, status: 200, headers: [.entityTag: "\"a\""], body: body)
                }
                let response = try await bench.send(BenchRequest(delivery: .stream), over: transport)
                try bench.equal(response.body.length, length, "the length of the stream")
                let data = try await response.body.collect(upTo: 1 << 20)
                try bench.expect(
                    data == bytes, "the bytes of the stream in their order", came: "\(data.count) different bytes")
            }
        },
        FilterDraft(
            "a streamed request body keeps its length, and is read only by the transport", assuming: [.body]
        ) { bench in
            for length in [Int64(4_000_000), nil] {
                let (pulled, lengths) = (Counter(), Watched<[Int64?]>([]))
                // Some transports respond before they have read the body.
                let early = ClosureFilter(.wire) { exchange, _ in
                    lengths.update { $0.append(exchange.http.body.length) }
                    return HTTPResponse(to: exchange.http, status: 200)
                }
                let body = RequestBody.stream(length: length) {
                    HTTPBody(length: length) { pulled.increment() <= 4_000 ? Data(repeating: 0x61, count: 1_000) : nil }
                }
                // A filter must not change a body with a content coding.
                let request = BenchRequest(method: .put, headers: [.contentEncoding: "identity"], body: body)
                _ = try await bench.send(request, inside: [early], over: BenchTransport())
                try bench.equal(lengths.read { $0 }.first, length, "the length of the body that is sent")
                let count = pulled.value
                try bench.expect(
                    count <= 100, "at most 100 of 4,000 chunks before the transport asks for one",
                    came: "\(count) chunks"
                )
            }
        },
        FilterDraft("concurrent equal calls each get their own stream") { bench in
            let gate = Gate()
            let transport = BenchTransport { request, _ in
                try await gate.wait()
                let pulled = Counter()
                let body = HTTPBody { pulled.increment() <= 20 ? Data(repeating: 0x61, count: 1_000) : nil }
                return HTTPResponse(to: request, status: 200, body: body)
            }
            let probe = BenchProbe(.call)
            let agent = try bench.agent(transport, outside: [probe], filter: bench.make())
            let readers = (0..<3).map { _ in
                Task {
                    let body = try await agent.send(BenchRequest(delivery: .stream), options: CallOptions()).value.body
                    return try await body.collect(upTo: 1 << 20).count
                }
            }
            try await probe.entered(3)
            try await bench.pause()
            gate.open()
            for reader in readers {
                let count: Int
                do { count = try await reader.value } catch {
                    throw ConformanceFailure(expected: "the stream of each call", came: "\(error)")
                }
                try bench.equal(count, 20_000, "the bytes of each stream")
            }
        },
        FilterDraft("a response is saved to the file that the request names") { bench in
            let bytes = ConformanceBench.pattern(50_000)
            let file = FileManager.default.temporaryDirectory.appending(
                path: "errand-conformance-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            let transport = BenchTransport { request, _ in
                HTTPResponse(to: request, status: 200, body: HTTPBody(bytes))
            }
            let response = try await bench.send(BenchRequest(delivery: .file(file)), over: transport)
            try bench.equal(response.body.file?.path, file.path, "the file")
            try bench.expect(try Data(contentsOf: file) == bytes, "the bytes in the file", came: "different bytes")
        },
    ]
}
