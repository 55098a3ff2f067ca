import Synchronization

/// What receives the states that are shown: presenters, and streams for as long as they have a reader.
final class LoadingObservers: Sendable {
    private struct State {
        var last = LoadingState.hidden
        var streams: [Int: AsyncStream<LoadingState>.Continuation] = [:]
        var count = 0
        var isFinished = false
    }

    private let presenters: [any LoadingPresenter]
    private let state = Mutex(State())

    init(_ presenters: [any LoadingPresenter]) { self.presenters = presenters }

    deinit { state.withLock { Array($0.streams.values) }.forEach { $0.finish() } }

    var last: LoadingState { state.withLock { $0.last } }

    /// Called on one thread at a time.
    func notify(_ new: LoadingState) {
        let streams = state.withLock { state -> [AsyncStream<LoadingState>.Continuation]? in
            if state.last == new { return nil }
            state.last = new
            return Array(state.streams.values)
        }
        guard let streams else { return }
        for presenter in presenters { presenter.present(new) }
        for stream in streams { stream.yield(new) }
    }

    /// Ends the streams, then the presenters.
    func finish() {
        let streams = state.withLock { state in
            state.isFinished = true
            defer { state.streams = [:] }
            return Array(state.streams.values)
        }
        for stream in streams { stream.finish() }
        for presenter in presenters { presenter.finish() }
    }

    /// The current state, then the latest one whenever the reader asks.
    func stream() -> AsyncStream<LoadingState> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LoadingState.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.count += 1
            continuation.yield(state.last)
            if state.isFinished { continuation.finish() } else { state.streams[state.count] = continuation }
            return state.count
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.streams[number] = nil }
        }
        return stream
    }
}
