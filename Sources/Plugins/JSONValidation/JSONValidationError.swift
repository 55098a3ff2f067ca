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
    /// The verdict on a text that was rejected. Cases may be added: write a `default`.
    public enum Verdict: Sendable, Hashable {
        /// It is not JSON, or does not fit, whatever would come of the rest.
        case doesNotFit
        /// It may fit: a limit was met, or the shape cannot be used, before it was known.
        case notJudged
    }

    /// The first problems in the order of the text. A syntax error, after which nothing is read, is always included.
    public var problems: [JSONProblem]
    /// The total number of problems.
    public var count: Int
    /// Whether the text does not fit, or could not be judged. A text with a problem of another kind than
    /// ``JSONProblem/Kind/limit`` and ``JSONProblem/Kind/shape`` does not fit, unless that problem follows from one of these.
    public var verdict: Verdict

    /// Makes an error; the verdict follows from the kinds of the problems.
    public init(problems: [JSONProblem], count: Int) {
        let isJudged = problems.contains { $0.kind != .limit && $0.kind != .shape }
        self.init(problems: problems, count: count, verdict: isJudged ? .doesNotFit : .notJudged)
    }

    /// Makes an error.
    public init(problems: [JSONProblem], count: Int, verdict: Verdict) {
        self.problems = problems
        self.count = count
        self.verdict = verdict
    }
}

extension JSONValidationError: DescribedError {
    /// `JSON validation failed: /3/name: expected a string, found a number (byte 214); /7/tags: missing, expected an array (2
    /// problems)`; for a text that was not judged `JSON validation was not possible: …`.
    public var description: String {
        let list = problems.map(\.description).joined(separator: "; ")
        let listed = problems.count < count ? ", \(problems.count) listed" : ""
        let outcome = verdict == .notJudged ? "was not possible" : "failed"
        return "JSON validation \(outcome): \(list) (\(count) \(count == 1 ? "problem" : "problems")\(listed))"
    }

    /// 1 for a text that does not fit, 2 for one that was not judged.
    public var errorCode: Int { verdict == .notJudged ? 2 : 1 }
}

extension ErrandError {
    /// The problems of the JSON validation; nil if the error has another cause.
    public var jsonValidation: JSONValidationError? { underlying as? JSONValidationError }
}

extension JSONValidationError {
    /// The sentence for people.
    public var failureSentence: FailureSentence { .unusableResponse }
}
