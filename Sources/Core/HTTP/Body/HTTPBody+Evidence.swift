package import ErrandEssentials
import Synchronization

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
