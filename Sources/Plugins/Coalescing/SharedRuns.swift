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
        /// The request is a part of the exchange that it equals, and would wait for itself.
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
                // Later requests join the new one.
                case .none: break
                }
            }
            let (run, ticket) = SharedRun.begin(key, exchange)
            runs[key] = run
            return .leads(run, ticket: ticket)
        }
    }

    /// Closes an exchange to further requests.
    func remove(_ run: SharedRun) {
        // The last reference may be released: not under the lock.
        let removed = runs.withLock { runs -> SharedRun? in
            guard let index = runs.index(forKey: run.key), runs[index].value === run else { return nil }
            return runs.remove(at: index).value
        }
        withExtendedLifetime(removed) {}
    }

    /// Closes the exchanges with the host of a URL to further requests.
    func close(_ url: URL) {
        let old = runs.withLock { runs in
            if runs.isEmpty { return [:] }
            let old = runs
            let host = url.host()?.lowercased()
            runs = old.filter { $0.key.request.url.host()?.lowercased() != host }
            return old
        }
        withExtendedLifetime(old) {}
    }
}
