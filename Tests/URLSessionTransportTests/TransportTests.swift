import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandURLSessionTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The transport over URLSession", .endsInTime, .leakChecked)
struct TransportTests {
    struct Get: Request {
        typealias Output = String
        let path: String
    }

    @Test("an agent can use it in one word, and Core follows redirects")
    func oneWord() async throws {
        let server = try TestServer()
        server.on("/old", .redirect(to: "/new"))
        server.on("/new", .text("there"))
        let agent = NetworkAgent(baseURL: server.url, transport: .urlSession)
        #expect(try await agent.send(Get(path: "/old")).value == "there")
        #expect(server.received.map(\.path) == ["/old", "/new"])
    }

    @Test("a configuration can be passed in, and isn't changed")
    func configuration() async throws {
        let configuration = URLSessionConfiguration.default
        configuration.httpAdditionalHeaders = ["X-App": "shop"]
        configuration.timeoutIntervalForRequest = 7
        let cache = configuration.urlCache
        let server = try TestServer()
        server.on("/", .text("ok"))
        let agent = NetworkAgent(baseURL: server.url, transport: .urlSession(configuration))
        _ = try await agent.send(Get(path: "/"))
        #expect(try await server.nextRequest().headers["X-App"] == "shop")
        #expect(configuration.timeoutIntervalForRequest == 7)
        #expect(configuration.urlCache === cache)
    }

    @Test("cellular access is a tag that is set on the URLRequest", arguments: [true, false])
    func cellular(isAllowed: Bool) async throws {
        let transport = URLSessionTransport()
        let url = try #require(URL(string: "http://127.0.0.1/"))
        let tags = isAllowed ? Tags() : Tags().with(AllowsCellularAccess.self, false)
        let transfer = SessionTransfer(
            HTTPRequest(.get, url), options: TransportOptions(tags: tags),
            upload: try await SessionUpload(.none, TransportOptions()),
            transport: transport
        )
        #expect(transfer.urlRequest().allowsCellularAccess == isAllowed)
    }

    @Test("a body is opened again for a failed connection, unless it can be read only once")
    func reopened() async throws {
        let opened = Mutex(0)
        let stream = RequestBody.stream(length: 3) {
            opened.withLock { $0 += 1 }
            return HTTPBody(Data("abc".utf8))
        }
        let upload = try await SessionUpload(stream, TransportOptions())
        #expect(opened.withLock { $0 } == 1)
        let again = try #require(upload.reopened())
        #expect(try await again.collect(upTo: 10) == Data("abc".utf8))
        #expect(opened.withLock { $0 } == 2)
        let once = try await SessionUpload(.stream(HTTPBody(Data("abc".utf8))), TransportOptions())
        #expect(once.reopened() == nil)
    }

