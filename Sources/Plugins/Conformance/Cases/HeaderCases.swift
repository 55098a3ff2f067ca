import Errand
import ErrandEssentials
import ErrandTesting

enum HeaderCases {
    static let latin1 = "a field value that isn't UTF-8 is read as Latin-1"

    static let all: [ConformanceDraft] = [
        ConformanceDraft(.headers, "fields with the same name are all kept, in order") { bench in
            bench.server.on("/many", TestResponse.text("ok").header("X-Part", "a").header("X-Part", "b, c"))
            let received = try await bench.exchange(.get, "/many")
            try bench.equal(received.headers["X-Part"], "a, b, c", "X-Part")
        },
        ConformanceDraft(.headers, "Set-Cookie fields stay separate, even with commas in their dates") { bench in
            let cookies = ["a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Path=/", "b=2", "c=3; HttpOnly"]
            var response = TestResponse.text("ok")
            for cookie in cookies { response = response.header(.setCookie, cookie) }
            bench.server.on("/cookies", response)
            let received = try await bench.exchange(.get, "/cookies")
            try bench.equal(received.headers.values(of: .setCookie), cookies, "Set-Cookie")
        },
        ConformanceDraft(.headers, "field names are case-insensitive, and whitespace around values is removed") {
            bench in
            bench.server.on(
                "/raw", .raw("HTTP/1.1 200 OK\r\nX-SHOUT:  \t loud \t \r\nx-empty:\r\nContent-Length: 2\r\n\r\nok"))
            let received = try await bench.exchange(.get, "/raw")
            try bench.equal(received.headers["x-shout"], "loud", "x-shout")
            try bench.equal(received.headers["X-Empty"], "", "X-Empty")
            try bench.equal(received.text, "ok", "the body")
        },
        ConformanceDraft(.headers, latin1) { bench in
            var bytes = Data("HTTP/1.1 200 OK\r\nX-Name: caf".utf8)
            bytes += [0xE9] + Data("\r\nContent-Length: 2\r\n\r\nok".utf8)
            bench.server.on("/latin1", .raw(bytes))
            let received = try await bench.exchange(.get, "/latin1")
            try bench.equal(received.headers["X-Name"], "caf\u{E9}", "X-Name")
            try bench.equal(received.text, "ok", "the body")
        },
        ConformanceDraft(.headers, "a response without header fields is accepted") { bench in
            bench.server.on("/bare", .raw("HTTP/1.1 200 OK\r\n\r\nbare"))
            try bench.equal(try await bench.exchange(.get, "/bare").text, "bare", "the body")
        },
        ConformanceDraft(.headers, "60 KB of header fields arrive complete") { bench in
            var response = TestResponse.text("ok")
            let value = String(repeating: "v", count: 500)
            for index in 0..<100 { response = response.header(HTTPHeaderName("X-Field-\(index)"), value + "\(index)") }
            response = response.header("X-Long", String(repeating: "l", count: 8_000))
            bench.server.on("/huge", response)
            let received = try await bench.exchange(.get, "/huge")
            for index in 0..<100 {
                let came = received.headers[HTTPHeaderName("X-Field-\(index)")]
                try bench.equal(came, value + "\(index)", "field \(index)")
            }
            try bench.equal(received.headers["X-Long"]?.count, 8_000, "the length of X-Long")
        },
        ConformanceDraft(.headers, "the request's fields are sent unchanged") { bench in
            let headers: HTTPHeaders = [
                "X-Plain": "value", "X-Spaces": "a  b\tc", "X-Symbols": "!#$%&'*+-.^_`|~ \"(),/:;<=>?@[\\]{}",
                "X-Two": "1", "X-Two": "2", .accept: "text/plain;q=0.5, */*", .userAgent: "Conformance/1",
            ]
            bench.server.on("/echo", .text("ok"))
            _ = try await bench.exchange(.get, "/echo", headers: headers)
            let came = try await bench.server.nextRequest().headers
            for name in ["X-Plain", "X-Spaces", "X-Symbols", .accept, .userAgent] as [HTTPHeaderName] {
                try bench.equal(came.values(of: name), headers.values(of: name), "\(name)")
            }
            let two = came["X-Two"]?.filter { $0 != " " }
            try bench.equal(two, "1,2", "X-Two")
            try bench.equal(came.values(of: .host).count, 1, "Host fields")
        },
        ConformanceDraft(.headers, "the request's method is sent unchanged, even an unknown one") { bench in
            bench.server.on("/method", .text("ok"))
            for method in [.get, .put, .delete, .options, .patch, .post, "PROPFIND", "PURGE"] as [HTTPMethod] {
                _ = try await bench.exchange(method, "/method")
                try bench.equal(try await bench.server.nextRequest().method, method, "the method")
            }
        },
        ConformanceDraft(.headers, "the path and the query are sent with their percent-encoding unchanged") { bench in
            bench.server.on("*", .text("ok"))
            for target in ["/", "/a%2Fb/c%20d", "/x?q=a%26b&e=%20&p=1+1", "/%E4%BD%A0?k=%E5%A5%BD", "/a;b=c,d?x&y="] {
                _ = try await bench.exchange(.get, target)
                try bench.equal(try await bench.server.nextRequest().target, target, "the target")
            }
        },
        ConformanceDraft(.headers, "an empty path is sent as /, and a fragment isn't sent") { bench in
            bench.server.on("*", .text("ok"))
            let targets = [
                ("", "/"), ("?a=1", "/?a=1"), ("/a#b", "/a"), ("/a?b=1#c?d/e", "/a?b=1"), ("#a", "/"), ("/?#", "/?"),
            ]
            for (end, target) in targets {
                guard let url = URL(string: bench.server.url + end) else { continue }
                _ = try await bench.transport.send(HTTPRequest(.get, url), options: TransportOptions())
                let came = try await bench.server.nextRequest()
                try bench.equal(came.target, target, "the target of a URL that ends with \"\(end)\"")
                try bench.equal(came.headers[.host], "127.0.0.1:\(bench.server.port)", "Host")
            }
        },
        ConformanceDraft(.headers, "an IPv6 address is a host like any other, with brackets in Host") { bench in
            var configuration = TestServer.Configuration()
            configuration.usesIPv6 = true
            // Some systems don't have the address ::1.
            guard let server = try? TestServer(configuration), let url = URL(string: server.url("/ok")) else { return }
            server.on("/ok", .text("ok"))
            let response = try await bench.transport.send(HTTPRequest(.get, url), options: TransportOptions())
            try bench.equal(try await response.body.collect(upTo: 100), Data("ok".utf8), "the body")
            try bench.equal(try await server.nextRequest().headers[.host], "[::1]:\(server.port)", "Host")
        },
    ]
}

