public import Errand
import ErrandEssentials

/// The failure of a batch. It contains the failure of the part that ended the batch, or the failures of all parts.
///
/// ```swift
/// do { _ = try await agent.run(batch) } catch let error as BatchError {
///     print(error.index, error.label, (error.underlying as? ErrandError)?.response?.status)
/// }
/// ```
///
/// A cancelled batch throws ``Errand/ErrandError`` with the code `cancelled` instead.
public struct BatchError: Error, Sendable {
    /// The type of the error's codes. Later versions may add codes, so write a `default` in a `switch`.
    public typealias Code = FailureCode<BatchError>

    /// A failed part.
    public struct Failure: Sendable {
        /// The part's index, from 0.
        public let index: Int
        /// The part's name: the request's label, or its type if it has no label. For a closure, this is the type of the
        /// closure's item.
        public let label: String
        /// The part's request, or `nil` for a closure.
        public let request: (any Request)?
        /// The part's error.
        public let error: any Error
    }

    /// The maximum number of failures that a ``BatchError`` keeps: 100.
    public static let maximumKeptFailures = 100

    /// The kind of failure. Stable, and suitable for metrics.
    public let code: Code
    /// The failure that ended the batch, as an array of one element. For the code `noneSucceeded`, the array contains
    /// the first 100 failures in the order in which they occurred. It's empty if the batch was empty.
    public let failures: [Failure]
    /// The number of failed parts, including those beyond the first 100.
    public let failureCount: Int

    init(_ code: Code, _ failures: [Failure], failureCount: Int) {
        (self.code, self.failures, self.failureCount) = (code, failures, failureCount)
    }
}

extension FailureCode<BatchError> {
    /// A part failed, and the policy needs every part.
    public static var partFailed: Self { Self("partFailed", 1) }
    /// No part succeeded, and the policy needs one success.
    public static var noneSucceeded: Self { Self("noneSucceeded", 2) }
}

extension BatchError {
    /// The index of the first failed part, from 0.
    public var index: Int? { failures.first?.index }

    /// The label of the first failed part.
    public var label: String? { failures.first?.label }

    /// The request of the first failed part.
    public var request: (any Request)? { failures.first?.request }

    /// The error of the first failed part.
    public var underlying: (any Error)? { failures.first?.error }

    /// The response of the first failed part, with a bounded copy of its body.
    public var response: HTTPResponse? { (underlying as? any RequestFailure)?.response }

    /// Whether every failure is a cancellation.
    public var isCancelled: Bool { !failures.isEmpty && failures.allSatisfy { $0.error.isCancellation } }

    /// Whether sending the batch again later may succeed. This is true if at least one of the failures may be
    /// temporary.
    public var isRetryable: Bool { failures.contains { ($0.error as? any RequestFailure)?.isRetryable == true } }
}

extension BatchError: RequestFailure {}

extension BatchError: CodedError, CustomDebugStringConvertible {
    /// The code and the first failure, on one line.
    public var description: String {
        guard let failure = failures.first else { return "\(code): the batch is empty" }
        let first = "part \(failure.index) (\(failure.label)): \(failure.error.briefDescription)"
        return code == .noneSucceeded
            ? "\(code): no part succeeded, \(failureCount) failed; the first failure was \(first)" : "\(code): \(first)"
    }

    /// The same text as `description`.
    public var debugDescription: String { description }

    /// A sentence to show to users. It's the sentence of the first failed part's error.
    public var failureSentence: FailureSentence { (underlying as? any DescribedError)?.failureSentence ?? .failed }

    /// The text of `localizedDescription`. It's the text of the first failed part's error.
    public var errorDescription: String? {
        underlying.map(FailureSentence.text(of:)) ?? failureSentence.text(for: self)
    }
}

extension BatchError: CustomReflectable {
    /// A mirror without the request and the details of causes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "code": code, "index": index as Any, "label": label as Any, "failureCount": failureCount,
                "underlying": underlying?.briefDescription as Any,
            ])
    }
}

extension BatchError.Failure: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The part's index, label and error.
    public var description: String { "part \(index) (\(label)): \(error.briefDescription)" }
    /// The same text as `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so dumps show only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
