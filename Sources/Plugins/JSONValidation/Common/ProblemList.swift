/// Problems up to a limit, and their total number.
package struct ProblemList {
    package let limit: Int
    private(set) var problems: [JSONProblem] = []
    package private(set) var count = 0
    /// Whether some problem stands, whatever would come of what was not judged.
    private var isCertain = false
    /// Whether something was not judged that other problems may follow from.
    private(set) var hasUnjudged = false

    package init(limit: Int) { self.limit = max(1, limit) }

    package var isFull: Bool { problems.count >= limit }

    /// Notes what a problem says of the text. A derived one follows from several results: it is not certain if one of those
    /// may be missing.
    package mutating func note(_ kind: JSONProblem.Kind, isDerived: Bool = false) {
        if kind == .limit || kind == .shape {
            hasUnjudged = true
        } else if !isDerived || !hasUnjudged {
            isCertain = true
        }
    }

    /// Counts a problem, and creates it only if the list is not full.
    package mutating func add(_ problem: @autoclosure () -> JSONProblem) {
        count += 1
        if !isFull { problems.append(problem()) }
    }

    package mutating func addUnlisted(_ more: Int) { count += more }

    /// Adds the last problem, after which nothing is read; it replaces another one if the list is full.
    package mutating func stop(_ kind: JSONProblem.Kind, pointer: String, expected: String, found: String, offset: Int)
    {
        note(kind)
        if isFull { problems.removeLast() }
        add(JSONProblem(kind: kind, pointer: pointer, expected: expected, found: found, offset: offset))
    }

    package var error: JSONValidationError? {
        if count == 0 { return nil }
        return JSONValidationError(problems: problems, count: count, verdict: isCertain ? .doesNotFit : .notJudged)
    }
}
