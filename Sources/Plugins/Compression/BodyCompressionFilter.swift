import CErrandCodings
public import Errand
import ErrandEssentials
import ErrandMessageSyntax
import Synchronization

/// Compresses request bodies.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.bodyCompression(.gzip)])
/// let once = CallOptions(filters: [.bodyCompression(.zstd)])
/// ```
///
/// A body of up to 1 MiB in memory is compressed before the request is sent, so the request has a `Content-Length`. If
/// compression doesn't make the body smaller, the original body is sent. Longer bodies, files and streams are
/// compressed in chunks while they are sent. A compressed body can be sent again if the original body can be sent
/// again. The filter doesn't change requests that already have a `Content-Encoding`.
///
/// If the server rejects the coding with 415 and lists the codings it supports (RFC 7694, section 3), the filter sends
/// the original body, unless that body can be read only once.
///
/// You can place the filter before or after filters that change the body. For example, `.body(…)` still reads the
/// uncompressed form or JSON.
public struct BodyCompressionFilter: Filter {
    /// The content coding to use.
    public var compression: ContentCompression
    /// The smallest body to compress, in bytes. Smaller bodies of known length stay uncompressed. Defaults to 1,024.
    public var minimumBytes: Int64

    /// The largest body to compress in memory, in bytes. Larger bodies are compressed in chunks.
    private static let bytesInMemory = 1 << 20

    /// Creates a filter. By default, bodies of known length below 1,024 bytes stay uncompressed.
    public init(_ compression: ContentCompression, minimumBytes: Int64 = 1024) {
        (self.compression, self.minimumBytes) = (compression, minimumBytes)
    }

    /// Returns an empty set, because the filter's position doesn't matter.
    public var traits: FilterTraits { [] }
    /// The filter's line in the agent's `explain`.
    public var explanation: String { "compresses request bodies with \(compression)" }

    /// Sends the request with a compressed body. Throws ``CompressionError`` if the system has no library for the
    /// coding.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let body = exchange.http.body
        guard !body.isNone, body.length ?? .max >= max(1, minimumBytes),
            !exchange.http.headers.contains(.contentEncoding), let compressed = try compress(body)
        else { return try await next(exchange) }
        var changed = exchange
        changed.http.body = compressed
        changed.http.headers.set(.contentEncoding, "\(compression)")
        changed.http.headers.remove(.contentLength)
        let stagedWork = exchange.stagedWorkCount
        let response = try await next(changed)
        guard response.status == 415, body.isReplayable, refuses(response) else { return response }
        response.body.cancel()
        await exchange.discardStagedWork(after: stagedWork)
        exchange.note(
            "compression", "the server doesn't accept \(compression), so the body was sent again uncompressed")
        return try await next(exchange)
    }

    private func refuses(_ response: HTTPResponse) -> Bool {
        guard let accepted = response.headers[.acceptEncoding] else { return false }
        return !FieldList.items(accepted).contains { item in
            let coding = ASCII.trimmed(item.prefix { $0 != ";" })
            // A weight of 0 means "not acceptable" (RFC 9110, section 12.4.2).
            let weight = FieldParameters(parsing: item)["q"].flatMap { ASCII.decimal($0) }
            return ASCII.equalsIgnoringCase(String(coding), "\(compression)") && weight ?? 1 > 0
        }
    }

    private func compress(_ body: RequestBody) throws -> RequestBody? {
        guard compression.isAvailable else {
            throw CompressionError(.unavailable, "this system has no library for \(compression)")
        }
        let compressed = try body.coded { [compression] in try Self.compressed($0, compression) }
        if let before = body.data?.count, let after = compressed.data?.count, after >= before { return nil }
        return compressed
    }

    private static func compressed(_ body: RequestBody, _ compression: ContentCompression) throws -> RequestBody {
        if let data = body.data, data.count <= Self.bytesInMemory {
            var compressor = try StreamCompressor(compression)
            return .data(try compressor.compress(data, isLast: true), contentType: body.contentType)
        }
        if body.isReplayable {
            return .stream(contentType: body.contentType) {
                HTTPBody(source: CompressedSource(compression) { try body.open() })
            }
        }
        return .stream(
            HTTPBody(source: CompressedSource(compression) { try body.open() }), contentType: body.contentType)
    }
}

