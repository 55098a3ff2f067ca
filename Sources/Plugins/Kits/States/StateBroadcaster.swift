import ErrandCollections
import Synchronization

/// A state that any number of readers can observe. A reader receives the current state and then each new state in
/// order.
///
/// ```swift
/// final class Traffic: Accessory {
///     private let running = StateBroadcaster(0)
///     var states: AsyncStream<Int> { running.states }
///
///     func activity(_ activity: Activity, did event: ActivityEvent) {
///         switch event {
///         case .willStart: running.update { $0 += 1 }
///         case .didStop: running.update { $0 -= 1 }
///         default: break
///         }
///     }
/// }
/// ```
///
/// A slow reader skips states, but always receives the last one. A reader that ends is removed. All readers end with
/// ``finish()``, or when the broadcaster is deallocated.
///
/// You can use a broadcaster from any thread, and from the `deinit` of an object in a state. Sending can run such a
/// `deinit`, so don't send while you hold a lock that it could take.
public final class StateBroadcaster<State: Sendable>: Sendable {
    private typealias Continuation = AsyncStream<State>.Continuation

    private struct Guarded {
        var state: State
        var count: UInt64 = 0
        /// The newest undelivered states, with their numbers.
        var waiting = FIFOQueue<(number: UInt64, state: State)>()
        /// The readers, with the number of the state that each began with.
        var readers: [UInt64: (first: UInt64, continuation: Continuation)] = [:]
        var lastReader: UInt64 = 0
        var isDelivering = false
        var isFinished = false
    }

    private enum Delivery {
        case state(State, [Continuation])
        case end([Continuation])
    }

    private let guarded: Mutex<Guarded>
    private let maximumWaiting: Int

    /// Creates a broadcaster.
    ///
    /// - Parameters:
    ///   - state: the first state.
    ///   - maximumWaiting: the number of newest states to keep for a slow reader. Defaults to 1, the minimum.
    public init(_ state: State, maximumWaiting: Int = 1) {
        guarded = Mutex(Guarded(state: state))
        self.maximumWaiting = max(1, maximumWaiting)
    }

    deinit {
        for reader in guarded.withLock({ $0.readers }).values { reader.continuation.finish() }
    }

    /// The state that was sent last.
    public var state: State { guarded.withLock { $0.state } }

    /// The current state and each new one. A slow reader receives only the newest.
    public var states: AsyncStream<State> {
        let (stream, continuation) = AsyncStream<State>.makeStream(bufferingPolicy: .bufferingNewest(maximumWaiting))
        let id = guarded.withLock { guarded -> UInt64? in
            // A new stream is empty, so this doesn't release an older state under the lock.
            continuation.yield(guarded.state)
            if guarded.isFinished { return nil }
            guarded.lastReader += 1
            guarded.readers[guarded.lastReader] = (guarded.count, continuation)
            return guarded.lastReader
        }
        if let id {
            continuation.onTermination = { [weak self] _ in self?.remove(id) }
        } else {
            continuation.finish()
        }
        return stream
    }

    /// The number of readers that are observing the state now.
    public var readerCount: Int { guarded.withLock { $0.readers.count } }

    /// Sends a state to all readers. After ``finish()``, it only updates ``state``.
    public func send(_ state: State) { update { $0 = state } }

    /// Changes the state and sends it to all readers. After ``finish()``, it only updates ``state``.
    ///
    /// - Parameter change: runs under the broadcaster's lock. If it returns nil or throws, the state is kept and not
    ///   sent.
    /// - Returns: the result of `change`.
    @discardableResult
    public func update<Result: Sendable, Failure: Error>(
        _ change: (inout State) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        // Released after the lock, because releasing a state can run user code.
        var held: [State] = []
        defer { withExtendedLifetime(held) {} }
        let (result, isFirst) = try guarded.withLock { guarded throws(Failure) -> (Result?, Bool) in
            held = [guarded.state, guarded.state]
            guard let result = try change(&held[1]) else { return (nil, false) }
            guarded.state = held[1]
            if guarded.isFinished || guarded.readers.isEmpty { return (result, false) }
            guarded.count += 1
            guarded.waiting.append((guarded.count, guarded.state))
            if guarded.waiting.count > maximumWaiting, let oldest = guarded.waiting.popFirst() {
                held.append(oldest.state)
            }
            defer { guarded.isDelivering = true }
            return (result, !guarded.isDelivering)
        }
        if isFirst { deliver() }
        return result
    }

    /// Ends all readers once they have received all states.
    public func finish() {
        let isFirst = guarded.withLock { guarded in
            if guarded.isFinished { return false }
            guarded.isFinished = true
            defer { guarded.isDelivering = true }
            return !guarded.isDelivering
        }
        if isFirst { deliver() }
    }

    /// Runs outside the lock, because a stream can drop a state, and releasing it can run user code. States that other
    /// threads send meanwhile are delivered here too, which keeps their order.
    private func deliver() {
        while let delivery = guarded.withLock({ Self.next(&$0) }) {
            switch delivery {
            case .state(let state, let readers): for reader in readers { reader.yield(state) }
            case .end(let readers): for reader in readers { reader.finish() }
            }
        }
    }

    private static func next(_ guarded: inout Guarded) -> Delivery? {
        if let (number, state) = guarded.waiting.popFirst() {
            return .state(state, guarded.readers.values.filter { $0.first < number }.map(\.continuation))
        }
        guarded.isDelivering = false
        guard guarded.isFinished, !guarded.readers.isEmpty else { return nil }
        defer { guarded.readers = [:] }
        return .end(guarded.readers.values.map(\.continuation))
    }

    private func remove(_ id: UInt64) {
        let reader = guarded.withLock { $0.readers.removeValue(forKey: id) }
        withExtendedLifetime(reader) {}
    }
}
