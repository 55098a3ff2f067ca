import Errand
import ErrandEssentials
import Synchronization

/// Delivers a body to its reader and copies it to a store. If the store is slow, the reader waits for it. The copy is
/// complete only when the whole body was read and the response was accepted.
final class TeeBody: HTTPBodySource {
    private struct State {
        var chunks: [Data] = []
        var isComplete = false
        var isAccepted: Bool
        var isBroken = false
        var isAbandoned = false
        var copyReader: CheckedContinuation<Void, Never>?
        var reader: CheckedContinuation<Void, Never>?
        var onEnd: (@Sendable () -> Void)?
    }

    private let original: BodyChunks
    private let state: Mutex<State>
    private static let capacity = 4

    init(_ body: HTTPBody, isAccepted: Bool = false) {
        original = BodyChunks(body)
        state = Mutex(State(isAccepted: isAccepted))
    }

    func accept() { change { $0.isAccepted = true } }
    func refuse() { change { $0.isBroken = true } }

    /// Returns false if the body itself has failed.
    @discardableResult
    func abandon() -> Bool {
        var isStoreFailure = false
        change { state in
            isStoreFailure = !state.isBroken
            state.isAbandoned = true
            state.chunks = []
        }
        return isStoreFailure
    }

    func onEnd(_ body: @escaping @Sendable () -> Void) { change { $0.onEnd = body } }

    private func change(_ body: (inout State) -> Void) {
        let (copyReader, reader, onEnd) = state.withLock { state in
            body(&state)
            defer { (state.copyReader, state.reader) = (nil, nil) }
            let isEnd = state.isComplete && state.isAccepted && !state.isBroken
            defer { if isEnd { state.onEnd = nil } }
            return (state.copyReader, state.reader, isEnd ? state.onEnd : nil)
        }
        onEnd?()
        copyReader?.resume()
        reader?.resume()
    }

    func nextChunk() async throws -> Data? {
        do {
            guard let chunk = try await original.next() else {
                change { $0.isComplete = true }
                return nil
            }
            change { if !$0.isAbandoned && !$0.isBroken { $0.chunks.append(chunk) } }
            while isFull { await wait(.reader) { $0.chunks.count >= Self.capacity && !$0.isAbandoned && !$0.isBroken } }
            return chunk
        } catch {
            change { $0.isBroken = true }
            throw error
        }
    }

    private var isFull: Bool {
        state.withLock { $0.chunks.count >= Self.capacity && !$0.isAbandoned && !$0.isBroken }
    }

    func cancel() {
        change { $0.isBroken = true }
        original.cancel()
    }

    private enum Waiter { case copyReader, reader }

    private func wait(_ waiter: Waiter, while isWaiting: (borrowing State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                guard isWaiting(state) else { return false }
                switch waiter {
                case .copyReader: state.copyReader = continuation
                case .reader: state.reader = continuation
                }
                return true
            }
            if !waits { continuation.resume() }
        }
    }

    var copy: Copy { Copy(self) }

    final class Copy: HTTPBodySource {
        private let tee: TeeBody
        init(_ tee: TeeBody) { self.tee = tee }

        func nextChunk() async throws -> Data? {
            while true {
                var (chunk, isEnd, isBroken): (Data?, Bool, Bool) = (nil, false, false)
                tee.change { state in
                    isBroken = state.isBroken
                    if !state.chunks.isEmpty { chunk = state.chunks.removeFirst() }
                    isEnd = chunk == nil && state.isComplete && state.isAccepted
                }
                if isBroken { throw CacheStoreError("the response's body ended early, so its entry isn't complete") }
                if let chunk { return chunk }
                if isEnd { return nil }
                await tee.wait(.copyReader) { state in
                    !state.isBroken && state.chunks.isEmpty && !(state.isComplete && state.isAccepted)
                }
            }
        }

        func cancel() { tee.abandon() }
    }
}
