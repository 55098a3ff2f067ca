import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@testable import ErrandSigning

/// Behavior that users of other signers missed; the reports are in Tests/Lessons.md.
@Suite("Signatures in daily use", .endsInTime) struct SigningLessonsTests {
    private static let date = Date(timeIntervalSince1970: 1_440_938_160)

    private static func signer(_ service: String, token: String? = nil) -> AWSRequestSigner {
        AWSRequestSigner(
            region: "eu-central-1", service: service,
            credentials: AWSCredentials(accessKeyID: "AKID", secretAccessKey: "secret", sessionToken: token))
    }

    @Test(
        "a path's characters are encoded once for S3, and twice for other services",
        arguments: [
            (
                "/state=fl/city=orlando/data.json", "/state%3Dfl/city%3Dorlando/data.json",
                "/state%3Dfl/city%3Dorlando/data.json"
            ),
            ("/some-filename_(1).pdf", "/some-filename_%281%29.pdf", "/some-filename_%281%29.pdf"),
            ("/some-filename_%281%29.pdf", "/some-filename_%281%29.pdf", "/some-filename_%25281%2529.pdf"),
            ("/images/mac@2x.png", "/images/mac%402x.png", "/images/mac%402x.png"),
            ("/key%3F:colon", "/key%3F%3Acolon", "/key%253F%3Acolon"),
            ("/Singapore%20West", "/Singapore%20West", "/Singapore%2520West"),
            (
                "/dev/@connections/ZDb-VclrIAMCJ3w=", "/dev/%40connections/ZDb-VclrIAMCJ3w%3D",
                "/dev/%40connections/ZDb-VclrIAMCJ3w%3D"
            ), ("/a+b", "/a%2Bb", "/a%2Bb"), ("/a%2fb//c", "/a%2Fb//c", "/a%252fb/c"),
        ])
    func paths(path: String, s3: String, other: String) {
        #expect(CanonicalRequest.path(path, .s3) == s3)
        #expect(CanonicalRequest.path(path, .general) == other)
    }

    @Test(
        "characters of a query are encoded once",
        arguments: [
            ("prefix=%7Ba%7D", "prefix=%7Ba%7D"), ("prefix={a}", "prefix=%7Ba%7D"), ("filter=*", "filter=%2A"),
            ("token=a%2Bb%3D", "token=a%2Bb%3D"), ("q=a%20b", "q=a%20b"), ("b=2&b=1&a", "a=&b=1&b=2"),
        ])
    func queries(query: String, canonical: String) {
        #expect(CanonicalRequest.query(query[...]) == canonical)
    }

    @Test(
        "each service with S3's URLs follows S3's rules",
        arguments: [
            ("s3", true), ("s3express", true), ("s3-object-lambda", true), ("s3-outposts", true),
            ("execute-api", false), ("s3tables", false),
        ])
    func servicesOfS3(service: String, isS3: Bool) async throws {
        let signer = Self.signer(service)
        #expect(signer.pathRules == (isS3 ? .s3 : .general))
        var request = HTTPRequest(.get, address("https://a.example/Singapore%20West"))
        try await signer.sign(&request, at: Self.date)
        #expect(request.headers.contains("X-Amz-Content-SHA256") == isS3)
        // The signature of a presigned URL doesn't cover the body, so any body can be sent.
        let put = HTTPRequest(.put, address("https://a.example/o"), body: .data(Data("a".utf8), contentType: nil))
        let other = HTTPRequest(.put, address("https://a.example/o"), body: .data(Data("b".utf8), contentType: nil))
        let urls = try await [put, other].asyncMap {
            try await signer.presignedURL(for: $0, validFor: .seconds(60), at: Self.date)
        }
        #expect((urls[0] == urls[1]) == isS3)
    }

    @Test("the session token of a presigned URL is signed, except for AWS IoT, which wants it after the signature")
    func sessionTokens() async throws {
        let request = HTTPRequest(.get, address("https://a.example/mqtt"))
        func url(_ service: String, _ token: String?) async throws -> String {
            try await Self.signer(service, token: token).presignedURL(
                for: request, validFor: .seconds(60), at: Self.date
            ).absoluteString
        }
        let signed = try await url("execute-api", "a+b/c=")
        #expect(signed.contains("&X-Amz-Security-Token=a%2Bb%2Fc%3D&X-Amz-Signature="))
        let plain = try await url("iotdevicegateway", nil)
        #expect(try await url("iotdevicegateway", "a+b/c=") == plain + "&X-Amz-Security-Token=a%2Bb%2Fc%3D")
    }

    @Test("a presigned URL covers the port of its host and its own query items")
    func hostAndQuery() async throws {
        let signer = Self.signer("s3")
        func url(_ text: String) async throws -> String {
            let url = try await signer.presignedURL(
                for: HTTPRequest(.get, address(text)), validFor: .seconds(60), at: Self.date)
            return String(url.absoluteString.suffix(64))
        }
        let plain = try await url("https://a.example/o")
        #expect(try await url("https://a.example:443/o") == plain)
        for other in ["https://a.example:9000/o", "https://a.example/o?response-content-type=text%2Fplain"] {
            #expect(try await url(other) != plain)
        }
        let text = try CanonicalRequest(
            HTTPRequest(.get, address("https://a.example:9000/o?x=1")), rules: .s3, payload: "p"
        ).text
        #expect(text.contains("\nx=1\nhost:a.example:9000\n"))
    }

