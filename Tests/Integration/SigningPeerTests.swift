#if os(Linux)
import Errand
import ErrandSigning
import ErrandTesting
import Foundation
import Testing

/// A request in JSON, for a program in Python and back.
private struct Message: Codable, Sendable {
    var method: String
    var url: String
    var headers: [[String]]
    var body: Data
    var key = ""
    var components: [String] = []
    var options: [String: String] = [:]
    var result = ""

    init(_ request: HTTPRequest) {
        (method, url) = (request.method.rawValue, request.urlText)
        headers = request.headers.map { [$0.name.rawName, $0.value] }
        body = request.body.data ?? Data()
    }

    var request: HTTPRequest {
        let fields = headers.map { HTTPHeaders.Field(HTTPHeaderName($0[0]), $0[1]) }
        let body: RequestBody = body.isEmpty ? .none : .data(body, contentType: nil)
        return HTTPRequest(HTTPMethod(rawValue: method), address(url), headers: HTTPHeaders(fields), body: body)
    }
}

private func address(_ text: String) -> URL { URL(string: text) ?? URL(filePath: "/") }

/// Runs programs in Python over files of messages.
private enum Python {
    static func has(_ modules: String) async -> Bool {
        let output = try? await Program("env")?.run(["python3", "-c", "import \(modules)"])
        return output?.status == 0
    }

    static func run(_ program: String, _ files: [String: Data]) async throws -> [Message] {
        let folder = try Folder(["program.py": program])
        for (name, data) in files { try data.write(to: folder.file(name)) }
        let python = try #require(Program("env"))
        let output = try await python.run(["python3", folder.path("program.py"), folder.url.path])
        try #require(output.status == 0, "\(output)")
        return try JSONDecoder().decode([Message].self, from: folder.data("made.json"))
    }
}

/// Makes requests of all shapes.
private struct Requests {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func text(_ alphabet: String, _ count: ClosedRange<Int>) -> String {
        let characters = Array(alphabet)
        return String((0..<count.lowerBound + random.below(count.count)).map { _ in random.pick(characters) })
    }

    /// Encoded as AWS writes it, so a signature needn't change it.
    mutating func encoded(_ count: ClosedRange<Int>) -> String {
        let text = text("abcXYZ019-_~ /+=&?%ü€:;@()", count)
        var allowed = CharacterSet(charactersIn: "abcXYZ019-_~")
        allowed.formUnion(CharacterSet())
        return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }

    mutating func request(uniqueNames: Bool = false) -> HTTPRequest {
        let segments = (0..<random.below(4)).map { _ in encoded(1...6) }
        var url =
            "https://\(random.pick(["a.example.com", "b.example.com:8443", "c.example.com"]))/"
            + segments.joined(separator: "/") + (random.chance(3) && !segments.isEmpty ? "/" : "")
        let items = (0..<random.below(5)).map { index in
            (uniqueNames ? "n\(index)" : encoded(1...3)) + "=" + encoded(0...5)
        }
        if !items.isEmpty { url += "?" + items.joined(separator: "&") }
        var request = HTTPRequest(random.pick([.get, .post, .put, .delete, .patch]), address(url))
        for _ in 0..<random.below(4) {
            request.headers.add(
                HTTPHeaderName(random.pick(["X-One", "x-TWO", "Accept", "X-Three"])),
                text("abc XYZ,;=\"'()/09", 0...12).trimmingCharacters(in: .whitespaces))
        }
        if random.chance(2) { request.headers["X-Dict"] = "a=1, b=(x y);q=0.5,  c;d=?0" }
        if random.chance(3) { request.headers[.cacheControl] = random.pick(["max-age=60,   no-store", "no-cache"]) }
        if random.chance(2) {
            request.headers[.contentType] = "application/octet-stream"
            request.body = .data(Data(random.bytes(1 + random.below(300))), contentType: nil)
        }
        return request
    }
}

@Suite(
    "HTTP message signatures of a library in Python",
    .enabled("python3 with http_message_signatures is needed") { await Python.has("http_message_signatures") },
    .endsInTime)
