public import Errand
import ErrandEssentials

/// The problems of a JSON text, up to ``JSONLimits/maximumProblems``.
///
/// ``JSONShape/validate(_:limits:)`` throws it. For a request of an agent it is the `underlying` error of an `ErrandError` with
/// the code `checkFailed`, which has the response and the request:
///
/// ```swift
/// do { _ = try await agent.send(GetUser(id: 7)) } catch let error as ErrandError {
///     for problem in error.jsonValidation?.problems ?? [] { print(problem.pointer, problem.expected, problem.found) }
/// }
/// ```
public struct JSONValidationError: Error, Sendable, Hashable {
    /// The first problems in the order of the text. A syntax error, after which nothing is read, is always included.
    public var problems: [JSONProblem]
    /// The total number of problems.
    public var count: Int

    /// Makes an error.
    public init(problems: [JSONProblem], count: Int) {
        self.problems = problems
        self.count = count
    }
}

extension JSONValidationError: DescribedError {
    /// `JSON validation failed: /3/name: expected a string, found a number (byte 214); /7/tags: missing, expected an array (2
    /// problems)`
    public var description: String {
        let list = problems.map(\.description).joined(separator: "; ")
        let listed = problems.count < count ? ", \(problems.count) listed" : ""
        return "JSON validation failed: \(list) (\(count) \(count == 1 ? "problem" : "problems")\(listed))"
    }

    /// 1: there is one kind.
    public var errorCode: Int { 1 }
}

extension ErrandError {
    /// The problems of the JSON validation; nil if the error has another cause.
    public var jsonValidation: JSONValidationError? { underlying as? JSONValidationError }
}
