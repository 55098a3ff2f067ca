public import Errand

/// Everything that is wrong with a JSON text, up to ``JSONLimits/maximumProblems``.
///
/// It is what ``JSONShape/validate(_:limits:)`` throws. On an agent it is the `underlying` error of an `ErrandError` with
/// the code `checkFailed`, which has the response and the request:
///
/// ```swift
/// do { _ = try await agent.send(GetUser(id: 7)) } catch let error as ErrandError {
///     for problem in error.jsonValidation?.problems ?? [] { print(problem.pointer, problem.expected, problem.found) }
/// }
/// ```
public struct JSONValidationError: Error, Sendable, Hashable {
    /// The first problems in the order of the text; a syntax error, after which nothing is read, is always among them.
    public var problems: [JSONProblem]
    /// How many there are in all.
    public var count: Int

    public init(problems: [JSONProblem], count: Int) {
        self.problems = problems
        self.count = count
    }
}

extension JSONValidationError: CustomStringConvertible {
    /// `JSON validation failed: /3/name: expected a string, found a number (byte 214); /7/tags: missing, expected an array (2
    /// problems)`
    public var description: String {
        let list = problems.map(\.description).joined(separator: "; ")
        let listed = problems.count < count ? ", \(problems.count) listed" : ""
        return "JSON validation failed: \(list) (\(count) \(count == 1 ? "problem" : "problems")\(listed))"
    }
}

extension ErrandError {
    /// What JSON validation found, if it is why the answer was refused.
    public var jsonValidation: JSONValidationError? { underlying as? JSONValidationError }
}
