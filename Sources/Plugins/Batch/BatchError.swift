public import Errand
import ErrandEssentials

/// The failure of a batch: of the part that failed, or of all of them.
///
/// ```swift
/// do { _ = try await agent.run(batch) } catch let error as BatchError {
///     print(error.index, error.label, (error.underlying as? ErrandError)?.response?.status)
/// }
/// ```
///
/// A batch that was cancelled throws ``Errand/ErrandError`` with the code `cancelled` instead, as a request does.
public struct BatchError: Error, Sendable {
    /// The kind of failure.
    public typealias Code = FailureCode<BatchError>

    /// One part that failed.
    public struct Failure: Sendable {
        /// The index of the part in the batch, from 0.
        public let index: Int
        /// The request's label or type; the type of the item for a part that is no request.
        public let label: String
        /// The request, if the part was one.
        public let request: (any Request)?
        /// The error of the part.
        public let error: any Error
    }

    /// The maximum number of failures that an error keeps: 100.
    public static let maximumFailures = 100

    /// The kind of failure.
    public let code: Code
    /// The failure that counts, or for `noneSucceeded` the first 100 in the order in which they occurred. Empty only
    /// for an empty batch of which one part should have succeeded.
    public let failures: [Failure]
    /// The number of parts that failed, including those that `failures` has no room for.
    public let failureCount: Int

    init(_ code: Code, _ failures: [Failure], failureCount: Int) {
        (self.code, self.failures, self.failureCount) = (code, failures, failureCount)
    }
}

extension FailureCode<BatchError> {
    /// A part failed where all had to succeed.
    public static var partFailed: Self { Self("partFailed", 1) }
    /// No part succeeded where one was enough.
    public static var noneSucceeded: Self { Self("noneSucceeded", 2) }
}

extension BatchError {
    /// The index of the part that failed first, from 0.
    public var index: Int? { failures.first?.index }

    /// The label of the part that failed first.
    public var label: String? { failures.first?.label }

    /// The request that failed first.
    public var request: (any Request)? { failures.first?.request }

    /// The error of the part that failed first.
    public var underlying: (any Error)? { failures.first?.error }

    /// The response of the first failure, with a bounded copy of its body, if there was one.
    public var response: HTTPResponse? { (underlying as? any RequestFailure)?.response }

    /// Whether every failure is a cancellation.
    public var isCancelled: Bool { !failures.isEmpty && failures.allSatisfy { $0.error.isCancellation } }

    /// Whether the same batch may succeed when it is sent again later, because some failure may be temporary.
    public var isRetryable: Bool { failures.contains { ($0.error as? any RequestFailure)?.isRetryable == true } }
}

extension BatchError: RequestFailure {}

extension BatchError: CodedError, CustomDebugStringConvertible {
    /// One line: the part, its label, and its failure.
    public var description: String {
        guard let failure = failures.first else { return "\(code): the batch is empty" }
        let first = "part \(failure.index) (\(failure.label)): \(failure.error.briefDescription)"
        return code == .noneSucceeded ? "\(code): \(failureCount) failed, the first was \(first)" : "\(code): \(first)"
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The sentence of the part that failed first.
    public var failureSentence: FailureSentence { (underlying as? any DescribedError)?.failureSentence ?? .failed }

    /// The text for people of the part that failed first.
    public var errorDescription: String? {
        underlying.map(FailureSentence.text(of:)) ?? failureSentence.text(for: self)
    }
}

extension BatchError: CustomReflectable {
    /// The parts of the description; neither a request nor anything within a cause.
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
    /// The part, its label, and its failure.
    public var description: String { "part \(index) (\(label)): \(error.briefDescription)" }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Empty: children would show what the description leaves out.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
