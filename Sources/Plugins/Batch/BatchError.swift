import ErrandSupport
public import Errand

import ErrandEssentials

/// Why a batch failed: the part that did, or all of them.
///
/// ```swift
/// do { _ = try await agent.send(batch) } catch let error as BatchError {
///     print(error.index, error.label, (error.underlying as? ErrandError)?.response?.status)
/// }
/// ```
///
/// A batch that was cancelled throws ``Errand/ErrandError`` with the code `cancelled` instead, as a request does.
public struct BatchError: Error, Sendable {
    /// The kind of failure.
    public struct Code: ErrorCode {
        /// Stable, of low cardinality, fit for metrics.
        public let description: String
        /// A number that never changes, from 1; the `code` of an `NSError`.
        public let number: Int
    }

    /// One part that failed.
    public struct Failure: Sendable {
        /// Its place in the batch, from 0.
        public let index: Int
        /// The request's label or type; the type of the item for a part that is no request.
        public let label: String
        /// The request, if the part was one.
        public let request: (any Request)?
        /// What it threw.
        public let error: any Error
    }

    /// The most failures that an error keeps: 100.
    public static let maximumFailures = 100

    /// What kind of failure it is.
    public let code: Code
    /// The one that counts, or for `noneSucceeded` the first 100 in the order in which they came. Empty only for an
    /// empty batch of which one should have succeeded.
    public let failures: [Failure]
    /// How many parts failed, those included that `failures` has no room for.
    public let failureCount: Int

    init(_ code: Code, _ failures: [Failure], failureCount: Int) {
        (self.code, self.failures, self.failureCount) = (code, failures, failureCount)
    }
}

extension BatchError.Code {
    /// A part failed where all had to succeed.
    public static let partFailed = Self(description: "partFailed", number: 1)
    /// No part succeeded where one was enough.
    public static let noneSucceeded = Self(description: "noneSucceeded", number: 2)
}

extension BatchError {
    /// The place of the first failure, from 0.
    public var index: Int? { failures.first?.index }

    /// The label of the part that failed first.
    public var label: String? { failures.first?.label }

    /// The request that failed first.
    public var request: (any Request)? { failures.first?.request }

    /// What it threw.
    public var underlying: (any Error)? { failures.first?.error }

    /// The response that the first failure has, with a bounded copy of its body, if there was one.
    public var response: HTTPResponse? { (underlying as? any RequestFailure)?.response }

    /// Whether every failure is a cancellation.
    public var isCancelled: Bool { !failures.isEmpty && failures.allSatisfy { $0.error.isCancellation } }

    /// Whether the same batch may succeed when it is sent again later: some failure may pass.
    public var isRetryable: Bool { failures.contains { ($0.error as? any RequestFailure)?.isRetryable == true } }
}

extension BatchError: RequestFailure {}

extension BatchError: CodedError, CustomDebugStringConvertible {
    /// One line: the part, its label, and what happened to it.
    public var description: String {
        guard let failure = failures.first else { return "\(code): the batch is empty" }
        let first = "part \(failure.index) (\(failure.label)): \(ErrorText.brief(failure.error))"
        return code == .noneSucceeded ? "\(code): \(failureCount) failed, the first was \(first)" : "\(code): \(first)"
    }

    /// The same.
    public var debugDescription: String { description }
}

extension BatchError: CustomReflectable {
    /// What the description is made of: neither a request nor what a cause holds.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "code": code, "index": index as Any, "label": label as Any, "failureCount": failureCount,
                "underlying": underlying.map { ErrorText.brief($0) } as Any,
            ])
    }
}

extension BatchError.Failure: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The part, its label, and what happened to it.
    public var description: String { "part \(index) (\(label)): \(ErrorText.brief(error))" }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// No children, which would hold what the description leaves out.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
