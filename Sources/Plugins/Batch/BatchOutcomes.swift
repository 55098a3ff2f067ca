import Synchronization

/// The ledger of one running batch and the results of its parts, under one lock.
final class BatchOutcomes<Part: Sendable>: Sendable {
    /// How a part ended, and the consequence for the batch.
    typealias End = (counts: Bool, isDecided: Bool)

    private struct State {
        var ledger: BatchLedger
        /// In the order of the parts; empty if a channel takes the results as they arrive.
        var outputs: [Part?]
        /// The errors of the parts without an output.
        var failures: [Int: any Error] = [:]
    }

    private let state: Mutex<State>
    private let collects: Bool

    init(_ ledger: BatchLedger, count: Int) {
        state = Mutex(State(ledger: ledger, outputs: Array(repeating: nil, count: count)))
        collects = count > 0
    }

    /// The part to start now; nil if none is left to start.
    func take() -> Int? { state.withLock { $0.ledger.take() } }

    /// Records the result of a part, its output or a failure; a failed one is recorded with its name.
    func end(_ index: Int, _ output: Part?, _ failure: (any Error)?, _ name: BatchLedger.PartName?) -> End {
        state.withLock { state in
            let counts = state.ledger.end(index, failure, name)
            if counts, collects {
                // Where one success is enough, a failure is only recorded by its index.
                if failure == nil {
                    state.outputs[index] = output
                } else if state.ledger.rule != .firstSuccess {
                    state.failures[index] = failure
                }
            }
            return (counts, state.ledger.isDecided)
        }
    }

    /// Throws the error that makes the batch fail, if there is one.
    func check() throws { try state.withLock { $0.ledger }.check() }

    // Loops in place of `map`, whose closure would look up the metadata of its types for each part.

    /// All results; throws if a part never ran, because then the batch was cancelled.
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

    /// All outputs; throws like `all`, and the first failure.
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

    /// The first success; throws if there is none, because then the batch was cancelled.
    func winner() throws -> (index: Int, response: Part) {
        try state.withLock { state in
            guard let index = state.ledger.winner, let output = state.outputs[index] else { throw CancellationError() }
            return (index, output)
        }
    }
}
