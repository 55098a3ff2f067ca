import Errand
import ErrandEssentials
import ErrandKeys
import ErrandSigning
import ErrandTesting
import Synchronization

/// The request and the response of RFC 9421, appendix B.2.
enum Examples {
    static let created = Date(timeIntervalSince1970: 1_618_884_473)

    static let request = HTTPRequest(
        .post, address("https://example.com/foo?param=Value&Pet=dog"),
        headers: [
            "Host": "example.com", "Date": "Tue, 20 Apr 2021 02:07:55 GMT", "Content-Type": "application/json",
            "Content-Digest": "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+"
                + "AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:",
            "Content-Length": "18",
        ], body: .data(Data(#"{"hello": "world"}"#.utf8), contentType: nil))

    static let response = HTTPResponse(
        url: request.url, status: 200,
        headers: [
            "Date": "Tue, 20 Apr 2021 02:07:56 GMT", "Content-Type": "application/json",
            "Content-Digest": "sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41Q"
                + "JgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:",
            "Content-Length": "23",
        ], body: HTTPBody(Data(#"{"message": "good dog"}"#.utf8)))

    static func keys() throws -> KnownKeys {
        let pss = try PrivateKey(pem: TestKeys.rsaPSSPrivate).publicKey
        let rsa = try PublicKey(pem: TestKeys.rsaPublic)
        return [
            "test-key-rsa-pss": VerificationKey(pss, algorithm: .rsaPSSSHA512),
            "test-key-rsa": VerificationKey(rsa, algorithm: .rsaPKCS1SHA256),
            "test-key-ecc-p256": VerificationKey(try PublicKey(pem: TestKeys.p256Public)),
            "test-key-ed25519": VerificationKey(try PublicKey(pem: TestKeys.ed25519Public)),
            "test-shared-secret": VerificationKey(HMACKey(TestKeys.sharedSecret)),
        ]
    }
}

/// Returns the code of the error that the body throws.
func failure(_ body: () async throws -> Void) async -> SigningError.Code? {
    do { try await body() } catch let error as SigningError { return error.code } catch { return nil }
    return nil
}

extension NetworkAgent {
    convenience init(
        _ transport: some Transport, time: some TimeSource = ManualTimeSource(), _ filters: any Filter...
    ) {
        self.init(baseURL: "https://api.example.com", transport: transport, filters: filters, time: time)
    }
}

/// Delivers data in pieces of one size.
final class Pieces: HTTPBodySource {
    private let rest: Mutex<Data>
    private let size: Int

    init(_ data: Data, size: Int) {
        rest = Mutex(data)
        self.size = size
    }

    @Sendable func nextChunk() -> Data? {
        rest.withLock { rest in
            if rest.isEmpty { return nil }
            defer { rest = Data(rest.dropFirst(size)) }
            return Data(rest.prefix(size))
        }
    }

    func cancel() {}
}

/// Downloads into a file.
struct Download: Request {
    typealias Output = URL
    let file: URL
    var path: String { "file" }
    var delivery: BodyDelivery { .file(file) }
}

/// Returns a URL that the test wrote.
func address(_ text: String) -> URL { URL(string: text) ?? URL(filePath: "/") }
