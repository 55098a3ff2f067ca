import Errand
import ErrandEssentials
import Synchronization

/// The exchanges that requests can join.
///
/// Lock order: this lock before an exchange's lock.
final class SharedRuns: Sendable {
    enum Role {
        case leads
        case joins(SharedRun, ticket: Int)
        /// The task of an equal exchange sends the request, which would wait for itself.
        case alone
    }

    private let runs = Mutex<Set<SharedRun>>([])

    var count: Int { runs.withLock { $0.count } }

    func join(_ own: SharedRun) -> Role {
        var replaced: SharedRun?
        let role = runs.withLock { runs -> Role in
            let (isAlone, run) = runs.insert(own)
            if isAlone { return .leads }
            switch run.join(own.exchange) {
            case .joined(let ticket): return .joins(run, ticket: ticket)
            case .within: return .alone
            case .none:
                replaced = runs.update(with: own)
                return .leads
            }
        }
        return withExtendedLifetime(replaced) { role }
    }

    func remove(_ run: SharedRun) {
        // The removed run is released outside the lock, because this may be the last reference to it.
        let removed = runs.withLock { runs -> SharedRun? in
            guard let index = runs.firstIndex(of: run), runs[index] === run else { return nil }
            return runs.remove(at: index)
        }
        withExtendedLifetime(removed) {}
    }

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
