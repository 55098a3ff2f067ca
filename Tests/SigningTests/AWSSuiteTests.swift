import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@testable import ErrandSigning

/// The cases and the signatures are those of AWS's test suite for Signature Version 4, and of the documentation of S3.
@Suite("The test suite of AWS", .endsInTime) struct AWSSuiteTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        var method: HTTPMethod = .get
        var target = "/"
        var headers: [(HTTPHeaderName, String)] = []
        var body = ""
        var token: String?
        let signature: String
        var testDescription: String { name }
    }

    private static let date = Date(timeIntervalSince1970: 1_440_938_160)
    private static let vanilla = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
    private static let post = "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
    static let unreserved = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    private static let ordered = "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"

    /// The cases whose path the general rules treat as the suite does.
    private static let cases: [Case] = [
        Case(
            name: "get-header-value-multiline",
            headers: [("My-Header1", "value1"), ("My-Header1", "value2"), ("My-Header1", "value3")],
            signature: "ba17b383a53190154eb5fa66a1b836cc297cc0a3d70a5d00705980573d8ff790"),
        Case(
            name: "get-vanilla-query-order-encoded", target: "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
            signature: "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac"),
        Case(name: "post-header-key-case", method: .post, signature: post),
        Case(
            name: "post-sts-header-before", method: .post, token: stsToken,
            signature: "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"),
        Case(
            name: "post-vanilla-empty-query-value", method: .post, target: "/?Param1=value1",
            signature: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"),
        Case(
            name: "get-vanilla-with-session-token", token: sessionToken,
            signature: "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"),
        Case(name: "get-vanilla", signature: vanilla),
        Case(name: "get-vanilla-query", signature: vanilla),
        Case(
            name: "get-vanilla-empty-query-key", target: "/?Param1=value1",
            signature: "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"),
        Case(
            name: "get-vanilla-query-order-key", target: "/?Param1=value2&Param1=Value1",
            signature: "eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1"),
        Case(name: "get-vanilla-query-order-key-case", target: "/?Param2=value2&Param1=value1", signature: ordered),
        Case(
            name: "get-vanilla-query-order-value", target: "/?Param1=value2&Param1=value1",
            signature: "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694"),
        Case(
            name: "get-vanilla-query-unreserved", target: "/?\(unreserved)=\(unreserved)",
            signature: "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"),
        Case(
            name: "get-vanilla-utf8-query", target: "/?%E1%88%B4=bar",
            signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"),
        Case(
            name: "get-unreserved", target: "/\(unreserved)",
            signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"),
        Case(name: "get-relative", target: "/example/..", signature: vanilla),
        Case(name: "get-relative-relative", target: "/example1/example2/../..", signature: vanilla),
        Case(name: "get-slash", target: "//", signature: vanilla),
        Case(name: "get-slash-dot-slash", target: "/./", signature: vanilla),
        Case(
            name: "get-slash-pointless-dot", target: "/./example",
            signature: "ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5"),
        Case(
            name: "get-slashes", target: "//example//",
            signature: "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"),
        Case(
            name: "get-header-key-duplicate",
            headers: [("My-Header1", "value2"), ("My-Header1", "value2"), ("My-Header1", "value1")],
            signature: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"),
        Case(
            name: "get-header-value-order",
            headers: [
                ("My-Header1", "value4"), ("My-Header1", "value1"), ("My-Header1", "value3"), ("My-Header1", "value2"),
            ],
            signature: "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"),
        Case(
            name: "get-header-value-trim",
            headers: [("My-Header1", " value1"), ("My-Header2", #" "a   b   c""#)],
            signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"),
        Case(name: "post-vanilla", method: .post, signature: post),
        Case(name: "post-sts-header-after", method: .post, signature: post),
        Case(
            name: "post-vanilla-query", method: .post, target: "/?Param1=value1",
            signature: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"),
        Case(
            name: "post-header-key-sort", method: .post, headers: [("My-Header1", "value1")],
            signature: "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"),
        Case(
            name: "post-header-value-case", method: .post, headers: [("My-Header1", "VALUE1")],
            signature: "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"),
        Case(
            name: "post-x-www-form-urlencoded", method: .post,
            headers: [("Content-Type", "application/x-www-form-urlencoded")], body: "Param1=value1",
            signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
        Case(
            name: "post-x-www-form-urlencoded-parameters", method: .post,
            headers: [("Content-Type", "application/x-www-form-urlencoded; charset=utf8")], body: "Param1=value1",
            signature: "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe"),
    ]

    private static let credentials = AWSCredentials(
        accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")

    private static func signer(token: String? = nil) -> AWSRequestSigner {
        AWSRequestSigner(
            region: "us-east-1", service: "service",
            credentials: AWSCredentials(
                accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                sessionToken: token))
    }

    private func request(_ test: Case) -> HTTPRequest {
        var request = HTTPRequest(
            test.method, address("https://example.amazonaws.com\(test.target)"),
            headers: HTTPHeaders(test.headers.map { HTTPHeaders.Field($0, $1) }))
        if !test.body.isEmpty { request.body = .data(Data(test.body.utf8), contentType: nil) }
        return request
    }

    @Test("each case has the signature that AWS publishes", arguments: cases)
    func published(test: Case) async throws {
        var request = request(test)
        try await Self.signer(token: test.token).sign(&request, at: Self.date)
        let authorization = try #require(request.headers[.authorization])
        #expect(authorization.hasSuffix("Signature=\(test.signature)"))
        #expect(
            authorization.hasPrefix(
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders="))
        #expect(request.headers["X-Amz-Date"] == "20150830T123600Z")
    }

    @Test("percent-encoded paths have the form that AWS publishes") func paths() {
        // The suite has paths with a space and with another script, which AWS encodes once.
        #expect(CanonicalRequest.path("/example%20space/", .s3) == "/example%20space/")
        #expect(CanonicalRequest.path("/%e1%88%b4", .s3) == "/%E1%88%B4")
        #expect(CanonicalRequest.path("/%E1%88%B4", .general) == "/%25E1%2588%25B4")
        #expect(CanonicalRequest.path("/a%2Fb/(c)", .s3) == "/a%2Fb/%28c%29")
        #expect(CanonicalRequest.path("//a/../b/.", .s3) == "//a/../b/.")
        #expect(CanonicalRequest.path("/%FF", .s3) == "/%FF")
        #expect(CanonicalRequest.path("/a/b/..", .general) == "/a/")
        #expect(CanonicalRequest.query("b&a=1&a=+&c=%zz&=d&&e=f=g") == "=d&a=%20&a=1&b=&c=%25zz&e=f%3Dg")
    }

    @Test("each case whose path isn't normalized has the signature that AWS publishes", arguments: plainCases)
    func publishedAsItIs(test: Case) throws {
        var request = request(test)
        let time = AWSTimestamp(Self.date)
        request.headers.set("X-Amz-Date", time.text)
        let canonical = try CanonicalRequest(request, rules: .s3, payload: try AWSSigningKey.digest(Data()))
        let key = try AWSSigningKey(Self.credentials, time, region: "us-east-1", service: "service")
        let scope = "20150830/us-east-1/service/aws4_request"
        #expect(try key.signature(of: canonical, time, scope) == test.signature)
    }

    @Test("each case that's signed in the query has the signature that AWS publishes", arguments: presignedCases)
    func publishedInQuery(test: Case) async throws {
        let url = try await Self.signer(token: test.token).presignedURL(
            for: request(test), validFor: .seconds(3600), at: Self.date)
        #expect(url.absoluteString.hasSuffix("&X-Amz-Signature=\(test.signature)"))
    }

    @Test("the suite is complete: 40 cases, of which some are in newer versions only") func count() {
        let names = (Self.cases + Self.plainCases).map(\.name)
        #expect(Set(names).count == 40 && names.count == 40 && Self.presignedCases.count == 15)
    }

    // MARK: S3

    private static let s3Date = Date(timeIntervalSince1970: 1_369_353_600)
    private static let s3 = AWSRequestSigner(
        region: "us-east-1", service: "s3",
        credentials: AWSCredentials(
            accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"))

    @Test(
        "the S3 examples of an object, an upload and two listings are correct",
        arguments: [
            (
                "GET", "/test.txt", "Range", "bytes=0-9", "",
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
            ),
            (
                "PUT", "/test%24file.text", "x-amz-storage-class", "REDUCED_REDUNDANCY", "Welcome to Amazon S3.",
                "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
            ),
            ("GET", "/?lifecycle", "", "", "", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
            (
                "GET", "/?max-keys=2&prefix=J", "", "", "",
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
            ),
        ])
    func s3(
        method: String, target: String, name: String, value: String, body: String, signature: String
    ) async throws {
        var request = HTTPRequest(
            HTTPMethod(rawValue: method), address("https://examplebucket.s3.amazonaws.com\(target)"))
        if !name.isEmpty { request.headers[HTTPHeaderName(name)] = value }
        if !body.isEmpty {
            request.headers[.date] = "Fri, 24 May 2013 00:00:00 GMT"
            request.body = .data(Data(body.utf8), contentType: nil)
        }
        try await Self.s3.sign(&request, at: Self.s3Date)
        #expect(request.headers[.authorization]?.hasSuffix("Signature=\(signature)") == true)
    }

    @Test("the S3 example of a presigned URL is correct") func presigned() async throws {
        let url = try await Self.s3.presignedURL(
            for: HTTPRequest(.get, address("https://examplebucket.s3.amazonaws.com/test.txt")),
            validFor: .seconds(86400), at: Self.s3Date)
        #expect(
            url.absoluteString.hasSuffix(
                "&X-Amz-SignedHeaders=host"
                    + "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"))
        #expect(HTTPRequest(.get, url).description.contains("aeeed9") == false)
        for seconds in [0, 604_801] {
            #expect(
                await failure {
                    _ = try await Self.s3.presignedURL(for: HTTPRequest(.get, url), validFor: .seconds(seconds))
                } == .invalidOptions)
        }
    }

    @Test("the S3 example of an upload in chunks is correct", arguments: [1, 1000, 65536, 70000]) func chunks(size: Int)
        async throws
    {
        let data = Data(repeating: UInt8(ascii: "a"), count: 66560)
        let body = RequestBody.stream(length: 66560, contentType: nil) {
            HTTPBody(length: 66560, source: Pieces(data, size: size))
        }
        var request = HTTPRequest(
            .put, address("https://s3.amazonaws.com/examplebucket/chunkObject.txt"),
            headers: ["x-amz-storage-class": "REDUCED_REDUNDANCY"], body: body)
        try await Self.s3.sign(&request, at: Self.s3Date)
        #expect(
            request.headers[.authorization]?.hasSuffix(
                "Signature=4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9") == true)
        #expect(request.headers[.contentEncoding] == "aws-chunked")
        #expect(request.headers[.contentLength] == "66824")
        #expect(request.body.length == 66824)
        #expect(request.headers["X-Amz-Decoded-Content-Length"] == "66560")
        for _ in 0..<2 {
            let sent = String(decoding: try await request.body.open().collect(upTo: 1 << 20), as: UTF8.self)
            #expect(sent.utf8.count == 66824)
            #expect(
                sent.replacing("a" + String(repeating: "a", count: 999), with: "") == "10000;chunk-signature="
                    + "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n"
                    + String(repeating: "a", count: 536) + "\r\n400;chunk-signature="
                    + "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n"
                    + String(repeating: "a", count: 24) + "\r\n0;chunk-signature="
                    + "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n")
        }
    }

    @Test(
        "the length of a chunked body is the announced length", arguments: [0, 1, 8191, 8192, 8193, 16384, 100_000])
    func lengths(count: Int) async throws {
        var signer = Self.s3
        signer.chunkBytes = 8192
        let data = Data(count: count)
        let body = RequestBody.stream(HTTPBody(length: Int64(count), source: Pieces(data, size: 999)))
        var request = HTTPRequest(.put, address("https://s3.amazonaws.com/b/o"), body: body)
        try await signer.sign(&request, at: Self.s3Date)
        let sent = try await request.body.open().collect(upTo: 1 << 20)
        #expect(Int64(sent.count) == request.body.length)
        #expect(!request.body.isReplayable)
    }

    @Test("a body that isn't in memory is refused, read twice, or left out, as the payload option specifies")
    func payloads()
        async throws
    {
        let url = address("https://example.amazonaws.com/")
        func signed(_ body: RequestBody, _ change: (inout AWSRequestSigner) -> Void = { _ in }) async throws
            -> HTTPRequest
        {
            var signer = Self.signer()
            change(&signer)
            var request = HTTPRequest(.put, url, body: body)
            try await signer.sign(&request, at: Self.date)
            return request
        }
        let stream = RequestBody.stream { HTTPBody(next: Pieces(Data("Param1=value1".utf8), size: 3).nextChunk) }
        #expect(await failure { _ = try await signed(stream) } == .unknownDigest)
        #expect(await failure { _ = try await signed(stream) { $0.pathRules = .s3 } } == .unknownLength)
        let once = RequestBody.stream(HTTPBody(next: { nil }))
        #expect(await failure { _ = try await signed(once) { $0.payload = .signedAfterReading } } == .unknownDigest)
        let read = try await signed(stream) { $0.payload = .signedAfterReading }
        let memory = try await signed(.data(Data("Param1=value1".utf8)))
        #expect(read.headers[.authorization] == memory.headers[.authorization])
        #expect(
            try await signed(stream) { $0.payload = .unsigned }.headers["X-Amz-Content-SHA256"] == "UNSIGNED-PAYLOAD")
        var known = HTTPRequest(.put, url, body: stream)
        known.headers["x-amz-content-sha256"] = String(repeating: "0", count: 64)
        try await Self.signer().sign(&known, at: Self.date)
        #expect(known.headers[.authorization]?.contains("x-amz-content-sha256") == true)
        var taken = HTTPRequest(.get, url, headers: ["Authorization": "Basic eA=="])
        #expect(await failure { try await Self.signer().sign(&taken, at: Self.date) } == .fieldInUse)
        var injected = HTTPRequest(.get, url, headers: ["X": "a\nhost:evil"])
        #expect(await failure { try await Self.signer().sign(&injected, at: Self.date) } == .invalidValue)
    }

    @Test(
        "dates are written as AWS reads them",
        arguments: [
            (0.0, "19700101T000000Z"), (951_782_400, "20000229T000000Z"), (951_868_800, "20000301T000000Z"),
            (4_107_542_399, "21000228T235959Z"), (4_107_542_400, "21000301T000000Z"),
            (1_735_689_599.9, "20241231T235959Z"),
            (-1, "19691231T235959Z"),
        ])
    func dates(seconds: Double, text: String) {
        #expect(AWSTimestamp(Date(timeIntervalSince1970: seconds)).text == text)
    }
}
