public import ErrandEssentials
import ErrandSupport
import Synchronization

/// A message's bytes, in memory or pulled from a source, as an `AsyncSequence` of `Data`.
///
/// ```swift
/// for try await chunk in body { handle.write(chunk) }
/// let data = try await body.collect(upTo: 1 << 20)
/// ```
///
/// A streamed body can be read once: a second iterator throws ``ErrandError/Code/bodyAlreadyRead``. A body in memory
/// can be read any number of times. Releasing the last copy of an unfinished body cancels its transfer.
///
/// If a source delivers fewer than `length` bytes, reading throws ``ErrandError/Code/truncated``. If it delivers more,
/// reading throws ``ErrandError/Code/invalidResponse``.
public struct HTTPBody: AsyncSequence, Sendable {
    /// A chunk of bytes, of any size.
    public typealias Element = Data
    /// The error that reading throws: ``ErrandError``, or any error of the source.
    public typealias Failure = any Error

    // Small, because each filter copies the response and its body.
    private let storage: Storage

    fileprivate enum Storage: Sendable {
        case data(Data)
        case stream(BodyReader)
    }

    /// A body without bytes.
    public static let empty = HTTPBody(Data())

    /// Creates a body from bytes in memory.
    public init(_ data: Data) { storage = .data(data) }

    /// Creates a body that pulls its chunks from a source. `length` is `nil` if unknown.
    public init(length: Int64? = nil, source: some HTTPBodySource) {
        storage = .stream(BodyReader(source, length: length))
    }

    /// Creates a body from a closure that returns the next chunk, or `nil` at the end. If the reader stops before the
    /// end, the body calls `cancel`.
    public init(
        length: Int64? = nil, cancel: @escaping @Sendable () -> Void = {},
        next: @escaping @Sendable () async throws -> Data?
    ) {
        self.init(length: length, source: ClosureSource(next: next, onCancel: cancel))
    }

    /// Creates a body from a regular file. The file is opened at the first read, and read in chunks of 256 KiB. If the
    /// URL is anything else, such as a pipe, reading throws ``ErrandError/Code/fileFailed``. Like every stream, the
    /// body can be read once, so create a body for each response.
    public init(file url: URL, length: Int64? = nil) {
        let file = FileReader(url.path)
        let source = ClosureSource(next: { try await Self.read(file) }, onCancel: {})
        storage = .stream(BodyReader(source, length: length, file: url))
    }

    /// Creates a body from the part of a file that starts at an offset. The body's ``file`` is `nil`, because the file
    /// contains more bytes than the body.
    init(file url: URL, from offset: Int64, length: Int64?) {
        let file = FileReader(url.path, from: offset)
        self.init(length: length) { try await Self.read(file) }
    }

    /// The number of bytes, or `nil` if it isn't known in advance.
    public var length: Int64? {
        switch storage {
        case .data(let data): Int64(data.count)
        case .stream(let reader): reader.length
        }
    }

    /// The file that contains the bytes, if the body was read from a file or saved to one.
    public var file: URL? { reader?.file }

    /// The bytes, or `nil` if they aren't in memory.
    public var data: Data? {
        switch storage {
        case .data(let data): data
        case .stream(let reader): reader.kept
        }
    }

    /// Reads all bytes into memory. If the body is longer than `limit` bytes, cancels the transfer and throws
    /// ``ErrandError/Code/bodyTooLarge`` without reading the rest.
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

    package func checkLength(upTo limit: Int) throws {
        guard let length, length > Int64(limit) else { return }
        cancel()
        throw tooLarge(limit)
    }

    private func tooLarge(_ limit: Int) -> any Error {
        let error = ErrandError.tooLarge(limit: limit)
        return reader?.withEvidence(error) ?? error
    }

    /// Collects the bytes in memory, for every copy of the body.
    package func gather(upTo limit: Int) async throws {
        if data == nil { reader?.keep(try await collect(upTo: limit)) }
    }

    /// Cancels the transfer of a streamed body. The body's reader gets an error.
    public func cancel() {
        if case .stream(let reader) = storage { reader.cancel() }
    }

    var collected: HTTPBody? { reader == nil ? nil : data.map { HTTPBody($0) } }

    package var reader: BodyReader? {
        if case .stream(let reader) = storage { reader } else { nil }
    }

    /// Returns the next chunk of a streamed body, or `nil` for a body in memory. The caller must be the body's only
    /// reader.
    package func nextChunk() async throws -> Data? {
        guard case .stream(let reader) = storage else { return nil }
        return try await reader.next()
    }

