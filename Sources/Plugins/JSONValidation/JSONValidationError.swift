public import Errand
import ErrandEssentials

/// The problems of a JSON text, up to ``JSONLimits/maximumProblems``.
///
/// ``JSONShape/validate(_:limits:)`` throws this error. If a response doesn't fit, the request throws an `ErrandError`
/// with the code `checkFailed`. This error is its `underlying` error:
///
/// ```swift
/// do { _ = try await agent.send(GetUser(id: 7)) } catch let error as ErrandError {
///     for problem in error.jsonValidation?.problems ?? [] { print(problem.pointer, problem.expected, problem.found) }
/// }
/// ```
public struct JSONValidationError: Error, Sendable, Hashable {
    /// Why a text was rejected. Later versions may add cases, so write a `default` in a `switch`.
    public enum Verdict: Sendable, Hashable {
        /// The text isn't JSON or doesn't fit the shape. If validation stopped early, the unread rest can't change
        /// this.
        case doesNotFit
        /// It's unknown whether the text fits, because validation stopped at a limit or the shape can't be used.
        case notJudged
    }

    /// The first problems, in the order of the text. If there is a syntax error, it's always in the list, because
    /// validation stops there.
    public var problems: [JSONProblem]
    /// The total number of problems.
    public var count: Int
    /// Whether the text doesn't fit, or validation couldn't decide.
    ///
    /// With problems only of the kinds ``JSONProblem/Kind/limit`` and ``JSONProblem/Kind/shape``, the verdict is
    /// ``Verdict/notJudged``. Any other problem means that the text doesn't fit, unless a limit or the shape is the
    /// cause of that problem.
    public var verdict: Verdict

    /// Creates an error. The verdict follows from the kinds of the problems.
    public init(problems: [JSONProblem], count: Int) {
        let isJudged = problems.contains { $0.kind != .limit && $0.kind != .shape }
        self.init(problems: problems, count: count, verdict: isJudged ? .doesNotFit : .notJudged)
    }

    /// Creates an error with a verdict.
    public init(problems: [JSONProblem], count: Int, verdict: Verdict) {
        self.problems = problems
        self.count = count
        self.verdict = verdict
    }
}

extension JSONValidationError: DescribedError {
    /// A message such as `JSON validation failed: /3/name: expected a string, found a number (byte 214) (1 problem)`.
    /// If validation couldn't decide, the message begins with `JSON validation was not possible`.
    public var description: String {
        let list = problems.map(\.description).joined(separator: "; ")
        let listed = problems.count < count ? ", \(problems.count) listed" : ""
        let outcome = verdict == .notJudged ? "was not possible" : "failed"
        return "JSON validation \(outcome): \(list) (\(count) \(count == 1 ? "problem" : "problems")\(listed))"
    }

    /// The `NSError` code: 1 for a text that doesn't fit, 2 if validation couldn't decide.
    public var errorCode: Int { verdict == .notJudged ? 2 : 1 }
}

extension ErrandError {
    /// The problems that JSON validation found, or `nil` if the error has another cause.
    public var jsonValidation: JSONValidationError? { underlying as? JSONValidationError }
}

extension JSONValidationError {
    /// The sentence for users.
    public var failureSentence: FailureSentence { .unusableResponse }
}

/// A problem in a JSON text. It contains keys and kinds, but never values from the text.
public struct JSONProblem: Sendable, Hashable {
    /// The kind of a problem. Later versions may add cases, so write a `default` in a `switch`.
    public enum Kind: Sendable, Hashable {
        /// The text isn't JSON. Validation stopped at this position.
        case syntax
        /// The value has the wrong type.
        case type
        /// The value has the right type but violates a range, length, count, pattern or list of constants.
        case value
        /// A required key is missing.
        case missing
        /// A closed object has a key that its shape doesn't name.
        case unexpectedKey
        /// An object has the same key twice, after resolving escapes.
        case duplicateKey
        /// A limit in ``JSONLimits`` was exceeded. Validation stopped at this position, except after a string that is
        /// too long for its pattern or takes too many steps.
        case limit
        /// The shape can't be used with any text: it is nested too deeply, or contains an unsupported pattern.
        case shape
    }

    /// The kind of problem.
    public var kind: Kind
    /// The value's position as a JSON Pointer (RFC 6901), such as `/3/name`. Empty for the whole document.
    ///
    /// For a missing key, this is the expected position. Pointers above about 1 KB end with `…`.
    public var pointer: String
    /// The expected value, such as "a string".
    public var expected: String
    /// The kind of value that was found, such as "a number".
    public var found: String
    /// The offset in bytes of the value or of the key's opening quote. For a missing key, the offset of the object's
    /// brace.
    public var offset: Int
    /// The location of the `JSONSchema` keyword that the value violates, such as `#/properties/id/minimum`. It is the
    /// document's URI, with a JSON Pointer as the fragment. `nil` for shapes, and if the text isn't JSON.
    public var schemaLocation: String?

    /// Creates a problem, for your own validators and tests.
    public init(
        kind: Kind, pointer: String, expected: String, found: String, offset: Int, schemaLocation: String? = nil
    ) {
        self.kind = kind
        self.pointer = pointer
        self.expected = expected
        self.found = found
        self.offset = offset
        self.schemaLocation = schemaLocation
    }
}

extension JSONProblem: CustomStringConvertible {
    /// A message such as `/3/name: expected a string, found a number (byte 214)` or `/7/tags: missing, expected an
    /// array`, followed by the location in the schema, if any.
    public var description: String {
        schemaLocation.map { "\(message), by \(MessageText.shown($0, limit: 1_200))" } ?? message
    }

    private var message: String {
        let place = pointer.isEmpty ? "document" : MessageText.shown(pointer, limit: 1_200)
        return switch kind {
        case .missing: "\(place): missing, expected \(expected)"
        case .unexpectedKey: "\(place): unexpected key (byte \(offset))"
        case .duplicateKey: "\(place): duplicate key (byte \(offset))"
        case .syntax: "\(place): not JSON: expected \(expected), found \(found) (byte \(offset))"
        case .shape: "the shape cannot be used: expected \(expected), found \(found)"
        default: "\(place): expected \(expected), found \(found) (byte \(offset))"
        }
    }
}