    @Test("a GET with a body is refused before it is sent")
    func getWithBody() async throws {
        let url = try #require(URL(string: "http://127.0.0.1/"))
        let error = await #expect(throws: ErrandError.self) {
            try await URLSessionTransport().send(
                HTTPRequest(.get, url, body: .text("x")), options: TransportOptions())
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test("a file is sent with its length, and a large stream leaves no temporary file")
    func files() async throws {
        let folder = try Folder()
        let file = folder.file("body")
        let data = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try data.write(to: file)
        let server = try TestServer()
        server.on("/up", .echoBody)
        let url = try #require(URL(string: server.url("/up")))
        let before = try leftovers()
        for body in [RequestBody.file(file), .stream { HTTPBody(file: file) }, .stream { Self.stream(of: file) }] {
            let response = try await URLSessionTransport().send(
                HTTPRequest(.post, url, body: body), options: TransportOptions())
            #expect(response.data == data)
            #expect(try await server.nextRequest().headers[.contentLength] == "3000000")
        }
        // Other tests also send streams, and must not leave files either.
        let new = try leftovers().subtracting(before)
        try await eventually { try leftovers().isDisjoint(with: new) }
    }

    @Test(
        "an error of URLSession becomes an ErrandError with the cause",
        arguments: [
            (.timedOut, .timedOut), (.cancelled, .cancelled), (.cannotFindHost, .nameLookupFailed),
            (.cannotConnectToHost, .cannotConnect), (.networkConnectionLost, .connectionLost),
            (.serverCertificateUntrusted, .insecureConnection), (.cannotParseResponse, .invalidResponse),
            (.cannotCreateFile, .transportFailed),
        ] as [(URLError.Code, ErrandError.Code)])
    func errors(code: URLError.Code, expected: ErrandError.Code) {
        let error = ErrandError(urlSession: URLError(code))
        #expect(error.code == expected)
        #expect((error.underlying as? URLError)?.code == code)
    }

    @Test(
        "if URLSession only reports an unknown error, its text determines the code",
        arguments: [
            ("transfer closed with 5 bytes remaining to read", .transportFailed),
            ("transfer closed with outstanding read data remaining", .truncated),
            ("SSL certificate problem: self-signed certificate", .insecureConnection),
            ("Failed to connect to 127.0.0.1 port 1: Couldn't connect to server", .cannotConnect),
            ("Error while processing content unencoding: incorrect header check", .transportFailed),
        ] as [(String, ErrandError.Code)])
    func texts(text: String, expected: ErrandError.Code) {
        let error = ErrandError(urlSession: URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: text]))
        #expect(error.code == expected)
    }

    @Test("a response that isn't HTTP/1.1 isn't reported as an unsupported URL")
    func oldResponse() {
        func code(_ text: String) -> ErrandError.Code {
            ErrandError(urlSession: URLError(.unsupportedURL, userInfo: [NSLocalizedDescriptionKey: text])).code
        }
        #expect(code("Received HTTP/0.9 when not allowed") == .invalidResponse)
        #expect(code("unsupported URL") == .invalidURL)
    }

    private func leftovers() throws -> Set<String> {
        let names = try FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path)
        return Set(names.filter { $0.hasPrefix("errand-body-") })
    }

    /// A stream that doesn't reveal that it's a file.
    private static func stream(of file: URL) -> HTTPBody { HTTPBody(source: Relay(HTTPBody(file: file))) }

    private final class Relay: HTTPBodySource {
        private let body: HTTPBody
        private let chunks: AsyncThrowingStream<Data, any Error>

        init(_ body: HTTPBody) {
            self.body = body
            chunks = AsyncThrowingStream { continuation in
                Task {
                    do {
                        for try await chunk in body { continuation.yield(chunk) }
                        continuation.finish()
                    } catch { continuation.finish(throwing: error) }
                }
            }
        }

        func nextChunk() async throws -> Data? {
            for try await chunk in chunks { return chunk }
            return nil
        }

        func cancel() { body.cancel() }
    }
}

#if canImport(FoundationNetworking)
@Suite("Pins", .leakChecked)
struct KeyInfoHeaderTests {
    static let hasOpenSSL = FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

    @Test(
        "the header and the bare key equal openssl's", .enabled(if: hasOpenSSL),
        arguments: [
            (true, 2048, "-algorithm RSA -pkeyopt rsa_keygen_bits:2048"),
            (true, 3072, "-algorithm RSA -pkeyopt rsa_keygen_bits:3072"),
            (true, 4096, "-algorithm RSA -pkeyopt rsa_keygen_bits:4096"),
            (false, 256, "-algorithm EC -pkeyopt ec_paramgen_curve:P-256"),
            (false, 384, "-algorithm EC -pkeyopt ec_paramgen_curve:P-384"),
            (false, 521, "-algorithm EC -pkeyopt ec_paramgen_curve:P-521"),
        ])
    func header(isRSA: Bool, bits: Int, arguments: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "openssl genpkey \(arguments) 2>/dev/null | openssl pkey -pubout -outform DER"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let info = output.fileHandleForReading.readDataToEndOfFile()
        let header = try #require(KeyInfoHeader.bytes(isRSA: isRSA, bits: bits))
        #expect(info.starts(with: header))
        // The bare key begins with an uncompressed point or a SEQUENCE.
        #expect(info.dropFirst(header.count).first == (isRSA ? 0x30 : 0x04))
    }

    @Test("keys of other sizes don't have a header")
    func others() {
        #expect(KeyInfoHeader.bytes(isRSA: true, bits: 1024) == nil)
        #expect(KeyInfoHeader.bytes(isRSA: false, bits: 255) == nil)
    }
}
#endif