extension Filter where Self == BodyCompressionFilter {
    /// Compresses request bodies: `filters: [.bodyCompression(.gzip)]`. See ``BodyCompressionFilter``.
    public static func bodyCompression(
        _ compression: ContentCompression = .gzip, minimumBytes: Int64 = 1024
    ) -> BodyCompressionFilter { BodyCompressionFilter(compression, minimumBytes: minimumBytes) }
}

final class CompressedSource: HTTPBodySource {
    private struct State: ~Copyable {
        var compressor: StreamCompressor?
        var rest = Data()
        var isEnded = false
    }

    /// Limits the memory for a large chunk, in bytes.
    private static let pieceBytes = 256 << 10
    private let compression: ContentCompression
    private let open: @Sendable () throws -> HTTPBody
    private let reading = Mutex<(chunks: BodyChunks?, isCancelled: Bool)>((nil, false))
    private let state = Mutex(State())

    init(_ compression: ContentCompression, open: @escaping @Sendable () throws -> HTTPBody) {
        (self.compression, self.open) = (compression, open)
    }

    func nextChunk() async throws -> Data? {
        let chunks = try opened()
        while true {
            if let piece = try compressRest(), !piece.isEmpty { return piece }
            if state.withLock({ $0.isEnded }) { return nil }
            let chunk = try await chunks.next()
            state.withLock { state in
                state.rest = chunk ?? Data()
                state.isEnded = chunk == nil
            }
            if chunk == nil { return try compress(Data(), isLast: true) }
        }
    }

    func cancel() {
        let chunks = reading.withLock { reading in
            reading.isCancelled = true
            return reading.chunks
        }
        chunks?.cancel()
    }

    private func opened() throws -> BodyChunks {
        if let chunks = reading.withLock({ $0.chunks }) { return chunks }
        let new = BodyChunks(try open())
        let isCancelled = reading.withLock { reading in
            reading.chunks = new
            return reading.isCancelled
        }
        if isCancelled { new.cancel() }
        return new
    }

    private func compressRest() throws -> Data? {
        let piece = state.withLock { state in
            let piece = state.rest.prefix(Self.pieceBytes)
            state.rest = state.rest.dropFirst(piece.count)
            return piece
        }
        return piece.isEmpty ? nil : try compress(piece, isLast: false)
    }

    private func compress(_ data: Data, isLast: Bool) throws -> Data {
        try state.withLock { state in
            if state.compressor == nil { state.compressor = try StreamCompressor(compression) }
            return try state.compressor?.compress(data, isLast: isLast) ?? Data()
        }
    }
}

/// A content coding for request bodies, with its level.
///
/// ```swift
/// let fast: ContentCompression = .zstd(level: 1)
/// let standard: ContentCompression = .gzip
/// ```
public struct ContentCompression: Sendable, Hashable, CustomStringConvertible {
    enum Coding: Sendable, Hashable {
        case gzip, zstd

        var bit: Int32 {
            switch self {
            case .gzip: Int32(ERRAND_CODING_GZIP)
            case .zstd: Int32(ERRAND_CODING_ZSTD)
            }
        }
    }

    let coding: Coding
    let level: Int32

    /// gzip (RFC 9110, section 8.4.1.3) with level 6. Nearly every server that supports any coding supports gzip.
    public static let gzip = gzip(level: 6)
    /// zstd (RFC 8878) with level 3. Smaller and much faster than gzip, but fewer servers support it.
    public static let zstd = zstd(level: 3)

    /// Returns gzip with a level from 1, the fastest, to 9. Other levels are clamped.
    public static func gzip(level: Int) -> Self { Self(coding: .gzip, level: Int32(min(max(level, 1), 9))) }

    /// Returns zstd with a level from 1, the fastest, to 19. Other levels are clamped. The server needs a window of at
    /// most 8 MiB to decode the body (RFC 9659).
    public static func zstd(level: Int) -> Self { Self(coding: .zstd, level: Int32(min(max(level, 1), 19))) }

    /// Whether the system has the coding's library. Apple platforms and nearly all Linux systems have zlib. Most Linux
    /// systems have libzstd.
    public var isAvailable: Bool {
        #if os(Linux) || os(Android) || canImport(Darwin)
        errand_encodings() & coding.bit != 0
        #else
        false
        #endif
    }

    /// The coding's name in `Content-Encoding`.
    public var description: String {
        switch coding {
        case .gzip: "gzip"
        case .zstd: "zstd"
        }
    }
}
