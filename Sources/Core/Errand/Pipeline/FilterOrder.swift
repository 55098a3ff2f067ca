enum FilterOrder {
    /// A sentence for each wrong order, and for each missing filter that the request expects.
    static func allProblems(_ filters: [any Filter], for request: any Request) -> [String] {
        problems(filters, for: request)
            + ((request as? any FilterExpectingRequest)?.problems(with: filters.filter { !($0 is any CoreStep) }) ?? [])
    }

    /// A filter for both the call and the hop stage counts as a call filter, because later filters know its additions.
    static func problems(_ filters: [any Filter], for request: any Request) -> [String] {
        let redirects = filters.firstIndex { $0 is RedirectStep } ?? filters.endIndex
        let traits = filters.map { $0.traits(for: request) }
        var problems: [String] = []
        for (index, outer) in filters.enumerated() {
            for (innerIndex, inner) in filters.enumerated().dropFirst(index + 1) {
                let crosses = index < redirects && innerIndex > redirects
                if crosses, inner.stages.contains(.call) { continue }
                let known = problem(traits[index], traits[innerIndex], crosses)
                guard let problem = known ?? inner.orderProblem(after: outer) else { continue }
                let text = "“\(outer.explanation)” runs before “\(inner.explanation)”: \(problem)"
                if !problems.contains(text) { problems.append(text) }
            }
        }
        return problems
    }

    /// - Parameter crosses: whether only the outer filter is a call filter.
    private static func problem(_ outer: FilterTraits, _ inner: FilterTraits, _ crosses: Bool) -> String? {
        let storesForAll = outer.contains(.caches) && !outer.contains(.separatesUsers)
        let changesResource = inner.contains(.changesRequest) && !inner.contains(.outsideCacheKey)
        if storesForAll, inner.contains(.addsCookies), !crosses || outer.contains(.cachesCalls) {
            return "what is stored for one user could be served to another, since the key lacks the cookies"
        }
        if storesForAll, !inner.isDisjoint(with: [.signs, .authenticates]) {
            return "what is stored for one user could be served to another, since the key lacks what is added later"
        }
        if outer.contains(.caches), changesResource {
            return "the key of the cache lacks what is changed later, so different requests share an entry"
        }
        if outer.contains(.shares), !inner.isDisjoint(with: [.signs, .authenticates]) {
            return "requests of different users could share a response, since what is added later is not compared"
        }
        if outer.contains(.shares), inner.contains(.addsCookies) {
            return "requests of different users could share a response, since their cookies are not compared"
        }
        if outer.contains(.shares), changesResource {
            return "what is changed later is not compared, so different requests could share a response"
        }
        if outer.contains(.signs), inner.contains(.changesRequest) {
            return "the signature does not cover what is changed later"
        }
        if outer.contains(.signs), inner.contains(.retries) {
            return "every attempt repeats the signature of the first, with its time"
        }
        if outer.contains(.signs), inner.contains(.repeatsHops) {
            return "what is sent again after a refresh repeats the signature made before it"
        }
        if outer.contains(.caches), inner.contains(.retries) {
            return "a stale response is served only after the last attempt has failed"
        }
        return nil
    }
}
