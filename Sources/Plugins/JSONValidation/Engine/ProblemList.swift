/// Problems up to a limit, and their total number.
struct ProblemList {
    let limit: Int
    private(set) var problems: [JSONProblem] = []
    private(set) var count = 0

    init(limit: Int) { self.limit = max(1, limit) }

    var isFull: Bool { problems.count >= limit }

    /// Counts a problem, and creates it only if the list is not full.
    mutating func add(_ problem: @autoclosure () -> JSONProblem) {
        count += 1
        if !isFull { problems.append(problem()) }
    }

    mutating func addUnlisted(_ more: Int) { count += more }

    /// Adds the last problem, after which nothing is read; it replaces another one if the list is full.
    mutating func stop(_ kind: JSONProblem.Kind, pointer: String, expected: String, found: String, offset: Int) {
        if isFull { problems.removeLast() }
        add(JSONProblem(kind: kind, pointer: pointer, expected: expected, found: found, offset: offset))
    }

    var error: JSONValidationError? { count == 0 ? nil : JSONValidationError(problems: problems, count: count) }
}
