public import Errand
import ErrandEssentials
import ErrandMessageSyntax

/// The failure of a step in a chain. It names the step that failed.
///
/// ```swift
/// do { _ = try await agent.run(chain) } catch let error as ChainError {
///     print(error.index, error.label, (error.underlying as? ErrandError)?.response?.status)
/// }
/// ```
///
/// A cancelled chain throws ``Errand/ErrandError`` with the code `cancelled` instead. If the chain's closure throws an
/// error that doesn't come from a step, the chain throws it unchanged.
///
/// The closure can catch a step's error and throw it again later. The chain recognizes such an error and throws it as a
/// ``ChainError``. To recognize an error, the chain compares objects by identity, and other errors by equality. If the
/// error's type isn't `Equatable`, the chain compares texts.
public struct ChainError: Error, Sendable {
    /// The chain's label.
    public let chain: String
    /// The step's index, from 0, in the order in which steps began. A batch or a chain counts as one step.
    public let index: Int
    /// The step's name. See ``ChainStepResult/label``.
    public let label: String
    /// The failed request, or `nil` if the step isn't a request.
    public let request: (any Request)?
    /// The step's error.
    public let underlying: any Error

    init(chain: String, _ step: ChainRecord.FailedStep, _ error: any Error) {
        (self.chain, underlying) = (chain, error)
        (index, label, request) = step
    }

    /// The response to the step's request, with a bounded copy of its body. It's `nil` if there was no response.
    public var response: HTTPResponse? { (underlying as? any RequestFailure)?.response }

    /// Whether the step was cancelled. It's always `false`, because a cancelled chain throws a cancellation instead of
    /// a ``ChainError``.
    public var isCancelled: Bool { underlying.isCancellation }

    /// Whether sending the chain again later may succeed, according to the step's error.
    public var isRetryable: Bool { (underlying as? any RequestFailure)?.isRetryable ?? false }
}

extension ChainError: RequestFailure {}

extension ChainError: DescribedError, CustomDebugStringConvertible {
    /// The chain, the step's index and label, and its error, on one line.
    public var description: String {
        ControlCharacters.escaped("\(chain), step \(index) (\(label)): \(underlying.briefDescription)")
    }

    /// The same text as `description`.
    public var debugDescription: String { description }

    /// A sentence to show to users. It's the sentence of the step's error.
    public var failureSentence: FailureSentence { (underlying as? any DescribedError)?.failureSentence ?? .failed }

    /// The text of `localizedDescription`. It's the text of the step's error.
    public var errorDescription: String? { FailureSentence.text(of: underlying) }

    /// The `NSError` code, always 1.
    public var errorCode: Int { 1 }
}

extension ChainError: CustomReflectable {
    /// A mirror without the request and the details of causes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["chain": chain, "index": index, "label": label, "underlying": underlying.briefDescription])
    }
}
