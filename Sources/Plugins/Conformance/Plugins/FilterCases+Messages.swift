import Errand
import ErrandEssentials
import ErrandTesting

extension FilterDraft {
    static let messages: [FilterDraft] = [
        FilterDraft("a response keeps its status, its fields and its bytes", assuming: [.response]) { bench in
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
        FilterDraft("a status passes, whatever it is", assuming: [.response]) { bench in
            for status in [200, 202, 204, 206, 304, 404, 410, 418, 451, 500] {
                let transport = BenchTransport { request, _ in HTTPResponse(to: request, status: status) }
                let response = try await bench.send(BenchRequest(method: .post), over: transport)
                try bench.equal(response.status, status, "the status")
            }
        },
        FilterDraft("a response without a body stays without one, to HEAD, with 204 and with 304") { bench in
            for (method, status) in [(HTTPMethod.head, 200), (.get, 204), (.get, 304)] {
                let transport = BenchTransport { request, _ in
                    // Like a server, gives requests with another method a body.
                    if request.method == method, status != 200 { return HTTPResponse(to: request, status: status) }
                    return .text("body", for: request)
                }
                let response = try await bench.send(BenchRequest(method: method), over: transport)
                let data = try await response.body.collect(upTo: 1 << 20)
                try bench.expect(
                    data.isEmpty, "no body in a response to \(method) with \(status)", came: "\(data.count) bytes")
                try bench.equal(transport.arrivals.map(\.request.method), [method], "the methods that were sent")
            }
        },
        FilterDraft("a request keeps its method, its path and its body", assuming: [.method, .url, .body]) { bench in
            let transport = BenchTransport()
            let request = BenchRequest(method: .post, path: "orders/7", body: .text("conformance"))
            _ = try await bench.send(request, over: transport)
            let arrivals = transport.arrivals
            try bench.equal(arrivals.map(\.request.method), [.post], "the methods that were sent")
            for arrival in arrivals {
                let url = arrival.request.url
                try bench.expect(url.path.hasSuffix("orders/7"), "a path that ends with orders/7", came: url.path)
                try bench.equal(String(decoding: arrival.body, as: UTF8.self), "conformance", "the body")
            }
        },
        FilterDraft("fields that it does not know reach the transport, each of them") { bench in
            let transport = BenchTransport()
            var headers: HTTPHeaders = ["X-Conformance-Plain": "plain"]
            headers.add(BenchRequest.trace, "one")
            headers.add(BenchRequest.trace, "two")
            _ = try await bench.send(BenchRequest(headers: headers), over: transport)
            let sent = transport.arrivals.first?.request.headers ?? [:]
            try bench.equal(sent.values(of: "X-Conformance-Plain"), ["plain"], "an unknown field")
            try bench.equal(sent.values(of: BenchRequest.trace), ["one", "two"], "a field that appears twice")
        },
        FilterDraft("a field that is marked as sensitive stays so") { bench in
            let transport = BenchTransport()
            _ = try await bench.send(.secret(), over: transport)
            let field = transport.arrivals.first?.request.headers.first { $0.name == BenchRequest.key }
            try bench.equal(field?.value, BenchRequest.secrets[1], "the value of a sensitive field")
            try bench.expect(field?.isSensitive == true, "the mark of a sensitive field", came: "a field without it")
        },
        FilterDraft("tags that it does not know reach the transport", assuming: [.tags]) { bench in
            let transport = BenchTransport()
            let mark = BenchMark()
            _ = try await bench.send(BenchRequest(tags: Tags().with(BenchTag.self, mark)), over: transport)
            let arrived = transport.arrivals.first?.tags[BenchTag.self]
            try bench.expect(arrived === mark, "the tag at the transport", came: "none")
        },
    ]
}
