#if DEBUG
import ErrandHTTP
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// Reports filter problems even if nobody calls ``NetworkAgent/explain(_:options:)``.
enum FilterWarnings {
    private struct Subject: Hashable {
        let type: ObjectIdentifier
        let settings: ObjectIdentifier
    }

    private struct Seen {
        var subjects: Set<Subject> = []
        var problems: Set<String> = []
    }

    private static let seen = Mutex(Seen())
    /// A set of seen subjects or problems with this many elements is cleared.
    private static let maximumSeen = 1_000

    /// Writes the problems of a request to standard error. Checks only the first request of each type and
    /// configuration.
    static func warn(
        about request: some Request, filters callFilters: [any Filter], tags: Tags, settings: PipelineSettings
    ) {
        let subject = Subject(type: ObjectIdentifier(type(of: request)), settings: ObjectIdentifier(settings))
        let isNew = seen.withLock { seen in
            if seen.subjects.count >= maximumSeen { seen.subjects.removeAll() }
            return seen.subjects.insert(subject).inserted
        }
        guard isNew else { return }
        let steps = FilterChain.make(for: request, filters: callFilters, tags: tags, settings: settings).steps
        warn(
            about: request,
            FilterOrder.allProblems(steps.map(\.filter), for: request) + PathProblem.problems(of: request, settings))
    }

    static func warn(about request: some Request, _ problems: [String]) {
        for problem in newOnes(of: problems) {
            StandardError.write("Errand: \(type(of: request)): \(ControlCharacters.escaped(problem))")
        }
    }

    static func newOnes(of problems: [String]) -> [String] {
        guard !problems.isEmpty else { return [] }
        return seen.withLock { seen in
            if seen.problems.count >= maximumSeen { seen.problems.removeAll() }
            return problems.filter { seen.problems.insert($0).inserted }
        }
    }
}
#endif
