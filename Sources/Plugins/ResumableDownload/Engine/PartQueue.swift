import Synchronization

/// The open parts of a plan, each for one worker at a time.
final class PartQueue: Sendable {
    private let open: Mutex<[Int]>

    init(_ plan: RangePlan) { open = Mutex(plan.parts.indices.filter { !plan.parts[$0].isDone }) }

    var count: Int { open.withLock { $0.count } }

    func take() -> Int? { open.withLock { $0.isEmpty ? nil : $0.removeFirst() } }

    /// For another worker, first of all.
    func putBack(_ index: Int) { open.withLock { $0.insert(index, at: 0) } }
}
