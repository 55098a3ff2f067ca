import Errand
import Synchronization

extension OutboxEngine {
    func shown(_ entry: StoredEntry) -> OutboxEntry { state.withLock { OutboxEntry(entry, in: $0.queue) } }

    var snapshot: OutboxState {
        let (queue, isSender, isPaused, damage) = state.withLock { ($0.queue, $0.isSender, $0.isPaused, $0.damage) }
        let entries = queue.entries.values.map { OutboxEntry($0, in: queue) }.sorted { $0.id < $1.id }
        return OutboxState(entries: entries, isSender: isSender, isPaused: isPaused, damage: damage)
    }
}
