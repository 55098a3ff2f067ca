import ErrandHTTP

enum FilterOrder {
    static func allProblems(_ filters: [any Filter], for request: any Request) -> [String] {
        problems(filters, for: request)
            + ((request as? any FilterDependentRequest)?.problems(with: filters.filter { !($0 is any CoreStep) }) ?? [])
    }

    /// Returns the problems with the order of a request's filters. A filter for both the call and the hop stage counts
    /// as a call filter, because it makes its changes in the call stage.
    static func problems(_ filters: [any Filter], for request: any Request) -> [String] {
        let redirects = filters.firstIndex { $0 is RedirectStep } ?? filters.endIndex
        let traits = filters.map { $0.traits(for: request) }
        var problems: [String] = []
        for (index, outer) in filters.enumerated() {
            for (innerIndex, inner) in filters.enumerated().dropFirst(index + 1) {
                let crosses = index < redirects && innerIndex > redirects
                if crosses, inner.stages.contains(.call) { continue }
                let known = problem(of: traits[index], before: traits[innerIndex], crosses: crosses)
                guard let problem = known ?? inner.orderProblem(after: outer) else { continue }
                let text = "“\(outer.explanation)” runs before “\(inner.explanation)”: \(problem)"
                if !problems.contains(text) { problems.append(text) }
            }
        }
        return problems
    }

    /// - Parameter crosses: Whether only the outer filter is a call filter.
    private static func problem(of outer: FilterTraits, before inner: FilterTraits, crosses: Bool) -> String? {
        let storesForAll = outer.contains(.caches) && !outer.contains(.separatesUsers)
        let changesResource = inner.contains(.changesRequest) && !inner.contains(.outsideCacheKey)
        if storesForAll, inner.contains(.addsCookies), !crosses || outer.contains(.cachesCalls) {
            return "one user's cached response could be served to another: the cache key doesn't include the cookies"
        }
        if storesForAll, !inner.isDisjoint(with: [.signs, .authenticates]) {
            return
                "one user's cached response could be served to another: the cache key lacks credentials of later filters"
        }
        if outer.contains(.caches), changesResource {
            return "the cache key doesn't include changes by later filters, so different requests share an entry"
        }
        if outer.contains(.shares), !inner.isDisjoint(with: [.signs, .authenticates]) {
            return
                "different users could share a response: credentials and signatures of later filters aren't compared"
        }
        if outer.contains(.shares), inner.contains(.addsCookies) {
            return "different users could share a response: their cookies aren't compared"
        }
        if outer.contains(.shares), changesResource {
            return "changes by later filters aren't compared, so different requests could share a response"
        }
        if outer.contains(.signs), inner.contains(.changesRequest) {
            return "the signature doesn't cover changes by later filters"
        }
        if outer.contains(.signs), inner.contains(.retries) {
            return "every attempt reuses the first attempt's signature and timestamp"
        }
        if outer.contains(.signs), inner.contains(.repeatsHops) {
            return "a request that is sent again after a credential refresh keeps its old signature"
        }
        if outer.contains(.caches), inner.contains(.retries) {
            return "the cache falls back to a stale response only after the last retry has failed"
        }
        return nil
    }
}

/// Detects a path that drops its base URL's path, because other libraries would keep it.
enum PathProblem {
    static func problems(of request: some Request, _ settings: PipelineSettings) -> [String] {
        let path = request.path
        guard path.hasPrefix("/"), !path.hasPrefix("//"), let directory = try? settings.base(request.base).directory,
            directory != "/", !"\(path)/".hasPrefix(directory), isBuilt(request)
        else { return [] }
        return [
            "the path “\(path)” starts with a slash, so “\(directory.dropLast())” of the base URL is left out;"
                + " write “\(path.drop { $0 == "/" })” to keep it"
        ]
    }

    private static func isBuilt(_ request: some Request) -> Bool {
        (try? request.httpRequest()).flatMap(\.self) == nil
    }
}
