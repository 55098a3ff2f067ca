import Errand
import Synchronization

/// The agent's clock, once known from an exchange.
final class SocketClock: Sendable {
    private let known = Mutex<(any TimeSource)?>(nil)

    var time: any TimeSource { known.withLock { $0 } ?? SystemTimeSource() }

    func keep(_ time: any TimeSource) {
        let old = known.withLock { known in
            defer { known = time }
            return known
        }
        withExtendedLifetime(old) {}
    }
}
