#if os(Linux)
import Errand
import ErrandEssentials
import Synchronization
import Testing

@testable import ErrandCurlTransport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

func request(_ method: HTTPMethod = .get, _ url: String, headers: HTTPHeaders = [:], body: RequestBody = .none) throws
    -> HTTPRequest
{
    HTTPRequest(method, try #require(URL(string: url)), headers: headers, body: body)
}

func failure(_ body: () async throws -> some Any, at location: SourceLocation = #_sourceLocation) async throws
    -> ErrandError
{
    let error = await #expect(throws: ErrandError.self, sourceLocation: location) { _ = try await body() }
    return try #require(error, sourceLocation: location)
}

extension TransportOptions {
    static func of(
        _ delivery: BodyDelivery = .data, timeout: Duration = .seconds(120), limit: Int = 64 << 20
    ) -> TransportOptions {
        TransportOptions(timeout: timeout, delivery: delivery, maximumBodyBytes: limit)
    }
}

extension CurlTransport {
    convenience init(trusting certificates: TestCertificates) {
        var configuration = CurlConfiguration()
        configuration.tls.roots = .file(URL(filePath: certificates.file("root.pem")))
        self.init(configuration)
    }
}

extension Trait where Self == ConditionTrait {
    static var needsHTTP2: Self {
        .enabled(
            if: Offer.speaksHTTP2 && TLSContext.isAvailable && Nginx.isInstalled,
            "no HTTP/2, or OpenSSL is not installed")
    }
}

/// A body that a test feeds by hand. It reports when it's cancelled.
final class Feed: HTTPBodySource {
    private struct State {
        var chunks: [Data]
        var isEnded: Bool
        var waiter: CheckedContinuation<Data?, any Error>?
        var isCancelled = false
        var pulls = 0
    }
    private let state: Mutex<State>
    private let failure: (any Error)?

    init(_ chunks: [Data] = [], ends: Bool = true, failure: (any Error)? = nil) {
        state = Mutex(State(chunks: chunks, isEnded: ends))
        self.failure = failure
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }
    var pulls: Int { state.withLock { $0.pulls } }

    func give(_ chunk: Data?) {
        let waiter = state.withLock { state -> CheckedContinuation<Data?, any Error>? in
            defer { state.waiter = nil }
            if state.waiter == nil, let chunk { state.chunks.append(chunk) }
            if chunk == nil { state.isEnded = true }
            return state.waiter
        }
        waiter?.resume(returning: chunk)
    }

    func nextChunk() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isNow, chunk) = state.withLock { state -> (Bool, Data?) in
                    state.pulls += 1
                    if !state.chunks.isEmpty { return (true, state.chunks.removeFirst()) }
                    if state.isEnded || state.isCancelled { return (true, nil) }
                    state.waiter = continuation
                    return (false, nil)
                }
                if !isNow { return }
                if chunk == nil, let failure {
                    continuation.resume(throwing: failure)
                } else {
                    continuation.resume(returning: chunk)
                }
            }
        } onCancel: {
            cancel()
        }
    }

    func cancel() {
        let waiter = state.withLock { state in
            defer { (state.waiter, state.isCancelled) = (nil, true) }
            return state.waiter
        }
        waiter?.resume(throwing: CancellationError())
    }
}

/// Returns a non-uniform byte pattern, generated quickly.
func pattern(_ count: Int, _ seed: Int = 0) -> Data {
    let block = Data((0..<1021).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed) })
    var data = Data(capacity: count + block.count)
    while data.count < count { data += block }
    return data.prefix(count)
}

extension Sequence<UInt8> {
    var asData: Data { Data(self) }
}

/// A request body for each way of sending it.
enum SampleBody: CaseIterable, CustomTestStringConvertible {
    case none, small, large, stream
    var testDescription: String { "\(self)" }
    var body: RequestBody {
        switch self {
        case .none: .none
        case .small: .data(pattern(1000))
        case .large: .data(pattern(200_000))
        case .stream: .stream { HTTPBody(source: Feed([pattern(1000), pattern(1000)])) }
        }
    }
}

extension RawServer {
    /// Responds to the first request of each connection with this many bytes, as fast as they're accepted.
    static func sending(bytes count: Int) throws -> RawServer {
        try RawServer { peer in
            _ = peer.readHead()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n")
            peer.send([UInt8](repeating: 1, count: count))
        }
    }
}

/// The capabilities of this process's libcurl. ERRAND_LIBCURL can select another one than Debian's.
enum Offer {
    private static let library = try? CurlLibrary.load()
    static let speaksHTTP2 = library?.speaksHTTP2 == true
    /// Whether libcurl reports for every stream that it was refused.
    static let namesRefusals = (library?.version ?? .oldest) >= CurlVersion(8, 19, 0)
    /// Whether a request with a body always uses HTTP/1.1.
    static let sendsBodiesInHTTP1 = library?.avoids(.http2Upload) == true
    private static let isGnuTLS = library?.tls.hasPrefix("GnuTLS") == true
    /// Whether the transport can abandon a name lookup without waiting for its end.
    static let leavesLookups = library?.leavesLookups == true
    /// Whether a request can start on the caller's thread.
    static let runsOnAnyThread = library?.runsOnAnyThread == true
    static let hasOpenSSL = library?.hasOpenSSL == true
    /// Whether certificates can come from memory.
    static let hasBlobs = !isGnuTLS && (library?.version ?? .oldest) >= CurlVersion(7, 77, 0)
    /// Whether libcurl was loaded at run time instead of linked.
    static var isLoaded: Bool {
        #if LinkedLibcurl
        false
        #else
        true
        #endif
    }
    /// Whether libcurl reports which check a certificate failed.
    static let tellsReasons = !isGnuTLS
    /// Whether the handshake fails if the server speaks only HTTP/2 and the client offers HTTP/1. GnuTLS continues
    /// without either.
    static let noticesOtherProtocol = !isGnuTLS
}
#endif
