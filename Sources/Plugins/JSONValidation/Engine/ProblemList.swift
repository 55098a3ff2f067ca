/// Problems up to a limit, and the number of all.
struct ProblemList {
    let limit: Int
    private(set) var problems: [JSONProblem] = []
    private(set) var count = 0

    init(limit: Int) { self.limit = max(1, limit) }

    var isFull: Bool { problems.count >= limit }

    /// Makes the problem only if there is room for it.
    mutating func add(_ problem: @autoclosure () -> JSONProblem) {
        count += 1
        if !isFull { problems.append(problem()) }
    }

    mutating func addUnlisted(_ more: Int) { count += more }

    /// The last one: nothing is read behind it, so it takes the place of another if need be.
    mutating func stop(_ kind: JSONProblem.Kind, pointer: String, expected: String, found: String, offset: Int) {
        if isFull { problems.removeLast() }
        add(JSONProblem(kind: kind, pointer: pointer, expected: expected, found: found, offset: offset))
    }

    var error: JSONValidationError? { count == 0 ? nil : JSONValidationError(problems: problems, count: count) }
}
