import Dispatch
import Errand
import Synchronization

/// The bounded queue between requests and a sink: adding a record never waits.
final class LogQueue: Sendable {
    /// An activity that has ended; the sink's thread makes its record.
    struct Ended: Sendable {
        let activity: Activity
        let draft: LogDraft
        let duration: Duration
        let level: LogLevel
        var dropped = 0
    }

    private struct State {
        var records: [Ended] = []
        var dropped = 0
        var isWriting = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let sink: any LogSink
    private let limit: Int
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "errand-log")

    private let redaction: Redaction

    init(_ sink: any LogSink, _ redaction: Redaction, limit: Int) {
        (self.sink, self.redaction, self.limit) = (sink, redaction, max(1, limit))
    }

    func add(_ record: Ended) {
        let starts = state.withLock { state in
            guard state.records.count < limit else {
                state.dropped += 1
                return false
            }
            var record = record
            swap(&record.dropped, &state.dropped)
            state.records.append(record)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        // A little later, together with what is added until then: waking a thread costs more than all the rest.
        if starts { queue.asyncAfter(deadline: .now() + .milliseconds(5)) { self.write() } }
    }

    private func write() {
        // The two arrays change places, so that neither grows anew for each batch.
        var batch: [Ended] = []
        var secrets = HeaderSecrets(redaction)
        while true {
            let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                swap(&batch, &state.records)
                if !batch.isEmpty { return [] }
                state.isWriting = false
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume() }
            if batch.isEmpty { return }
            for ended in batch {
                sink.write(
                    ended.draft.record(
                        of: ended.activity, after: ended.duration, ended.level, &secrets, dropped: ended.dropped))
            }
            batch.removeAll(keepingCapacity: true)
        }
    }

    /// Returns when every record added so far has been written.
    func flush() async {
        await withCheckedContinuation { continuation in
            let isQuiet = state.withLock { state in
                if state.isWriting { state.waiters.append(continuation) }
                return !state.isWriting
            }
            if isQuiet { continuation.resume() } else { queue.async { self.write() } }
        }
    }
}
