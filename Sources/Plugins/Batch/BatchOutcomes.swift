import Synchronization

/// The ledger of one running batch behind its lock, and the results of the parts.
final class BatchOutcomes<Part: Sendable>: Sendable {
    /// How a part ended, and the consequence for the batch.
    typealias End = (counts: Bool, isDecided: Bool)

    private let ledger: Mutex<BatchLedger>
    // The outputs in the order of the parts, and the errors of the others; empty if a channel takes the results as they
    // arrive. Read and changed only under the lock of the ledger, and stored beside it: a lock of a generic type would
    // look up its metadata at each use, as a `Result` would.
    @exclusivity(unchecked) nonisolated(unsafe) private var outputs: [Part?]
    @exclusivity(unchecked) nonisolated(unsafe) private var failures: [Int: any Error] = [:]
    private let collects: Bool

    init(_ ledger: BatchLedger, count: Int) {
        self.ledger = Mutex(ledger)
        (outputs, collects) = (Array(repeating: nil, count: count), count > 0)
    }

    /// The part to start now; nil if none is left to start.
    func take() -> Int? { ledger.withLock { $0.take() } }

    /// Records the result of a part, its output or a failure; a failed one is recorded with its name.
    func end(_ index: Int, _ output: Part?, _ failure: (any Error)?, _ name: BatchLedger.PartName?) -> End {
        ledger.withLock { ledger in
            let counts = ledger.end(index, failure, name)
            if counts, collects {
                // Where one success is enough, a failure is only recorded by its index.
                if failure == nil {
                    outputs[index] = output
                } else if ledger.rule != .firstSuccess {
                    failures[index] = failure
                }
            }
            return (counts, ledger.isDecided)
        }
    }

    /// Throws the error that makes the batch fail, if there is one.
    func check() throws { try ledger.withLock { $0 }.check() }

    // Loops in place of `map`, whose closure would look up the metadata of its types for each part.

    /// All results; throws if a part never ran, because then the batch was cancelled.
    func all() throws -> [Result<Part, any Error>] {
        let (outputs, failures) = ledger.withLock { _ in (self.outputs, self.failures) }
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
        let (outputs, failures) = ledger.withLock { _ in (self.outputs, self.failures) }
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
        guard let index = ledger.withLock(\.winner), let output = ledger.withLock({ _ in outputs[index] }) else {
            throw CancellationError()
        }
        return (index, output)
    }
}
