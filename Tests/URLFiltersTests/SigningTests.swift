import Errand
import ErrandDigests
import ErrandEssentials
import ErrandSupport
import ErrandTesting
import ErrandURLFilters
import Testing

@Suite("Signatures", .endsInTime, .leakChecked)
struct SigningTests {
    private func hmac(_ message: String, _ key: String = "secret") -> String {
        Hexadecimal.text(HMAC<SHA256Digest>.code(for: message.utf8, key: key.utf8))
    }

    private func md5(_ message: String) -> String { Hexadecimal.text(MD5Digest.digest(of: message.utf8)) }

    @Test("a timestamp and HMAC-SHA-256 over the sorted parameters are added to the query")
    func query() async throws {
        let bench = Bench("https://example.com", .urls(.query(["v": "3"]), .sign(key: "secret")))
        let signature = hmac("a=&b=1%202&b=x%26y%3Dz&timestamp=1700000000&v=3")
        #expect(
            try await bench.url("p?b=x%26y=z&b=1+2&a")
                == "https://example.com/p?b=x%26y=z&b=1+2&a&v=3&timestamp=1700000000&sign=\(signature)")
    }

    @Test("openssl gives the same results for the same message")
    func known() async throws {
        let bench = Bench("https://example.com", .urls(.sign(key: "secret")))
        #expect(
            try await bench.url("p?a=1").hasSuffix(
                "sign=9f819330e49fefaa4c41af7c465c3fb45d1e6a1c16eee3796068083d68443f2b"))
    }

    @Test("forms and JSON objects are signed with the query, with the signature in any place")
    func bodies() async throws {
        let signer = Signer(key: "secret", signature: "X-Signature", timestamp: "X-Timestamp")
        let header = Bench("https://example.com", .headers(signedBy: signer))
        let sent = try await header.sent(Call(form: ["b": "2", "a": "1 +"]))
        #expect(sent.headers["X-Timestamp"] == "1700000000")
        #expect(sent.headers["X-Signature"] == hmac("X-Timestamp=1700000000&a=1%20%2B&b=2"))
        #expect(!sent.headers.description.contains(hmac("X-Timestamp=1700000000&a=1%20%2B&b=2")))
        let body = Bench("https://example.com", .body(["app": "shop"]), .body(signedBy: Signer(key: "secret")))
        let formSignature = hmac("a=1&app=shop&timestamp=1700000000")
        #expect(
            try await body.body(Call(form: ["a": "1"])) == "a=1&app=shop&timestamp=1700000000&sign=\(formSignature)")
        var call = Call(.post, "p?q=0")
        call.body = .data(Data(#"{"a": {"x":1}, "s":"t\n"}"#.utf8), contentType: "application/json")
        let jsonSignature = hmac("a=%7B%22x%22%3A1%7D&app=shop&q=0&s=t%0A&timestamp=1700000000")
        #expect(
            try await body.body(call)
                == #"{"a": {"x":1}, "s":"t\n","app":"shop","timestamp":"1700000000","sign":"\#(jsonSignature)"}"#)
    }

    @Test("an existing signature is replaced and not signed, so signing again gives the same result")
    func again() async throws {
        let bench = Bench("https://example.com", .urls(.sign(key: "secret"), .sign(key: "secret")))
        let once = Bench("https://example.com", .urls(.sign(key: "secret")))
        #expect(try await bench.url("p?a=1&sign=old&timestamp=1") == (try await once.url("p?a=1&sign=x&timestamp=2")))
    }

    @Test("the MD5 of the timestamp, a private key and a public key can be added to the query")
    func timestampOnly() async throws {
        let signer = Signer(
            key: .init("private" + "public"), algorithm: .md5, signature: "hash", timestamp: "ts",
            message: { $0.timestamp })
        let bench = Bench("https://example.com", .urls(.query(["apikey": "public"]), .sign(signer)))
        #expect(
            try await bench.url("p")
                == "https://example.com/p?apikey=public&ts=1700000000&hash=\(md5("1700000000privatepublic"))")
    }

    @Test(
        "the signature can be the MD5 of the sorted parameters and the key, for REST after version and method"
    )
    func sortedMD5() async throws {
        let plain = Signer(key: "private", algorithm: .md5, timestamp: nil, message: { $0.plainSortedParameters })
        let bench = Bench("https://example.com", .urls(.sign(plain)))
        let signature = md5("a=1 2&b=3private")
        #expect(try await bench.url("p?b=3&a=1%202") == "https://example.com/p?b=3&a=1%202&sign=\(signature)")
        let rest = Signer(
            key: "private", algorithm: .md5, timestamp: nil, message: { "v2" + $0.path + $0.plainSortedParameters })
        let restBench = Bench("https://example.com", .urls(.sign(rest)))
        #expect(try await restBench.url("users?b=3").hasSuffix("&sign=" + md5("v2/usersb=3private")))
    }

    @Test("MD5, SHA-1, Base64, sorted parameters and JSON text suffice for your own schemes")
    func helpers() throws {
        let (message, empty) = (Data("abc".utf8), SecretKey(""))
        func hex(_ algorithm: SigningAlgorithm) throws -> String {
            SignatureEncoding.hexadecimal.text(of: try algorithm.signature(of: message, key: empty))
        }
        #expect(try hex(.md5) == "900150983cd24fb0d6963f7d28e17f72")
        #expect(try hex(.sha1) == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(try hex(.sha256) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        let jefe = Data("what do ya want for nothing?".utf8)
        let code = try SigningAlgorithm.hmacSHA1.signature(of: jefe, key: "Jefe")
        #expect(SignatureEncoding.hexadecimal.text(of: code) == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
        #expect(SignatureEncoding.base64.text(of: Data([0xFB, 0xFF, 0])) == "+/8A")
        #expect(SignatureEncoding.base64.text(of: Data([0xFB])) == "+w==")
        #expect(SignatureEncoding.base64URL.text(of: Data([0xFB])) == "-w")
        #expect(SignatureEncoding.base64URL.text(of: Data([0xFB, 0xFF, 0])) == "-_8A")
        #expect(try ParameterEncoding().encode(["b": 2, "a": "1 2"]) == "a=1%202&b=2")
        let json = try JSONEncoder().encode(ParameterValue.object(["a": [1, "x"]]))
        #expect(String(decoding: json, as: UTF8.self) == #"{"a":[1,"x"]}"#)
    }

    @Test("your own scheme can set algorithm, key, encoding and message")
    func custom() async throws {
        let signer = Signer(
            key: .computed { exchange in SecretKey("key of \(exchange.http.method)") },
            algorithm: .custom("reversed") { message, key in Data((message + key.data).reversed()) },
            encoding: .base64URL, signature: "sig", timestamp: nil, message: { try $0.wholeRequest() })
        let bench = Bench("https://example.com", .urls(.sign(signer)))
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        let message = Data("GET\n/p%20q\na=1\n\(digest)key of GET".utf8)
        let expected = SignatureEncoding.base64URL.text(of: Data(message.reversed()))
        #expect(try await bench.url("p%20q?a=1") == "https://example.com/p%20q?a=1&sig=\(expected)")
    }

    @Test("a signature that needs the body refuses a body that isn't in memory")
    func streams() async throws {
        var call = Call(.post)
        call.body = .stream(HTTPBody(Data("x".utf8)))
        let whole = Signer(key: "k", message: { try $0.wholeRequest() })
        let failing = Bench("https://example.com", .urls(.sign(whole)))
        let error = try #require(try await failing.failure(call) as? URLFilterError)
        #expect(error.code == .invalidBody && error.filter == "sign")
        let passing = Bench("https://example.com", .urls(.sign(key: "k")))
        #expect(try await passing.sent(call).body.data == Data("x".utf8))
    }

    @Test("if an environment or its key is missing, a signature throws an error that names it")
    func missing() async throws {
        let bench = Bench("https://example.com", .urls(.sign(key: .service("sign"))))
        let error = try #require(try await bench.failure() as? URLFilterError)
        #expect(error.code == .missingEnvironment && error.filter == "sign")
    }
}
