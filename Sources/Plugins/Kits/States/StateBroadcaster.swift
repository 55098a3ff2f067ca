import ErrandCollections
import Synchronization

/// A state that any number of readers can observe. A reader receives the current state, and then each new state in
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
/// A slow reader skips states, but always receives the last one. All readers end with ``finish()``, or when the
/// broadcaster is deallocated.
///
/// You can use a broadcaster from any thread. Sending can release an old state and run the `deinit` of an object in it.
/// If such a `deinit` takes a lock, don't send while you hold that lock.
public final class StateBroadcaster<State: Sendable>: Sendable {
    private typealias Continuation = AsyncStream<State>.Continuation

    private struct Guarded {
        var state: State
        var count: UInt64 = 0
        var waiting = FIFOQueue<(number: UInt64, state: State)>()
        /// With the number of each reader's first state.
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
    /// - Parameter maximumWaiting: The number of newest states to keep for a slow reader. Defaults to 1, the minimum.
    public init(_ state: State, maximumWaiting: Int = 1) {
        guarded = Mutex(Guarded(state: state))
        self.maximumWaiting = max(1, maximumWaiting)
    }

    deinit {
        for reader in guarded.withLock({ $0.readers }).values { reader.continuation.finish() }
    }

    /// The latest state.
    public var state: State { guarded.withLock { $0.state } }

    /// A stream of the current state and then each new state. A slow reader receives only the newest states.
    public var states: AsyncStream<State> {
        let (stream, continuation) = AsyncStream<State>.makeStream(bufferingPolicy: .bufferingNewest(maximumWaiting))
        let id = guarded.withLock { guarded -> UInt64? in
            // The new stream is empty, so this doesn't release another state under the lock.
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

    /// The number of current readers.
    public var readerCount: Int { guarded.withLock { $0.readers.count } }

    /// Sends a state to all readers. After ``finish()``, only sets ``state``.
    public func send(_ state: State) { update { $0 = state } }

    /// Changes the state and sends it to all readers. After ``finish()``, only changes ``state``.
    ///
    /// - Parameter change: Runs under the lock. If it returns `nil` or throws, the state doesn't change.
    /// - Returns: The result of `change`.
    @discardableResult
    public func update<Result: Sendable, Failure: Error>(
        _ change: (inout State) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        // Old states are released after the lock is unlocked, because releasing them can run user code.
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

    /// Ends all readers after they've received all states.
    public func finish() {
        let isFirst = guarded.withLock { guarded in
            if guarded.isFinished { return false }
            guarded.isFinished = true
            defer { guarded.isDelivering = true }
            return !guarded.isDelivering
        }
        if isFirst { deliver() }
    }

    /// Delivers the waiting states, outside the lock: a stream can drop a state, and releasing the state can run user
    /// code. To keep the order, this thread also delivers states that other threads send in the meantime.
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
