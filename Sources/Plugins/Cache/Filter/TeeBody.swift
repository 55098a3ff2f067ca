import Errand
import Synchronization

import ErrandEssentials

/// A body that goes to its reader and, as a copy, to a store. The reader sets the pace: a few chunks wait for the store
/// at the most, then the reader waits with them. The copy ends only when the body came whole and was accepted.
final class TeeBody: HTTPBodySource {
    private struct State {
        var chunks: [Data] = []
        var isWhole = false
        var isAccepted: Bool
        var isBroken = false
        var isAbandoned = false
        var taker: CheckedContinuation<Void, Never>?
        var giver: CheckedContinuation<Void, Never>?
        var onEnd: (@Sendable () -> Void)?
    }

    private let original: HTTPBody
    // Proof: HTTPBody lets one reader in, which asks for one chunk after the other.
    private nonisolated(unsafe) var iterator: HTTPBody.Iterator
    private let state: Mutex<State>
    private static let capacity = 4

    /// - Parameter isAccepted: whether the copy may end without ``accept()``.
    init(_ body: HTTPBody, isAccepted: Bool = false) {
        original = body
        iterator = body.makeAsyncIterator()
        state = Mutex(State(isAccepted: isAccepted))
    }

    func accept() { change { $0.isAccepted = true } }
    func refuse() { change { $0.isBroken = true } }

    /// The store gave up; whether that is its own doing.
    @discardableResult
    func abandon() -> Bool {
        var isOwn = false
        change { state in
            isOwn = !state.isBroken
            state.isAbandoned = true
            state.chunks = []
        }
        return isOwn
    }

    /// Called once, when the copy is complete.
    func onEnd(_ body: @escaping @Sendable () -> Void) { change { $0.onEnd = body } }

    /// Wakes whoever waits, after every change.
    private func change(_ body: (inout State) -> Void) {
        let (taker, giver, ended) = state.withLock { state in
            body(&state)
            defer { (state.taker, state.giver) = (nil, nil) }
            let isEnd = state.isWhole && state.isAccepted && !state.isBroken
            defer { if isEnd { state.onEnd = nil } }
            return (state.taker, state.giver, isEnd ? state.onEnd : nil)
        }
        ended?()
        taker?.resume()
        giver?.resume()
    }

    func nextChunk() async throws -> Data? {
        do {
            guard let chunk = try await iterator.next() else {
                change { $0.isWhole = true }
                return nil
            }
            change { if !$0.isAbandoned && !$0.isBroken { $0.chunks.append(chunk) } }
            while isFull { await wait(.giver) { $0.chunks.count >= Self.capacity && !$0.isAbandoned && !$0.isBroken } }
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

    private enum Waiter { case taker, giver }

    private func wait(_ waiter: Waiter, while isWaiting: (borrowing State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                guard isWaiting(state) else { return false }
                switch waiter {
                case .taker: state.taker = continuation
                case .giver: state.giver = continuation
                }
                return true
            }
            if !waits { continuation.resume() }
        }
    }

    /// What the store reads.
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
                    isEnd = chunk == nil && state.isWhole && state.isAccepted
                }
                if isBroken { throw CacheStoreError("the body did not come whole") }
                if let chunk { return chunk }
                if isEnd { return nil }
                await tee.wait(.taker) { state in
                    !state.isBroken && state.chunks.isEmpty && !(state.isWhole && state.isAccepted)
                }
            }
        }

        func cancel() { tee.abandon() }
    }
}
