public import ErrandEssentials
import ErrandSupport

/// The bytes of a message, in memory or pulled from a source, as an `AsyncSequence` of `Data`.
///
/// ```swift
/// for try await chunk in body { handle.write(chunk) }
/// let data = try await body.collect(upTo: 1 << 20)
/// ```
///
/// A streamed body has one reader: a second iterator throws ``ErrandError/Code/bodyAlreadyRead``. A body in memory may
/// be read any number of times. When the last copy of an unfinished body goes away, its transfer is cancelled. A source
/// that ends before `length` bytes throws ``ErrandError/Code/truncated``; one that delivers more, `invalidResponse`.
public struct HTTPBody: AsyncSequence, Sendable {
    /// A chunk of bytes.
    public typealias Element = Data
    /// Any error of the source.
    public typealias Failure = any Error

    // Small on purpose: a response is copied from filter to filter.
    private let storage: Storage

    fileprivate enum Storage: Sendable {
        case data(Data)
        case stream(BodyReader)
    }

    /// No bytes.
    public static let empty = HTTPBody(Data())

    /// Bytes in memory.
    public init(_ data: Data) { storage = .data(data) }

    /// Bytes that a source delivers.
    public init(length: Int64? = nil, source: some HTTPBodySource) {
        storage = .stream(BodyReader(source, length: length))
    }

    /// Chunks from a closure until it returns nil; `cancel` runs if the reader goes away before.
    public init(
        length: Int64? = nil, cancel: @escaping @Sendable () -> Void = {},
        next: @escaping @Sendable () async throws -> Data?
    ) {
        self.init(length: length, source: ClosureSource(next: next, onCancel: cancel))
    }

    /// A file's bytes, opened at the first read and read in pieces of 256 KiB as they are pulled. Anything but a
    /// regular file, such as a pipe, fails with ``ErrandError/Code/fileFailed`` at once.
    public init(file url: URL, length: Int64? = nil) {
        let file = FileReader(url.path)
        let source = ClosureSource(next: { try await Self.read(file) }, onCancel: {})
        storage = .stream(BodyReader(source, length: length, file: url))
    }

    /// A file's bytes from an offset. The body does not name the file, which has others.
    init(file url: URL, from offset: Int64, length: Int64?) {
        let file = FileReader(url.path, from: offset)
        self.init(length: length) { try await Self.read(file) }
    }

    /// The number of bytes, where it is known beforehand.
    public var length: Int64? {
        switch storage {
        case .data(let data): Int64(data.count)
        case .stream(let reader): reader.length
        }
    }

    /// The file that holds the bytes, for a body that was delivered into one.
    public var file: URL? { reader?.file }

    /// The bytes, if they are in memory already.
    public var data: Data? {
        switch storage {
        case .data(let data): data
        case .stream(let reader): reader.kept
        }
    }

    /// All bytes, at most `limit` of them: a longer body throws ``ErrandError/Code/bodyTooLarge`` as soon as that is
    /// known, and its transfer is cancelled.
    public func collect(upTo limit: Int) async throws -> Data {
        try checkLength(upTo: limit)
        if let data { return data }
        var iterator = makeAsyncIterator()
        guard var data = try await iterator.next() else { return Data() }
        while data.count <= limit, let chunk = try await iterator.next() { data.append(chunk) }
        guard data.count <= limit else {
            cancel()
            throw tooLarge(limit)
        }
        return data
    }

    /// Cancels the transfer and throws ``ErrandError/Code/bodyTooLarge`` if more bytes are announced.
    package func checkLength(upTo limit: Int) throws {
        guard let length, length > Int64(limit) else { return }
        cancel()
        throw tooLarge(limit)
    }

    private func tooLarge(_ limit: Int) -> any Error {
        let error = ErrandError.tooLarge(limit: limit)
        return reader?.withEvidence(error) ?? error
    }

    /// Collects the bytes and keeps them, so that every copy of the body has them in memory.
    package func gather(upTo limit: Int) async throws {
        if data == nil { reader?.keep(try await collect(upTo: limit)) }
    }

    /// Cancels the transfer; a reader gets an error. Does nothing to a body in memory.
    public func cancel() {
        if case .stream(let reader) = storage { reader.cancel() }
    }

    /// The collected bytes of a stream as a body; nil for any other body.
    var collected: HTTPBody? { reader == nil ? nil : data.map { HTTPBody($0) } }

    package var reader: BodyReader? {
        if case .stream(let reader) = storage { reader } else { nil }
    }

    /// The next chunk for one reader that needs no iterator.
    package func nextChunk() async throws -> Data? {
        guard case .stream(let reader) = storage else { return nil }
        return try await reader.next()
    }

    /// Begins to read; a second reader of a stream gets ``ErrandError/Code/bodyAlreadyRead``.
    public func makeAsyncIterator() -> Iterator { Iterator(storage: data.map(Storage.data) ?? storage) }

    /// Pulls the chunks on the caller's own actor, so that reading costs no hop.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate var storage: Storage
        private var ticket: BodyReader.Ticket?

        fileprivate init(storage: Storage) { self.storage = storage }

        /// The next chunk; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Data? {
            switch storage {
            case .data(let data):
                storage = .data(Data())
                return data.isEmpty ? nil : data
            case .stream(let reader):
                if ticket == nil { ticket = try reader.claim() }
                return try await reader.next()
            }
        }
    }
}

private final class ClosureSource: HTTPBodySource {
    private let next: @Sendable () async throws -> Data?
    private let onCancel: @Sendable () -> Void

    init(next: @escaping @Sendable () async throws -> Data?, onCancel: @escaping @Sendable () -> Void) {
        self.next = next
        self.onCancel = onCancel
    }

    func nextChunk() async throws -> Data? { try await next() }
    func cancel() { onCancel() }
}