struct MessageSignaturePeerTests {
    private struct Key: Sendable {
        let name: String
        let algorithm: KeyAlgorithm
        let signer: any KeySigner
        let verifier: any KeyVerifier
        var files: [String: Data]

        init(_ name: String, _ algorithm: KeyAlgorithm, _ key: PrivateKey) {
            (self.name, self.algorithm, signer, verifier) = (name, algorithm, key, key.publicKey)
            files = ["\(name).key": Data(key.pem.utf8), "\(name).pub": Data(key.publicKey.pem.utf8)]
        }

        init(_ name: String, secret: Data) {
            let key = HMACKey(secret)
            (self.name, algorithm, signer, verifier) = (name, .hmacSHA256, key, key)
            files = ["\(name).key": secret, "\(name).pub": secret]
        }
    }

    private static func keys(in folder: Folder) async throws -> [Key] {
        let openssl = try #require(Program("env"))
        func made(_ arguments: String...) async throws -> PrivateKey {
            let output = try await openssl.run(["openssl", "genpkey"] + arguments)
            return try PrivateKey(pem: String(decoding: output.bytes, as: UTF8.self))
        }
        let rsa = try await made("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
        return [
            Key("ed25519", .ed25519, try await made("-algorithm", "ED25519")),
            Key("own-ed25519", .ed25519, try .generate(.ed25519)),
            Key("p256", .ecdsaP256SHA256, try await made("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")),
            Key("own-p256", .ecdsaP256SHA256, try .generate(.p256)),
            Key("p384", .ecdsaP384SHA384, try await made("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384")),
            Key("pss", .rsaPSSSHA512, rsa), Key("pkcs1", .rsaPKCS1SHA256, rsa),
            Key("hmac", secret: Data("a secret of some length".utf8)),
        ]
    }

    private static func components(_ request: HTTPRequest, _ random: inout SeededGenerator) -> [SignatureComponent] {
        var all: [SignatureComponent] = [
            .method, .targetURI, .authority, .scheme, .requestTarget, .path, .query,
        ]
        for name in Set(request.headers.map(\.name)) { all += [.field(name), .field(name).binary] }
        if request.headers.contains("X-Dict") {
            all += ["a", "b", "c"].map { SignatureComponent.field("X-Dict").member($0) }
        }
        if request.headers.contains(.cacheControl) { all.append(.field(.cacheControl).structured) }
        let names = URLComponents(string: request.urlText)?.queryItems?.map(\.name) ?? []
        for name in names where !name.isEmpty && names.filter({ $0 == name }).count == 1 {
            // Python's parser reads a plus as a space before it compares.
            if !name.contains("+") { all.append(.queryParameter(name)) }
        }
        return all.filter { _ in random.chance(2) }
    }

    @Test("1,000 random requests are verified in both directions")
    func both() async throws {
        let keys = try await Self.keys(in: Folder())
        var requests = Requests(seed: 9421)
        let date = Date()
        var messages: [Message] = []
        for _ in 0..<1000 {
            let key = requests.random.pick(keys)
            var request = requests.request()
            var message = Message(request)
            var signer = try HTTPMessageSigner(key: key.signer, keyID: key.name)
            let components = Self.components(request, &requests.random)
            (signer.algorithm, signer.components) = (key.algorithm, components)
            signer.digests = requests.random.pick([[.sha256], [.sha512], [.sha256, .sha512]])
            signer.usesNonce = requests.random.chance(2)
            signer.namesAlgorithm = requests.random.chance(2)
            if requests.random.chance(3) { signer.lifetime = .seconds(60) }
            if requests.random.chance(3) { signer.tag = "a \"tag\" \\" }
            try await signer.sign(&request, at: date)
            (message.key, message.components) = (key.name, components.map(\.description))
            message.headers = request.headers.map { [$0.name.rawName, $0.value] }
            messages.append(message)
        }
        var files = keys.reduce(into: [:]) { $0.merge($1.files) { first, _ in first } }
        files["messages.json"] = try JSONEncoder().encode(messages)
        let made = try await Python.run(Self.program, files)
        #expect(made.count == 1000)
        let known = KnownKeys(
            [String: VerificationKey](
                uniqueKeysWithValues: keys.map { ($0.name, VerificationKey($0.verifier, algorithm: $0.algorithm)) }))
        var verified = 0
        for message in made {
            #expect(message.result == "", "\(message.result): \(message.url) \(message.headers)")
            let request = message.request
            do {
                let verifier = HTTPMessageVerifier(keys: known, requirements: SignatureRequirements(covering: []))
                _ = try await verifier.verify(SignableMessage(request), at: Date())
                verified += 1
            } catch { Issue.record("\(error): \(message.url) \(message.headers)") }
        }
        #expect(verified == 1000)
    }

    private static let program = #"""
        import base64, json, sys
        from http_message_signatures import HTTPMessageSigner, HTTPMessageVerifier, HTTPSignatureKeyResolver, algorithms
        folder = sys.argv[1]

        class Headers:
            def __init__(self, lines): self.lines = lines
            def items(self): return [(name, value) for name, value in self.lines]
            def __iter__(self): return iter([name for name, _ in self.lines])
            def __contains__(self, name): return any(name.lower() == known.lower() for known, _ in self.lines)
            def __getitem__(self, name):
                return ", ".join(value for known, value in self.lines if name.lower() == known.lower())
            def __setitem__(self, name, value): self.lines.append([name, value])
            def __delitem__(self, name):
                self.lines[:] = [line for line in self.lines if line[0].lower() != name.lower()]

        class Request:
            def __init__(self, message):
                self.method, self.url = message["method"], message["url"]
                self.headers = Headers([[name, value.encode().decode("latin-1")] for name, value in message["headers"]])

        class Keys(HTTPSignatureKeyResolver):
            def resolve_private_key(self, name): return open(f"{folder}/{name}.key", "rb").read()
            def resolve_public_key(self, name): return open(f"{folder}/{name}.pub", "rb").read()

        kinds = {
            "ed25519": algorithms.ED25519, "own-ed25519": algorithms.ED25519, "p256": algorithms.ECDSA_P256_SHA256,
            "own-p256": algorithms.ECDSA_P256_SHA256, "p384": algorithms.ECDSA_P384_SHA384,
            "pss": algorithms.RSA_PSS_SHA512, "pkcs1": algorithms.RSA_V1_5_SHA256, "hmac": algorithms.HMAC_SHA256,
        }
        messages = json.load(open(folder + "/messages.json"))
        for message in messages:
            kind, body = kinds[message["key"]], base64.b64decode(message["body"])
            options = dict(signature_algorithm=kind, key_resolver=Keys())
            request = Request(message)
            try:
                HTTPMessageVerifier(**options).verify(request, body=body, require_components=message["components"])
                request.headers.lines[:] = [
                    line for line in request.headers.lines
                    if line[0].lower() not in ("signature", "signature-input", "content-digest")]
                HTTPMessageSigner(**options).sign(
                    request, key_id=message["key"], covered_component_ids=message["components"],
                    body=body if body else None)
                message["headers"] = request.headers.lines
            except Exception as error:
                message["result"] = repr(error)
        json.dump(messages, open(folder + "/made.json", "w"))
        """#
}

@Suite(
    "Signature Version 4 of botocore",
    .enabled("python3 with botocore is needed") { await Python.has("botocore.auth") },
    .endsInTime)
struct AWSPeerTests {
    private static let date = Date(timeIntervalSince1970: 1_440_938_160)

    /// Returns the signature of a message as its options say: in a field or in a URL.
    private func signature(_ message: Message) async throws -> String {
        let options = message.options
        let token = options["token"]
        var signer = AWSRequestSigner(
            region: options["region"] ?? "", service: options["service"] ?? "",
            credentials: AWSCredentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: "secret/Ü+", sessionToken: token))
        if options["payload"] == "unsigned" { signer.payload = .unsigned }
        var request = message.request
        if let lifetime = options["expires"].flatMap({ Int($0) }) {
            let url = try await signer.presignedURL(for: request, validFor: .seconds(lifetime), at: Self.date)
            return String(url.absoluteString.suffix(64))
        }
        try await signer.sign(&request, at: Self.date)
        return request.headers[.authorization] ?? ""
    }

    @Test("1,000 random requests have the same signatures as in botocore: fields, URLs, S3, tokens, unsigned bodies")
    func same() async throws {
        var requests = Requests(seed: 4)
        var messages: [Message] = []
        for number in 0..<1000 {
            var message = Message(requests.request(uniqueNames: number.isMultiple(of: 3)))
            message.options["service"] = requests.random.pick(["s3", "execute-api", "dynamodb"])
            message.options["region"] = requests.random.pick(["us-east-1", "eu-central-1"])
            if requests.random.chance(3) { message.options["token"] = requests.text("abc+/=", 5...40) }
            if number.isMultiple(of: 3) {
                // botocore would move a body into the query.
                message.body = Data()
                message.options["expires"] = "\(1 + requests.random.below(604_800))"
            } else if requests.random.chance(4) {
                message.options["payload"] = "unsigned"
            }
            message.result = try await signature(message)
            messages.append(message)
        }
        let made = try await Python.run(Self.program, ["messages.json": try JSONEncoder().encode(messages)])
        try #require(made.count == 2000)
        for (message, other) in zip(messages, made) {
            #expect(message.result == other.result, "\(message.options) \(message.url) \(message.headers)")
        }
        // These messages were made in Python, from other random numbers.
        for message in made.dropFirst(1000) {
            #expect(try await signature(message) == message.result, "\(message.options) \(message.url)")
        }
    }

    private static let program = #"""
        import base64, datetime, json, random, sys, types
        from urllib.parse import parse_qs, quote, urlsplit
        from botocore import auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials
        folder = sys.argv[1]
        auth.get_current_datetime = lambda *arguments, **options: datetime.datetime(2015, 8, 30, 12, 36, 0)

        def signature(message):
            options = message["options"]
            credentials = Credentials("AKIDEXAMPLE", "secret/Ü+", options.get("token"))
            is_s3 = options["service"] == "s3"
            place = (credentials, options["service"], options["region"])
            request = AWSRequest(message["method"], message["url"], data=base64.b64decode(message["body"]) or None)
            for name, value in message["headers"]:
                request.headers.add_header(name, value)
            if options.get("payload") == "unsigned":
                request.context["payload_signing_enabled"] = False
                request.context["client_config"] = types.SimpleNamespace(s3={"payload_signing_enabled": False})
            if "expires" in options:
                kind = auth.S3SigV4QueryAuth if is_s3 else auth.SigV4QueryAuth
                kind(*place, expires=int(options["expires"])).add_auth(request)
                return parse_qs(urlsplit(request.url).query)["X-Amz-Signature"][0]
            (auth.S3SigV4Auth if is_s3 else auth.SigV4Auth)(*place).add_auth(request)
            return request.headers["Authorization"]

        messages = json.load(open(folder + "/messages.json"))
        for message in messages:
            message["result"] = signature(message)
        random.seed(5)
        text = lambda count: "".join(random.choice("abC09 ~-_./é漢") for _ in range(random.randrange(count)))
        for _ in range(1000):
            path = "/".join(quote(text(8).replace(".", "d"), safe="~") or "x" for _ in range(random.randrange(1, 4)))
            query = "&".join(f"k{index}={quote(text(6), safe='~')}" for index in range(random.randrange(4)))
            message = {
                "method": random.choice(["GET", "PUT", "POST", "DELETE"]),
                "url": "https://h.example.com/" + path + ("?" + query if query else ""),
                "headers": [["X-Amz-Meta-" + random.choice("ABC"), text(9).strip().encode("ascii", "ignore").decode()]],
                "body": base64.b64encode(random.randbytes(random.randrange(50))).decode(),
                "key": "", "components": [],
                "options": {"service": random.choice(["s3", "sqs"]), "region": "eu-west-1"},
            }
            if random.random() < 0.3: message["options"]["token"] = "t+/=" + quote(text(9))
            if random.random() < 0.3:
                message["options"]["expires"] = str(random.randrange(1, 604801))
                message["body"] = ""
            message["result"] = signature(message)
            messages.append(message)
        json.dump(messages, open(folder + "/made.json", "w"))
        """#
}
#endif
