public import Errand
import ErrandEssentials
import ErrandMessageSyntax

/// A chain's failure: the step that failed, and its error.
///
/// ```swift
/// do { _ = try await agent.run(chain) } catch let error as ChainError {
///     print(error.index, error.label, (error.underlying as? ErrandError)?.response?.status)
/// }
/// ```
///
/// A cancelled chain throws ``Errand/ErrandError`` with the code `cancelled` instead. The body's own errors are thrown
/// unchanged, unless they look like a step's failure. An error that isn't an object counts as that failure if both are
/// equal or, for types that aren't `Equatable`, have the same text.
public struct ChainError: Error, Sendable {
    /// The label of the chain that failed.
    public let chain: String
    /// The step's index in the chain, from 0, in the order in which steps began. Parts of a batch count as steps too.
    public let index: Int
    /// The step's label: from the call, otherwise from the request, otherwise the request's type.
    public let label: String
    /// The request that failed. Nil if the step isn't a request.
    public let request: (any Request)?
    /// The error with which the step failed.
    public let underlying: any Error

    init(chain: String, _ step: ChainRecord.FailedStep, _ error: any Error) {
        (self.chain, underlying) = (chain, error)
        (index, label, request) = step
    }

    /// The step's response, if any, with a bounded copy of its body.
    public var response: HTTPResponse? { (underlying as? any RequestFailure)?.response }

    /// Always `false`, because a cancelled chain throws the cancellation.
    public var isCancelled: Bool { underlying.isCancellation }

    /// Whether sending the same chain again later may succeed, judging by the failure alone.
    public var isRetryable: Bool { (underlying as? any RequestFailure)?.isRetryable ?? false }
}

extension ChainError: RequestFailure {}

extension ChainError: DescribedError, CustomDebugStringConvertible {
    /// The chain, the step, its label and its failure, on one line.
    public var description: String {
        ControlCharacters.escaped("\(chain), step \(index) (\(label)): \(underlying.briefDescription)")
    }

    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }

    /// The sentence that users see as `localizedDescription`: the sentence of the step's error.
    public var failureSentence: FailureSentence { (underlying as? any DescribedError)?.failureSentence ?? .failed }

    /// The text that users see as `localizedDescription`: the text of the step's error.
    public var errorDescription: String? { FailureSentence.text(of: underlying) }

    /// The code of the `NSError`, always 1, because there is only one kind of failure.
    public var errorCode: Int { 1 }
}

extension ChainError: CustomReflectable {
    /// A mirror that shows the parts of the description, without the request and the details of causes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["chain": chain, "index": index, "label": label, "underlying": underlying.briefDescription])
    }
}
