import Errand
import ErrandDigests
import ErrandEssentials
import ErrandSupport
import ErrandTransfers
import Synchronization

struct UploadBody: Sendable {
    let body: RequestBody
    private(set) var length: Int64?
    /// Whether the body can be opened at an offset, so a request can begin after the first byte.
    let opensAtOffset: Bool
    /// The path of the file. It's nil if the body isn't a file.
    let path: String?
    private let modified: Int64?
    private let size: Int64?
    /// The offset at which the segment begins in the request's body.
    private var start: Int64 = 0

    init(_ body: RequestBody) throws {
        self.body = body
        opensAtOffset = body.opensAtOffset
        guard opensAtOffset, body.data == nil, let file = try body.open().file else {
            (length, path, modified, size) = (body.length, nil, nil, nil)
            return
        }
        let status = try Self.status(of: file.path)
        (length, path, modified, size) = (status.size, file.path, status.modified, status.size)
    }

    func segment(_ segment: UploadSegment) -> UploadBody {
        var source = self
        (source.start, source.length) = (start + segment.start, segment.length)
        return source
    }

    private static func status(of path: String) throws(TransferError) -> FileStatus {
        do { return try FileStatus(at: path) } catch {
            if error.code == ENOENT { throw TransferError(.notAFile, error.description) }
            throw TransferError(error)
        }
    }

    func renewed() throws -> UploadBody { try UploadBody(path.map { .file(URL(filePath: $0)) } ?? body) }

    /// Throws if the file has changed. Blocks while it looks at the file.
    func check() throws {
        guard let path else { return }
        let status = try Self.status(of: path)
        if status.size != size || status.modified != modified { throw SourceChanged() }
    }

    /// Opens a part of the body. At the part's end, checks that the file hasn't changed. Calls `willSend` with the size
    /// of each chunk, and `didEnd` at the end of a part whose length is unknown.
    func open(
        _ part: UploadPart, didEnd: @escaping @Sendable () -> Void = {},
        willSend: @escaping @Sendable (Int) async throws -> Void
    ) throws -> HTTPBody {
        try check()
        let chunks = BodyChunks(try path == nil ? body.open(at: start + part.offset) : file(at: start + part.offset))
        let reader = PartReader(chunks, count: part.count, check: check, willSend: willSend, didEnd: didEnd)
        return HTTPBody(length: part.count, source: reader)
    }

    /// Opens the file with its current length. The length may have changed since the request was created.
    private func file(at offset: Int64) throws -> HTTPBody {
        try RequestBody.file(URL(filePath: path ?? "")).open(at: offset)
    }

    @concurrent func fingerprint() async throws -> SourceFingerprint {
        var digest = PlatformSHA256.make()
        for range in SourceFingerprint.samples(of: length ?? 0) {
            let part = UploadPart(offset: range.lowerBound, count: Int64(range.count), isLast: false)
            try await add(part, to: &digest)
        }
        return SourceFingerprint(
            size: length ?? 0, modified: modified, digest: Hexadecimal.text(digest.finalized()))
    }

    /// Returns a digest of the bytes. For a body in memory, it covers all bytes. For a stream, it covers samples. The
    /// length alone isn't enough, because several bodies can have the same length.
    @concurrent func contentDigest() async throws -> String {
        guard body.data != nil else { return try await fingerprint().digest }
        return Hexadecimal.text(try await digest(of: UploadPart(offset: 0, count: length, isLast: true)))
    }

    @concurrent func digest(of part: UploadPart) async throws -> [UInt8] {
        var digest = PlatformSHA256.make()
        try await add(part, to: &digest)
        return digest.finalized()
    }

    private func add(_ part: UploadPart, to digest: inout any RunningSHA256) async throws {
        for try await chunk in try open(part, willSend: { _ in }) {
            digest.update(chunk.span)
            try Task.checkCancellation()
        }
    }
}

struct SourceChanged: Error {}

extension UploadPart {
    init(offset: Int64, count: Int64?, isLast: Bool) {
        (self.offset, self.count, self.isLast) = (offset, count, isLast)
    }
}

/// Reads a part, and checks the file before the last chunk. If the file has changed, the part never arrives completely.
private final class PartReader: HTTPBodySource {
    private let chunks: BodyChunks
    private let left: Mutex<Int64?>
    private let check: @Sendable () throws -> Void
    private let willSend: @Sendable (Int) async throws -> Void
    private let didEnd: @Sendable () -> Void

    init(
        _ chunks: BodyChunks, count: Int64?, check: @escaping @Sendable () throws -> Void,
        willSend: @escaping @Sendable (Int) async throws -> Void, didEnd: @escaping @Sendable () -> Void
    ) {
        (self.chunks, self.check, self.willSend, self.didEnd) = (chunks, check, willSend, didEnd)
        left = Mutex(count)
    }

    func nextChunk() async throws -> Data? {
        let before = left.withLock { $0 }
        if before == 0 {
            chunks.cancel()
            return nil
        }
        guard var chunk = try await chunks.next() else {
            if before != nil { throw SourceChanged() }
            didEnd()
            return nil
        }
        if let before, Int64(chunk.count) >= before {
            chunk = chunk.prefix(Int(before))
            try check()
        }
        let count = chunk.count
        left.withLock { left in left = left.map { $0 - Int64(count) } }
        try await willSend(count)
        return chunk
    }

    func cancel() { chunks.cancel() }
}

/// A fingerprint that identifies a body. It's created without reading the whole body.
struct SourceFingerprint: Codable, Sendable, Hashable {
    var size: Int64
    /// The time when the file was last modified, in nanoseconds since 1970. It's nil if the body isn't a file.
    var modified: Int64?
    var digest: String

    /// Returns the ranges to read: the head, the tail, and samples between them. Short bodies are read completely.
    static func samples(of size: Int64) -> [Range<Int64>] {
        if size <= 256 << 10 { return size > 0 ? [0..<size] : [] }
        let edge: Int64 = 64 << 10
        let (sample, count) = (Int64(4 << 10), Int64(16))
        let middle = (1...count).map { index in
            // The division comes first, because the product could overflow.
            let start = edge + (size - 2 * edge - sample) / (count + 1) * index
            return start..<(start + sample)
        }
        return [0..<edge] + middle + [(size - edge)..<size]
    }
}
