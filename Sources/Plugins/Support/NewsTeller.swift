package import Synchronization

/// A state that many threads change, and one listener who is told what became of it: the newest, in order, by one thread
/// at a time, outside the lock.
package final class NewsTeller<State: Sendable, News: Sendable>: Sendable {
    @usableFromInline struct Guarded {
        @usableFromInline var state: State
        @usableFromInline var isTelling = false
        @usableFromInline var hasNews = false
        @usableFromInline var waiters: [CheckedContinuation<Void, Never>] = []
        @usableFromInline init(state: State) { self.state = state }
    }

    @usableFromInline let guarded: Mutex<Guarded>
    @usableFromInline let news: @Sendable (State) -> News
    @usableFromInline let tell: @Sendable (News) -> Void

    @inlinable package init(
        _ state: State, news: @escaping @Sendable (State) -> News, tell: @escaping @Sendable (News) -> Void
    ) {
        guarded = Mutex(Guarded(state: state))
        (self.news, self.tell) = (news, tell)
    }

    /// Changes the state without telling it.
    @inlinable package func prepare(_ body: (inout State) -> Void) { guarded.withLock { body(&$0.state) } }

    /// Changes the state and tells it, or leaves that to the thread that is telling already; so the listener may change
    /// the state itself.
    @inlinable package func change(_ body: (inout State) -> Void) {
        let isMine = guarded.withLock { guarded in
            body(&guarded.state)
            guarded.hasNews = true
            defer { guarded.isTelling = true }
            return !guarded.isTelling
        }
        guard isMine else { return }
        while let newest = newest() { tell(newest) }
    }

    /// What has not been told yet; nil ends the telling.
    @inlinable func newest() -> News? {
        let (newest, waiters) = guarded.withLock { guarded -> (News?, [CheckedContinuation<Void, Never>]) in
            defer { guarded.hasNews = false }
            if guarded.hasNews { return (news(guarded.state), []) }
            guarded.isTelling = false
            defer { guarded.waiters = [] }
            return (nil, guarded.waiters)
        }
        for waiter in waiters { waiter.resume() }
        return newest
    }

    /// Returns when every change so far has been told, also by another thread.
    @inlinable package func allTold() async {
        await withCheckedContinuation { continuation in
            let isTelling = guarded.withLock { guarded in
                if guarded.isTelling { guarded.waiters.append(continuation) }
                return guarded.isTelling
            }
            if !isTelling { continuation.resume() }
        }
    }
}
