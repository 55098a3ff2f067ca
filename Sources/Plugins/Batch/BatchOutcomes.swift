import Synchronization

/// The ledger of one running batch behind its lock, and the results of the parts.
final class BatchOutcomes<Part: Sendable>: Sendable {
    /// How a part ended, and what follows from it.
    typealias End = (counts: Bool, isDecided: Bool)

    private let ledger: Mutex<BatchLedger>
    // In the order of the parts; empty if a channel takes the results as they arrive. Read and changed under the ledger's
    // lock only, and beside it: a lock of a generic type would look up its metadata at each use.
    @exclusivity(unchecked) nonisolated(unsafe) private var results: [Result<Part, any Error>?]
    private let collects: Bool

    init(_ ledger: BatchLedger, count: Int) {
        self.ledger = Mutex(ledger)
        (results, collects) = (Array(repeating: nil, count: count), count > 0)
    }

    /// The part to start now; nil if there is none to start any more.
    func take() -> Int? { ledger.withLock { $0.take() } }

    /// Records the result of a part; one that failed has its name.
    func end(_ index: Int, _ result: Result<Part, any Error>, _ failure: (any Error)?, _ name: BatchLedger.PartName?)
        -> End
    {
        ledger.withLock { ledger in
            let counts = ledger.end(index, failure, name)
            // Where one success is enough, nothing is made of a failure but its place in an error.
            if counts, collects, failure == nil || ledger.rule != .firstSuccess { results[index] = result }
            return (counts, ledger.isDecided)
        }
    }

    /// Throws what makes the whole fail.
    func check() throws { try ledger.withLock { $0 }.check() }

    // Loops in place of `map`, whose closure would look up the metadata of its types for each part.

    /// Every result; throws if a part never ran, and then the whole was cancelled.
    func all() throws -> [Result<Part, any Error>] {
        let found = ledger.withLock { _ in results }
        var all: [Result<Part, any Error>] = []
        all.reserveCapacity(found.count)
        for index in found.indices {
            guard let result = found[index] else { throw CancellationError() }
            all.append(result)
        }
        return all
    }

    /// Every output; throws as `all` does, and the first failure.
    func outputs() throws -> [Part] {
        let found = ledger.withLock { _ in results }
        var outputs: [Part] = []
        outputs.reserveCapacity(found.count)
        for index in found.indices {
            switch found[index] {
            case .success(let output)?: outputs.append(output)
            case .failure(let error)?: throw error
            case nil: throw CancellationError()
            }
        }
        return outputs
    }

    /// The first success; throws if there is none, and then the whole was cancelled.
    func winner() throws -> (index: Int, response: Part) {
        guard let index = ledger.withLock(\.winner), let result = ledger.withLock({ _ in results[index] }) else {
            throw CancellationError()
        }
        return (index, try result.get())
    }
}
