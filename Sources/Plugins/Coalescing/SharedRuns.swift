import Errand
import ErrandEssentials
import Synchronization

/// The exchanges that a request may join.
///
/// Its lock is taken before that of an exchange, never the other way round.
final class SharedRuns: Sendable {
    enum Role {
        case leads(SharedRun, ticket: Int)
        case joins(SharedRun, ticket: Int)
        /// The request is a part of the exchange that it equals: to wait for it would never end.
        case alone
    }

    private let runs = Mutex<[SharedKey: SharedRun]>([:])

    /// The number of exchanges under way that a request may join.
    var count: Int { runs.withLock { $0.count } }

    func join(_ key: SharedKey, _ exchange: Exchange) -> Role {
        runs.withLock { runs in
            if let run = runs[key] {
                switch run.join(exchange) {
                case .joined(let ticket): return .joins(run, ticket: ticket)
                case .within: return .alone
                // What comes later joins the new one.
                case .none: break
                }
            }
            let (run, ticket) = SharedRun.begin(key, exchange)
            runs[key] = run
            return .leads(run, ticket: ticket)
        }
    }

    /// Lets nothing join an exchange any more.
    func remove(_ run: SharedRun) {
        // The last reference may go with it: not under the lock.
        let removed = runs.withLock { runs -> SharedRun? in
            guard let index = runs.index(forKey: run.key), runs[index].value === run else { return nil }
            return runs.remove(at: index).value
        }
        withExtendedLifetime(removed) {}
    }

    /// Lets nothing join the exchanges with the host of a URL.
    func close(_ url: URL) {
        let old = runs.withLock { runs in
            if runs.isEmpty { return [:] }
            let old = runs
            let host = url.host()?.lowercased()
            runs = old.filter { $0.key.url.host()?.lowercased() != host }
            return old
        }
        withExtendedLifetime(old) {}
    }
}
