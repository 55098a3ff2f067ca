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
/// unchanged, unless they look like a step's failure: an error value without identity counts as that failure if it is
/// equal or, for types that aren't `Equatable`, has the same text.
public struct ChainError: Error, Sendable {
    /// The chain's label.
    public let chain: String
    /// The step's index in the chain, from 0, in the order in which steps began. Parts of a batch count as steps too.
    public let index: Int
    /// The step's label: from the call, otherwise from the request, otherwise the request's type.
    public let label: String
    /// The request that failed, if the step is a request.
    public let request: (any Request)?
    /// The step's error.
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
    /// One line: the chain, the step, its label and its failure.
    public var description: String {
        ControlCharacters.escaped("\(chain), step \(index) (\(label)): \(underlying.briefDescription)")
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The step's sentence.
    public var failureSentence: FailureSentence { (underlying as? any DescribedError)?.failureSentence ?? .failed }

    /// The step's user-facing text.
    public var errorDescription: String? { FailureSentence.text(of: underlying) }

    /// Always 1, because there is only one kind.
    public var errorCode: Int { 1 }
}

extension ChainError: CustomReflectable {
    /// The parts of the description. Excludes the request and the details of causes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["chain": chain, "index": index, "label": label, "underlying": underlying.briefDescription])
    }
}