    @Test("a Host field that the app has set is signed once, and a colon in a path is encoded twice")
    func ownHost() throws {
        var request = HTTPRequest(.post, address("https://a.example/model/us.v1%3A0/invoke"))
        request.headers["Host"] = "b.example"
        let canonical = try CanonicalRequest(request, rules: .general, payload: "p")
        #expect(canonical.text.hasPrefix("POST\n/model/us.v1%253A0/invoke\n\nhost:b.example\n\nhost\np"))
        #expect(canonical.signedFields == "host")
    }

    @Test(
        "a signature covers an address as it's sent: in its usual form, and without its zone",
        arguments: [
            ("http://[0:0:0:0:0:0:0:1]:81/", "[::1]:81"), ("http://[FE80:0::1%25eth0]/", "[fe80::1]"),
            ("http://[::ffff:192.0.2.1]:80/", "[::ffff:192.0.2.1]"), ("http://127.1:81/", "127.0.0.1:81"),
            ("http://1.Example:81/", "1.example:81"), ("http://[::1]/", "[::1]"),
        ])
    func addresses(url: String, authority: String) throws {
        let request = HTTPRequest(.get, address(url))
        let canonical = try CanonicalRequest(request, rules: .general, payload: "p")
        #expect(canonical.text.contains("\nhost:\(authority)\n"))
        #expect(try RequestURLParts(url, host: []).authority == authority)
        // Other senders keep the spelling of the URL.
        var spelled = request
        spelled.headers["Host"] = String(url.dropFirst(7).prefix { $0 != "/" })
        try SignableMessage(spelled).checkHost()
        // A server sees the host that is sent.
        var received = HTTPRequest(.get, address("http://\(authority)/"))
        received.headers["Host"] = authority
        #expect(try RequestURLParts(received.urlText, host: [authority]).authority == authority)
    }

    @Test("a body that's signed in chunks declares it, next to its own coding, and the signature covers both")
    func chunkedCoding() async throws {
        for (own, coding) in [(nil, "aws-chunked"), ("gzip", "aws-chunked,gzip"), ("zstd", "aws-chunked,zstd")] {
            var request = HTTPRequest(
                .put, address("https://a.example/o"),
                body: .stream(HTTPBody(length: 3, source: Pieces(Data("abc".utf8), size: 2))))
            if let own { request.headers[.contentEncoding] = own }
            try await Self.signer("s3").sign(&request, at: Self.date)
            #expect(request.headers[.contentEncoding] == coding)
            #expect(request.headers[.authorization]?.contains("SignedHeaders=content-encoding;") == true)
        }
    }

    @Test("a query is sorted by name, then by value, and not by whole items")
    func sortedByName() {
        for query in ["a-b=1&a=2&a=1", "a=2&a-b=1&a=1", "a=1&a-b=1&a=2"] {
            #expect(CanonicalRequest.query(query[...]) == "a=1&a=2&a-b=1")
        }
        #expect(CanonicalRequest.query("a[1]=x&a=y&aZ=z&a%21=w") == "a=y&a%21=w&a%5B1%5D=x&aZ=z")
    }

    @Test("blanks of a field's value count once, several lines are a list, and a line break is refused")
    func fieldValues() throws {
        var request = HTTPRequest(.get, address("https://a.example/"))
        request.headers = ["X-Note": "  gzip,  deflate,\t   br  ", "Host": "a.example"]
        request.headers.add("X-Note", " b ")
        let canonical = try CanonicalRequest(request, rules: .general, payload: "")
        #expect(canonical.text.contains("\nx-note:gzip, deflate, br,b\n"))
        #expect(
            try SignableMessage(request).value(of: .field("x-note")) == "gzip,  deflate,\t   br, b")
        for text in ["a\r\n b", "a\n\tb", "a\u{0}"] {
            request.headers.set("X-Note", text)
            let invalid = request
            #expect(throws: SigningError.self) {
                try CanonicalRequest(invalid, rules: .general, payload: "")
            }
        }
    }

    @Test("a presigned URL has the lifetime that the app passes, also with a session token")
    func lifetime() async throws {
        for token in [nil, "a+b/c="] {
            let url = try await Self.signer("s3", token: token).presignedURL(
                for: HTTPRequest(.get, address("https://a.example/o")), validFor: .seconds(900), at: Self.date)
            #expect(url.absoluteString.contains("&X-Amz-Expires=900&"))
        }
    }

    @Test("a body that's signed in chunks is signed again from its start when it is sent again")
    func chunksAgain() async throws {
        let content = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0) })
        let sent = Log<(seed: String, bytes: Data)>()
        let transport = StubTransport { request in
            let bytes = try? await request.body.open().collect(upTo: 1 << 20)
            sent.add((request.headers[.authorization] ?? "", bytes ?? Data()))
            return sent.count == 1 ? .failure(ErrandError(.connectionLost, "lost")) : .text("ok")
        }
        var signer = Self.signer("s3")
        signer.chunkBytes = 8 << 10
        let again = ClosureFilter(.call) { exchange, next in
            do { return try await next(exchange) } catch { return try await next(exchange) }
        }
        let agent = NetworkAgent(
            baseURL: "https://a.example", transport: transport, filters: [again, .signing(signer)],
            time: ManualTimeSource())
        let body = RequestBody.stream(length: 20_000, contentType: nil) { HTTPBody(content) }
        _ = try await agent.send(Call<HTTPResponse>(.put, "o", body: body))
        #expect(sent.count == 2 && sent.all[0] == sent.all[1] && sent.all[0].bytes.count > 20_000)
    }
}

extension Array {
    fileprivate func asyncMap<Result>(_ body: (Element) async throws -> Result) async throws -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}
