import ErrandCollections
import ErrandPlatform
import ErrandSupport
import Synchronization

/// Limits the files and sockets that transfers open, to half of the file descriptors that the process may open. Further
/// transfers wait in order.
///
/// All uploads and downloads of a process share this budget.
public final class DescriptorBudget: Sendable {
    /// The budget of this process.
    public static let shared = DescriptorBudget { capacity(limit: SystemQueries.openFileLimit ?? 256) }

    private struct Waiter {
        let id: UInt64
        let weight: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var used = 0
        var waiters = WaitingQueue<Waiter>()
    }

    private let state = Mutex(State())
    private let capacity: @Sendable () -> Int
    /// Nested transfers don't wait, to avoid deadlocks.
    @TaskLocal private static var isInside = false

    package init(capacity: @escaping @Sendable () -> Int) { self.capacity = capacity }

    /// Runs a body when `weight` descriptors are available. Calls `onWait` if it has to wait. Throws
    /// `CancellationError` if the task is cancelled while it waits.
    public func withDescriptors<Value>(
        for weight: Int, onWait: () -> Void, _ body: () async throws -> Value
    ) async throws -> Value {
        if Self.isInside {
            state.withLock { $0.used += weight }
        } else {
            try await acquire(weight, onWait)
        }
        defer { resume(state.withLock { release(&$0, weight) }) }
        return try await Self.$isInside.withValue(true) { try await body() }
    }

    package var waiting: Int { state.withLock { $0.waiters.count } }

    private func acquire(_ weight: Int, _ onWait: () -> Void) async throws {
        try Task.checkCancellation()
        let id = state.withLock { state -> UInt64? in
            if state.waiters.isEmpty, fits(state, weight) {
                state.used += weight
                return nil
            }
            return state.waiters.nextNumber()
        }
        guard let id else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let (isCancelled, admitted) = state.withLock { state -> (Bool, [Waiter]) in
                    if Task.isCancelled { return (true, []) }
                    state.waiters.append(Waiter(id: id, weight: weight, continuation: continuation), id)
                    // Another transfer may have ended since the first check.
                    return (false, admit(&state))
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                if !isCancelled, !admitted.contains(where: { $0.id == id }) { onWait() }
                resume(admitted)
            }
        } onCancel: {
            let (waiter, admitted) = state.withLock { state -> (Waiter?, [Waiter]) in
                guard let waiter = state.waiters.remove(id) else { return (nil, []) }
                return (waiter, admit(&state))
            }
            waiter?.continuation.resume(throwing: CancellationError())
            resume(admitted)
        }
    }

    private func fits(_ state: borrowing State, _ weight: Int) -> Bool {
        state.used == 0 || state.used + weight <= capacity()
    }

    private func admit(_ state: inout State) -> [Waiter] {
        var admitted: [Waiter] = []
        while let first = state.waiters.first, fits(state, first.weight) {
            state.used += first.weight
            _ = state.waiters.popFirst()
            admitted.append(first)
        }
        return admitted
    }

    private func release(_ state: inout State, _ weight: Int) -> [Waiter] {
        state.used -= weight
        return admit(&state)
    }

    private func resume(_ admitted: [Waiter]) { admitted.forEach { $0.continuation.resume() } }

    /// At most 4,096, because more concurrent transfers aren't faster.
    package static func capacity(limit: UInt64) -> Int { Int(min(max(limit / 2, 6), 4096)) }
}
