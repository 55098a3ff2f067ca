import Errand
import ErrandEssentials
import ErrandTesting

extension FilterDraft {
    /// Header fields that a filter could mistake for its own fields.
    private static let fields: HTTPHeaders = [
        .accept: "application/vnd.conformance+json;q=0.9, text/*;q=0.1", .acceptLanguage: "tlh, de;q=0.5",
        .contentLanguage: "de", .contentType: "application/conformance; charset=\"utf-8\"",
        .ifMatch: "\"a,b\", W/\"c\"", .ifUnmodifiedSince: "Sat, 29 Oct 1994 19:43:31 GMT", "Prefer": "wait=10",
        "X-cOnFoRmAnCe": "a  b;c=\"d\\\"e\"", "X-Conformance-Empty": "", "X-Conformance-Text": "ä€ 🙂",
    ]

    /// JSON that is valid, but that an encoder would write in another way.
    static let json = #"{"b":1.0,"a":[1e2,-0,12345678901234567890.10],"b":"\u00e4\/ä","é":null }"#

    static let requests: [FilterDraft] = [
        FilterDraft("a URL reaches the transport unchanged", assuming: [.url]) { bench in
            let query = "b=2&a=1&b=1&empty=&bare&plus=a+b%20c&list%5B%5D=%C3%A4&t=12%3A30:15%2Cx,y"
            for path in ["orders/7", "a%2Fb/%c3%a4;v=1/~x", "x//y/", "7.json/../8/."] {
                let (plain, transport) = (BenchTransport(), BenchTransport())
                let request = BenchRequest(path: "\(path)?\(query)")
                _ = try await bench.control(request, over: plain)
                _ = try await bench.send(request, over: transport)
                let expected = plain.arrivals.first?.request.urlText.split(separator: "?", maxSplits: 1) ?? []
                for arrival in transport.ownArrivals {
                    let parts = arrival.request.urlText.split(separator: "?", maxSplits: 1)
                    try bench.equal(parts.first, expected.first, "the URL without its query")
                    // A filter may add its own query items.
                    let given = parts.dropFirst().first?.split(separator: "&") ?? []
                    let items = expected.dropFirst().first?.split(separator: "&") ?? []
                    try bench.equal(
                        given.filter { items.contains($0) }, items, "the query items in order")
                }
            }
        },
        FilterDraft("the request's fields reach the transport unchanged") { bench in
            let transport = BenchTransport()
            var headers = fields
            headers.add(.cookie, "conformance=1; other=\"2\"")
            headers.add("X-Conformance-List", "a, b")
            headers.add("X-Conformance-List", "c")
            for (method, body) in [(HTTPMethod.get, RequestBody.none), (.put, .text("conformance"))] {
                transport.forget()
                let request = BenchRequest(method: method, headers: headers, body: body)
                _ = try await bench.send(request, over: transport)
                let sent = transport.ownArrivals.first?.request.headers ?? [:]
                for name in Set(headers.map(\.name)) where name != .cookie {
                    try bench.equal(sent.values(of: name), headers.values(of: name), "the field \(name)")
                    let spelling = sent.first { $0.name == name }?.name.rawName
                    try bench.equal(
                        spelling, headers.first { $0.name == name }?.name.rawName, "the name of the field \(name)")
                }
                let cookies = sent.values(of: .cookie).joined(separator: "; ")
                for pair in ["conformance=1", "other=\"2\""] {
                    try bench.expect(cookies.contains(pair), "the cookies of the request", came: "different cookies")
                }
                try bench.expect(
                    transport.ownArrivals.first?.request.body.isNone == body.isNone,
                    body.isNone ? "no body for a request without one" : "the request's body",
                    came: body.isNone ? "a request with a body" : "no body")
            }
        },
        FilterDraft("a range request keeps its Range, and a partial response isn't returned as the whole") { bench in
            let whole = ConformanceBench.pattern(1_000)
            let transport = BenchTransport { request, _ in
                var headers: HTTPHeaders = [
                    .contentType: "application/octet-stream", .entityTag: "\"v1\"", .cacheControl: "max-age=600",
                ]
                guard let range = request.headers[.range] else {
                    return HTTPResponse(to: request, status: 200, headers: headers, body: HTTPBody(whole))
                }
                let (first, last) = range == "bytes=0-99" ? (0, 99) : (100, 199)
                headers[.contentRange] = "bytes \(first)-\(last)/1000"
                return HTTPResponse(to: request, status: 206, headers: headers, body: HTTPBody(whole[first...last]))
            }
            let agent = try bench.agent(transport, filter: bench.make())
            // Each range is requested before and after the other ranges, and after the whole resource.
            for (path, ranges) in [
                ("a", ["bytes=0-99", nil, "bytes=100-199"]), ("b", [nil, "bytes=0-99", "bytes=100-199", nil]),
            ] {
                for range in ranges {
                    let headers: HTTPHeaders = range.map { [.range: $0, .ifRange: "\"v1\""] } ?? [:]
                    transport.forget()
                    let response = try await agent.send(
                        BenchRequest(path: path, headers: headers), options: CallOptions()
                    ).value
                    for sent in transport.ownArrivals.map(\.request.headers) {
                        try bench.equal(sent[.range], range, "the field Range")
                        try bench.equal(sent[.ifRange], headers[.ifRange], "the field If-Range")
                    }
                    try bench.equal(response.status, range == nil ? 200 : 206, "the status for \(range ?? "the whole")")
                    let expected = range == nil ? whole : range == "bytes=0-99" ? whole[..<100] : whole[100..<200]
                    let data = try await response.body.collect(upTo: 1 << 20)
                    try bench.expect(
                        data == Data(expected), "the bytes for \(range ?? "the whole")",
                        came: "\(data.count) different bytes")
                    try await bench.pause()
                }
            }
        },
        FilterDraft(
            "the request's timeout, priority and delivery reach the transport",
            assuming: [.timeout, .priority, .delivery]
        ) { bench in
            for (timeout, priority, delivery) in [
                (Duration.seconds(7), RequestPriority.high, BodyDelivery.data), (.seconds(900), .low, .stream),
            ] {
                let transport = BenchTransport()
                let request = BenchRequest(delivery: delivery, timeout: timeout, priority: priority)
                _ = try await bench.send(request, over: transport).status
                for arrival in transport.ownArrivals {
                    try bench.equal(arrival.timeout, timeout, "the timeout")
                    try bench.equal(arrival.priority, priority, "the priority")
                    try bench.equal(arrival.delivery, delivery, "the delivery")
                }
            }
        },
        FilterDraft("JSON is sent and received byte for byte", assuming: [.body, .response]) { bench in
            // This JSON is unusual. A filter that doesn't read or write JSON must not interpret its numbers, escapes,
            // and duplicate names.
            let texts = [json, "[\(json), \(json)]\n", "7.10", "\"\\u0000\\ud83d\\ude42\"", "not JSON"]
            for text in texts {
                for method in [HTTPMethod.get, .post] {
                    let transport = BenchTransport { request, _ in
                        let headers: HTTPHeaders = [.contentType: "application/json", .contentEncoding: "identity"]
                        return HTTPResponse(
                            to: request, status: 200, headers: headers, body: HTTPBody(Data(text.utf8)))
                    }
                    let body: RequestBody =
                        method == .get ? .none : .text(text, contentType: "application/json")
                    // A filter must not change a body with a content coding.
                    let request = BenchRequest(
                        method: method, headers: method == .get ? [:] : [.contentEncoding: "identity"], body: body)
                    let response = try await bench.send(request, over: transport)
                    for arrival in transport.ownArrivals where method == .post {
                        try bench.equal(String(decoding: arrival.body, as: UTF8.self), text, "the JSON that was sent")
                    }
                    let received = try await response.body.collect(upTo: 1 << 20)
                    try bench.equal(String(decoding: received, as: UTF8.self), text, "the JSON that was received")
                }
            }
        },
    ]
}
