/// The URL of an exchange, as the laws simplify it.
enum LawTarget {
    /// Returns simpler targets. Each lacks the query, a query item, or a segment of the path after the first `fixed`
    /// segments.
    static func simpler(_ target: String, fixed: Int) -> [String] {
        let (path, query) = parts(target)
        var results: [String] = []
        if !query.isEmpty {
            results.append(path)
            let items = query.dropFirst().split(separator: "&", omittingEmptySubsequences: false)
            for index in items.indices where items.count > 1 {
                var rest = items
                rest.remove(at: index)
                results.append("\(path)?\(rest.joined(separator: "&"))")
            }
        }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        for index in segments.indices.dropFirst(fixed) where segments.count > fixed + 1 {
            var rest = segments
            rest.remove(at: index)
            results.append(rest.joined(separator: "/") + query)
        }
        return results
    }

    static func parts(_ target: String) -> (path: String, query: String) {
        let mark = target.firstIndex(of: "?") ?? target.endIndex
        return (String(target[..<mark]), String(target[mark...]))
    }
}