/// Tests responses that transports must leave to the core and to filters. See ``Transport``.
enum NeutralityCases {
    static let early = "the head of a redirect is returned before its body arrives"
    static let nowhere = "a redirect with a missing or empty Location keeps its body"

    static let all: [ConformanceDraft] = [
        ConformanceDraft(.neutrality, "a redirect is returned and not followed") { bench in
            bench.server.on("/target", .text("followed"))
            for status in [301, 302, 303, 307, 308] {
                bench.server.on("/moved", TestResponse.text("moved", status: status).header(.location, "/target"))
                for body in [RequestBody.none, .text("payload")] {
                    let received = try await bench.exchange(body.isNone ? .get : .post, "/moved", body: body)
                    try bench.equal(received.status, status, "the status")
                    try bench.equal(received.headers[.location], "/target", "Location")
                    try bench.equal(received.text, "moved", "the body")
                    try bench.equal(try await bench.server.nextRequest().path, "/moved", "the path asked for")
                }
            }
        },
        ConformanceDraft(.neutrality, "a redirect with a missing or invalid Location is returned, not an error") {
            bench in
            for location in [nil, "", "http://", "http://[broken", "http://a b/"] as [String?] {
                var response = TestResponse.status(302, headers: ["X-Seen": "yes"])
                if let location { response = response.header(.location, location) }
                bench.server.on("/lost", response)
                let request = try bench.request(.get, "/lost")
                let received = try await bench.viaAgent(request)
                try bench.equal(received.status, 302, "the status with the Location \(location ?? "missing")")
                try bench.equal(received.headers["X-Seen"], "yes", "X-Seen")
            }
        },
        ConformanceDraft(.neutrality, nowhere) { bench in
            for location in [nil, ""] as [String?] {
                var response = TestResponse.text("moved", status: 302)
                if let location { response = response.header(.location, location) }
                bench.server.on("/lost", response)
                for delivery in FramingCases.deliveries {
                    let received = try await bench.exchange(.get, "/lost", delivery: delivery)
                    try bench.equal(received.text, "moved", "the body with the Location \(location ?? "missing")")
                }
            }
        },
        ConformanceDraft(.neutrality, early) { bench in
            let gate = Gate()
            let response = TestResponse.text("moved", status: 302).header(.location, "/target")
            bench.server.on("/moved", response.waiting(for: gate, afterBodyBytes: 0))
            let received = try await bench.stream("/moved")
            try bench.equal(received.status, 302, "the status")
            gate.open()
            try bench.equal(try await received.body.collect(upTo: 100), Data("moved".utf8), "the body")
        },
        ConformanceDraft(.neutrality, "an authentication challenge is returned with its body") { bench in
            for challenge in ["Basic realm=\"here\"", "Digest realm=\"d\", nonce=\"n\"", "Bearer", "Unknown x=1", ""] {
                let response = TestResponse.text("who are you?", status: 401).header(.wwwAuthenticate, challenge)
                bench.server.on("/private", response)
                for delivery in FramingCases.deliveries {
                    let came = try await bench.exchange(.get, "/private", delivery: delivery)
                    try bench.equal(came.status, 401, "the status")
                    try bench.equal(came.text, "who are you?", "the body")
                    try bench.equal(came.headers[.wwwAuthenticate], challenge, "WWW-Authenticate")
                }
            }
            bench.server.on("/private", .text("no", status: 401))
            let posted = try await bench.exchange(.post, "/private", body: .text("payload"))
            try bench.equal(posted.status, 401, "the status of a 401 without a challenge")
        },
        ConformanceDraft(.neutrality, "credentials are sent unchanged, and not added to the next request") { bench in
            bench.server.on("/private", .basicAuth(user: "ada", password: "secret"))
            let value = "Basic " + Data("ada:secret".utf8).base64EncodedString()
            let received = try await bench.exchange(.get, "/private", headers: [.authorization: value])
            try bench.equal(received.status, 200, "the status")
            _ = try await bench.exchange(.get, "/ok")
            let second = try await bench.server.wait(forRequests: 2)[1]
            try bench.equal(
                second.headers[.authorization], nil, "Authorization of the request after the one with credentials")
        },
        ConformanceDraft(.neutrality, "cookies from Set-Cookie aren't added to later requests") { bench in
            bench.server.on("/set", TestResponse.text("ok").header(.setCookie, "session=1; Path=/"))
            _ = try await bench.exchange(.get, "/set")
            _ = try await bench.exchange(.get, "/ok")
            let second = try await bench.server.wait(forRequests: 2)[1]
            try bench.equal(second.headers[.cookie], nil, "Cookie")
        },
        ConformanceDraft(.neutrality, "a response isn't returned again when the server can't be reached") { bench in
            bench.server.on("/mine", .text("the account of one"))
            func request(_ user: String) throws -> HTTPRequest {
                try bench.request(.get, "/mine", headers: [.authorization: "Bearer \(user)"])
            }
            let requests = [try request("one"), try request("two")]
            for _ in 0..<2 { _ = try await bench.viaAgent(requests[0]) }
            bench.server.stop()
            for request in requests.reversed() {
                try await bench.failure(of: "a request to a server that has gone") {
                    try await bench.viaAgent(request)
                }
            }
        },
        ConformanceDraft(.neutrality, "a fresh response isn't reused for the next request") { bench in
            bench.server.on("/fresh") { request in
                TestResponse.text("\(request.index)").header(.cacheControl, "max-age=3600").header(.entityTag, "\"v\"")
            }
            let bodies = [try await bench.exchange(.get, "/fresh").text, try await bench.exchange(.get, "/fresh").text]
            try bench.equal(bench.server.requestCount, 2, "requests at the server")
            try bench.expect(
                bench.server.received.allSatisfy { !$0.headers.contains(.ifNoneMatch) },
                "no If-None-Match added by the transport",
                came: "\(bodies)")
        },
    ]
}
