import Errand
import ErrandEssentials
import Synchronization

/// The exchanges that requests can join.
///
/// Lock order: this lock before the lock of an exchange.
final class SharedRuns: Sendable {
    enum Role {
        /// The request starts its own exchange.
        case leads
        case joins(SharedRun, ticket: Int)
        /// The request is part of the exchange it equals, and would wait for itself.
        case alone
    }

    private let runs = Mutex<Set<SharedRun>>([])

    var count: Int { runs.withLock { $0.count } }

    /// Joins an equal running exchange, or adds `own`.
    func join(_ own: SharedRun) -> Role {
        var replaced: SharedRun?
        let role = runs.withLock { runs -> Role in
            let (isAlone, run) = runs.insert(own)
            if isAlone { return .leads }
            switch run.join(own.exchange) {
            case .joined(let ticket): return .joins(run, ticket: ticket)
            case .within: return .alone
            case .none:
                // Later requests join the new exchange.
                replaced = runs.update(with: own)
                return .leads
            }
        }
        return withExtendedLifetime(replaced) { role }
    }

    func remove(_ run: SharedRun) {
        // Release the reference outside the lock, because it may be the last one.
        let removed = runs.withLock { runs -> SharedRun? in
            guard let index = runs.firstIndex(of: run), runs[index] === run else { return nil }
            return runs.remove(at: index)
        }
        withExtendedLifetime(removed) {}
    }

    /// Prevents requests from joining exchanges with the URL's host.
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
