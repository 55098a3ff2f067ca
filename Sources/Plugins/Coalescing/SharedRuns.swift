import Errand
import ErrandEssentials
import Synchronization

/// The exchanges that a request may join.
///
/// Its lock is taken before that of an exchange, never the other way round.
final class SharedRuns: Sendable {
    enum Role {
        /// The request begins its own exchange.
        case leads
        case joins(SharedRun, ticket: Int)
        /// The request is a part of the exchange that it equals, and would wait for itself.
        case alone
    }

    private let runs = Mutex<Set<SharedRun>>([])

    /// The number of exchanges under way that a request may join.
    var count: Int { runs.withLock { $0.count } }

    /// Adds a request to the exchange under way that equals its own, or else its own.
    func join(_ own: SharedRun) -> Role {
        var replaced: SharedRun?
        let role = runs.withLock { runs -> Role in
            let (isAlone, run) = runs.insert(own)
            if isAlone { return .leads }
            switch run.join(own.exchange) {
            case .joined(let ticket): return .joins(run, ticket: ticket)
            case .within: return .alone
            case .none:
                // Later requests join the new one.
                replaced = runs.update(with: own)
                return .leads
            }
        }
        return withExtendedLifetime(replaced) { role }
    }

    /// Closes an exchange to further requests.
    func remove(_ run: SharedRun) {
        // The last reference may be released: not under the lock.
        let removed = runs.withLock { runs -> SharedRun? in
            guard let index = runs.firstIndex(of: run), runs[index] === run else { return nil }
            return runs.remove(at: index)
        }
        withExtendedLifetime(removed) {}
    }

    /// Closes the exchanges with the host of a URL to further requests.
    func close(_ url: URL) {
        let old = runs.withLock { runs -> Set<SharedRun> in
            if runs.isEmpty { return [] }
            let old = runs
            let host = url.host()?.lowercased()
            runs = old.filter { $0.exchange.http.url.host()?.lowercased() != host }
            return old
        }
        withExtendedLifetime(old) {}
    }
}
