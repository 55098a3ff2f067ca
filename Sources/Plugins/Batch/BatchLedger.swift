import Errand
import Synchronization

/// The state of one run of a batch. The results of its parts are in ``BatchOutcomes``.
struct BatchLedger: Sendable {
    typealias PartName = (label: String, request: (any Request)?)

    let rule: BatchRule
    private let count: Int
    private var next = 0
    private(set) var winner: Int?
    private var failures: [BatchError.Failure] = []
    private var failureCount = 0
    private(set) var isDecided = false

    init(_ rule: BatchRule, count: Int) { (self.rule, self.count) = (rule, count) }

    mutating func take() -> Int? {
        guard !isDecided, next < count else { return nil }
        defer { next += 1 }
        return next
    }

    mutating func end(_ index: Int, failure: (any Error)?, name: PartName?) -> Bool {
        if isDecided { return false }
        switch (failure, rule) {
        case (nil, .firstSuccess):
            winner = index
            isDecided = true
        case (let failure?, .failFast):
            add(failure, of: index, name)
            isDecided = true
        case (let failure?, .firstSuccess): add(failure, of: index, name)
        default: break
        }
        return true
    }

    private mutating func add(_ error: any Error, of index: Int, _ name: PartName?) {
        failureCount += 1
        if failures.count >= BatchError.maximumKeptFailures { return }
        let (label, request) = name ?? ("part", nil)
        failures.append(BatchError.Failure(index: index, label: label, request: request, error: error))
    }

    func check() throws {
        switch rule {
        case .collectAll: return
        case .failFast: if let failure = failures.first { throw whole(failure) }
        case .firstSuccess:
            if winner != nil || failureCount < count { return }
            if let failure = failures.first, failures.allSatisfy({ $0.error.isCancellation }) { throw whole(failure) }
            throw BatchError(.noneSucceeded, failures, failureCount: failureCount)
        }
    }

    /// Returns the batch's error for a part's failure. If only this part was cancelled, the error is a cancellation of
    /// the batch.
    private func whole(_ failure: BatchError.Failure) -> any Error {
        let error = BatchError(.partFailed, [failure], failureCount: failureCount)
        if !failure.error.isCancellation { return error }
        return ErrandError(
            .cancelled, "part \(failure.index) of the batch (\(failure.label)) was cancelled", underlying: error)
    }
}

/// The ledger and the results of one run, protected by one lock.
final class BatchOutcomes<Part: Sendable>: Sendable {
    typealias End = (counts: Bool, isDecided: Bool)

    private struct State {
        var ledger: BatchLedger
        /// The results in the order of the parts. It's empty if a channel receives the results instead.
        var outputs: [Part?]
        var failures: [Int: any Error] = [:]
    }

    private let state: Mutex<State>
    private let collects: Bool

    init(_ ledger: BatchLedger, count: Int) {
        state = Mutex(State(ledger: ledger, outputs: Array(repeating: nil, count: count)))
        collects = count > 0
    }

    func take() -> Int? { state.withLock { $0.ledger.take() } }

    func end(_ index: Int, output: Part?, failure: (any Error)?, name: BatchLedger.PartName?) -> End {
        state.withLock { state in
            let counts = state.ledger.end(index, failure: failure, name: name)
            if counts, collects {
                // With `.firstSuccess`, the ledger alone keeps failures.
                if failure == nil {
                    state.outputs[index] = output
                } else if state.ledger.rule != .firstSuccess {
                    state.failures[index] = failure
                }
            }
            return (counts, state.ledger.isDecided)
        }
    }

    func check() throws { try state.withLock { $0.ledger }.check() }

    // Uses a loop instead of `map`, because the closure of `map` would look up type metadata for each part.

    /// Returns the results of all parts. Throws if a part never ran because the batch was cancelled.
    func all() throws -> [Result<Part, any Error>] {
        let (outputs, failures) = state.withLock { ($0.outputs, $0.failures) }
        var all: [Result<Part, any Error>] = []
        all.reserveCapacity(outputs.count)
        for index in outputs.indices {
            if let output = outputs[index] {
                all.append(.success(output))
            } else if let failure = failures[index] {
                all.append(.failure(failure))
            } else {
                throw CancellationError()
            }
        }
        return all
    }

    func successes() throws -> [Part] {
        let (outputs, failures) = state.withLock { ($0.outputs, $0.failures) }
        var successes: [Part] = []
        successes.reserveCapacity(outputs.count)
        for index in outputs.indices {
            guard let output = outputs[index] else { throw failures[index] ?? CancellationError() }
            successes.append(output)
        }
        return successes
    }

    func winner() throws -> (index: Int, response: Part) {
        try state.withLock { state in
            guard let index = state.ledger.winner, let output = state.outputs[index] else { throw CancellationError() }
            return (index, output)
        }
    }
}
