public import Errand
import ErrandSupport

/// Why a chain failed: the step that did, and what it threw.
///
/// ```swift
/// do { … } catch let error as ChainError {
///     print(error.step, error.label, (error.underlying as? ErrandError)?.response?.status)
/// }
/// ```
///
/// A chain that was cancelled throws ``Errand/ErrandError`` with the code `cancelled` instead, and an error that the body
/// made itself arrives as it is.
public struct ChainError: Error, Sendable {
    /// The chain's label.
    public let chain: String
    /// The step's number, from 1.
    public let step: Int
    /// The step's label: that of the call, else the request's, else the request's type.
    public let label: String
    /// The request that failed, if the step was one.
    public let request: (any Request)?
    /// What it threw.
    public let underlying: any Error

    init(chain: String, _ step: ChainRecord.Step, _ error: any Error) {
        (self.chain, underlying) = (chain, error)
        (self.step, label, request) = (step.number, step.label, step.request)
    }

    /// Never: a cancelled chain throws the cancellation.
    public var isCancelled: Bool { underlying.isCancellation }

    /// Whether the same chain may succeed when it is sent again later, judged by the failure alone.
    public var isRetryable: Bool {
        switch underlying {
        case let error as ErrandError: error.isRetryable
        case let error as ChainError: error.isRetryable
        default: false
        }
    }
}

extension ChainError: CustomStringConvertible, CustomDebugStringConvertible {
    /// One line: the chain, the step, its label, and what happened to it.
    public var description: String { "\(chain), step \(step) (\(label)): \(ErrorText.brief(underlying))" }

    /// The same.
    public var debugDescription: String { description }
}