    /// Creates an iterator. Reading a stream with a second iterator throws ``ErrandError/Code/bodyAlreadyRead``.
    public func makeAsyncIterator() -> Iterator { Iterator(storage: data.map(Storage.data) ?? storage) }

    /// Reads the body's chunks on the caller's actor.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate var storage: Storage
        private var ticket: BodyReader.Ticket?

        fileprivate init(storage: Storage) { self.storage = storage }

        /// Returns the next chunk, or `nil` at the end. Throws if the transfer fails.
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

/// Limits the bytes and the time spent on a body that the caller doesn't wait for.
package struct BodyAllowance: Sendable {
    package let bytes: Int
    let duration: Duration
    let time: any TimeSource

    package init(bytes: Int, timeout: Duration, time: any TimeSource, longest: Duration = .seconds(1)) {
        self.bytes = max(0, bytes)
        self.time = time
        duration = min(longest, timeout)
    }

    func wait(for work: some StoppableWork) async {
        // Don't await the timer, because a time source may ignore cancellation.
        let timer = Task { @concurrent in
            try? await time.sleep(until: time.instant(after: duration))
            work.stop()
        }
        await withTaskCancellationHandler {
            await work.stopped()
        } onCancel: {
            work.stop()
        }
        timer.cancel()
    }
}

protocol StoppableWork: Sendable {
    func stop()
    func stopped() async
}

extension HTTPBody {
    /// Returns the bytes that arrive within the allowance, and cancels the transfer.
    package func prefix(within allowance: BodyAllowance) async -> Data {
        if let data { return Data(data.prefix(allowance.bytes)) }
        defer { cancel() }
        if allowance.bytes == 0 || Task.isCancelled { return Data() }
        let gathering = Gathering(limit: allowance.bytes)
        // Don't await the reading task, because a source may ignore cancellation.
        let reading = Task { @concurrent in await gathering.read(self) }
        await allowance.wait(for: gathering)
        reading.cancel()
        return gathering.data
    }

    /// Reads a short remaining body, so the connection can be reused. Cancels a long or slow body.
    package func finish(within timeout: Duration, time: any TimeSource) async {
        if data == nil, let length, length <= 64 << 10 {
            _ = await prefix(within: BodyAllowance(bytes: 64 << 10 + 1, timeout: timeout, time: time))
        }
        cancel()
    }

    /// Reads ahead for a limited time. Returns a body in memory if all bytes arrive within the allowance, or else a
    /// stream of all bytes.
    package func readAhead(within allowance: BodyAllowance) async -> HTTPBody {
        if data != nil || (length ?? 0) > Int64(allowance.bytes) { return self }
        let ahead = ReadAhead(self, upTo: allowance.bytes)
        await allowance.wait(for: ahead)
        if let whole = ahead.whole { return HTTPBody(whole) }
        let rest = HTTPBody(length: length, source: ahead)
        if let evidence = ahead.evidence { rest.reader?.keepEvidence(evidence) }
        return rest
    }

    /// Keeps the bytes that arrive within the allowance for every copy of the body, then cancels the transfer.
    package func gatherEvidence(within allowance: BodyAllowance) async {
        if data == nil { reader?.keep(await prefix(within: allowance)) }
    }

    package func observed(upTo limit: Int, by observer: @escaping @Sendable (Data) -> Void) -> HTTPBody {
        let count = Atomic(0)
        return HTTPBody(length: length, cancel: cancel) {
            guard let chunk = try await nextChunk() else { return nil }
            let before = count.add(chunk.count, ordering: .relaxed).oldValue
            let copy = chunk.prefix(Swift.max(0, limit - before))
            if !copy.isEmpty { observer(Data(copy)) }
            return chunk
        }
    }
}

private final class Gathering: StoppableWork {
    private struct State {
        var data = Data()
        var isOver = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    var data: Data { state.withLock { $0.data } }

    func read(_ body: HTTPBody) async {
        var iterator = body.makeAsyncIterator()
        while let chunk = try? await iterator.next(), add(chunk) {}
        stop()
    }

    private func add(_ chunk: Data) -> Bool {
        state.withLock { state in
            if !state.isOver { state.data.append(chunk.prefix(limit - state.data.count)) }
            return !state.isOver && state.data.count < limit
        }
    }

    func stopped() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.isOver { state.waiter = continuation }
                return state.isOver
            }
            if isOver { continuation.resume() }
        }
    }

    func stop() {
        let waiter = state.withLock { state in
            state.isOver = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
