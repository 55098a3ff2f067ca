import Dispatch
import Synchronization

/// The bounded way from requests to a sink: whoever hands a record over never waits.
final class LogQueue: Sendable {
    private struct State {
        var records: [LogRecord] = []
        var dropped = 0
        var isWriting = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let sink: any LogSink
    private let limit: Int
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "errand-log")

    init(_ sink: any LogSink, limit: Int) { (self.sink, self.limit) = (sink, max(1, limit)) }

    func add(_ record: LogRecord) {
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
        if starts { queue.async { self.write() } }
    }

    private func write() {
        while true {
            let (records, waiters) = state.withLock { state -> ([LogRecord], [CheckedContinuation<Void, Never>]) in
                defer { state.records = [] }
                if !state.records.isEmpty { return (state.records, []) }
                state.isWriting = false
                defer { state.waiters = [] }
                return ([], state.waiters)
            }
            for waiter in waiters { waiter.resume() }
            if records.isEmpty { return }
            for record in records { sink.write(record) }
        }
    }

    /// Returns when everything handed over so far has been written.
    func flush() async {
        await withCheckedContinuation { continuation in
            let isQuiet = state.withLock { state in
                if state.isWriting { state.waiters.append(continuation) }
                return !state.isWriting
            }
            if isQuiet { continuation.resume() }
        }
    }
}
