import Errand
import ErrandStates
import Synchronization

final class EventStreamStatus: Sendable {
    private struct Values {
        var lastEventID: String
        var response: HTTPResponse?
        var isClaimed = false
        var isCancelled = false
        var wantsReconnect = false
        var session: WeakSession?
    }

    private struct WeakSession {
        weak var session: StreamSession?
    }

    private let values: Mutex<Values>
    private let broadcaster = StateBroadcaster(EventStreamState.idle, maximumWaiting: 100)

    init(_ lastEventID: String) { values = Mutex(Values(lastEventID: lastEventID)) }

    var state: EventStreamState { broadcaster.state }
    var states: AsyncStream<EventStreamState> { broadcaster.states }
    var followerCount: Int { broadcaster.readerCount }
    var lastEventID: String { values.withLock { $0.lastEventID } }
    var response: HTTPResponse? { values.withLock { $0.response } }

    func keep(lastEventID: String) { values.withLock { $0.lastEventID = lastEventID } }

    func keep(_ response: HTTPResponse) { values.withLock { $0.response = response } }

    func claim() -> Bool {
        values.withLock { values in
            defer { values.isClaimed = true }
            return !values.isClaimed
        }
    }

    func keep(_ session: StreamSession) {
        let isCancelled = values.withLock { values in
            values.session = WeakSession(session: session)
            return values.isCancelled
        }
        if isCancelled { session.cancel() }
    }

    func cancel() {
        let session = values.withLock { values in
            values.isCancelled = true
            return values.session?.session
        }
        session?.cancel()
    }

    func reconnect() {
        switch state {
        case .open, .waiting: break
        default: return
        }
        let session = values.withLock { values in
            values.wantsReconnect = true
            return values.session?.session
        }
        session?.interrupt()
    }

    func takeReconnect() -> Bool {
        values.withLock { values in
            defer { values.wantsReconnect = false }
            return values.wantsReconnect
        }
    }

    func change(to state: EventStreamState) {
        broadcaster.send(state)
        if case .closed = state { broadcaster.finish() }
    }
}
