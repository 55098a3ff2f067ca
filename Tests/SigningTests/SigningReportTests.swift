import Errand
import ErrandEssentials
import ErrandHTTPFields
import ErrandKeys
import ErrandTesting
import Testing

@testable import ErrandSigning

/// Signatures that servers refused to users of other signers; the reports are in Tests/Lessons.md.
@Suite("Signatures that servers refused", .endsInTime) struct SigningReportTests {
    private static let date = Date(timeIntervalSince1970: 1_440_938_160)

    @Test(
        "the name of an object is signed unchanged, and other services get a path without empty segments",
        arguments: [
            ("/x/.", "/x/.", "/x/"), ("/123//456", "/123//456", "/123/456"),
            ("//some/path", "//some/path", "/some/path"),
            ("//fred//..//tes!$&t", "//fred//..//tes%21%24%26t", "/tes%21%24%26t"),
            ("/my-object//example//photo.user", "/my-object//example//photo.user", "/my-object/example/photo.user"),
        ])
    func paths(path: String, s3: String, other: String) throws {
        #expect(CanonicalRequest.path(path, .s3) == s3)
        #expect(CanonicalRequest.path(path, .general) == other)
        let request = HTTPRequest(.put, address("https://a.example\(path)"))
        let canonical = try CanonicalRequest(request, rules: .s3, payload: "UNSIGNED-PAYLOAD")
        #expect(canonical.text.hasPrefix("PUT\n\(s3)\n\n"), "\(canonical.text)")
    }

    @Test(
        "the items of a query are sorted by their encoded names, and then by their values",
        arguments: [
            ("select-type=2&select=", "select=&select-type=2"),
            ("params[page]=1&params[pageSize]=20", "params%5Bpage%5D=1&params%5BpageSize%5D=20"),
            ("b=1&F=2&a=3&a=10&a=1", "F=2&a=1&a=10&a=3&b=1"), ("a%7E=1&a!=2&aB=3&a=4", "a=4&a%21=2&aB=3&a~=1"),
            ("Param1=value2&Param1=Value1", "Param1=Value1&Param1=value2"),
        ])
    func queries(query: String, canonical: String) { #expect(CanonicalRequest.query(query[...]) == canonical) }

    @Test("a signature doesn't cover Accept-Encoding, which proxies change")
    func acceptEncoding() async throws {
        let signer = AWSRequestSigner(
            region: "eu-central-1", service: "s3",
            credentials: AWSCredentials(accessKeyID: "AKID", secretAccessKey: "secret"))
        var signatures: Set<String> = []
        for coding in ["identity", "identity,gzip(gfe)", nil] {
            var request = HTTPRequest(.put, address("https://a.example/o"), headers: ["Range": "bytes=0-1"])
            if let coding { request.headers.set(.acceptEncoding, coding) }
            try await signer.sign(&request, at: Self.date)
            let value = try #require(request.headers[.authorization])
            #expect(value.contains("SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"), "\(value)")
            #expect(request.headers[.acceptEncoding] == coding)
            signatures.insert(value)
        }
        #expect(signatures.count == 1)
    }

    @Test(
        "a component that occurs twice is refused, in any order of its parameters",
        arguments: [
            #"("@method" "@method")"#, #"("date";req;tr "date";tr;req)"#,
            #"("@query-param";name="a";req "@query-param";req;name="a")"#,
        ])
    func duplicates(list: String) throws {
        #expect(throws: SigningError.self) {
            try AcceptSignature(parsing: "sig=\(list)")
        }
    }

    @Test("the line of the parameters has quotation marks around names and texts")
    func parameterLine() throws {
        var request = HTTPRequest(.post, address("https://a.example/signify"), headers: ["Signify-Resource": "EWJk"])
        request.headers.set("Signify-Timestamp", "2022-09-24T00:05:48.196795+00:00")
        let input = try SignatureInput(
            ["signify-resource", "@method", "@path", "signify-timestamp"],
            ["created": .integer(1_663_977_948), "keyid": .string("EEXekkGu9IAzav6pZVJhkLnjtjM5v3AcyA-pdKUcaGei")])
        let base = String(decoding: try input.signatureBase(of: SignableMessage(request)), as: UTF8.self)
        #expect(
            base == """
                "signify-resource": EWJk
                "@method": POST
                "@path": /signify
                "signify-timestamp": 2022-09-24T00:05:48.196795+00:00
                "@signature-params": ("signify-resource" "@method" "@path" "signify-timestamp");created=1663977948;\
                keyid="EEXekkGu9IAzav6pZVJhkLnjtjM5v3AcyA-pdKUcaGei"
                """)
    }

    @Test("a digest names its algorithm in lower case, and has colons")
    func digests() throws {
        let digest = try ContentDigest(of: Data("{\"hello\": \"world\"}\n".utf8), [.sha512])
        #expect(digest.fieldValue.hasPrefix("sha-512=:") && digest.fieldValue.hasSuffix(":"))
        #expect(try ContentDigest(parsing: digest.fieldValue) == digest)
        let bare = digest.fieldValue.replacing(":", with: "").replacing("sha", with: "SHA")
        #expect(throws: SigningError.self) { try ContentDigest(parsing: bare) }
    }

    @Test(
        "whatever the request line contains, the target is the whole URL",
        arguments: [
            ("OPTIONS" as HTTPMethod, "*", "https://a.example/", "*"),
            ("CONNECT", nil, "https://a.example:8443/", "a.example:8443"),
        ])
    func targets(method: HTTPMethod, target: String?, url: String, line: String) throws {
        var message = SignableMessage(HTTPRequest(method, address(url)))
        message.requestTarget = target
        #expect(try message.value(of: .targetURI) == url)
        #expect(try message.value(of: .requestTarget) == line)
    }
}
