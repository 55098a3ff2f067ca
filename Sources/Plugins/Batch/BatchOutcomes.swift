import Synchronization

/// The ledger of one run and its parts' results, protected by one lock.
final class BatchOutcomes<Part: Sendable>: Sendable {
    typealias End = (counts: Bool, isDecided: Bool)

    private struct State {
        var ledger: BatchLedger
        /// In the order of the parts. Empty if a channel receives the results as they arrive.
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

    func end(_ index: Int, _ output: Part?, _ failure: (any Error)?, _ name: BatchLedger.PartName?) -> End {
        state.withLock { state in
            let counts = state.ledger.end(index, failure, name)
            if counts, collects {
                // If one success is enough, only the ledger keeps failures.
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

    // Loops instead of `map`: its closure would look up type metadata for each part.

    /// Throws if a part never ran because the batch was cancelled.
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

    /// Throws the first failure, or like `all`.
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

    /// Throws if the batch was cancelled before any success.
    func winner() throws -> (index: Int, response: Part) {
        try state.withLock { state in
            guard let index = state.ledger.winner, let output = state.outputs[index] else { throw CancellationError() }
            return (index, output)
        }
    }
}
