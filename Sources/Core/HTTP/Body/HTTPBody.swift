public import ErrandEssentials
import ErrandSupport
import Synchronization

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

/// How much of a body Core reads, and for how long, if the caller doesn't wait for the body: the evidence that an error
/// keeps, and the body of a response that may not be the last.
package struct BodyAllowance: Sendable {
    package let bytes: Int
    let duration: Duration
    let time: any TimeSource

    /// - Parameters:
    ///   - timeout: the longest silence of the call, which is never exceeded.
    ///   - longest: the longest wait; a second by default.
    package init(bytes: Int, timeout: Duration, time: any TimeSource, longest: Duration = .seconds(1)) {
        self.bytes = max(0, bytes)
        self.time = time
        duration = min(longest, timeout)
    }

    /// Returns when the work has stopped, and stops it when its time is over or the caller's task is cancelled.
    func wait(for work: some StoppableWork) async {
        // Isn't waited for: a time source need not notice that it is cancelled.
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

/// Work that goes on in a task until it has all that it wants, or is stopped.
protocol StoppableWork: Sendable {
    /// Stops the work. Does nothing once it has stopped.
    func stop()
    /// Returns once the work has stopped.
    func stopped() async
}

extension HTTPBody {
    /// The first bytes, as many as arrive within an allowance. A transfer that has not ended by then is cancelled, and
    /// so is one whose reader's task is cancelled.
    package func prefix(within allowance: BodyAllowance) async -> Data {
        if let data { return Data(data.prefix(allowance.bytes)) }
        defer { cancel() }
        if allowance.bytes == 0 || Task.isCancelled { return Data() }
        let gathering = Gathering(limit: allowance.bytes)
        // Isn't waited for: a source need not notice that it is cancelled.
        let reading = Task { @concurrent in await gathering.read(self) }
        await allowance.wait(for: gathering)
        reading.cancel()
        return gathering.data
    }

    /// Reads a short rest, so that its connection can be reused; cancels one that is long or slow.
    package func finish(within timeout: Duration, time: any TimeSource) async {
        if data == nil, let length, length <= 64 << 10 {
            _ = await prefix(within: BodyAllowance(bytes: 64 << 10 + 1, timeout: timeout, time: time))
        }
        cancel()
    }

    /// The same body in memory, if it is short and arrives within an allowance. Any other remains a stream, of which no
    /// byte is lost.
    package func readAhead(within allowance: BodyAllowance) async -> HTTPBody {
        if data != nil || (length ?? 0) > Int64(allowance.bytes) { return self }
        let ahead = ReadAhead(self, upTo: allowance.bytes)
        await allowance.wait(for: ahead)
        if let whole = ahead.whole { return HTTPBody(whole) }
        let rest = HTTPBody(length: length, source: ahead)
        if let evidence = ahead.evidence { rest.reader?.keepEvidence(evidence) }
        return rest
    }

    /// Reads the first bytes within an allowance and keeps them, so that every copy of the body has them in memory; the
    /// rest is cancelled.
    package func gatherEvidence(within allowance: BodyAllowance) async {
        if data == nil { reader?.keep(await prefix(within: allowance)) }
    }

    /// The same stream; its first bytes are copied for an observer as it is read.
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

/// The bytes so far, and the continuation that waits for them.
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

    /// Whether more bytes are wanted.
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
