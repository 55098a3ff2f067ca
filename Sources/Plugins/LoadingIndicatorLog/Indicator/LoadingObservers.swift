import Errand

/// The receivers of visible states: presenters, and streams for as long as they have a reader.
final class LoadingObservers: Sendable {
    private let presenters: [any LoadingPresenter]
    private let broadcaster = StateBroadcaster(LoadingState.hidden)

    init(_ presenters: [any LoadingPresenter]) { self.presenters = presenters }

    var last: LoadingState { broadcaster.state }

    /// The current state, then the latest one whenever the reader asks.
    var states: AsyncStream<LoadingState> { broadcaster.states }

    /// Called on one thread at a time.
    func notify(_ new: LoadingState) {
        if last == new { return }
        broadcaster.send(new)
        for presenter in presenters { presenter.present(new) }
    }

    /// Ends the streams, then the presenters.
    func finish() {
        broadcaster.finish()
        for presenter in presenters { presenter.finish() }
    }
}
