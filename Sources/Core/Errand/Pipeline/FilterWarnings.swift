#if DEBUG
import ErrandHTTP
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// Reports problems with the filters of requests, even if nobody calls ``NetworkAgent/explain(_:options:)``.
enum FilterWarnings {
    /// A request type under a configuration.
    private struct Subject: Hashable {
        let type: ObjectIdentifier
        let settings: ObjectIdentifier
    }

    private struct Seen {
        var subjects: Set<Subject> = []
        var problems: Set<String> = []
    }

    private static let seen = Mutex(Seen())
    /// The maximum number of subjects, and of problems. When it's reached, the set is cleared.
    private static let maximumSeen = 1_000

    /// Writes problems with the filters and the path of a request to standard error, once per process. Checks only the
    /// first request of each type under a configuration.
    static func warn(
        about request: some Request, _ callFilters: [any Filter], _ tags: Tags, _ settings: PipelineSettings
    ) {
        let subject = Subject(type: ObjectIdentifier(type(of: request)), settings: ObjectIdentifier(settings))
        let isNew = seen.withLock { seen in
            if seen.subjects.count >= maximumSeen { seen.subjects.removeAll() }
            return seen.subjects.insert(subject).inserted
        }
        guard isNew else { return }
        let way = FilterChain.make(of: request, callFilters, tags, settings).steps
        warn(
            about: request,
            FilterOrder.allProblems(way.map(\.filter), for: request) + PathProblem.problems(of: request, settings))
    }

    /// Writes problems with a request to standard error, once per process.
    static func warn(about request: some Request, _ problems: [String]) {
        for problem in newOnes(of: problems) {
            StandardError.write("Errand: \(type(of: request)): \(ControlCharacters.escaped(problem))")
        }
    }

    /// Returns the problems that weren't reported before.
    static func newOnes(of problems: [String]) -> [String] {
        guard !problems.isEmpty else { return [] }
        return seen.withLock { seen in
            if seen.problems.count >= maximumSeen { seen.problems.removeAll() }
            return problems.filter { seen.problems.insert($0).inserted }
        }
    }
}
#endif
