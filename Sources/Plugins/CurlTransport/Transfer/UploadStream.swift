#if os(Linux) || os(Android)
import Errand
import ErrandEssentials
import Synchronization

/// A streamed request body while it's sent. A task reads the source, at most two chunks ahead of libcurl.
final class UploadStream: Sendable {
    enum Taken {
        /// Bytes of the body. Empty bytes mark the body's end.
        case bytes(Data)
        case wait
        case failed(ErrandError)
    }

    private struct State {
        var current = Data()
        var next: Data?
        /// Chunks that libcurl has read. The reading task releases them, because their release may run user code.
        var spent: [Data] = []
        var isEnded = false
        var failure: ErrandError?
        var isHungry = false
        var pump: Task<Void, Never>?
        var room: Resumption<Void, Never>?
        var isBegun = false
        var isStopped = false
    }

    let length: Int64?
    private let body: HTTPBody
    private let state = Mutex(State())

    init(_ body: HTTPBody, length: Int64?) {
        self.body = body
        self.length = length
    }

    var isBegun: Bool { state.withLock { $0.isBegun } }

    var isEmpty: Bool {
        state.withLock { $0.current.isEmpty && $0.next == nil && !$0.isEnded && $0.failure == nil }
    }

    /// Returns bytes of the body for libcurl. The first call starts to read the source.
    func take(upTo maximum: Int, for transfer: Transfer) -> Taken {
        let (taken, room) = state.withLock { state -> (Taken, Resumption<Void, Never>?) in
            if !state.isBegun {
                state.isBegun = true
                state.pump = Task { await pump(transfer) }
            }
            var room: Resumption<Void, Never>?
            if state.current.isEmpty, let next = state.next {
                (state.current, state.next) = (next, nil)
                (room, state.room) = (state.room, nil)
            }
            if !state.current.isEmpty {
                let bytes = state.current.prefix(maximum)
                if bytes.count == state.current.count { state.spent.append(state.current) }
                state.current = state.current.dropFirst(bytes.count)
                return (.bytes(bytes), room)
            }
            if let failure = state.failure { return (.failed(failure), room) }
            if state.isEnded { return (.bytes(Data()), room) }
            state.isHungry = true
            return (.wait, room)
        }
        if let room { transfer.loop.deferredWork.add(.room(room)) }
        // Keep the bytes until libcurl has copied them, because the reading task may release their chunk earlier.
        if case .bytes(let bytes) = taken, !bytes.isEmpty { transfer.loop.deferredWork.add(.spent(bytes)) }
        return taken
    }

    func stop() {
        let (pump, room, wasEnded) = state.withLock { state in
            defer { (state.isStopped, state.room, state.pump) = (true, nil, nil) }
            return (state.pump, state.room, state.isEnded || state.isStopped)
        }
        // Cancel the source before the reading task, whose error would prevent cancelling the source.
        if !wasEnded { body.cancel() }
        pump?.cancel()
        room?.resume()
    }

    @concurrent private func pump(_ transfer: Transfer) async {
        var failure: ErrandError?
        do { try await pull(transfer) } catch let error as ErrandError {
            let isLength = error.code == .truncated || error.code == .invalidResponse
            failure =
                isLength
                ? ErrandError(.invalidRequest, "the body's length differs from the announced length", underlying: error)
                : error
        } catch {
            failure = ErrandError(.encodingFailed, "the body could not be read", underlying: error)
        }
        if failure != nil { body.cancel() }
        let isHungry = state.withLock { state in
            if let failure { state.failure = failure } else { state.isEnded = true }
            defer { state.isHungry = false }
            return state.isHungry
        }
        if isHungry { transfer.loop.submit(.resume(transfer)) }
    }

    /// Reads the source and offers its chunks in order. If the length was announced, the last chunk is held back until
    /// the source ends. A source with more bytes therefore never completes a request.
    private func pull(_ transfer: Transfer) async throws {
        var iterator = body.makeAsyncIterator()
        var count: Int64 = 0
        var last: Data?
        while let chunk = try await iterator.next() {
            if chunk.isEmpty { continue }
            count += Int64(chunk.count)
            if let length, count > length { throw Self.wrong(length, "more than \(length)") }
            if count == length { last = chunk } else if await !offer(chunk, transfer) { return }
        }
        if let length, count < length { throw Self.wrong(length, "\(count)") }
        if let last { _ = await offer(last, transfer) }
    }

    private static func wrong(_ length: Int64, _ came: String) -> ErrandError {
        ErrandError(.invalidRequest, "the body has \(came) bytes, but \(length) were announced")
    }

    private func offer(_ chunk: Data, _ transfer: Transfer) async -> Bool {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let room = Resumption(continuation)
            let isFree = state.withLock { state in
                if state.next == nil || state.isStopped { return true }
                state.room = room
                return false
            }
            if isFree { room.resume() }
        }
        let (isStopped, isHungry, spent) = state.withLock { state in
            if !state.isStopped { state.next = chunk }
            defer { (state.isHungry, state.spent) = (false, []) }
            return (state.isStopped, state.isHungry, state.spent)
        }
        withExtendedLifetime(spent) {}
        if isHungry && !isStopped { transfer.loop.submit(.resume(transfer)) }
        return !isStopped
    }
}
#endif
