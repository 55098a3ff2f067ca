public import Errand
import ErrandEssentials
import ErrandMessageSyntax

/// The failure of a chain: the step that failed, and its error.
///
/// ```swift
/// do { _ = try await agent.run(chain) } catch let error as ChainError {
///     print(error.index, error.label, (error.underlying as? ErrandError)?.response?.status)
/// }
/// ```
///
/// A chain that was cancelled throws ``Errand/ErrandError`` with the code `cancelled` instead, and an error that the
/// body makes itself is thrown as it is. An error value without an identity that equals the failure of a step, or reads
/// the same if it isn't `Equatable`, counts as that failure.
public struct ChainError: Error, Sendable {
    /// The chain's label.
    public let chain: String
    /// The index of the step in the chain, from 0, in the order in which the steps began; parts of a batch are counted
    /// in the same way.
    public let index: Int
    /// The step's label: that of the call, else the request's, else the request's type.
    public let label: String
    /// The request that failed, if the step was one.
    public let request: (any Request)?
    /// The error of the step.
    public let underlying: any Error

    init(chain: String, _ step: ChainRecord.FailedStep, _ error: any Error) {
        (self.chain, underlying) = (chain, error)
        (index, label, request) = step
    }

    /// The response that the step failed with, with a bounded copy of its body, if there was one.
    public var response: HTTPResponse? { (underlying as? any RequestFailure)?.response }

    /// False: a cancelled chain throws the cancellation.
    public var isCancelled: Bool { underlying.isCancellation }

    /// Whether the same chain may succeed when it is sent again later, judged by the failure alone.
    public var isRetryable: Bool { (underlying as? any RequestFailure)?.isRetryable ?? false }
}

extension ChainError: RequestFailure {}

extension ChainError: DescribedError, CustomDebugStringConvertible {
    /// One line: the chain, the step, its label, and its failure.
    public var description: String {
        ControlCharacters.escaped("\(chain), step \(index) (\(label)): \(underlying.briefDescription)")
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The sentence of the step.
    public var failureSentence: FailureSentence { (underlying as? any DescribedError)?.failureSentence ?? .failed }

    /// The text for people of the step.
    public var errorDescription: String? { FailureSentence.text(of: underlying) }

    /// 1: there is one kind.
    public var errorCode: Int { 1 }
}

extension ChainError: CustomReflectable {
    /// The parts of the description; neither a request nor anything within a cause.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["chain": chain, "index": index, "label": label, "underlying": underlying.briefDescription])
    }
}
