import ErrandSupport
import Synchronization

/// A state that any number of readers may follow: each reader receives the state as it is when it begins, then each new
/// one in order.
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
/// A reader that is slow misses states, and never the last one. A reader that ends leaves nothing behind; the end of
/// the broadcaster, or ``finish()``, ends all readers. Safe to use from any thread, and from the end of what a state
/// holds; so do not send under a lock of your own that such an end may take.
public final class StateBroadcaster<State: Sendable>: Sendable {
    private typealias Continuation = AsyncStream<State>.Continuation

    private struct Guarded {
        var state: State
        /// How many states have been sent.
        var count: UInt64 = 0
        /// The newest ones that are not delivered yet, each with its number.
        var waiting = FIFOQueue<(number: UInt64, state: State)>()
        /// Each reader with the number of the state that it began with, and in the order of their beginning.
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

    /// - Parameters:
    ///   - state: the first state.
    ///   - maximumWaiting: how many states wait for each reader that is slow, the newest ones; 1 by default, and at
    ///     least.
    public init(_ state: State, maximumWaiting: Int = 1) {
        guarded = Mutex(Guarded(state: state))
        self.maximumWaiting = max(1, maximumWaiting)
    }

    deinit {
        for reader in guarded.withLock({ $0.readers }).values { reader.continuation.finish() }
    }

    /// The state that was sent last.
    public var state: State { guarded.withLock { $0.state } }

    /// The state now, then each new one; of those that the reader has not taken the newest are kept.
    public var states: AsyncStream<State> {
        let (stream, continuation) = AsyncStream<State>.makeStream(bufferingPolicy: .bufferingNewest(maximumWaiting))
        let id = guarded.withLock { guarded -> UInt64? in
            // Nothing waits in a new stream that this could end under the lock.
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

    /// The number of readers.
    public var readerCount: Int { guarded.withLock { $0.readers.count } }

    /// Sends a state to all readers; after ``finish()`` it only becomes ``state``.
    public func send(_ state: State) { update { $0 = state } }

    /// Changes the state and sends it to all readers; after ``finish()`` it only becomes ``state``.
    ///
    /// - Parameter change: called under the lock of the broadcaster. Nothing changes and nothing is sent where it
    ///   returns nil or throws.
    /// - Returns: what `change` returns.
    @discardableResult
    public func update<Result: Sendable, Failure: Error>(
        _ change: (inout State) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        // All that may end is held until after the lock.
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

    /// Ends all readers, once they have received what was sent before.
    public func finish() {
        let isFirst = guarded.withLock { guarded in
            if guarded.isFinished { return false }
            guarded.isFinished = true
            defer { guarded.isDelivering = true }
            return !guarded.isDelivering
        }
        if isFirst { deliver() }
    }

    /// Delivers what waits, outside of the lock, for a state that a stream drops may run its owner's code. Another
    /// thread that sends meanwhile leaves its states to this one, which keeps their order.
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
