public import Errand
import ErrandEssentials

/// The problems of a JSON text, up to ``JSONLimits/maximumProblems``.
///
/// Thrown by ``JSONShape/validate(_:limits:)``. If an agent's request fails validation, this is the `underlying` error
/// of an `ErrandError` with the code `checkFailed`, which has the request and the response:
///
/// ```swift
/// do { _ = try await agent.send(GetUser(id: 7)) } catch let error as ErrandError {
///     for problem in error.jsonValidation?.problems ?? [] { print(problem.pointer, problem.expected, problem.found) }
/// }
/// ```
public struct JSONValidationError: Error, Sendable, Hashable {
    /// Why a text was rejected. Handle unknown verdicts with a `default`, because cases may be added.
    public enum Verdict: Sendable, Hashable {
        /// The text isn't JSON or doesn't fit, whatever the unread part contains.
        case doesNotFit
        /// The text may or may not fit: validation stopped early at a limit, or the shape can't be used.
        case notJudged
    }

    /// The first problems, in the order of the text. Always includes a syntax error, because nothing after it is read.
    public var problems: [JSONProblem]
    /// The total number of problems.
    public var count: Int
    /// Whether the text doesn't fit, or couldn't be judged.
    ///
    /// A problem of any kind other than ``JSONProblem/Kind/limit`` and ``JSONProblem/Kind/shape`` means that the text
    /// doesn't fit, unless the problem only follows from one of those two.
    public var verdict: Verdict

    /// Creates an error and derives the verdict from the kinds of the problems.
    public init(problems: [JSONProblem], count: Int) {
        let isJudged = problems.contains { $0.kind != .limit && $0.kind != .shape }
        self.init(problems: problems, count: count, verdict: isJudged ? .doesNotFit : .notJudged)
    }

    /// Creates an error with the given verdict.
    public init(problems: [JSONProblem], count: Int, verdict: Verdict) {
        self.problems = problems
        self.count = count
        self.verdict = verdict
    }
}

extension JSONValidationError: DescribedError {
    /// A message such as `JSON validation failed: /3/name: expected a string, found a number (byte 214) (1 problem)`.
    /// For a text that wasn't judged, it begins with `JSON validation was not possible`.
    public var description: String {
        let list = problems.map(\.description).joined(separator: "; ")
        let listed = problems.count < count ? ", \(problems.count) listed" : ""
        let outcome = verdict == .notJudged ? "was not possible" : "failed"
        return "JSON validation \(outcome): \(list) (\(count) \(count == 1 ? "problem" : "problems")\(listed))"
    }

    /// 1 for a text that doesn't fit, 2 for a text that wasn't judged.
    public var errorCode: Int { verdict == .notJudged ? 2 : 1 }
}

extension ErrandError {
    /// The problems that JSON validation found, or `nil` if the error has another cause.
    public var jsonValidation: JSONValidationError? { underlying as? JSONValidationError }
}

extension JSONValidationError {
    /// The sentence to show to people.
    public var failureSentence: FailureSentence { .unusableResponse }
}
